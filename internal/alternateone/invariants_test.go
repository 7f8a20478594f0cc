package alternateone_test

// Invariants broken on purpose: each is found, and its panic tells what happened and is not swallowed.

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/turnloop/turnloop/internal/alternateone"
	"github.com/turnloop/turnloop/internal/beat"
	"github.com/turnloop/turnloop/internal/loopapi"
	"github.com/turnloop/turnloop/internal/poller"
)

var quiet = alternateone.WithLogger(slog.New(slog.NewTextHandler(io.Discard, nil)))

func newLoop(t *testing.T, cfg loopapi.Config, opts ...alternateone.Option) *alternateone.Loop {
	t.Helper()
	l, err := alternateone.New(cfg, append([]alternateone.Option{quiet}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// start runs a loop on a goroutine of its own; the channel gets what Run returns.
func start(t *testing.T, l *alternateone.Loop) <-chan error {
	result := make(chan error, 1)
	go func() { result <- l.Run(context.Background()) }()
	do(t, l, func() {})
	return result
}

// do runs fn on the loop and waits for it.
func do(t *testing.T, l *alternateone.Loop, fn func()) {
	t.Helper()
	done := make(chan struct{})
	if err := l.Submit(func() { defer close(done); fn() }); err != nil {
		t.Fatal(err)
	}
	wait(t, done, "a task")
}

func wait(t *testing.T, c <-chan struct{}, what string) {
	t.Helper()
	beat.Receive(t, c, what)
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	beat.Eventually(t, ok, what)
}

func asleep(l *alternateone.Loop) func() bool {
	return func() bool { return l.State() == loopapi.StateSleeping }
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

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func run(l *alternateone.Loop) { _ = l.Run(context.Background()) }

// end runs the loop to a graceful end on the calling goroutine.
func end(l *alternateone.Loop) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_ = l.Run(ctx)
}

var invariants = []struct {
	breach  string // a key of Breaks
	provoke func(l *alternateone.Loop)
	op      string
}{
	{"queue: write position", func(l *alternateone.Loop) { _ = l.Submit(noop) }, "Submit"},
	{"queue: read position", run, "next"},
	{"queue: length", func(l *alternateone.Loop) { _ = l.Submit(noop) }, "Submit"},
	{"queue: slot emptied", run, "next"},
	{"queue: slot not cleared", func(l *alternateone.Loop) { _ = l.Submit(noop) }, "Submit"},
	{"queue: chunk lost", run, "next"},
	{"queue: second chunk", run, "next"},
	{"queue: work vanished", end, "shutdown audit"},
	{"books: accepted", run, "next"},
	{"books: started", func(l *alternateone.Loop) { _ = l.SubmitInternal(noop) }, "SubmitInternal"},
	{"books: work dropped", end, "shutdown audit"},
	{"line: position", run, "next"},
	{"line: beyond its end", func(l *alternateone.Loop) { _ = l.ScheduleMicrotask(noop) }, "ScheduleMicrotask"},
	{"line: slot emptied", run, "next"},
	{"timers: order", run, "sleep"},
	{"timers: place", run, "next"},
	{"timers: name lost", run, "next"},
	{"timers: name of other", end, "shutdown phase timers"},
	{"phases: skipped", end, "shutdown audit"},
	{"timers: books", func(l *alternateone.Loop) { _, _ = l.ScheduleTimer(0, noop) }, "ScheduleTimer"},
	{"timers: deep order", end, "shutdown phase timers"},
	{"table: guests", run, "poll"},
	{"clock", run, "tick"},
	{"poller", end, "shutdown phase descriptors"},
}

func TestInvariants(t *testing.T) {
	for _, row := range invariants {
		t.Run(row.breach, func(t *testing.T) {
			l := newLoop(t, loopapi.Config{})
			fill(t, l)
			alternateone.Breaks[row.breach](l)
			if e := violation(t, func() { row.provoke(l) }); e.Op != row.op {
				t.Errorf("the operation is %q, want %q: %v", e.Op, row.op, e)
			}
			err := l.SubmitInternal(noop)
			if !errors.Is(err, loopapi.ErrLoopTerminated) || !errors.Is(err, alternateone.ErrInvariant) {
				t.Errorf("SubmitInternal to a loop with a broken invariant returned %v", err)
			}
			ctx, cancel := beat.Context(context.Background())
			defer cancel()
			err = l.Shutdown(ctx) // which nobody else would end, if it never ran
			if !errors.Is(err, loopapi.ErrLoopTerminated) || !errors.Is(err, alternateone.ErrInvariant) {
				t.Errorf("Shutdown of a loop with a broken invariant returned %v", err)
			}
			wait(t, l.Done(), "Done of a loop with a broken invariant")
		})
	}
}

// A loop that somebody else runs, and a callback behind the end.
func TestInvariantsOfRunning(t *testing.T) {
	t.Run("another goroutine decides", func(t *testing.T) {
		l := newLoop(t, loopapi.Config{})
		violation(t, l.Next)
	})
	t.Run("no such state", func(t *testing.T) {
		l := newLoop(t, loopapi.Config{})
		l.SetState(3)
		violation(t, func() { _ = l.State() })
		l.SetState(loopapi.StateAwake)
	})
	t.Run("another owner", func(t *testing.T) {
		l := newLoop(t, loopapi.Config{})
		must(t, l.Submit(func() { alternateone.Breaks["owner"](l) }))
		violation(t, func() { run(l) })
	})
	t.Run("a callback after the end", func(t *testing.T) {
		l := newLoop(t, loopapi.Config{})
		must(t, l.Close())
		violation(t, l.Callback)
	})
	t.Run("the poller fails", func(t *testing.T) {
		failed := errors.New("the poller fails on purpose")
		l := spied(t, &spy{wait: func() error { return failed }})
		if e := violation(t, func() { run(l) }); !errors.Is(e, failed) {
			t.Errorf("the violation %v does not tell the cause", e)
		}
	})
}

var states = []loopapi.State{loopapi.StateAwake, loopapi.StateTerminated, loopapi.StateSleeping, loopapi.StateRunning,
	loopapi.StateTerminating, -1, 3, 6}

// TestTransitions takes every step between any two states. All but six panic.
func TestTransitions(t *testing.T) {
	legal := map[[2]loopapi.State]bool{
		{loopapi.StateAwake, loopapi.StateRunning}: true, {loopapi.StateAwake, loopapi.StateTerminating}: true,
		{loopapi.StateRunning, loopapi.StateSleeping}: true, {loopapi.StateRunning, loopapi.StateTerminating}: true,
		{loopapi.StateSleeping, loopapi.StateRunning}: true, {loopapi.StateSleeping, loopapi.StateTerminating}: true,
		{loopapi.StateTerminating, loopapi.StateTerminated}: true,
	}
	for _, from := range states {
		for _, to := range states {
			l := newLoop(t, loopapi.Config{})
			l.SetState(from)
			if legal[[2]loopapi.State{from, to}] {
				if l.Transition(to); l.State() != to {
					t.Errorf("from %d to %d the state came to be %d", from, to, l.State())
				}
			} else {
				if violation(t, func() { l.Transition(to) }); l.RawState() != from {
					t.Errorf("the illegal transition from %d to %d came to %d", from, to, l.RawState())
				}
			}
			l.SetState(loopapi.StateAwake) // so that it can be closed
		}
	}
	l := newLoop(t, loopapi.Config{})
	violation(t, l.MoveStale)
	l.SetState(loopapi.StateAwake)
}

// TestViolationInCallback has a callback come upon a broken invariant. Neither the isolation of callbacks nor a recover
// of the callback's own keeps Run from panicking, and those who wait hear of the end.
func TestViolationInCallback(t *testing.T) {
	other := newLoop(t, loopapi.Config{})
	must(t, other.Submit(noop))
	alternateone.Breaks["books: accepted"](other)
	for name, callback := range map[string]func(l *alternateone.Loop){
		"passed on": func(l *alternateone.Loop) { _ = l.Submit(noop) },
		"recovered and repaired": func(l *alternateone.Loop) {
			defer alternateone.Breaks["books: accepted, undone"](l)
			defer func() { _ = recover() }()
			_ = l.Submit(noop)
		},
		"of another loop": func(*alternateone.Loop) { _ = other.Submit(noop) },
	} {
		t.Run(name, func(t *testing.T) {
			var reports []*loopapi.PanicError
			l := newLoop(t, loopapi.Config{OnPanic: func(e *loopapi.PanicError) { reports = append(reports, e) }})
			must(t, l.Submit(func() {
				_ = l.Submit(noop)
				alternateone.Breaks["books: accepted"](l)
				callback(l)
			}))
			must(t, l.SubmitInternal(noop))
			violation(t, func() { run(l) })
			if len(reports) > 0 {
				t.Errorf("the violated invariant was reported as a panic of the callback: %v", reports[0])
			}
			wait(t, l.Done(), "Done of a loop whose Run panicked")
			err := l.Shutdown(context.Background())
			if !errors.Is(err, loopapi.ErrLoopTerminated) || !errors.Is(err, alternateone.ErrInvariant) {
				t.Errorf("Shutdown returned %v", err)
			}
		})
	}
}

// TestViolationElsewhere breaks an invariant that a producer finds while the loop sleeps: the loop's own goroutine
// panics as well.
func TestViolationElsewhere(t *testing.T) {
	l := newLoop(t, loopapi.Config{})
	found := make(chan any, 1)
	go func() {
		defer func() { found <- recover() }()
		run(l)
	}()
	eventually(t, "the loop to sleep", asleep(l))
	alternateone.Breaks["books: started"](l)
	e := violation(t, func() { _ = l.SubmitInternal(noop) })
	if got := beat.Receive(t, found, "a sleeping loop to end although an invariant is violated"); got != any(e) {
		t.Errorf("Run panicked with %v, want %v", got, e)
	}
}

// spy is a poller whose calls can be watched, and can fail.
type spy struct {
	alternateone.Readiness
	wait func() error // before a Wait
	wake func() error // instead of a Wake when it returns an error
	add  func()       // before an Add
	ends func()       // after a Wait

	unknown bool         // a Wait tells of a descriptor that is not registered
	reset   func() error // before a Reset
}

func spied(t *testing.T, s *spy, opts ...alternateone.Option) *alternateone.Loop {
	t.Helper()
	p, err := poller.New()
	must(t, err)
	s.Readiness = p
	l := newLoop(t, loopapi.Config{}, opts...)
	must(t, l.UsePoller(s))
	return l
}

func (s *spy) Wait(timeout time.Duration) ([]poller.Event, error) {
	if s.wait != nil {
		if err := s.wait(); err != nil {
			return nil, err
		}
	}
	events, err := s.Readiness.Wait(timeout)
	if s.ends != nil {
		s.ends()
	}
	if s.unknown {
		events = append(events, poller.Event{FD: 1 << 20, Events: loopapi.EventRead})
	}
	return events, err
}

func (s *spy) Reset() error {
	if s.reset != nil {
		if err := s.reset(); err != nil {
			return err
		}
	}
	return s.Readiness.Reset()
}

func (s *spy) Wake() error {
	if s.wake != nil {
		if err := s.wake(); err != nil {
			return err
		}
	}
	return s.Readiness.Wake()
}

func (s *spy) Add(fd int, events loopapi.IOEvents, tag uint32) error {
	if s.add != nil {
		s.add()
	}
	return s.Readiness.Add(fd, events, tag)
}
