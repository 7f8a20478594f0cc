//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package main

// The canary: loops with one flaw each, and tests that fail and that hang. Checks that do not find them prove nothing.

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/turnloop/turnloop/eventloop"
)

// flaw is a mistake, and the check that must find it.
type flaw struct {
	name   string
	check  func(r *run, newLoop maker)
	target int64 // the check must find it within so many steps
	flawed func(l loop) loop
}

// flaws are rare where they can be: a check that finds only what happens all the time is of little use.
var flaws = []flaw{
	{"one task in a million is lost", tasks, 10_000_000, func(l loop) loop {
		return &meddler{loop: l, each: 1_000_000, submit: func(func()) error { return nil }}
	}},
	{"one task in a million runs twice", tasks, 10_000_000, func(l loop) loop {
		return &meddler{loop: l, each: 1_000_000, submit: func(fn func()) error { return l.Submit(func() { fn(); fn() }) }}
	}},
	{"one task in ten thousand overtakes", tasks, 10_000_000, func(l loop) loop {
		return &meddler{loop: l, each: 10_007, submit: l.SubmitInternal}
	}},
	{"one task in a thousand keeps a kilobyte", tasks, 10_000_000, func(l loop) loop {
		var kept [][]byte // by the function below, which the loop keeps
		return &meddler{loop: l, each: 1000, submit: func(fn func()) error {
			kept = append(kept, make([]byte, 1024))
			return l.Submit(fn)
		}}
	}},
	{"what comes too late is accepted", ends, 300_000, func(l loop) loop { return &hospitable{l} }},
	{"Shutdown drops what waits", ends, 300_000, func(l loop) loop { return &hasty{l} }},
	{"Shutdown hangs, one time in a thousand", ends, 300_000, func(l loop) loop { return &stuck{l} }},
	{"one wake-up in ten thousand is lost", wakes(auto, false), 1_000_000, func(l loop) loop { return &sleepy{loop: l} }},
	{"one wake-up in ten thousand is lost, with a descriptor", wakes(auto, true), 1_000_000, func(l loop) loop { return &sleepy{loop: l} }},
	{"one wake-up in ten thousand is lost, in Disabled", wakes(disabled, true), 1_000_000, func(l loop) loop { return &sleepy{loop: l} }},
	{"one life in a hundred leaves a goroutine", lifecycles, 2000, leaky(func() { go func() { select {} }() })},
	{"one life in a hundred leaves a descriptor", lifecycles, 2000, leaky(func() { _, _ = syscall.Dup(0) })},
	{"one life in a hundred leaves forty kilobytes", lifecycles, 10_000, leaky(func() {
		leaked = append(leaked, make([]byte, 40<<10))
	})},
	{"timers are a tenth early", signals, 1_000_000, func(l loop) loop { return &eager{l} }},
	{"one timer in a hundred is late", signals, 1_000_000, func(l loop) loop { return &tardy{loop: l} }},
}

// try runs the check on loops with the flaw.
func (f flaw) try(ctx context.Context, seed uint64) *run {
	defer func() { leaked = nil }()
	s := station{name: f.name, target: f.target, unit: "steps", share: 1}
	r := s.begin(ctx, seed, time.Minute)
	defer r.stop()
	f.check(r, func(mode eventloop.FastPathMode) (loop, error) {
		l, err := sound(mode)
		if err != nil {
			return nil, err
		}
		return f.flawed(l), nil
	})
	r.control.close()
	return r
}

// canary runs each check on each flaw, and the suite on a test that fails now and then, and on one that hangs.
func canary(r *run) {
	for _, f := range flaws {
		if r.ctx.Err() != nil {
			return
		}
		switch inner := f.try(r.ctx, r.seed); {
		case inner.failed():
			fmt.Printf("soak:     %s: %s\n", f.name, inner.failures[0])
			r.reached.Add(1)
		case r.ctx.Err() == nil:
			r.failf("%s, and %d steps do not show it", f.name, inner.reached.Load())
		}
	}
	executable, err := os.Executable()
	if err != nil {
		r.failf("%v", err)
	}
	fake := func(t *tally, limit time.Duration, name string) {
		t.once(r.ctx, limit, "", []string{fakeTest + "=" + name}, executable)
	}
	var now, never tally
	for i := range 20 {
		fake(&now, mostTime, string(rune('a'+i)))
	}
	switch {
	case r.ctx.Err() != nil:
		return
	case now.failed == 1 && now.passed == 19:
		r.reached.Add(1)
	default:
		r.failf("of 20 runs of which one fails %d are said to pass and %d to fail", now.passed, now.failed)
	}
	fake(&never, time.Second, "hang")
	switch {
	case r.ctx.Err() != nil:
	case never.failed == 1:
		r.reached.Add(1)
	default:
		r.failf("a test that hangs does not count as failed")
	}
}

// meddler gives one of each so many tasks to submit instead of the loop.
type meddler struct {
	loop
	each   int64
	n      atomic.Int64
	mu     sync.Mutex // held over submit
	submit func(fn func()) error
}

func (m *meddler) Submit(fn func()) error {
	if m.n.Add(1)%m.each != 0 {
		return m.loop.Submit(fn)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.submit(fn)
}

// hospitable accepts what it cannot run.
type hospitable struct{ loop }

func (h *hospitable) SubmitInternal(fn func()) error {
	_ = h.loop.SubmitInternal(fn)
	return nil
}

// hasty ends at once.
type hasty struct{ loop }

func (h *hasty) Shutdown(context.Context) error { return h.loop.Close() }

// stuck does not come back from Shutdown, at times.
type stuck struct{ loop }

func (s *stuck) Shutdown(ctx context.Context) error {
	if rand.IntN(1000) == 0 {
		select {}
	}
	return s.loop.Shutdown(ctx)
}

// sleepy submits a task late, at times.
type sleepy struct {
	loop
	n int
}

func (s *sleepy) Submit(fn func()) error {
	if s.n++; s.n%10_000 == 0 {
		time.AfterFunc(3*longStall/2, func() { s.loop.Submit(fn) })
		return nil
	}
	return s.loop.Submit(fn)
}

// leaked is what flawed loops leave.
var leaked [][]byte

// leaky leaves something behind at the end of one loop in a hundred.
func leaky(leak func()) func(l loop) loop {
	return func(l loop) loop {
		if rand.IntN(100) == 0 {
			leak()
		}
		return l
	}
}

// eager makes timers fire early.
type eager struct{ loop }

func (e *eager) ScheduleTimer(delay time.Duration, fn func()) (eventloop.TimerID, error) {
	return e.loop.ScheduleTimer(delay*9/10, fn)
}

// tardy makes one timer in a hundred fire late.
type tardy struct {
	loop
	n int
}

func (l *tardy) ScheduleTimer(delay time.Duration, fn func()) (eventloop.TimerID, error) {
	if l.n++; l.n%100 == 0 {
		delay += 2 * longStall
	}
	return l.loop.ScheduleTimer(delay, fn)
}
