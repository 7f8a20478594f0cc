package eventloop_test

// The worked cases of docs/operating.md: what each says that is seen is seen.

import (
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
)

func TestOperatingGrowingQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const takes, every, limit = 10 * time.Millisecond, 5 * time.Millisecond, 400
		l := observed(t, eventloop.WithMetrics(true), eventloop.WithQueueLimit(limit))
		refused := 0
		var before eventloop.Metrics
		for range 3 {
			for range 200 {
				if err := l.Submit(func() { time.Sleep(takes) }); err != nil {
					require.ErrorIs(t, err, eventloop.ErrLoopOverloaded)
					refused++
				}
				time.Sleep(every)
			}
			m := l.Metrics()
			require.Greater(t, m.External.Current, before.External.Current)
			require.Greater(t, m.External.EMA, before.External.EMA)
			require.Greater(t, m.QueueDelay.P99, before.QueueDelay.P99)
			require.InEpsilon(t, takes, m.Callback.P99, 0.02, "as ever")
			require.InDelta(t, 1, m.Callback.Mean.Seconds()*m.TPS, 0.02, "the loop is full")
			before = m
		}
		require.Zero(t, refused)
		for range 1000 {
			if l.Submit(func() { time.Sleep(takes) }) != nil {
				refused++
			}
		}
		require.Equal(t, limit, l.Metrics().External.Current)
		require.NotZero(t, refused)
	})
}

// With one processor, and a producer that computes after each Submit, the loop is ready and does not run.
func TestOperatingShortOfProcessors(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	undisturbed(t, func() error {
		l := observed(t, eventloop.WithMetrics(true))
		parkedMetrics(t, l)
		waited := time.Duration(0) // at least, by a task that had not run when the producer had computed
		for range 30 {
			ran := make(chan struct{}, 1)
			require.NoError(t, l.Submit(func() { ran <- struct{}{} }))
			submitted, computed := time.Now(), time.Duration(0)
			for computed < time.Millisecond {
				computed = time.Since(submitted)
			}
			if len(ran) == 0 {
				waited = max(waited, computed)
			}
			<-ran
		}
		m := parkedMetrics(t, l)
		require.GreaterOrEqual(t, m.QueueDelay.Max, waited, "tasks wait for the processor")
		if waited == 0 || m.Callback.P50 > m.QueueDelay.P50 || m.Utilization > 0.5 {
			return fmt.Errorf("queue delay at most %v, callback median %v, utilization %.3f", m.QueueDelay.Max, m.Callback.P50, m.Utilization)
		}
		return nil
	})
}
