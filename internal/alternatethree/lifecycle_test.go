package alternatethree_test

// States, configuration, and the end.

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/turnloop/turnloop/internal/alternatethree"
	"github.com/turnloop/turnloop/internal/loopapi"
	"github.com/turnloop/turnloop/internal/race"
)

// TestTransitions tries every transition from every state.
func TestTransitions(t *testing.T) {
	const awake, terminated, sleeping, running, terminating = loopapi.StateAwake, loopapi.StateTerminated,
		loopapi.StateSleeping, loopapi.StateRunning, loopapi.StateTerminating
	states := []loopapi.State{awake, terminated, sleeping, running, terminating}
	for _, row := range []struct {
		name string
		step func(s *alternatethree.StateWord) bool
		to   map[loopapi.State]loopapi.State // where it is allowed
	}{
		{"start", (*alternatethree.StateWord).Start, map[loopapi.State]loopapi.State{awake: running}},
		{"sleep", (*alternatethree.StateWord).Sleep, map[loopapi.State]loopapi.State{running: sleeping}},
		{"wake", (*alternatethree.StateWord).Wake, map[loopapi.State]loopapi.State{sleeping: running}},
		{"terminate", func(s *alternatethree.StateWord) bool { _, ok := s.Terminate(); return ok },
			map[loopapi.State]loopapi.State{awake: terminating, sleeping: terminating, running: terminating}},
		{"terminated", func(s *alternatethree.StateWord) bool {
			before := s.Load()
			s.Terminated()
			return s.Load() != before
		}, map[loopapi.State]loopapi.State{terminating: terminated}},
	} {
		for _, from := range states {
			var s alternatethree.StateWord
			s.Set(from)
			to, allowed := row.to[from]
			if !allowed {
				to = from
			}
			if ok := row.step(&s); ok != allowed || s.Load() != to {
				t.Errorf("%s from %v: %v and then %v, want %v and %v", row.name, from, ok, s.Load(), allowed, to)
			}
		}
	}
}

func TestConfig(t *testing.T) {
	for name, cfg := range map[string]loopapi.Config{
		"QueueLimit": {QueueLimit: -1}, "TickBudget": {TickBudget: -1}, "MicrotaskBudget": {MicrotaskBudget: -1},
	} {
		if _, err := alternatethree.New(cfg); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("New with %s out of range returned %v", name, err)
		}
	}
	if _, err := alternatethree.New(loopapi.Config{AutoExit: true}); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("New with AutoExit returned %v", err)
	}
}

func TestNewReturnsTheSystemsError(t *testing.T) {
	open := func() (alternatethree.SystemPoller, error) { return nil, errInjected }
	_, err := alternatethree.NewOn(loopapi.Config{}, open)
	if !errors.Is(err, errInjected) || !strings.Contains(err.Error(), "open the poller") {
		t.Errorf("New returned %v", err)
	}
}

// TestPhasesOfTheEnd looks at the order: work, timers, poller, Done.
func TestPhasesOfTheEnd(t *testing.T) {
	p := newFake()
	l, run := newOn(t, p)
	var order []string // the loop's, and after it the test's
	note := func(what string) func() { return func() { order = append(order, what) } }
	id, err := l.ScheduleTimer(time.Hour, note("timer"))
	must(t, err)
	p.onClose = func() {
		note("poller")()
		if err := l.CancelTimer(id); err != loopapi.ErrTimerNotFound {
			t.Errorf("when the poller is closed a timer is still pending: %v", err)
		}
		if err := l.SubmitInternal(note("late")); err != loopapi.ErrLoopTerminated {
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
	}
	inside, open := make(chan struct{}), make(chan struct{})
	must(t, l.SubmitInternal(func() { close(inside); <-open }))
	await(t, inside, "an internal task")
	must(t, l.Submit(func() {
		note("external")()
		must(t, l.SubmitInternal(func() {
			note("internal")()
			must(t, l.ScheduleMicrotask(note("microtask")))
		}))
	}))
	ended := make(chan error, 1)
	go func() { ended <- l.Shutdown(context.Background()) }()
	eventually(t, func() bool { return l.State() == loopapi.StateTerminating }, "the loop to terminate")
	close(open)
	must(t, <-ended)
	must(t, <-run)
	if want := []string{"external", "internal", "microtask", "poller"}; !slices.Equal(order, want) {
		t.Errorf("the end ran %v, want %v", order, want)
	}
	if p.count("Close") != 1 || l.State() != loopapi.StateTerminated {
		t.Errorf("after the end the poller was closed %d times and the state is %v", p.count("Close"), l.State())
	}
}

func TestFailedCloseOfThePollerIsLogged(t *testing.T) {
	p, log := newFake(), &diary{}
	p.failing("Close", errInjected, 0)
	l, run := newOn(t, p, log.option())
	await(t, p.asleep, "the loop to sleep")
	must(t, l.Shutdown(context.Background()))
	must(t, <-run)
	if log.count("eventloop: close the poller: injected") != 1 {
		t.Error("the failure was not logged once")
	}
}

// TestGoexitStarvesNothing has timers that end the loop's goroutine each time and re-arm themselves.
func TestGoexitStarvesNothing(t *testing.T) {
	var reports atomic.Int64
	l := newRunning(t, loopapi.Config{OnPanic: func(e *loopapi.PanicError) {
		if !errors.Is(e, loopapi.ErrGoexit) {
			t.Errorf("reported: %v", e)
		}
		reports.Add(1)
	}})
	var again func()
	again = func() {
		if _, err := l.ScheduleTimer(0, again); err == nil {
			runtime.Goexit()
		}
	}
	_, err := l.ScheduleTimer(0, again)
	must(t, err)
	for range 100 {
		ran := make(chan struct{})
		must(t, l.Submit(func() { close(ran) }))
		await(t, ran, "a task beside a timer that always calls Goexit")
	}
	must(t, l.Shutdown(context.Background()))
	if reports.Load() == 0 {
		t.Error("Goexit was not reported")
	}
}

// TestShutdownLosesNothing races producers with Shutdown, many times.
func TestShutdownLosesNothing(t *testing.T) {
	races := 100_000
	if testing.Short() || race.Enabled {
		races = 1000
	}
	for race := range races {
		l, err := alternatethree.New(loopapi.Config{})
		must(t, err)
		const producers = 2
		var ran atomic.Int64
		accepted := make(chan int64, producers)
		run := make(chan error, 1)
		go func() { run <- l.Run(context.Background()) }()
		for p := range producers {
			go func() {
				var n int64
				lane := l.Submit
				if p == 1 {
					lane = l.SubmitInternal
				}
				for ; n < 1000; n++ {
					if err := lane(func() { ran.Add(1) }); err != nil {
						if err != loopapi.ErrLoopTerminated {
							panic(fmt.Sprint("a submission was refused with ", err))
						}
						break
					}
				}
				accepted <- n
			}()
		}
		for range race % 8 {
			runtime.Gosched()
		}
		must(t, l.Shutdown(context.Background()))
		if got, want := ran.Load(), <-accepted+<-accepted; got != want {
			t.Fatalf("race %d: of %d accepted tasks %d had run when Shutdown returned", race, want, got)
		}
		if err := <-run; err != nil && err != loopapi.ErrLoopTerminated {
			t.Fatalf("race %d: Run returned %v", race, err)
		}
	}
}

// awaitQueued waits until a goroutine within the function is in the queue of a mutex.
func awaitQueued(t *testing.T, function string) {
	t.Helper()
	stacks := make([]byte, 1<<20)
	eventually(t, func() bool {
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
	late := func(what string) func() {
		return func() { t.Errorf("a %s started after Close had returned", what) }
	}
	// Close comes first in the queue for the ingress's lock, and the loop second.
	closeFirst := func(l *alternatethree.Loop) (release func()) {
		unlock := l.LockIngress()
		closed := make(chan error, 1)
		go func() { closed <- l.Close() }()
		awaitQueued(t, "(*Loop).Close(")
		return func() {
			awaitQueued(t, "(*Loop).serve(")
			unlock()
			if err := <-closed; err != nil {
				t.Errorf("Close returned %v", err)
			}
		}
	}
	for what, prepare := range map[string]func(l *alternatethree.Loop, stop func()){
		"microtask": func(l *alternatethree.Loop, stop func()) {
			must(t, l.Submit(func() {
				must(t, l.ScheduleMicrotask(late("microtask")))
				must(t, l.SubmitInternal(func() {})) // so that the loop wants the lock
				stop()
			}))
		},
		"task": func(l *alternatethree.Loop, stop func()) {
			must(t, l.Submit(func() {
				must(t, l.ScheduleMicrotask(func() {}))
				must(t, l.ScheduleMicrotask(func() {})) // beyond the budget: the report comes behind the checkpoint
			}))
			must(t, l.Submit(late("task")))
		},
	} {
		var l *alternatethree.Loop
		reached, release := make(chan struct{}), make(chan func(), 1)
		stop := func() { close(reached); <-release }
		l, err := alternatethree.New(loopapi.Config{MicrotaskBudget: 1, OnOverload: func(error) {
			must(t, l.SubmitInternal(func() {}))
			stop()
		}})
		must(t, err)
		prepare(l, stop)
		go func() { _ = l.Run(context.Background()) }()
		await(t, reached, what)
		unlock := closeFirst(l)
		release <- nil
		unlock()
		await(t, l.Done(), "the end")
	}

	l := newUnstarted(t, loopapi.Config{})
	reached, release := make(chan struct{}), make(chan struct{})
	_, err := l.ScheduleTimer(0, func() { close(reached); <-release })
	must(t, err)
	_, err = l.ScheduleTimer(0, late("timer"))
	must(t, err)
	time.Sleep(time.Millisecond) // both are due in the first tick
	go func() { _ = l.Run(context.Background()) }()
	await(t, reached, "a timer")
	unlock := l.LockTimers()
	close(release)
	awaitQueued(t, "(*Loop).Run(")
	must(t, l.Close())
	unlock()
	await(t, l.Done(), "the end")
}
