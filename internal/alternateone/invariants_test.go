package alternateone_test

// Invariants broken on purpose: each is found, and its panic tells what happened and is not swallowed.

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/turnloop/turnloop/internal/alternateone"
	"github.com/turnloop/turnloop/internal/beat"
	"github.com/turnloop/turnloop/internal/loopapi"
	"github.com/turnloop/turnloop/internal/poller"
	"github.com/turnloop/turnloop/internal/rival"
)

func newLoop(t *testing.T, cfg loopapi.Config) *alternateone.Loop {
	t.Helper()
	l, err := alternateone.New(cfg)
	must(t, err)
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// start runs a loop on a goroutine of its own; the channel gets what Run returns.
func start(t *testing.T, l *alternateone.Loop) <-chan error {
	result := make(chan error, 1)
	go func() { result <- l.Run(context.Background()) }()
	do(t, l, noop)
	return result
}

// do runs fn on the loop and waits for it.
func do(t *testing.T, l *alternateone.Loop, fn func()) {
	t.Helper()
	done := make(chan struct{})
	must(t, l.Submit(func() { defer close(done); fn() }))
	beat.Receive(t, done, "a task")
}

func awaitSleep(t *testing.T, l *alternateone.Loop) {
	t.Helper()
	beat.Eventually(t, func() bool { return l.State() == loopapi.StateSleeping }, "the loop to sleep")
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func noop() {}

// fill gives the loop two of everything, and more timers.
func fill(t *testing.T, l *alternateone.Loop) {
	t.Helper()
	for range 2 {
		must(t, l.Submit(noop), l.SubmitInternal(noop), l.ScheduleMicrotask(noop))
	}
	for i := range 12 {
		_, err := l.ScheduleTimer(time.Duration(i)*time.Hour, noop)
		must(t, err)
	}
}

// violation runs fn and returns the LoopError of the invariant that it violates.
func violation(t *testing.T, fn func()) (e *alternateone.LoopError) {
	t.Helper()
	defer func() {
		t.Helper()
		e, _ = recover().(*alternateone.LoopError)
		if e == nil {
			t.Fatal("no panic with a *LoopError: the broken invariant was not found")
		}
		if e.Op == "" || e.Phase == "" || !errors.Is(e, alternateone.ErrInvariant) || e.Context["loop"] == nil {
			t.Errorf("the violation does not tell operation, phase, cause and context: %+v", e)
		}
		for _, part := range []string{e.Op, e.Phase, e.Cause.Error(), "loop:"} {
			if !strings.Contains(e.Error(), part) {
				t.Errorf("the message %q does not tell %q", e.Error(), part)
			}
		}
	}()
	fn()
	return nil
}

// broken expects the loop to be at its end, and its methods to say why.
func broken(t *testing.T, l *alternateone.Loop) {
	t.Helper()
	ctx, cancel := beat.Context(context.Background())
	defer cancel()
	for method, err := range map[string]error{"SubmitInternal": l.SubmitInternal(noop), "Shutdown": l.Shutdown(ctx)} {
		if !errors.Is(err, loopapi.ErrLoopTerminated) || !errors.Is(err, alternateone.ErrInvariant) {
			t.Errorf("%s of a loop with a broken invariant returned %v", method, err)
		}
	}
	beat.Receive(t, l.Done(), "Done of a loop with a broken invariant")
}

func TestInvariants(t *testing.T) {
	for _, row := range alternateone.Breaks {
		t.Run(row.Name, func(t *testing.T) {
			l := newLoop(t, loopapi.Config{})
			fill(t, l)
			row.Break(l)
			if e := violation(t, func() { row.Find(l) }); e.Op != row.Op {
				t.Errorf("the operation is %q, want %q: %v", e.Op, row.Op, e)
			}
			broken(t, l)
		})
	}
}

// TestInvariantsOfRunning breaks what has to do with the state, the owner and the poller.
func TestInvariantsOfRunning(t *testing.T) {
	failed := errors.New("the poller fails on purpose")
	for name, row := range map[string]struct {
		prepare, find func(l *alternateone.Loop)
		cause         error
	}{
		"another goroutine decides": {find: (*alternateone.Loop).Next},
		"no such state": {func(l *alternateone.Loop) { l.SetState(3) }, func(l *alternateone.Loop) {
			defer l.SetState(loopapi.StateAwake) // so that it can be closed
			l.State()
		}, nil},
		"another owner":            {func(l *alternateone.Loop) { must(t, l.Submit(l.Disown)) }, alternateone.RunHere, nil},
		"a callback after the end": {func(l *alternateone.Loop) { must(t, l.Close()) }, (*alternateone.Loop).Callback, nil},
		"the poller fails": {func(l *alternateone.Loop) {
			spyOn(t, l, &spy{before: func(method string) error {
				if method == "Wait" {
					return failed
				}
				return nil
			}})
		}, alternateone.RunHere, failed},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLoop(t, loopapi.Config{})
			if row.prepare != nil {
				row.prepare(l)
			}
			if e := violation(t, func() { row.find(l) }); row.cause != nil && !errors.Is(e, row.cause) {
				t.Errorf("the violation %v does not tell the cause", e)
			}
		})
	}
}

// TestTransitions takes every step between any two states. All but seven panic.
func TestTransitions(t *testing.T) {
	type step struct{ from, to loopapi.State }
	const awake, terminated, sleeping, running, terminating = loopapi.StateAwake, loopapi.StateTerminated,
		loopapi.StateSleeping, loopapi.StateRunning, loopapi.StateTerminating
	legal := map[step]bool{
		{awake, running}: true, {awake, terminating}: true, {running, sleeping}: true, {running, terminating}: true,
		{sleeping, running}: true, {sleeping, terminating}: true, {terminating, terminated}: true,
	}
	l := newLoop(t, loopapi.Config{})
	defer l.SetState(awake)
	for from := loopapi.State(-1); from <= 6; from++ {
		for to := loopapi.State(-1); to <= 6; to++ {
			l.SetState(from)
			want := to
			if legal[step{from, to}] {
				l.Transition(to)
			} else {
				want = from
				violation(t, func() { l.Transition(to) })
			}
			if got := l.RawState(); got != want {
				t.Errorf("the transition from %d to %d came to %d, want %d", from, to, got, want)
			}
		}
	}
	violation(t, l.MoveStale)
}

// TestViolationInCallback has a callback come upon a broken invariant. Neither the isolation of callbacks nor a recover
// of the callback's own keeps Run from panicking, and those who wait hear of the end.
func TestViolationInCallback(t *testing.T) {
	other := newLoop(t, loopapi.Config{})
	must(t, other.Submit(noop))
	other.Miscount(1)
	for name, callback := range map[string]func(l *alternateone.Loop){
		"passed on": func(l *alternateone.Loop) { _ = l.Submit(noop) },
		"recovered and repaired": func(l *alternateone.Loop) {
			defer l.Miscount(-1)
			defer func() { _ = recover() }()
			_ = l.Submit(noop)
		},
		"of another loop": func(*alternateone.Loop) { _ = other.Submit(noop) },
	} {
		t.Run(name, func(t *testing.T) {
			l := newLoop(t, loopapi.Config{OnPanic: func(e *loopapi.PanicError) {
				t.Errorf("the violated invariant was reported as a panic of the callback: %v", e)
			}})
			must(t, l.Submit(func() {
				_ = l.Submit(noop)
				l.Miscount(1)
				callback(l)
			}), l.SubmitInternal(noop))
			violation(t, func() { alternateone.RunHere(l) })
			broken(t, l)
		})
	}
}

// spy is a poller whose calls can be watched, and can fail.
type spy struct {
	rival.Poller
	before func(method string) error // a Wait, Wake or Add; the call fails with its error
	after  func()                    // a Wait
}

// spyOn has a fresh loop wait with s.
func spyOn(t *testing.T, l *alternateone.Loop, s *spy) *alternateone.Loop {
	t.Helper()
	p, err := poller.New()
	must(t, err)
	s.Poller = p
	must(t, l.UsePoller(s))
	return l
}

func (s *spy) Wait(timeout time.Duration) ([]poller.Event, error) {
	if err := s.before("Wait"); err != nil {
		return nil, err
	}
	events, err := s.Poller.Wait(timeout)
	if s.after != nil {
		s.after()
	}
	return events, err
}

func (s *spy) Wake() error { return unless(s.before("Wake"), s.Poller.Wake) }
func (s *spy) Add(fd int, events loopapi.IOEvents, tag uint32) error {
	return unless(s.before("Add"), func() error { return s.Poller.Add(fd, events, tag) })
}

// unless calls fn unless there is an error already.
func unless(err error, fn func() error) error {
	if err != nil {
		return err
	}
	return fn()
}
