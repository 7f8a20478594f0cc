package eventloop_test

// Tests of metrics over the life of a loop: what never falls, and what is nothing after the end.

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/internal/beat"
)

// Latencies of an interval know nothing of what was before.
func TestLatencySince(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := observed(t, eventloop.WithMetrics(true))
		run := func(d time.Duration) eventloop.Latency {
			for range 10 {
				require.NoError(t, l.Submit(blockHere(d)))
			}
			synctest.Wait()
			time.Sleep(time.Hour)
			return l.Metrics().Callback
		}
		long := run(time.Minute)
		require.Equal(t, long, long.Since(eventloop.Latency{}))
		now := run(time.Second).Since(long)
		require.EqualValues(t, 10, now.Count)
		require.Equal(t, 10*time.Second, now.Sum())
		for _, d := range []time.Duration{now.Mean, now.P50, now.P99, now.Max} {
			require.InEpsilon(t, time.Second, d, 0.02)
		}
	})
}

// Row 89: counts and maxima never fall, however the functions that were counted leave the queue; of a loop that has ended nothing
// is left, whatever goes on elsewhere.
func TestMetricsOfALife(t *testing.T) {
	for name, end := range map[string]func(l *eventloop.Loop) error{
		"Close":    (*eventloop.Loop).Close,
		"Shutdown": func(l *eventloop.Loop) error { return l.Shutdown(context.Background()) },
	} {
		for _, runs := range []bool{true, false} {
			l := made(t, eventloop.WithMetrics(true))
			var last eventloop.Metrics
			look := func() eventloop.Metrics {
				m := l.Metrics()
				rising := func(m *eventloop.Metrics) []int {
					return []int{int(m.Run), int(m.Ticks), int(m.Wakes), int(m.Sleeps), int(m.Pauses), m.External.Max, m.Internal.Max, m.Microtasks.Max,
						int(m.Callback.Count), int(m.Callback.Max), int(m.QueueDelay.Count), int(m.QueueDelay.Max)}
				}
				for i, now := range rising(&m) {
					require.GreaterOrEqual(t, now, rising(&last)[i], "%s: figure %d", name, i)
				}
				last = m
				return m
			}
			_, err := l.ScheduleTimer(time.Hour, func() {})
			require.NoError(t, err)
			l.Hold()
			release := make(chan struct{})
			begun := make(chan struct{})
			l.Promisify(context.Background(), func(context.Context) (any, error) { close(begun); <-release; return nil, nil })
			<-begun
			p, _, _ := l.NewPromise()
			p.Then(nil, nil)
			for range 1000 {
				look()
				require.NoError(t, l.Submit(func() {}))
				require.NoError(t, l.SubmitInternal(func() {}))
				require.NoError(t, l.ScheduleMicrotask(func() {}))
			}
			m := look()
			require.Equal(t, []int{1000, 1000}, []int{m.External.Max, m.Internal.Max})
			require.GreaterOrEqual(t, m.Microtasks.Max, 1000)
			if runs {
				go l.Run(context.Background())
				beat.Eventually(t, func() bool { return look().Run >= 3000 }, "all that was accepted")
			}
			if name == "Shutdown" {
				close(release)
			} else {
				defer close(release)
			}
			require.NoError(t, end(l))
			<-l.Done()
			m = look()
			require.Zero(t, m.Timers+m.Descriptors+m.Workers+m.Holds+m.Promises+m.External.Current+m.Internal.Current+m.Microtasks.Current, name)
		}
	}
}

// Of a flood the time is noted once for a chunk, and counts for each of its functions.
func TestMetricsOfAFlood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := observed(t, eventloop.WithMetrics(true))
		const n = 1000
		time.Sleep(time.Second) // a time of 0 is none
		require.NoError(t, l.Submit(func() { time.Sleep(time.Second) }))
		synctest.Wait()
		for range n {
			require.NoError(t, l.Submit(func() { time.Sleep(time.Millisecond) }))
		}
		time.Sleep(time.Minute)
		m := l.Metrics()
		require.EqualValues(t, n+1, m.QueueDelay.Count)
		require.Equal(t, time.Second+(n-1)*time.Millisecond, m.QueueDelay.Max)
		require.Equal(t, n*time.Second+n*(n-1)/2*time.Millisecond, m.QueueDelay.Sum())
	})
}
