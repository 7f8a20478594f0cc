package looptest

// Programs played by several goroutines at once, and the rules that hold in every interleaving.

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/turnloop/turnloop/internal/loopapi"
)

// PlayTogether plays each round of a program on a goroutine of its own, all at the same time. It returns an error that
// describes what the loop did wrong, or nil. An accepted function runs once, in the order of its source and lane, or is
// dropped by Close; a refused or cancelled one does not run. Operations on descriptors are skipped.
func (p *Player) PlayTogether(t *testing.T, program string) error {
	return p.playCheck(t, &check{name: "program", run: func(tr *trial) { playTogether(tr, program) }}, program)
}

// mostProducers is the largest number of rounds that are played; further rounds are skipped.
const mostProducers = 6

// crowd is the state of one program that is played together.
type crowd struct {
	t       *trial
	l       *loop
	fates   chan *fate                // all functions
	closed  atomic.Bool               // Close was called
	ended   atomic.Bool               // Shutdown or Close has returned
	sources [mostProducers + 1]source // one for each goroutine; the last one is the loop
	inside  int                       // running callbacks; only the loop touches it, so the race detector reports others
}

// source is a goroutine that submits functions. Its fields belong to that goroutine, except for ran.
type source struct {
	issued [3]int // the number of submissions by lane
	ran    [3]int // the number of the latest function that ran, by lane; only the loop touches it
	timers []*fate
}

// fate records what becomes of a function.
type fate struct {
	runs                         atomic.Int32
	accepted, cancelled, isTimer bool // written by the source
	timer                        loopapi.TimerID
}

func playTogether(t *trial, program string) {
	rounds, small := parse(program)
	rounds = rounds[:min(len(rounds), mostProducers)]
	cfg := Config{OnPanic: func(*loopapi.PanicError) {}, OnOverload: func(error) {}}
	if small {
		cfg.TickBudget, cfg.MicrotaskBudget = 4, 8
	}
	l, err := t.tryMake(cfg)
	if errors.Is(err, errors.ErrUnsupported) {
		l = t.make(Config{})
	} else {
		t.must("making a loop", err)
	}
	c := &crowd{t: t, l: l, fates: make(chan *fate, mostFunctions)}
	l.launch(context.Background())
	l.sync()
	t.parallel(len(rounds), func(i int) { c.perform(rounds[i].operations, i) })
	if err := l.shutdown(); !c.ended.Load() {
		t.want("Shutdown", err, nil)
	} else {
		t.want("Shutdown", err, nil, loopapi.ErrLoopTerminated)
	}
	t.wait(l.ended, "the goroutine that called Run")
	l.over("")
	c.audit()
}

// perform performs operations as the source with the number from.
func (c *crowd) perform(list []operation, from int) {
	onLoop := from == mostProducers
	for _, o := range list {
		body := func() { c.perform(o.body, mostProducers) }
		switch o.code {
		case 's', 'i', 'm':
			for range repeats[o.digit] {
				c.submit(strings.IndexByte("sim", o.code), from, body)
			}
		case 't':
			c.schedule(o, from, body)
		case 'c':
			c.cancel(o, from)
		case 'f':
			if set := c.t.suite.setMode; set != nil {
				c.t.want("setting a mode", set(c.l.EventLoop, o.digit%3), nil, loopapi.ErrLoopTerminated)
			}
		case 'p', 'g':
			if !onLoop || c.t.exempt("D06_PanicIsolation", "D06_Goexit") {
				continue
			}
			if o.code == 'p' {
				panic("part of the program")
			}
			runtime.Goexit()
		case 'S':
			ctx, cancel := context.WithCancel(context.Background())
			if !onLoop {
				cancel() // so that Shutdown does not wait
			}
			c.t.want("Shutdown", c.l.Shutdown(ctx), nil, loopapi.ErrLoopTerminated, context.Canceled)
			cancel()
			c.ended.Store(true)
		case 'C':
			c.closed.Store(true)
			c.t.want("Close", c.l.Close(), nil, loopapi.ErrLoopTerminated)
			c.ended.Store(true)
		}
	}
}

// book records a new function and returns its fate, or nil if there are too many.
func (c *crowd) book() *fate {
	f := &fate{}
	select {
	case c.fates <- f:
		return f
	default:
		return nil
	}
}

func (c *crowd) submit(lane, from int, body func()) {
	k := lanes[lane]
	if !k.has(c.l) {
		return
	}
	f := c.book()
	if f == nil {
		return
	}
	s := &c.sources[from]
	s.issued[lane]++
	number := s.issued[lane]
	err := k.run(c.l, c.callback(f, body, func() {
		if number <= s.ran[lane] {
			c.t.Errorf("%s %d of source %d ran after %s %d", k.name, number, from, k.name, s.ran[lane])
		}
		s.ran[lane] = number
	}))
	f.accepted = err == nil
	c.t.want(k.name, err, nil, loopapi.ErrLoopTerminated)
}

func (c *crowd) callback(f *fate, body, begins func()) func() {
	return func() {
		if c.inside++; c.inside != 1 {
			c.t.Errorf("two callbacks run at the same time")
		}
		defer func() { c.inside-- }()
		f.runs.Add(1)
		begins()
		body()
	}
}

func (c *crowd) schedule(o operation, from int, body func()) {
	if c.l.timers == nil {
		return
	}
	f := c.book()
	if f == nil {
		return
	}
	id, err := c.l.timers.ScheduleTimer(delays[o.digit], c.callback(f, body, func() {}))
	f.accepted, f.isTimer, f.timer = err == nil, true, id
	c.t.want("ScheduleTimer", err, nil, loopapi.ErrLoopTerminated)
	if err == nil {
		s := &c.sources[from]
		s.timers = append(s.timers, f)
	}
}

// cancel cancels one of the source's own timers.
func (c *crowd) cancel(o operation, from int) {
	timers := c.sources[from].timers
	if i := len(timers) - 1 - o.digit; i >= 0 {
		err := c.l.timers.CancelTimer(timers[i].timer)
		c.t.want("CancelTimer", err, nil, loopapi.ErrTimerNotFound)
		if err == nil && timers[i].cancelled {
			c.t.Errorf("a timer was cancelled twice")
		}
		timers[i].cancelled = timers[i].cancelled || err == nil
	}
}

// audit checks the fates of all functions when the loop has ended.
func (c *crowd) audit() {
	var lost, doubled, rogue, revived int
	for range len(c.fates) {
		f := <-c.fates
		switch n := f.runs.Load(); {
		case n > 1:
			doubled++
		case n == 1 && !f.accepted:
			rogue++
		case n == 1 && f.cancelled:
			revived++
		case n == 0 && f.accepted && !f.isTimer && !c.closed.Load():
			lost++
		}
	}
	if lost+doubled+rogue+revived > 0 {
		c.t.Errorf("%d accepted functions never ran, %d ran twice, %d ran although they were refused, %d although cancelled",
			lost, doubled, rogue, revived)
	}
}
