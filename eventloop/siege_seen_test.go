package eventloop_test

// What a loop tells of itself, asked at bad moments, by many, and with everything going wrong.

import (
	"fmt"
	"io"
	"log/slog"
	"math"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/internal/park"
)

// While a report takes its time no other comes; then comes the end of what it was for, with its true length, and what blocks the
// loop now, and not what has come and gone.
func TestStallWhileAnotherIsReported(t *testing.T) {
	for name, opts := range map[string][]eventloop.Option{"alone": nil, "with metrics": {eventloop.WithMetrics(true)}} {
		synctest.Test(t, func(t *testing.T) {
			var reported []string
			began := time.Now()
			l := observed(t, append(opts, eventloop.WithStallThreshold(time.Second, func(s eventloop.Stall) {
				what := s.Kind
				if s.Ended {
					what += fmt.Sprint(" of ", s.Running.Round(time.Second))
				}
				reported = append(reported, fmt.Sprint(what, " after ", time.Since(began).Truncate(time.Second)))
				if len(reported) == 1 {
					time.Sleep(10 * time.Second)
				}
			}))...)
			synctest.Wait()
			require.NoError(t, l.Submit(blockHere(5*time.Second)))
			synctest.Wait()
			require.NoError(t, l.SubmitInternal(blockHere(2500*time.Millisecond)))
			_, err := l.ScheduleTimer(9*time.Second, blockHere(20*time.Second))
			require.NoError(t, err)
			time.Sleep(time.Minute)
			synctest.Wait()
			require.Equal(t, []string{"task after 1s", "task of 5s after 11s", "timer after 11s", "timer of 20s after 29s"}, reported, name)
		})
	}
}

// However small the threshold is, the watch takes little, and however large, the timer does not outlive the loop for long.
func TestStallThresholdsOfAnySize(t *testing.T) {
	for _, threshold := range []time.Duration{1, 300, time.Microsecond, time.Hour, math.MaxInt64} {
		synctest.Test(t, func(t *testing.T) {
			var reports atomic.Int64
			l := observed(t, eventloop.WithStallThreshold(threshold, func(eventloop.Stall) { reports.Add(1) }))
			synctest.Wait()
			require.NoError(t, l.Submit(blockHere(time.Second)))
			time.Sleep(time.Second / 2)
			require.True(t, l.Watched())
			want := int64(1)
			if threshold >= time.Hour {
				want = 0
			}
			require.Equal(t, want, reports.Load(), threshold)
			require.NoError(t, l.Shutdown(t.Context()))
			time.Sleep(2 * time.Second)
			require.False(t, l.Watched(), "%v: the loop has ended", threshold)
		})
	}
}

// A handler or a logger that blocks the loop is reported as what it is, listed, and recorded; what it was called for has
// returned.
func TestHandlersThatBlock(t *testing.T) {
	slow := func() { time.Sleep(5 * time.Second) }
	for name, c := range map[string]struct {
		with eventloop.Option
		do   func(l *eventloop.Loop)
	}{
		"panic": {eventloop.WithPanicHandler(func(*eventloop.PanicError) { slow() }), func(*eventloop.Loop) { panic("lost temper") }},
		"panic again": {eventloop.WithPanicHandler(func(*eventloop.PanicError) { slow(); panic("worse") }),
			func(*eventloop.Loop) { panic("lost temper") }},
		"exit": {eventloop.WithPanicHandler(func(*eventloop.PanicError) { slow(); runtime.Goexit() }), func(*eventloop.Loop) { runtime.Goexit() }},
		"rejection": {eventloop.WithUnhandledRejection(func(*eventloop.Promise, error) { slow() }),
			func(l *eventloop.Loop) { l.Promises().Rejected(errWork) }},
		"overload": {eventloop.WithOnOverload(func(error) { slow() }), func(l *eventloop.Loop) {
			for range 2 {
				_ = l.ScheduleMicrotask(func() {})
			}
		}},
		"logger": {eventloop.WithLogger(slog.New(&journal{then: slow})), func(*eventloop.Loop) { panic("lost temper") }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				reports := make(chan eventloop.Stall, 10)
				l := observed(t, eventloop.WithLogger(slog.New(slog.DiscardHandler)), c.with, eventloop.WithMetrics(true), eventloop.WithFlightRecorder(100),
					eventloop.WithMicrotaskBudget(1), eventloop.WithStallThreshold(time.Second, func(s eventloop.Stall) { reports <- s }))
				time.Sleep(time.Second)
				require.NoError(t, l.Submit(func() { c.do(l) }))
				time.Sleep(3 * time.Second)
				require.Len(t, reports, 1)
				s := <-reports
				require.Equal(t, "handler", s.Kind)
				require.Contains(t, string(s.Stack), "TestHandlersThatBlock")
				running := l.Active()[0]
				require.Equal(t, "handler running", running.Kind+" "+running.Name)
				require.InDelta(t, 3*time.Second, time.Since(running.Since), 10)
				time.Sleep(time.Minute)
				require.Len(t, reports, 1)
				s = <-reports
				require.True(t, s.Ended)
				require.InDelta(t, 5*time.Second, s.Running, float64(time.Second/4))
				require.Empty(t, l.Active())
				m := l.Metrics()
				require.Less(t, m.Callback.Max, time.Second, "it counts as no callback")
				var b strings.Builder
				require.NoError(t, l.DumpEvents(&b))
				require.Regexp(t, `(?m) 5s handler$`, b.String())
			})
		})
	}
}

// A loop that lets others run is in no callback, however long they take.
func TestPausesAreNoStalls(t *testing.T) {
	defer park.Calm.Until.Store(0)
	l := observed(t, eventloop.WithStallThreshold(time.Hour, func(eventloop.Stall) {}))
	var before, after []eventloop.Activity
	require.NoError(t, onLoop(t, l, func() error {
		before = ofKind(l, "task")
		pauses := l.Park().Pauses.Load()
		for n := 0; n < 1000 && l.Park().Pauses.Load() == pauses; n++ { // it passes over some idle moments
			park.Calm.Until.Store(math.MaxInt64)
			l.Park().Pause()
		}
		require.NotEqual(t, pauses, l.Park().Pauses.Load())
		after = ofKind(l, "task")
		return nil
	}))
	require.Len(t, before, 1)
	require.Equal(t, "running", before[0].Name)
	require.Empty(t, after)
}

// A dump that waits for its writer keeps the loop, and who else asks, waiting for nothing.
func TestDumpIntoAWriterThatBlocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := observed(t, eventloop.WithFlightRecorder(1000), eventloop.WithMetrics(true))
		for range 500 {
			require.NoError(t, l.Submit(func() {}))
		}
		synctest.Wait()
		for _, dump := range []func(io.Writer) error{l.DumpEvents, l.DumpTrace} {
			r, w := io.Pipe()
			dumped := make(chan error, 1)
			go func() {
				defer w.Close()
				dumped <- dump(w)
			}()
			synctest.Wait()
			before := l.Metrics().Run
			for range 3000 {
				require.NoError(t, l.Submit(func() {}))
			}
			synctest.Wait()
			require.Equal(t, before+3000, l.Metrics().Run)
			require.NoError(t, l.DumpEvents(io.Discard))
			require.Empty(t, dumped)
			_, err := io.Copy(io.Discard, r)
			require.NoError(t, err)
			require.NoError(t, <-dumped)
		}
	})
}
