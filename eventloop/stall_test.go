package eventloop_test

// Tests of the report of stalls.

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/internal/beat"
)

// blockHere is what the stacks of stalls must name.
func blockHere(d time.Duration) func() { return func() { time.Sleep(d) } }

// Each callback that takes too long is reported once, in time, while it runs, with where it is; no other is.
func TestStalls(t *testing.T) {
	const threshold = time.Second
	for name, opts := range map[string][]eventloop.Option{
		"alone":        nil,
		"with metrics": {eventloop.WithMetrics(true)},
		"with debug":   {eventloop.WithDebug(true)},
		"sampled":      {eventloop.WithMetrics(true), eventloop.WithMetricsSampling(100)},
	} {
		synctest.Test(t, func(t *testing.T) {
			type heard struct {
				eventloop.Stall
				at time.Time
			}
			reports := make(chan heard, 100)
			opts := append(opts, eventloop.WithStallThreshold(threshold, func(s eventloop.Stall) { reports <- heard{s, time.Now()} }))
			l := observed(t, opts...)
			time.Sleep(time.Hour)
			submits := map[string]func(func()) error{
				"task":      l.Submit,
				"internal":  l.SubmitInternal,
				"microtask": l.ScheduleMicrotask,
				"timer":     func(fn func()) error { _, err := l.ScheduleTimer(0, fn); return err },
			}
			for kind, submit := range submits {
				for range 20 {
					require.NoError(t, submit(blockHere(threshold*9/10)))
				}
				time.Sleep(30 * time.Second)
				synctest.Wait()
				require.Empty(t, reports, "%s: %s: none of these is long", name, kind)

				began := time.Now()
				require.NoError(t, submit(blockHere(10*threshold)))
				require.NoError(t, submit(blockHere(0)))
				time.Sleep(5 * threshold)
				synctest.Wait()
				require.Len(t, reports, 1, "%s: %s: while it runs", name, kind)
				s := <-reports
				require.Equal(t, l.ID(), s.Loop)
				require.Equal(t, kind, s.Kind)
				require.Contains(t, string(s.Stack), "blockHere")
				require.NotContains(t, string(s.Stack), "\n\n")
				require.InDelta(t, threshold*5/4, s.at.Sub(began), float64(threshold/4+time.Millisecond), kind)
				require.LessOrEqual(t, s.Running, s.at.Sub(began))
				require.Greater(t, s.Running, threshold)
				require.False(t, s.Ended)
				if name == "with debug" {
					require.Regexp(t, `^\S+TestStalls\S* at stall_test.go:\d+$`, s.From)
				}
				time.Sleep(time.Minute)
				require.Len(t, reports, 1, "and when it has returned")
				end := <-reports
				require.InDelta(t, 10*threshold, end.Running, float64(threshold/4))
				s.Running, s.Ended = end.Running, true
				require.Equal(t, s.Stall, end.Stall)
				require.False(t, l.Watched(), "an idle loop has no timer")
			}
		})
	}
}

// A report that panics, or takes long, is no harm to the loop, nor to the next report; nor is a loop that has a new
// goroutine harm to any.
func TestStallReports(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		reports := make(chan string, 10)
		l := observed(t, eventloop.WithLogger(slog.New(slog.NewTextHandler(&log, nil))),
			eventloop.WithStallThreshold(time.Second, func(s eventloop.Stall) {
				if !s.Ended {
					reports <- string(s.Stack)
				}
				panic("lost temper")
			}))
		require.NoError(t, l.Submit(runtime.Goexit))
		synctest.Wait()
		for range 2 {
			require.NoError(t, l.Submit(blockHere(5*time.Second)))
			time.Sleep(6 * time.Second)
			require.Contains(t, <-reports, "blockHere")
		}
		synctest.Wait()
		require.Equal(t, 4, bytes.Count(log.Bytes(), []byte("the report of a stall panicked")), log.String())
		require.NoError(t, l.Shutdown(t.Context()))
		time.Sleep(time.Hour)
		require.False(t, l.Watched())
	})
}

// Whatever the report of a stall does, the loop goes on behind its callback, and ends when it is told to.
func TestStallReportsThatMisbehave(t *testing.T) {
	for name, c := range map[string]struct {
		report func(t *testing.T, l *eventloop.Loop, forever <-chan struct{})
		ends   bool
	}{
		"blocks":   {func(_ *testing.T, _ *eventloop.Loop, forever <-chan struct{}) { <-forever }, false},
		"panics":   {func(*testing.T, *eventloop.Loop, <-chan struct{}) { panic("of the report") }, false},
		"exits":    {func(*testing.T, *eventloop.Loop, <-chan struct{}) { runtime.Goexit() }, false},
		"shutdown": {func(t *testing.T, l *eventloop.Loop, _ <-chan struct{}) { _ = l.Shutdown(t.Context()) }, true},
		"close":    {func(_ *testing.T, l *eventloop.Loop, _ <-chan struct{}) { _ = l.Close() }, true},
		"asks": {func(t *testing.T, l *eventloop.Loop, _ <-chan struct{}) {
			if a := l.Active(); l.State() == eventloop.StateRunning && len(a) == 0 || len(a) != 0 && a[0].Kind+" "+a[0].Name != "task running" {
				t.Errorf("the loop does %v", a)
			}
			l.Metrics()
			_ = l.DumpEvents(io.Discard)
			_ = l.DumpTrace(io.Discard)
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				forever := make(chan struct{})
				defer close(forever)
				var l *eventloop.Loop
				var reports atomic.Int64
				l, err := eventloop.New(eventloop.WithMetrics(true), eventloop.WithFlightRecorder(64),
					eventloop.WithLogger(slog.New(&journal{then: func() { <-forever }})), // who logs that a report has failed does not return
					eventloop.WithStallThreshold(time.Second, func(s eventloop.Stall) {
						if reports.Add(1); !s.Ended || name != "asks" { // the loop has gone on when a stall has ended
							c.report(t, l, forever)
						}
					}))
				require.NoError(t, err)
				go func() { _ = l.Run(context.Background()) }()
				ran := false
				require.NoError(t, l.Submit(blockHere(5*time.Second)))
				require.NoError(t, l.Submit(func() { ran = true }))
				time.Sleep(10 * time.Second)
				synctest.Wait()
				want := 2 // one while it runs, and one when it has returned
				if name == "blocks" {
					want = 1
				}
				require.EqualValues(t, want, reports.Load())
				require.Equal(t, name != "close", ran)
				if !c.ends {
					require.Equal(t, eventloop.StateSleeping, l.State())
					began := time.Now()
					require.NoError(t, l.Submit(blockHere(5*time.Second)))
					require.NoError(t, l.Shutdown(t.Context()))
					require.Equal(t, 5*time.Second, time.Since(began).Truncate(time.Second))
					time.Sleep(time.Minute)
					require.EqualValues(t, 2*want-want%2, reports.Load(), "a report that blocks is the last, one that fails is not")
				}
				require.Equal(t, eventloop.StateTerminated, l.State())
			})
		})
	}
}

// A callback that waits is reported with what it waits for, by the state of its goroutine, and what to do about it.
func TestStallHints(t *testing.T) {
	for name, c := range map[string]struct {
		wait func(release <-chan struct{})
		want string
	}{
		"Mutex": {func(release <-chan struct{}) {
			var m sync.Mutex
			m.Lock()
			go func() { <-release; m.Unlock() }()
			m.Lock()
		}, "a lock of package sync"},
		"WaitGroup": {func(release <-chan struct{}) {
			var g sync.WaitGroup
			g.Go(func() { <-release })
			g.Wait()
		}, "a sync.WaitGroup"},
		"Cond": {func(release <-chan struct{}) {
			c := sync.NewCond(new(sync.Mutex))
			c.L.Lock()
			go func() { <-release; c.L.Lock(); c.Broadcast(); c.L.Unlock() }()
			c.Wait()
		}, "a sync.Cond"},
		"receive": {func(release <-chan struct{}) { <-release }, "a channel"},
		"select": {func(release <-chan struct{}) {
			select {
			case <-release:
			case <-make(chan int):
			}
		}, "one of several channels"},
		"sleep": {func(release <-chan struct{}) {
			for open := true; open; { // until the report has come, which takes long on a busy machine
				time.Sleep(20 * time.Millisecond)
				select {
				case _, open = <-release:
				default:
				}
			}
		}, "sleeps"},
		"none": {func(release <-chan struct{}) {
			for open := true; open; {
				select {
				case _, open = <-release:
				default:
					continue
				}
			}
		}, ""},
	} {
		hints := make(chan string, 1000)
		l := observed(t, eventloop.WithStallThreshold(time.Millisecond, func(s eventloop.Stall) {
			if !s.Ended {
				hints <- s.Hint
			}
		}))
		for tries := 0; ; tries++ { // a busy machine makes others slow, and a callback before it waits
			release := make(chan struct{})
			require.NoError(t, l.Submit(func() { c.wait(release) }))
			hint := beat.Receive(t, hints, name)
			close(release)
			if c.want == "" && hint == "" || c.want != "" && strings.Contains(hint, c.want) {
				break
			}
			if hint != "" || tries == 1000 {
				t.Fatalf("%s: %q", name, hint)
			}
		}
	}
}
