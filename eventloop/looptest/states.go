package looptest

// States (D01, D04): their order, their numbers, and the one Run of a loop.

import (
	"context"
	"runtime"
	"sync/atomic"

	"github.com/turnloop/turnloop/internal/loopapi"
)

// zombie wakes a loop through every lane while it terminates, and checks that its state never moves backwards.
func zombie(t *trial) {
	t.rounds(t.scale(200), func(int) {
		l := t.start(Config{})
		l.rest()
		var stop atomic.Bool
		watching := t.async(func() {
			last := l.states.State()
			for looks := 1; !stop.Load(); looks++ {
				if looks%64 == 0 {
					runtime.Gosched() // this loop cannot be preempted on every system
				}
				s := l.states.State()
				if backwards(last, s) {
					t.Errorf("the state went from %v back to %v", last, s)
					return
				}
				last = s
			}
		})
		waker := t.async(func() {
			// Bounded: internal tasks are accepted while terminating, and would delay the end.
			for i := 0; i < 200 && !stop.Load(); i++ {
				for _, k := range l.available() {
					_ = k.run(l, noop)
				}
			}
		})
		err := l.shutdown()
		after := l.states.State()
		stop.Store(true)
		t.want("Shutdown of a loop that is being woken", err, nil)
		if err == nil && after != loopapi.StateTerminated {
			t.Errorf("after Shutdown the state is %v", after)
		}
		t.wait(waker, "the submitting goroutine")
		t.wait(watching, "the watching goroutine")
		l.returns("", nil)
	})
	// Step by step: Shutdown is called while a callback holds the loop, which is then woken.
	l := t.start(Config{})
	g := l.hold()
	stopped := l.stopping()
	for range 3 {
		t.want("SubmitInternal on a terminating loop", l.SubmitInternal(noop), nil)
		if s := l.states.State(); s != loopapi.StateTerminating {
			t.Errorf("a wake-up moved the state from terminating to %v", s)
		}
	}
	g.open()
	stopped()
	l.returns("", nil)
}

func backwards(from, to loopapi.State) bool {
	switch from {
	case loopapi.StateTerminated:
		return to != loopapi.StateTerminated
	case loopapi.StateTerminating:
		return to != loopapi.StateTerminating && to != loopapi.StateTerminated
	case loopapi.StateRunning, loopapi.StateSleeping:
		return to == loopapi.StateAwake
	}
	return false
}

// stateNumbers brings a loop into all of its states.
func stateNumbers(t *trial) {
	is := func(l *loop, where string, want loopapi.State) {
		if got := l.states.State(); got != want {
			t.Errorf("%s the state is %d, want %d (%v)", where, got, want, want)
		}
	}
	l := t.make(Config{})
	is(l, "before Run", 0)
	l.launch(context.Background())
	l.do(func() { is(l, "in a callback", 4) })
	t.eventually(func() bool { return l.states.State() == 2 }, "an idle loop to be in state 2 (sleeping)")
	t.must("SubmitInternal", l.SubmitInternal(func() {
		t.want("Shutdown from a callback", l.Shutdown(context.Background()), nil)
		is(l, "in a callback after Shutdown", 5)
	}))
	l.returns("", nil)
	is(l, "after Run", 1)

	closed := t.make(Config{})
	t.want("Close", closed.Close(), nil)
	is(closed, "after Close of a loop that never ran", 1)
}

// runOnce calls Run from many goroutines at once.
func runOnce(t *trial) {
	t.rounds(t.scale(50), func(int) {
		l := t.make(Config{})
		const callers = 16
		results := make(chan error, callers)
		for range callers {
			t.async(func() { results <- l.Run(context.Background()) })
		}
		for range callers - 1 {
			err := receive(t, results, "all but one of %d concurrent Runs to return", callers)
			t.want("the Run of a loser", err, loopapi.ErrLoopAlreadyRunning)
		}
		l.sync()
		t.want("a Run while another one runs", l.runAgain(), loopapi.ErrLoopAlreadyRunning)
		g := l.hold()
		t.want("a Run while a callback runs", l.runAgain(), loopapi.ErrLoopAlreadyRunning)
		g.open()
		t.want("Shutdown", l.shutdown(), nil)
		t.want("the Run of the winner", receive(t, results, "Run to return after Shutdown"), nil)
	})
}

// runAfterEnd calls Run on loops that were ended in every way.
func runAfterEnd(t *trial) {
	for _, s := range situations {
		if s.ended {
			s.enter(t, func(l *loop) {
				t.want("Run "+s.name, l.runAgain(), loopapi.ErrLoopTerminated)
				t.want("the second Run "+s.name, l.runAgain(), loopapi.ErrLoopTerminated)
			})
		}
	}
}
