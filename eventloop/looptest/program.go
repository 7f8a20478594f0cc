package looptest

// The player, which executes programs on a loop and compares every step with a sequential reference.

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/turnloop/turnloop/internal/goroutine"
	"github.com/turnloop/turnloop/internal/loopapi"
)

// Player plays programs of random operations, each on a fresh loop, and compares every step with a sequential
// reference. The comment on alphabet in programtext.go describes the language.
type Player struct{ suite *suite }

// NewPlayer returns a player for the loops of factory. The options are those of Run: the reference does not expect what
// a declared divergence excludes.
func NewPlayer(t testing.TB, factory Factory, opts ...Option) *Player {
	return &Player{newSuite(t, factory, opts)}
}

// Play plays a program and returns an error that describes what the loop did wrong, or nil. Programs with descriptors are
// played in real time, others in virtual time if the player has the option VirtualTime.
func (p *Player) Play(t *testing.T, program string) error {
	c := check{name: "program", run: func(tr *trial) { play(tr, program) }}
	c.timed = !usesDescriptors(parse(program))
	return p.playCheck(t, &c, program)
}

func (p *Player) playCheck(t *testing.T, c *check, program string) error {
	if v, _ := p.suite.try(t, c, p.suite.beats); v.outcome == outcomeFail {
		return fmt.Errorf("program %q: %s", program, v.reason)
	}
	return nil
}

func usesDescriptors(rounds []round, _ bool) bool {
	var uses func(list []operation) bool
	uses = func(list []operation) bool {
		for _, o := range list {
			if strings.IndexByte("rudwxX", o.code) >= 0 || uses(o.body) {
				return true
			}
		}
		return false
	}
	for _, r := range rounds {
		if uses(r.operations) {
			return true
		}
	}
	return false
}

// player is the state of one program being played.
type player struct {
	t *trial
	l *loop

	// mu guards all below. It is held over each operation together with its entry in rules, so that callbacks see both
	// as one step.
	mu     sync.Mutex
	rules  *rules
	inside int  // callbacks that have begun and not ended
	exited bool // a callback has called Goexit
	links  [slots]*link
	sent   int  // bytes written to descriptors
	opened int  // descriptors whose number was used again
	held   bool // a callback holds the loop; only the check's goroutine touches it
	aborts int  // callbacks that have panicked or called Goexit

	reported atomic.Int64 // panics and calls of Goexit that the loop has told of

	quiet chan struct{} // holds a token when the loop has nothing left to run by itself
}

// play plays a program on a fresh loop and then ends the loop.
func play(t *trial, program string) {
	rounds, small := parse(program)
	p := &player{t: t, quiet: make(chan struct{}, 1)}
	cfg := Config{OnPanic: func(*loopapi.PanicError) { p.reported.Add(1) }, OnOverload: func(error) {}}
	if small {
		cfg.TickBudget, cfg.MicrotaskBudget = 4, 8
	}
	l, err := t.tryMake(cfg)
	if errors.Is(err, errors.ErrUnsupported) {
		cfg = Config{}
		l = t.make(cfg)
	} else if err != nil {
		t.Fatalf("the factory refused %+v: %v", cfg, err)
	}
	p.l, p.rules = l, newRules(t, cfg)

	p.perform(rounds[0].operations, false)
	if p.isEnding() {
		p.end()
		return
	}
	p.task(func() {}) // awaitIdle waits for it, and so for the begin of Run
	l.launch(context.Background())
	p.awaitIdle()
	for _, r := range rounds[1:] {
		if p.isEnding() || t.failed() {
			break
		}
		switch r.from {
		case '.':
			p.task(func() { p.perform(r.operations, true) })
		case ';':
			inside, g := make(chan struct{}), t.gate()
			p.task(func() { close(inside); g.wait() })
			t.wait(inside, "an internal task to run")
			p.held = true
			p.perform(r.operations, false)
			p.held = false
			g.open()
		case ':':
			for _, o := range r.operations {
				if !p.isEnding() {
					if t.strict {
						l.rest()
					}
					p.perform([]operation{o}, false)
					p.awaitIdle()
				}
			}
		}
		p.awaitIdle()
	}
	p.end()
}

// task submits an internal task of the player's own.
func (p *player) task(fn func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.submit(internal, fn)
}

// perform performs operations one after the other, on the loop or from another goroutine.
func (p *player) perform(list []operation, onLoop bool) {
	for _, o := range list {
		switch o.code {
		case 'p', 'g':
			if !onLoop || p.t.exempt("D06_PanicIsolation", "D06_Goexit") {
				continue
			}
			p.mu.Lock()
			p.rules.aborted()
			p.aborts++
			p.exited = p.exited || o.code == 'g'
			p.mu.Unlock()
			if o.code == 'p' {
				panic("part of the program")
			}
			runtime.Goexit()
		}
		p.mu.Lock()
		p.operate(o, onLoop)
		isEnding := p.rules.ending && !onLoop && !p.held
		p.mu.Unlock()
		if isEnding {
			return // further operations would race with the end of the loop
		}
	}
}

// operate performs one operation other than p and g. The caller holds mu.
func (p *player) operate(o operation, onLoop bool) {
	body := func() { p.perform(o.body, true) }
	switch o.code {
	case 's', 'i', 'm':
		lane := strings.IndexByte("sim", o.code)
		for range repeats[o.digit] {
			if p.rules.functions < mostFunctions && lanes[lane].has(p.l) {
				p.submit(lane, body)
			}
		}
	case 't', 'c':
		if p.l.timers != nil {
			p.timer(o, body)
		}
	case 'r', 'u', 'd', 'w', 'x', 'X':
		if p.l.fds != nil && canOpen && !p.t.virtual {
			p.descriptor(o, body)
		}
	case 'f':
		if set := p.t.suite.setMode; set != nil {
			mode := o.digit % 3
			if p.t.virtual {
				mode %= 2 // in mode 2 the loop waits in a system call, which stops the virtual clock
			}
			p.rules.moded(mode, set(p.l.EventLoop, mode))
		}
	case 'S':
		ctx := context.Background()
		if !onLoop {
			done, cancel := context.WithCancel(ctx)
			cancel() // so that Shutdown does not wait
			ctx = done
		}
		p.rules.shutdown(p.l.Shutdown(ctx), onLoop)
	case 'C':
		p.rules.close(p.l.Close())
	}
}

// submit submits a function. The caller holds mu.
func (p *player) submit(lane int, body func()) {
	k := lanes[lane]
	id := p.rules.newFunction()
	p.rules.submitted(lane, id, k.run(p.l, p.callback(body, func(now time.Time) { p.rules.ran(id, now) })))
}

// callback wraps a function in the entries of its begin and its end.
func (p *player) callback(body func(), begins func(now time.Time)) func() {
	return func() {
		p.mu.Lock()
		p.inside++
		if p.inside != 1 {
			p.t.Errorf("two callbacks run at the same time")
		}
		if id := p.l.goroutine.Load(); id != 0 && !p.exited && goroutine.ID() != id {
			p.t.Errorf("a callback runs on another goroutine than the one that called Run")
		}
		begins(time.Now())
		p.mu.Unlock()
		defer func() {
			p.mu.Lock()
			p.inside--
			p.hush()
			p.mu.Unlock()
		}()
		body()
	}
}

// timer performs t and c. The caller holds mu.
func (p *player) timer(o operation, body func()) {
	r := p.rules
	if o.code == 'c' {
		if i := len(r.scheduled) - 1 - o.digit; i >= 0 {
			r.cancelled(i, p.l.timers.CancelTimer(r.scheduled[i].id))
		}
		return
	}
	if r.functions >= mostFunctions {
		return
	}
	delay := delays[o.digit]
	if p.t.virtual {
		delay = longDelays[o.digit]
	}
	id, before := r.newFunction(), time.Now()
	timer, err := p.l.timers.ScheduleTimer(delay, p.callback(body, func(now time.Time) { r.ran(id, now) }))
	r.timed(clocked{fn: id, id: timer, delay: delay, before: before, after: time.Now()}, err)
}

// descriptor performs r, u, d, w, x and X. The caller holds mu.
func (p *player) descriptor(o operation, body func()) {
	n := o.digit % slots
	if p.links[n] == nil {
		s := p.t.sockets()
		p.links[n] = &s
	}
	s, w := p.links[n], &p.rules.watches[n]
	switch o.code {
	case 'r':
		generation := w.generation + 1
		err := p.l.fds.RegisterFD(s.near, loopapi.EventRead, p.ioCallback(n, generation, body))
		p.rules.registered(n, err)
	case 'u':
		p.rules.unregistered(n, p.l.fds.UnregisterFD(s.near))
	case 'd':
		events := loopapi.EventRead
		if w.reading {
			events = 0
		}
		p.rules.modified(n, p.l.fds.ModifyFD(s.near, events))
	case 'w':
		if !bytesTravel && w.unread < 8 && p.sent < mostBytes {
			s.send()
			w.unread++
			p.sent++
		}
	case 'x', 'X':
		if !canChooseNumbers || p.opened == mostReopened {
			return
		}
		p.opened++
		if o.code == 'x' {
			p.rules.unregistered(n, p.l.fds.UnregisterFD(s.near))
		}
		far, err := p.t.fds.reopen(s.near)
		if err != nil {
			p.t.Errorf("using a descriptor number again: %v", err)
			return
		}
		_ = p.t.fds.close(s.far)
		s.far, w.unread = far, 0
		if o.code == 'X' {
			p.rules.unregistered(n, p.l.fds.UnregisterFD(s.near))
		}
	}
}

// ioCallback returns a descriptor's callback. It reads one byte only, so that further bytes are reported again.
func (p *player) ioCallback(n, generation int, body func()) func(loopapi.IOEvents) {
	var events loopapi.IOEvents
	call := p.callback(body, func(time.Time) {
		p.rules.ready(n, generation, events)
		var buf [1]byte
		if got, err := read(p.links[n].near, buf[:]); got != 1 || err != nil {
			p.t.Errorf("descriptor %d was reported, and reads %d bytes and %v", n, got, err)
		}
	})
	return func(e loopapi.IOEvents) { events = e; call() }
}

// hush puts the token into quiet if no callback runs and the loop has nothing left to run by itself. The caller holds mu.
func (p *player) hush() {
	if p.inside == 0 && p.rules.idle() {
		select {
		case p.quiet <- struct{}{}:
		default:
		}
	}
}

// awaitIdle waits until the loop has nothing left to run by itself. What runs meanwhile may schedule timers.
func (p *player) awaitIdle() {
	for heard := false; !heard; {
		p.mu.Lock()
		select {
		case <-p.quiet:
		default:
		}
		p.hush()
		longest, steps := p.rules.longest(), p.t.steps.Load()
		p.mu.Unlock()
		_, heard = within(p.t, p.quiet, longest)
		p.mu.Lock()
		waiting := p.rules.waiting()
		p.rules.rest()
		p.mu.Unlock()
		if !heard && p.t.steps.Load() == steps {
			p.t.Fatalf("the loop rests although %s", waiting)
		}
	}
}

func (p *player) isEnding() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.rules.ending
}

// end ends the loop, if the program has not, and checks the results of Shutdown and Run and the functions left over.
func (p *player) end() {
	l, t, r := p.l, p.t, p.rules
	if !p.isEnding() {
		p.mu.Lock()
		r.asked = time.Now()
		p.mu.Unlock()
		t.want("Shutdown", l.shutdown(), nil)
		p.mu.Lock()
		r.ending = true
		p.mu.Unlock()
	} else {
		t.want("a Shutdown after the end was asked for", l.shutdown(), loopapi.ErrLoopTerminated)
	}
	switch {
	case !l.launched.Load():
		t.want("Run after the end", l.runAgain(), loopapi.ErrLoopTerminated)
	case !p.exited:
		want := error(nil)
		if r.closed {
			want = loopapi.ErrLoopTerminated
		}
		if err := l.result(); !t.exempt("D16_RunResult") {
			t.want("Run", err, want)
		}
	}
	l.over("")
	p.mu.Lock()
	defer p.mu.Unlock()
	if got := int(p.reported.Load()); got != p.aborts && r.cfg.OnPanic != nil && !r.closed && !t.exempt("D06_PanicReport") {
		t.Errorf("%d callbacks panicked or called Goexit, and %d were reported", p.aborts, got)
	}
	r.finish()
}
