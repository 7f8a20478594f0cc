package programs

// The steps: what a program may do.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"time"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/flow"
)

var errCause = errors.New("part of the program")

// step is something that an actor may do.
type step struct {
	in    place
	often int  // of a hundred times that chance comes to it
	ends  bool // the loop, or work: only where the end may come at any time
	do    func(a *actor)
}

var steps []step

func init() { // since functions that are handed over take steps themselves
	steps = []step{
		{anywhere, 100, false, func(a *actor) { s := a.any(); a.give(s, "task", "task", nil, s.l.Submit) }},
		{anywhere, 60, false, func(a *actor) { s := a.any(); a.give(s, "internal", "internal", nil, s.l.SubmitInternal) }},
		{anywhere, 60, false, func(a *actor) { s := a.any(); a.give(s, "microtask", "microtask", nil, s.l.ScheduleMicrotask) }},
		{anywhere, 40, false, func(a *actor) { s := a.any(); a.give(s, "tick", "tick", nil, s.l.NextTick) }},
		{anywhere, 100, false, (*actor).groupTask},
		{anywhere, 100, false, func(a *actor) { a.timer(a.any(), a.rng.IntN(20), nil) }},
		{anywhere, 60, false, (*actor).changeTimer},
		{anywhere, 100, false, (*actor).promise},
		{anywhere, 60, false, func(a *actor) { a.work(a.any(), nil) }},
		{anywhere, 60, false, (*actor).promisify},
		{anywhere, 40, false, (*actor).hold},
		{anywhere, 30, false, (*actor).afterEnd},
		{anywhere, 30, false, (*actor).look},
		{anywhere, 20, false, (*actor).mode},
		{anywhere, 60, false, (*actor).descriptor},
		{offLoop, 100, false, func(*actor) { runtime.Gosched() }},
		{offLoop, 30, false, func(a *actor) { time.Sleep(time.Duration(a.rng.IntN(300)) * time.Microsecond) }},
		{anywhere, 30, false, (*actor).reenter},
		{onLoop | hooked | worker, 25, false, (*actor).fail},

		{offLoop | callback, 60, false, (*actor).call},
		{anywhere, 40, false, (*actor).sleep},
		{anywhere, 40, false, (*actor).retry},
		{anywhere, 40, false, (*actor).repeat},

		{anywhere, 100, false, (*actor).threadlet},
		{anywhere, 40, false, (*actor).meet},
		{thread, 200, false, (*actor).wait},
		{onLoop, 40, false, (*actor).pass},

		{anywhere, 60, false, (*actor).timeout},
		{anywhere, 40, false, (*actor).immediate},
		{anywhere, 40, false, (*actor).interval},
		{anywhere, 60, false, (*actor).abort},

		{anywhere, 2, true, func(a *actor) { a.any().l.RefuseWork() }},
		{anywhere, 2, true, func(a *actor) { a.w.end(a) }},
	}
}

func (a *actor) groupTask() {
	if g := a.w.group; g != nil {
		fails := a.rng.IntN(4) == 0
		a.give(nil, "task of the group", "", func() {
			if a.w.here().turn("task"); fails {
				panic(errCause) // others of the group wait behind it
			}
		}, g.Submit)
	}
}

// timer schedules a timer; pick chooses its delay, 0 a short one.
func (a *actor) timer(s *site, pick int, first func()) (h *handed, ok bool) {
	tm, delay := &timer{at: s}, short[a.rng.IntN(len(short))]
	if tm.far = pick == 1; tm.far {
		delay = long
	}
	tier := []eventloop.TimerTier{eventloop.TimerNormal, eventloop.TimerNormal, eventloop.TimerCritical, eventloop.TimerBackground}[a.rng.IntN(4)]
	began := time.Now()
	rings := func() {
		if s.turn("timer"); time.Since(began) < delay {
			a.w.errorf("a timer of %v rings %v after it was set", delay, time.Since(began))
		}
		if first != nil {
			first()
		}
	}
	h, ok = a.give(s, fmt.Sprintf("timer of %v", delay), fmt.Sprintf("timers of %v, tier %d,", max(delay, 0), tier), rings, func(fn func()) (err error) {
		tm.id, err = s.l.ScheduleTimerAs(tier, delay, fn)
		return err
	})
	tm.handed = h
	if ok {
		if tm.far || a.w.way == anytime {
			h.due.Store(open)
		}
		a.w.mu.Lock()
		a.w.timers = append(a.w.timers, tm)
		a.w.mu.Unlock()
		if tm.far { // or a loop that exits by itself never does
			a.w.lease(func() { _ = s.l.CancelTimer(tm.id) })
		}
	}
	return h, ok
}

// changeTimer cancels a timer, or changes whether the loop lives on for it.
func (a *actor) changeTimer() {
	a.w.mu.Lock()
	var tm *timer
	if n := len(a.w.timers); n > 0 {
		tm = a.w.timers[a.rng.IntN(n)]
	}
	a.w.mu.Unlock()
	if tm == nil {
		return
	}
	var err error
	switch a.rng.IntN(3) {
	case 0:
		if err = tm.at.l.CancelTimer(tm.id); err == nil {
			tm.due.Store(never)
		}
	case 1:
		if a.w.way == exits {
			tm.due.CompareAndSwap(must, open)
		}
		err = tm.at.l.UnrefTimer(tm.id)
	default:
		err = tm.at.l.RefTimer(tm.id)
	}
	if err != nil && !errors.Is(err, eventloop.ErrTimerNotFound) && !errors.Is(err, eventloop.ErrLoopTerminated) {
		a.w.errorf("a change of a timer: %v", err)
	}
}

// handle attaches handlers to a promise, of which one is to be called.
func (a *actor) handle(s *site, p *eventloop.Promise) {
	h := a.w.hand("handler of %d", a.source)
	seed, depth := a.rng.Uint64(), a.depth+1
	run := func() {
		s.begin(h, "", 0)
		s.actor(seed, depth).perform(4)
	}
	var q *eventloop.Promise
	switch a.rng.IntN(3) {
	case 0:
		q = p.Then(func(v any) (any, error) { run(); return v, nil }, func(err error) (any, error) { run(); return nil, err })
	case 1:
		q = p.Finally(func() error { run(); return nil })
	default:
		q = p.Then(func(any) (any, error) { run(); return p, nil }, func(error) (any, error) { run(); return nil, nil })
	}
	if st := s.l.State(); st != eventloop.StateTerminating && st != eventloop.StateTerminated {
		h.due.Store(must)
	}
	a.w.mu.Lock()
	a.w.keep = append(a.w.keep, p, q)
	a.w.mu.Unlock()
}

func (a *actor) promise() {
	s := a.any()
	p, resolve, reject := s.l.NewPromise()
	for range a.rng.IntN(3) {
		a.handle(s, p)
	}
	if a.rng.IntN(3) == 0 {
		a.hear(p)
	}
	settle := func() { resolve(7) }
	switch a.rng.IntN(4) {
	case 0:
		settle = func() { reject(errCause) }
	case 1:
		other := s.l.Promises().All(p, s.l.Promises().Resolved(1))
		a.handle(s, other)
	case 2:
		q, resolveOther, _ := a.any().l.NewPromise()
		a.later(s, func() { resolveOther(1) })
		settle = func() { resolve(q) }
	}
	a.later(s, settle)
}

// hear has a goroutine wait for a promise, which hears once.
func (a *actor) hear(p *eventloop.Promise) {
	if a.rng.IntN(2) == 0 {
		ctx := a.context()
		a.w.act(func() { _, _ = p.Await(ctx) })
		return
	}
	ch := p.ToChannel()
	a.w.act(func() {
		_, ok := <-ch
		if _, again := <-ch; !ok || again {
			a.w.errorf("who waits for a promise hears %v, and again %v", ok, again)
		}
	})
}

// function is a function of Promisify, and how often it is called.
func (a *actor) function() (called *handed, fn func(context.Context) (any, error)) {
	called = a.w.hand("worker of %d", a.source)
	seed, depth := a.rng.Uint64(), a.depth+1
	return called, func(context.Context) (any, error) {
		called.runs.Add(1)
		b := a.w.elsewhere(seed)
		b.in, b.depth = worker, depth
		if a.w.here() != nil {
			a.w.errorf("a worker is on a loop")
		}
		if b.perform(3); b.rng.IntN(3) == 0 {
			return nil, errCause
		}
		return 1, nil
	}
}

func (a *actor) work(s *site, first func()) {
	called, fn := a.function()
	_, ok := a.give(s, "what follows work", "", first, func(done func()) error {
		err := s.l.Work(a.context(), fn, func(any, error) { done() })
		if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
			err = eventloop.ErrLoopTerminated // refused as well
		}
		return err
	})
	if !ok {
		called.due.Store(never)
		if first != nil {
			first()
		}
	}
}

func (a *actor) promisify() {
	s := a.any()
	_, fn := a.function()
	p := s.l.Promisify(a.context(), fn)
	a.handle(s, p)
	a.hear(p)
}

func (a *actor) hold() {
	s := a.any()
	a.later(s, s.l.HoldNamed("part of the program"))
}

func (a *actor) afterEnd() {
	s := a.any()
	h := a.w.hand("what follows the end, of %d", a.source)
	h.survives = true
	h.due.Store(must)
	stop := s.l.AfterEnd(func() {
		h.runs.Add(1)
		select {
		case <-s.l.Done():
		default:
			a.w.errorf("%s comes before it", h.what)
		}
	})
	if a.rng.IntN(3) == 0 && stop() {
		h.due.Store(never)
	}
}

func (a *actor) look() {
	s := a.any()
	_, _, _ = s.l.Metrics(), s.l.CurrentTickTime(), s.l.Alive()
	_ = fmt.Sprint(s.l.Active())
	if a.rng.IntN(4) == 0 {
		for _, err := range []error{s.l.DumpEvents(io.Discard), s.l.DumpTrace(io.Discard)} {
			if err != nil && strings.Contains(err.Error(), "has not recorded") {
				a.w.errorf("a dump: %v", err)
			}
		}
	}
	if s.l.OnLoop() != (s == a.at) {
		a.w.errorf("OnLoop of loop %d is %v", s.i, s != a.at)
	}
}

func (a *actor) mode() {
	err := a.any().l.SetFastPathMode(eventloop.FastPathMode(a.rng.IntN(3)))
	if err != nil && !errors.Is(err, eventloop.ErrLoopTerminated) && !errors.Is(err, eventloop.ErrFastPathIncompatible) {
		a.w.errorf("a change of mode: %v", err)
	}
}

// reenter calls what is refused: Run on the loop, and waits that could never end.
func (a *actor) reenter() {
	if a.at == nil || a.in == thread {
		return
	}
	if err := a.at.l.Run(context.Background()); !errors.Is(err, eventloop.ErrReentrantRun) {
		a.w.errorf("Run on the loop: %v", err)
	}
	p, _, _ := a.at.l.NewPromise()
	if _, err := p.Await(context.Background()); !errors.Is(err, eventloop.ErrAwaitOnLoop) && !errors.Is(err, eventloop.ErrLoopTerminated) {
		a.w.errorf("Await on the loop: %v", err)
	}
	if err := a.at.l.AwaitWorkers(context.Background()); !errors.Is(err, eventloop.ErrAwaitOnLoop) {
		a.w.errorf("AwaitWorkers on the loop: %v", err)
	}
}

// call asks a loop. On a loop it asks that one: two that waited for one another would do so for ever.
func (a *actor) call() {
	s := a.any()
	if a.at != nil {
		s = a.at
	}
	var err error
	h, _ := a.give(s, "call", "", nil, func(fn func()) error {
		err = flow.Exec(a.context(), s.l, func() error { fn(); return nil })
		return nil
	})
	h.due.Store(open)
	if err == nil && h.runs.Load() != 1 {
		a.w.errorf("%s: it has run %d times", h.what, h.runs.Load())
	}
}

func (a *actor) sleep() {
	s := a.any()
	a.handle(s, flow.Sleep(a.context(), s.l, short[a.rng.IntN(len(short))]))
}

func (a *actor) retry() {
	s, attempts := a.any(), 1+a.rng.IntN(3)
	busy, made, rng := make(chan struct{}, 1), 0, a.rng.Uint64()
	p := flow.Retry(a.context(), s.l, flow.Backoff{First: short[a.rng.IntN(len(short))], Attempts: attempts,
		OnRetry: func(int, error, time.Duration) { s.begin(nil, "", 0) }},
		func(_ context.Context, attempt int) (int, error) {
			select {
			case busy <- struct{}{}:
			default:
				a.w.errorf("two attempts at the same time")
			}
			made++
			if made != attempt || made > attempts {
				a.w.errorf("attempt %d of %d, which is said to be %d", made, attempts, attempt)
			}
			<-busy
			switch rng >> (2 * attempt) & 3 {
			case 0:
				return 1, nil
			case 1:
				panic(errCause)
			}
			return 0, errCause
		})
	a.handle(s, p.Untyped())
}

// repeat has the loop call something again and again, until it is stopped on the loop.
func (a *actor) repeat() {
	s, left, seed, depth := a.any(), 1+a.rng.IntN(4), a.rng.Uint64(), a.depth+1
	var ticker *flow.Ticker
	made := make(chan struct{})
	ticker, err := flow.Every(s.l, time.Duration(1+a.rng.IntN(500))*time.Microsecond, func() {
		<-made
		if left--; left < 0 {
			a.w.errorf("what was stopped on the loop runs again")
		}
		if s.begin(nil, "", 0); left == 0 {
			ticker.Stop()
		} else if left%2 == 0 {
			ticker.Unref()
		}
		s.actor(seed+uint64(left), depth).perform(2)
	})
	close(made)
	if err == nil {
		a.w.lease(ticker.Stop)
	}
}
