package alternateone_test

// The commitments of the design: errors, reports, wake-ups, locks and phases.

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/turnloop/turnloop/internal/alternateone"
	"github.com/turnloop/turnloop/internal/beat"
	"github.com/turnloop/turnloop/internal/loopapi"
)

func TestErrors(t *testing.T) {
	const awake, terminated = loopapi.StateAwake, loopapi.StateTerminated
	l, ended := newLoop(t, loopapi.Config{QueueLimit: 2}), newLoop(t, loopapi.Config{})
	fill(t, l)
	must(t, ended.Close())
	schedule := func(l *alternateone.Loop, fn func()) error { _, err := l.ScheduleTimer(0, fn); return err }
	for _, row := range []struct {
		err   error
		op    string
		phase loopapi.State
		cause error
	}{
		{l.Submit(nil), "Submit", awake, loopapi.ErrNilCallback},
		{l.Submit(noop), "Submit", awake, loopapi.ErrLoopOverloaded},
		{l.SubmitInternal(nil), "SubmitInternal", awake, loopapi.ErrNilCallback},
		{l.ScheduleMicrotask(nil), "ScheduleMicrotask", awake, loopapi.ErrNilCallback},
		{schedule(l, nil), "ScheduleTimer", awake, loopapi.ErrNilCallback},
		{l.CancelTimer(0), "CancelTimer", awake, loopapi.ErrTimerNotFound},
		{ended.Submit(noop), "Submit", terminated, loopapi.ErrLoopTerminated},
		{ended.SubmitInternal(noop), "SubmitInternal", terminated, loopapi.ErrLoopTerminated},
		{ended.ScheduleMicrotask(noop), "ScheduleMicrotask", terminated, loopapi.ErrLoopTerminated},
		{schedule(ended, noop), "ScheduleTimer", terminated, loopapi.ErrLoopTerminated},
		{ended.Run(context.Background()), "Run", terminated, loopapi.ErrLoopTerminated},
		{ended.Shutdown(context.Background()), "Shutdown", terminated, loopapi.ErrLoopTerminated},
		{ended.Close(), "Close", terminated, loopapi.ErrLoopTerminated},
	} {
		var e *alternateone.LoopError
		if !errors.As(row.err, &e) || e.Op != row.op || e.Phase != row.phase.String() || !errors.Is(e, row.cause) ||
			e.Context["loop"] == nil || errors.Is(e, alternateone.ErrInvariant) {
			t.Errorf("%s: got %+v, want it while %v because of %v", row.op, row.err, row.phase, row.cause)
		}
	}
}

// logTo has a handler take the log until the test ends.
func logTo(t *testing.T, h slog.Handler) {
	before := slog.Default()
	slog.SetDefault(slog.New(h))
	t.Cleanup(func() { slog.SetDefault(before) })
}

// TestFaults has a task panic and a timer call Goexit, and looks at what is logged of them.
func TestFaults(t *testing.T) {
	var log bytes.Buffer
	logTo(t, slog.NewTextHandler(&log, nil))
	l := newLoop(t, loopapi.Config{})
	result := start(t, l)
	do(t, l, func() { panic("boom") })
	fired := make(chan struct{})
	id, err := l.ScheduleTimer(0, func() { defer close(fired); runtime.Goexit() })
	must(t, err)
	beat.Receive(t, fired, "the timer")
	must(t, l.Shutdown(context.Background()))
	if len(result) != 0 {
		t.Error("Run returned although Goexit ended its goroutine")
	}
	for _, part := range []string{"kind=task task=2", "boom", fmt.Sprintf("kind=timer task=%d", id), "Goexit", "stack=", "loop="} {
		if !strings.Contains(log.String(), part) {
			t.Errorf("%q is not in the log: %s", part, log.String())
		}
	}
}

// TestPhases reads the phases of a shutdown from the log.
func TestPhases(t *testing.T) {
	all := []string{"ingress", "internal", "microtasks", "timers", "descriptors"}
	ctx := context.Background()
	for level, want := range map[slog.Level][]string{slog.LevelDebug: all, slog.LevelInfo: nil} {
		for name, live := range map[string]func(l *alternateone.Loop){
			"Shutdown":             func(l *alternateone.Loop) { start(t, l); _ = l.Shutdown(ctx) },
			"Close":                func(l *alternateone.Loop) { start(t, l); _ = l.Close() },
			"Shutdown without Run": func(l *alternateone.Loop) { fill(t, l); _ = l.Shutdown(ctx) },
			"Close without Run":    func(l *alternateone.Loop) { fill(t, l); _ = l.Close() },
			"Goexit on the way": func(l *alternateone.Loop) {
				must(t, l.Submit(runtime.Goexit), l.SubmitInternal(runtime.Goexit))
				_ = l.Shutdown(ctx)
			},
		} {
			var log bytes.Buffer
			handler := slog.NewTextHandler(&log, &slog.HandlerOptions{Level: level})
			logTo(t, handler)
			l := newLoop(t, loopapi.Config{})
			live(l)
			beat.Receive(t, l.Done(), "the end")
			var got []string
			for _, word := range strings.Fields(log.String()) {
				if phase, is := strings.CutPrefix(word, "phase="); is {
					got = append(got, phase)
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s at level %v: the phases %v were logged, want %v", name, level, got, want)
			}
		}
	}
}

// TestWakes counts the writes to the wake descriptor: one for each producer that finds the loop asleep, none for a loop
// that is awake.
func TestWakes(t *testing.T) {
	var wakes atomic.Int64
	gate := make(chan struct{})
	l := spyOn(t, newLoop(t, loopapi.Config{}), &spy{after: func() { <-gate }, before: func(method string) error {
		if method == "Wake" {
			wakes.Add(1)
		}
		return nil
	}})
	result := make(chan error, 1)
	go func() { result <- l.Run(context.Background()) }()
	awaitSleep(t, l)
	const producers = 7 // the first of them ends the wait, but the loop stays in the poller until the gate opens
	for range producers {
		must(t, l.Submit(noop), l.SubmitInternal(noop), l.ScheduleMicrotask(noop))
		_, err := l.ScheduleTimer(time.Hour, noop) // later than what the loop sleeps for, but for the first
		must(t, err)
	}
	if got, want := wakes.Load(), int64(3*producers+1); got != want {
		t.Errorf("%d functions and one earlier timer handed to a sleeping loop woke it %d times", 3*producers, got)
	}
	if s := l.State(); s != loopapi.StateSleeping {
		t.Errorf("the loop is %v while it is in the poller", s)
	}
	awake := make(chan struct{})
	must(t, l.Submit(func() { <-awake }))
	close(gate)
	beat.Eventually(t, func() bool { return l.State() == loopapi.StateRunning }, "the loop to get up")
	before := wakes.Load()
	must(t, l.Submit(noop), l.SubmitInternal(noop), l.ScheduleMicrotask(noop))
	if got := wakes.Load() - before; got != 0 {
		t.Errorf("a loop that was awake was woken %d times", got)
	}
	close(awake)
	must(t, l.Shutdown(context.Background()), <-result)
}
