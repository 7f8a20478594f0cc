package alternateone_test

// The commitments of the design: errors, reports, wake-ups, locks, phases, and the conservation of accepted work.

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/turnloop/turnloop/internal/alternateone"
	"github.com/turnloop/turnloop/internal/beat"
	"github.com/turnloop/turnloop/internal/loopapi"
	"github.com/turnloop/turnloop/internal/race"
)

func TestErrors(t *testing.T) {
	l := newLoop(t, loopapi.Config{QueueLimit: 2})
	fill(t, l)
	ended := newLoop(t, loopapi.Config{})
	must(t, ended.Close())
	schedule := func(l *alternateone.Loop, fn func()) error { _, err := l.ScheduleTimer(0, fn); return err }
	for _, row := range []struct {
		err   error
		op    string
		phase string
		cause error
	}{
		{l.Submit(nil), "Submit", "awake", loopapi.ErrNilCallback},
		{l.Submit(noop), "Submit", "awake", loopapi.ErrLoopOverloaded},
		{l.SubmitInternal(nil), "SubmitInternal", "awake", loopapi.ErrNilCallback},
		{l.ScheduleMicrotask(nil), "ScheduleMicrotask", "awake", loopapi.ErrNilCallback},
		{schedule(l, nil), "ScheduleTimer", "awake", loopapi.ErrNilCallback},
		{l.CancelTimer(0), "CancelTimer", "awake", loopapi.ErrTimerNotFound},
		{ended.Submit(noop), "Submit", "terminated", loopapi.ErrLoopTerminated},
		{ended.SubmitInternal(noop), "SubmitInternal", "terminated", loopapi.ErrLoopTerminated},
		{ended.ScheduleMicrotask(noop), "ScheduleMicrotask", "terminated", loopapi.ErrLoopTerminated},
		{schedule(ended, noop), "ScheduleTimer", "terminated", loopapi.ErrLoopTerminated},
		{ended.Run(context.Background()), "Run", "terminated", loopapi.ErrLoopTerminated},
		{ended.Shutdown(context.Background()), "Shutdown", "terminated", loopapi.ErrLoopTerminated},
		{ended.Close(), "Close", "terminated", loopapi.ErrLoopTerminated},
	} {
		var e *alternateone.LoopError
		switch {
		case !errors.As(row.err, &e):
			t.Errorf("%s: %v is no LoopError", row.op, row.err)
		case e.Op != row.op || e.Phase != row.phase || !errors.Is(e, row.cause) || e.Context["loop"] == nil:
			t.Errorf("%s: got %+v, want it while %s because of %v", row.op, e, row.phase, row.cause)
		case errors.Is(e, alternateone.ErrInvariant):
			t.Errorf("%s: %v blames the loop", row.op, e)
		}
	}
}

func TestBadConfig(t *testing.T) {
	tell := func(*alternateone.PanicError) {}
	for name, row := range map[string]struct {
		cfg loopapi.Config
		opt []alternateone.Option
	}{
		"QueueLimit":       {loopapi.Config{QueueLimit: -1}, nil},
		"TickBudget":       {loopapi.Config{TickBudget: -1}, nil},
		"MicrotaskBudget":  {loopapi.Config{MicrotaskBudget: -1}, nil},
		"AutoExit":         {loopapi.Config{AutoExit: true}, nil},
		"option 0":         {loopapi.Config{}, []alternateone.Option{nil}},
		"WithLogger":       {loopapi.Config{}, []alternateone.Option{alternateone.WithLogger(nil)}},
		"WithPanicHandler": {loopapi.Config{}, []alternateone.Option{alternateone.WithPanicHandler(nil)}},
		"OnPanic": {loopapi.Config{OnPanic: func(*loopapi.PanicError) {}},
			[]alternateone.Option{alternateone.WithPanicHandler(tell)}},
	} {
		l, err := alternateone.New(row.cfg, row.opt...)
		if l != nil || err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: New returned %v, %v; want an error that names it", name, l, err)
		}
		if got := errors.Is(err, errors.ErrUnsupported); got != (name == "AutoExit") {
			t.Errorf("%s: %v is ErrUnsupported: %v", name, err, got)
		}
	}
}

// TestPanicError lets callbacks panic and looks at the rich report: to the handler, and without one in the log.
func TestPanicError(t *testing.T) {
	boom := errors.New("boom")
	var mu sync.Mutex
	var log bytes.Buffer
	var reports []*alternateone.PanicError
	handler := alternateone.WithPanicHandler(func(e *alternateone.PanicError) {
		mu.Lock()
		defer mu.Unlock()
		reports = append(reports, e)
	})
	logger := alternateone.WithLogger(slog.New(slog.NewTextHandler(&log, nil)))
	for _, opt := range []alternateone.Option{handler, logger} {
		l := newLoop(t, loopapi.Config{}, opt)
		result := start(t, l)
		do(t, l, func() { panic(boom) })
		fired := make(chan struct{})
		id, err := l.ScheduleTimer(0, func() { defer close(fired); runtime.Goexit() })
		must(t, err)
		wait(t, fired, "the timer")
		must(t, l.Shutdown(context.Background()))
		if len(result) != 0 {
			t.Error("Run returned although Goexit ended its goroutine")
		}
		text := log.String()
		if len(reports) == 2 && text == "" { // the handler's turn
			e := reports[0]
			var plain *loopapi.PanicError
			if !errors.As(e, &plain) || plain.Value != boom || !errors.Is(e, boom) ||
				!bytes.Contains(plain.Stack, []byte("TestPanicError")) {
				t.Errorf("the report %v does not lead to the plain one", e)
			}
			if e.Kind != alternateone.KindTask || e.TaskID != 2 || e.LoopID == 0 {
				t.Errorf("the report is of %s %d of loop %d, want the loop's second task", e.Kind, e.TaskID, e.LoopID)
			}
			if e := reports[1]; e.Kind != alternateone.KindTimer || e.TaskID != uint64(id) || !errors.Is(e, loopapi.ErrGoexit) {
				t.Errorf("the second report is %v, want the Goexit of timer %d", e, id)
			}
			reports = nil
		} else if len(reports) != 0 || !strings.Contains(text, "kind=task task=2") || !strings.Contains(text, "kind=timer") ||
			!strings.Contains(text, "stack=") || !strings.Contains(text, "loop=") {
			t.Errorf("%d reports, and in the log: %s", len(reports), text)
		}
	}
	if log.Len() == 0 {
		t.Error("nothing was logged without a handler")
	}
}

// phases collects the phases of a shutdown from the log.
type phases struct {
	slog.Handler
	level slog.Level
	mu    sync.Mutex
	names []string
}

func (p *phases) Enabled(_ context.Context, level slog.Level) bool { return level >= p.level }
func (p *phases) Handle(_ context.Context, r slog.Record) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "phase" {
			p.names = append(p.names, a.Value.String())
		}
		return true
	})
	return nil
}

func TestPhases(t *testing.T) {
	all := []string{"ingress", "internal", "microtasks", "timers", "descriptors"}
	for level, want := range map[slog.Level][]string{slog.LevelDebug: all, slog.LevelInfo: nil} {
		for name, life := range map[string]func(l *alternateone.Loop){
			"Shutdown":             func(l *alternateone.Loop) { start(t, l); _ = l.Shutdown(context.Background()) },
			"Close":                func(l *alternateone.Loop) { start(t, l); _ = l.Close() },
			"Shutdown without Run": func(l *alternateone.Loop) { fill(t, l); _ = l.Shutdown(context.Background()) },
			"Close without Run":    func(l *alternateone.Loop) { fill(t, l); _ = l.Close() },
			"Goexit on the way": func(l *alternateone.Loop) {
				must(t, l.Submit(runtime.Goexit), l.SubmitInternal(runtime.Goexit))
				_ = l.Shutdown(context.Background())
			},
		} {
			p := &phases{level: level}
			l := newLoop(t, loopapi.Config{}, alternateone.WithLogger(slog.New(p)))
			life(l)
			wait(t, l.Done(), "the end")
			if !slices.Equal(p.names, want) {
				t.Errorf("%s at level %v: the phases %v were logged, want %v", name, level, p.names, want)
			}
		}
	}
}

// TestWakes counts the writes to the wake descriptor: one for each producer that finds the loop asleep, none for a loop
// that is awake.
func TestWakes(t *testing.T) {
	var wakes atomic.Int64
	gate := make(chan struct{})
	s := &spy{wake: func() error { wakes.Add(1); return nil }}
	s.ends = func() { <-gate }
	l := spied(t, s)
	result := make(chan error, 1)
	go func() { result <- l.Run(context.Background()) }()
	eventually(t, "the loop to sleep", asleep(l))
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
	eventually(t, "the loop to get up", func() bool { return l.State() == loopapi.StateRunning })
	before := wakes.Load()
	must(t, l.Submit(noop), l.SubmitInternal(noop), l.ScheduleMicrotask(noop))
	if got := wakes.Load() - before; got != 0 {
		t.Errorf("a loop that was awake was woken %d times", got)
	}
	close(awake)
	must(t, l.Shutdown(context.Background()), <-result)
}

// TestWakeFails has the write to the wake descriptor fail several times: it is reported and tried again.
func TestWakeFails(t *testing.T) {
	for name, hand := range map[string]func(l *alternateone.Loop, fn func()) error{
		"Submit":   func(l *alternateone.Loop, fn func()) error { return l.Submit(fn) },
		"Shutdown": func(l *alternateone.Loop, fn func()) error { return l.Shutdown(context.Background()) },
	} {
		var failures atomic.Int64
		var log bytes.Buffer
		l := spied(t, &spy{wake: func() error {
			if failures.Add(-1) >= 0 {
				return errors.New("refused on purpose")
			}
			return nil
		}}, alternateone.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		go run(l)
		eventually(t, "the loop to sleep", asleep(l))
		failures.Store(3)
		came := make(chan struct{})
		if name == "Shutdown" {
			go func() { <-l.Done(); close(came) }()
		}
		must(t, hand(l, func() { close(came) }))
		wait(t, came, "the wake-up that failed at first")
		_ = l.Close()
		wait(t, l.Done(), "the end")
		if text := log.String(); !strings.Contains(text, "refused on purpose") || strings.Count(text, "wake-up") != 1 {
			t.Errorf("%s: the failed wake-up was reported so: %q", name, text)
		}
	}
}

// faulty is a log handler that panics.
type faulty struct{ slog.Handler }

func (faulty) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelError }
func (faulty) Handle(context.Context, slog.Record) error        { panic("on purpose") }

// TestWakeFailsForMany has the write fail for many producers, and the logger with it. One retry serves all of them, and
// none suffers from the logger.
func TestWakeFailsForMany(t *testing.T) {
	const producers = 1000
	var refused atomic.Bool
	var attempts, ran atomic.Int64
	l := spied(t, &spy{wake: func() error {
		if attempts.Add(1); refused.Load() {
			return errors.New("refused on purpose")
		}
		return nil
	}}, alternateone.WithLogger(slog.New(faulty{})))
	result := start(t, l)
	eventually(t, "the loop to sleep", asleep(l))
	refused.Store(true)
	for range producers {
		must(t, l.Submit(func() { ran.Add(1) }))
	}
	began, before := time.Now(), attempts.Load()
	time.Sleep(20 * time.Millisecond)
	if got, most := attempts.Load()-before, int64(time.Since(began)/time.Millisecond)+1; got > most {
		t.Errorf("wake-ups that failed were tried again %d times, want at most %d", got, most)
	}
	refused.Store(false)
	eventually(t, "the wake-up", func() bool { return ran.Load() == producers })
	must(t, l.Shutdown(context.Background()), <-result)
}

// TestUnknownEvents has the poller report a descriptor that nobody has registered. The set is built anew; while that fails
// it is reported once, and the loop goes on.
func TestUnknownEvents(t *testing.T) {
	var log bytes.Buffer
	var resets atomic.Int64
	var mended atomic.Bool
	s := &spy{unknown: true, reset: func() error {
		if resets.Add(1); mended.Load() {
			return nil
		}
		return errors.New("refused on purpose")
	}}
	l := spied(t, s, alternateone.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
	result := start(t, l)
	turn := func() {
		before := resets.Load()
		eventually(t, "the loop to sleep", asleep(l))
		do(t, l, noop)
		eventually(t, "the set to be built anew", func() bool { return resets.Load() > before })
	}
	for range 4 {
		turn()
	}
	eventually(t, "the loop to sleep", asleep(l))
	began, before := time.Now(), resets.Load()
	for time.Since(began) < 20*time.Millisecond { // woken again and again, as by an event that does not go away
		must(t, l.Submit(noop))
		runtime.Gosched()
	}
	if got := resets.Load() - before; got > int64(time.Since(began)/time.Millisecond)+1 {
		t.Errorf("what the system refuses was asked for %d times in %v", got, time.Since(began))
	}
	mended.Store(true)
	turn()
	must(t, l.Shutdown(context.Background()), <-result)
	if strings.Count(log.String(), "refused on purpose") != 1 {
		t.Errorf("after %d attempts, of which all but the last failed, the log says: %s", resets.Load(), log.String())
	}
}

// TestLocks looks at the two locks where the design says who holds them.
func TestLocks(t *testing.T) {
	var l *alternateone.Loop
	var waits atomic.Int64
	l = spied(t, &spy{wait: func() error {
		waits.Add(1)
		if !l.TableLocked() {
			t.Error("the poller's lock is free while the loop polls")
		}
		if !beat.Until(func() bool { return !l.IngressLocked() }) { // a producer may hold it for a moment
			t.Error("the ingress lock is held while the loop polls")
		}
		return nil
	}})
	result := start(t, l)
	do(t, l, func() {
		if l.TableLocked() || l.IngressLocked() { // the only producer waits for this task
			t.Error("a lock is held while a task runs")
		}
	})
	eventually(t, "a poll", func() bool { return waits.Load() > 0 })
	must(t, l.Shutdown(context.Background()), <-result)
}

// TestSubmitShutdownRaces ends many loops while producers submit. Whatever was accepted runs, and nothing else.
func TestSubmitShutdownRaces(t *testing.T) {
	rounds := 100_000
	if testing.Short() || race.Enabled {
		rounds /= 50
	}
	for i := range rounds {
		l, err := alternateone.New(loopapi.Config{}, quiet)
		must(t, err)
		var ran, accepted atomic.Int64
		count := func() { ran.Add(1) }
		begin, ended := make(chan struct{}), make(chan error, 1)
		if i%8 != 0 {
			go func() { ended <- l.Run(context.Background()) }()
		} else {
			ended <- nil // a loop that never runs
		}
		var producers sync.WaitGroup
		for range 2 {
			producers.Go(func() {
				<-begin
				for range 8 {
					for _, submit := range []func(func()) error{l.Submit, l.SubmitInternal, l.ScheduleMicrotask} {
						if submit(count) == nil {
							accepted.Add(1)
						}
					}
				}
			})
		}
		close(begin)
		for range i % 64 {
			runtime.Gosched()
		}
		if err := l.Shutdown(context.Background()); err != nil {
			t.Fatalf("Shutdown: %v", err)
		}
		after := ran.Load()
		producers.Wait()
		if err := <-ended; err != nil && !errors.Is(err, loopapi.ErrLoopTerminated) {
			t.Fatalf("Run: %v", err)
		}
		if got := ran.Load(); got != accepted.Load() || got != after {
			t.Fatalf("round %d: %d functions were accepted, %d ran, %d of them before Shutdown returned",
				i, accepted.Load(), got, after)
		}
	}
}
