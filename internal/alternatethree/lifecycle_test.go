package alternatethree_test

// The end.

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/turnloop/turnloop/internal/alternatethree"
	"github.com/turnloop/turnloop/internal/beat"
	"github.com/turnloop/turnloop/internal/loopapi"
	"github.com/turnloop/turnloop/internal/rival"
)

// TestPhasesOfTheEnd looks at a loop whose poller is being closed: work is refused, timers are dropped, and the end has not come.
func TestPhasesOfTheEnd(t *testing.T) {
	p := newFake()
	l, run := newOn(t, p)
	id, err := l.ScheduleTimer(time.Hour, func() {})
	must(t, err)
	p.when("Close", func() error {
		if err := l.CancelTimer(id); err != loopapi.ErrTimerNotFound {
			t.Errorf("when the poller is closed a timer is still pending: %v", err)
		}
		if err := l.SubmitInternal(func() {}); err != loopapi.ErrLoopTerminated {
			t.Errorf("when the poller is closed internal work is still accepted: %v", err)
		}
		select {
		case <-l.Done():
			t.Error("Done is closed before the poller")
		default:
		}
		if s := l.State(); s != loopapi.StateTerminating {
			t.Errorf("when the poller is closed the state is %v", s)
		}
		return nil
	})
	beat.Receive(t, p.asleep, "the loop to sleep")
	must(t, l.Shutdown(context.Background()))
	must(t, <-run)
	if p.count("Close") != 1 || l.State() != loopapi.StateTerminated {
		t.Errorf("after the end the poller was closed %d times and the state is %v", p.count("Close"), l.State())
	}
}

// TestFailuresOfThePoller has the system refuse to open the poller, which New returns, and to close it, which is logged.
func TestFailuresOfThePoller(t *testing.T) {
	open := func() (rival.Poller, error) { return nil, errInjected }
	_, err := alternatethree.NewOn(loopapi.Config{}, open)
	if !errors.Is(err, errInjected) || !strings.Contains(err.Error(), "open the poller") {
		t.Errorf("New returned %v", err)
	}
	p, log := newFake(), newDiary(t)
	p.failing("Close", errInjected, 1)
	l, run := newOn(t, p)
	beat.Receive(t, p.asleep, "the loop to sleep")
	must(t, l.Shutdown(context.Background()))
	must(t, <-run)
	if log.count("eventloop: close the poller: injected") != 1 {
		t.Error("the failure was not logged once")
	}
}

// awaitQueued waits until a goroutine within the function is in the queue of a mutex.
func awaitQueued(t *testing.T, function string) {
	t.Helper()
	stacks := make([]byte, 1<<20)
	beat.Eventually(t, func() bool {
		for g := range strings.SplitSeq(string(stacks[:runtime.Stack(stacks, true)]), "\n\n") {
			if strings.Contains(g, " [sync.Mutex.Lock") && strings.Contains(g, function) {
				return true
			}
		}
		return false
	}, function+" in the queue of a mutex")
}

// TestCloseWhileTheLoopWaitsForALock closes between the end of a callback and the loop's way to the next. Close has
// returned by the time the loop gets the lock, so nothing may start.
func TestCloseWhileTheLoopWaitsForALock(t *testing.T) {
	for what, row := range map[string]struct {
		lock    func(l *alternatethree.Loop) (unlock func())
		prepare func(l *alternatethree.Loop, stop, late func()) // stop has the loop wait until the lock is held
	}{
		"microtask": {(*alternatethree.Loop).LockIngress, func(l *alternatethree.Loop, stop, late func()) {
			must(t, l.Submit(func() {
				must(t, l.ScheduleMicrotask(late))
				must(t, l.SubmitInternal(func() {})) // so that the loop wants the lock
				stop()
			}))
		}},
		"task": {(*alternatethree.Loop).LockIngress, func(l *alternatethree.Loop, stop, late func()) {
			must(t, l.Submit(func() {
				must(t, l.SubmitInternal(func() {}))
				stop()
			}))
			must(t, l.Submit(late))
		}},
		"timer": {(*alternatethree.Loop).LockTimers, func(l *alternatethree.Loop, stop, late func()) {
			for _, fn := range []func(){stop, late} {
				_, err := l.ScheduleTimer(0, fn)
				must(t, err)
			}
			time.Sleep(time.Millisecond) // both are due in the first tick
		}},
	} {
		t.Run(what, func(t *testing.T) {
			l := newUnstarted(t, loopapi.Config{})
			reached, release := make(chan struct{}), make(chan struct{})
			row.prepare(l, func() { close(reached); <-release }, func() { t.Error("started after Close had returned") })
			go func() { _ = l.Run(context.Background()) }()
			beat.Receive(t, reached, "the callback before it")
			unlock := row.lock(l)
			closed := make(chan error, 1)
			go func() { closed <- l.Close() }()
			if what == "timer" { // Close does not want this lock
				must(t, beat.Receive(t, closed, "Close"))
			} else {
				awaitQueued(t, "(*Loop).Close(") // first in the queue, before the loop
			}
			close(release)
			awaitQueued(t, "(*Loop).serve(")
			unlock()
			beat.Receive(t, l.Done(), "the end")
		})
	}
}
