package eventloop_test

// Tests of the metrics of one loop.

import (
	"context"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/internal/beat"
)

// made makes a loop that nobody runs.
func made(t testing.TB, opts ...eventloop.Option) *eventloop.Loop {
	t.Helper()
	l, err := eventloop.New(opts...)
	require.NoError(t, err)
	return l
}

// observed runs a loop with the options, and ends it with the test.
func observed(t testing.TB, opts ...eventloop.Option) *eventloop.Loop {
	t.Helper()
	l := made(t, opts...)
	go func() { _ = l.Run(context.Background()) }()
	t.Cleanup(func() {
		_ = l.Close()
		<-l.Done()
	})
	return l
}

// parkedMetrics returns what the loop has measured once it has run what was submitted before, and is parked: that is final.
func parkedMetrics(t testing.TB, l *eventloop.Loop) eventloop.Metrics {
	t.Helper()
	ran := make(chan struct{})
	require.NoError(t, l.Submit(func() { close(ran) }))
	<-ran
	beat.Until(func() bool { return l.State() == eventloop.StateSleeping })
	return l.Metrics()
}

// What callbacks take, on a clock that only they move, is what the figures say: each kind counts once, and nothing else.
func TestMetricsOnVirtualTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := observed(t, eventloop.WithMetrics(true))
		synctest.Wait()
		work := func(d time.Duration) func() { return func() { time.Sleep(d) } }
		for i := range 50 {
			require.NoError(t, l.Submit(work(time.Duration(i+1)*time.Millisecond)))
			require.NoError(t, l.SubmitInternal(work(time.Millisecond)))
			require.NoError(t, l.ScheduleMicrotask(work(2*time.Millisecond)))
			_, err := l.ScheduleTimer(time.Second, work(3*time.Millisecond))
			require.NoError(t, err)
		}
		time.Sleep(5 * time.Second)
		synctest.Wait()
		m := l.Metrics()
		require.EqualValues(t, 200, m.Run)
		require.EqualValues(t, 200, m.Callback.Count)
		require.EqualValues(t, 100, m.QueueDelay.Count, "tasks and internal tasks wait in queues")
		busy := 1275*time.Millisecond + 50*(1+2+3)*time.Millisecond
		require.Equal(t, busy, m.Callback.Sum())
		require.Equal(t, busy/200, m.Callback.Mean)
		require.Equal(t, 50*time.Millisecond, m.Callback.Max)
		require.InEpsilon(t, 2*time.Millisecond, m.Callback.P50, 0.02, "fifty of 1 ms, and two of the tasks; then fifty of 2 ms")
		require.InEpsilon(t, 48*time.Millisecond, m.Callback.P99, 0.02)
		require.EqualValues(t, 102, m.Callback.AtMost(2500*time.Microsecond), "of 1 and 2 ms there are 51 each")
		require.InDelta(t, 200.0/5, m.TPS, 0.5)
		require.InDelta(t, busy.Seconds()/5, m.Utilization, 0.01)
		require.GreaterOrEqual(t, m.QueueDelay.Max, 1274*time.Millisecond-50*time.Millisecond, "the last task waited for all others")
		require.Zero(t, m.External.Current+m.Internal.Current+m.Microtasks.Current+m.Timers)

		time.Sleep(time.Minute)
		m = l.Metrics()
		require.Zero(t, m.TPS, "ten seconds later all of that is past")
		require.Zero(t, m.Utilization)
		require.EqualValues(t, 200, m.Run)
	})
}

// Figures asked for from many goroutines, while the loop is busy, never contradict themselves, and count everything in the
// end: with and without sampling.
func TestMetricsAreCoherent(t *testing.T) {
	for _, every := range []int{1, 7} {
		t.Run(fmt.Sprint("sampling=", every), func(t *testing.T) {
			const producers, each = 4, 5000
			l := observed(t, eventloop.WithMetrics(true), eventloop.WithMetricsSampling(every))
			var ran atomic.Int64
			var work, readers sync.WaitGroup
			stop := make(chan struct{})
			for range 2 {
				readers.Go(func() {
					for before := (eventloop.Metrics{}); ; {
						m := l.Metrics()
						if every == 1 && m.Run != m.Callback.Count {
							t.Errorf("%d have run, %d were timed", m.Run, m.Callback.Count)
						}
						if m.Callback.Count != m.Callback.AtMost(1<<62) || m.Run < before.Run || m.Ticks < before.Ticks ||
							m.Callback.P50 > m.Callback.P99 || m.Callback.P99 > m.Callback.Max || m.External.Current > m.External.Max {
							t.Errorf("%+v after %+v", m, before)
						}
						before = m
						select {
						case <-stop:
							return
						default:
						}
					}
				})
			}
			for i := range producers {
				work.Go(func() {
					for n := range each {
						run := func() { ran.Add(1) }
						switch (i + n) % 4 {
						case 0:
							_ = l.SubmitInternal(run)
						case 1:
							_ = l.ScheduleMicrotask(run)
						case 2:
							_, _ = l.ScheduleTimer(0, run)
						default:
							_ = l.Submit(run)
						}
					}
				})
			}
			work.Wait()
			beat.Eventually(t, func() bool { return ran.Load() == producers*each }, "all that was accepted")
			close(stop)
			readers.Wait()
			m := parkedMetrics(t, l)
			require.EqualValues(t, producers*each+1, m.Run)
			if every == 1 {
				require.EqualValues(t, m.Run, m.Callback.Count)
			} else {
				require.InDelta(t, m.Run/uint64(every), m.Callback.Count, 1)
				require.NotZero(t, m.QueueDelay.Count)
				require.Less(t, m.QueueDelay.Count, m.Run/2)
			}
			require.Zero(t, m.External.Current+m.Internal.Current+m.Microtasks.Current+m.Timers)
			require.NotZero(t, m.TPS)
		})
	}
}

// The time between callbacks is not work, however often the loop sleeps and wakes.
func TestMetricsUtilization(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := observed(t, eventloop.WithMetrics(true))
		for i := range 300 {
			require.NoError(t, l.Submit(func() { time.Sleep(30 * time.Millisecond) }))
			time.Sleep(100 * time.Millisecond)
			m := l.Metrics()
			require.InDelta(t, 0.3, m.Utilization, 0.01, "after %d", i)
			require.InDelta(t, 10, m.TPS, 0.2)
		}
		require.Equal(t, 30*time.Millisecond, l.Metrics().Callback.Max)
	})
}

// What the loop has taken, and not run, waits like what it has not taken.
func TestMetricsOfWhatTheLoopHasTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := made(t, eventloop.WithMetrics(true))
		release := make(chan struct{})
		for range 5 {
			require.NoError(t, l.Submit(func() { <-release }))
		}
		go func() { _ = l.Run(context.Background()) }()
		for range 5 {
			synctest.Wait()
			require.NoError(t, l.Submit(func() {}))
			require.Equal(t, 5, l.Metrics().External.Current, "what has begun does not wait")
			release <- struct{}{}
		}
		require.NoError(t, l.Shutdown(t.Context()))
		m := l.Metrics()
		require.Zero(t, m.External.Current)
		require.EqualValues(t, 10, m.Run)
	})
}

// However long a queue is, and however slowly it has grown, how long its functions have waited is told rightly.
func TestMetricsOfALongQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := observed(t, eventloop.WithMetrics(true))
		const n, step = 700, time.Millisecond
		require.NoError(t, l.Submit(func() { time.Sleep(n * step) }))
		synctest.Wait()
		for range n {
			require.NoError(t, l.Submit(func() {}))
			time.Sleep(step)
		}
		time.Sleep(time.Second)
		m := l.Metrics()
		require.EqualValues(t, n+1, m.QueueDelay.Count)
		require.InDelta(t, n*step, m.QueueDelay.Max, 10)
		require.InEpsilon(t, n*step/2, m.QueueDelay.Mean, 0.02)
		require.InEpsilon(t, n*step/2, m.QueueDelay.P50, 0.03)
		require.InEpsilon(t, n*step*9/10, m.QueueDelay.P90, 0.03)
	})
}

// A callback that panics, or ends the goroutine, is counted like any other.
func TestMetricsCountFaults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := observed(t, eventloop.WithMetrics(true), eventloop.WithPanicHandler(func(*eventloop.PanicError) {}))
		for range 10 {
			require.NoError(t, l.Submit(func() { time.Sleep(time.Second); panic("lost temper") }))
		}
		synctest.Wait()
		time.Sleep(20 * time.Second)
		m := l.Metrics()
		require.EqualValues(t, 10, m.Run)
		require.Equal(t, time.Second, m.Callback.Max)
		require.Equal(t, 10*time.Second, m.Callback.Sum())
	})
}

// The figures of several loops add up, whatever the order.
func TestMetricsMerge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var all []eventloop.Metrics
		for i := range 3 {
			l := observed(t, eventloop.WithMetrics(true))
			for range 100 * (i + 1) {
				require.NoError(t, l.Submit(func() { time.Sleep(time.Duration(i+1) * time.Millisecond) }))
			}
			time.Sleep(time.Second)
			all = append(all, l.Metrics())
		}
		sum := all[0]
		sum.Merge(all[1])
		sum.Merge(all[2])
		require.EqualValues(t, 600, sum.Run)
		require.EqualValues(t, 600, sum.Callback.Count)
		require.Equal(t, 3*time.Millisecond, sum.Callback.Max)
		require.InEpsilon(t, 2*time.Millisecond, sum.Callback.P50, 0.02)
		require.InEpsilon(t, 3*time.Millisecond, sum.Callback.P90, 0.02)
		require.InDelta(t, (all[0].Utilization+all[1].Utilization+all[2].Utilization)/3, sum.Utilization, 1e-9)
		require.EqualValues(t, 100, all[0].Callback.Count, "what was merged is as it was")

		back := all[2]
		back.Merge(all[1])
		back.Merge(all[0])
		require.Equal(t, sum.Callback.P99, back.Callback.P99)
		require.Equal(t, sum.External.Max, back.External.Max)
		require.InDelta(t, sum.TPS, back.TPS, 1e-6)
		var empty eventloop.Metrics
		empty.Merge(all[0])
		require.Equal(t, all[0].Callback.P50, empty.Callback.P50)
	})
}

// One function in n says how long it has waited, whether they come one by one or by the thousand, to a loop or to a group.
func TestMetricsSampleWaiting(t *testing.T) {
	const every, total = 16, 30_000
	opts := []eventloop.Option{eventloop.WithMetrics(true), eventloop.WithMetricsSampling(every)}
	type submitter interface{ Submit(fn func()) error }
	for _, batch := range []int{1, 3, 50, 1000} {
		waited := func(s submitter, blocked int) {
			for range total / batch {
				for range blocked {
					require.NoError(t, s.Submit(func() { time.Sleep(time.Second) }))
				}
				synctest.Wait()
				for range batch {
					require.NoError(t, s.Submit(func() {}))
				}
				time.Sleep(2 * time.Second)
			}
		}
		check := func(m eventloop.Metrics, blocked int) {
			n := total/batch*blocked + total
			require.EqualValues(t, n, m.Run)
			require.InDelta(t, n/every, m.QueueDelay.Count, 7*math.Sqrt(total/every), "in batches of %d", batch)
			require.InEpsilon(t, float64(total)/float64(n), float64(m.QueueDelay.Mean)/float64(time.Second), 0.15)
			require.Equal(t, time.Second, m.QueueDelay.Max)
		}
		synctest.Test(t, func(t *testing.T) {
			l := observed(t, opts...)
			waited(l, 1)
			check(l.Metrics(), 1)
		})
		synctest.Test(t, func(t *testing.T) {
			g := newGroup(t, 2, opts...)
			result := runs(g, context.Background())
			waited(g, 2)
			require.NoError(t, g.Shutdown(context.Background()))
			require.NoError(t, <-result)
			check(g.Metrics(), 2)
		})
	}
}

// What a loop does in steady state allocates nothing, also when all of it is measured, watched and recorded.
func TestMetricsAllocateNothing(t *testing.T) {
	watch := eventloop.WithStallThreshold(time.Minute, func(eventloop.Stall) {})
	for name, opts := range map[string][]eventloop.Option{
		"exact":    {eventloop.WithMetrics(true)},
		"sampled":  {eventloop.WithMetrics(true), eventloop.WithMetricsSampling(64)},
		"watched":  {watch},
		"recorded": {eventloop.WithFlightRecorder(1000)},
		"all":      {eventloop.WithMetrics(true), watch, eventloop.WithFlightRecorder(1000)},
	} {
		l := made(t, append(opts, eventloop.WithAutoExit(true))...)
		var rounds int
		var task func()
		micro := func() {}
		const each = 2000
		task = func() {
			if rounds++; rounds < each {
				_ = l.ScheduleMicrotask(micro)
				_ = l.Submit(task)
			}
		}
		require.NoError(t, l.Submit(task))
		allocated := testing.AllocsPerRun(1, func() {
			if rounds == 0 {
				_ = l.Run(context.Background())
			}
		})
		require.Equal(t, each, rounds, name)
		require.Less(t, allocated, float64(each)/10, "%s: for %d tasks with a microtask each", name, each)
	}
}
