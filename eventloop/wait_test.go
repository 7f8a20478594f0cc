package eventloop_test

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
)

// A simulated loop that pauses whenever it may. Pauses that are short and bring work are all taken; where they bring
// nothing, or one in so many takes long, as on a machine whose processors are busy, they cost a small part of the time;
// and they are taken up again when they are good again.
func TestPausesAreGivenUpWhereTheyAreNoGood(t *testing.T) {
	const (
		work  = 1000 // nanoseconds of a tick besides its pauses
		short = 300  // nanoseconds of a pause
	)
	var p eventloop.Pauses
	simulate := func(hit bool, long int64, oneIn int, until int64) (lost float64, last int) {
		var now, wasted int64
		for pauses := 0; now < until; {
			last = p.Use(eventloop.MostPauses, hit)
			elapsed := work + int64(last)*short
			if last == 0 {
				elapsed = 1000 * work // nothing is lost in larger steps
			}
			if !hit {
				wasted += int64(last) * short
			}
			before := pauses / oneIn
			pauses += last
			elapsed += int64(pauses/oneIn-before) * long
			wasted += int64(pauses/oneIn-before) * long
			p.Judge(elapsed)
			now += elapsed
		}
		return float64(wasted) / float64(now), last
	}
	_, last := simulate(true, 0, 1, 10e6)
	require.Equal(t, eventloop.MostPauses, last, "short pauses that bring work are all taken")

	for _, oneIn := range []int{1, 10, 500, 3000} {
		for _, long := range []int64{2e6, 10e6, 40e6} {
			lost, _ := simulate(true, long, oneIn, 60e9)
			require.Less(t, lost, 0.02, "pauses are given up where one in %d takes %d ns", oneIn, long)

			for range 50 { // five seconds
				if _, last = simulate(true, 0, 1, 100e6); last == eventloop.MostPauses {
					break
				}
			}
			require.Equal(t, eventloop.MostPauses, last, "and taken up again")
		}
	}

	simulate(true, 0, 1, 1e9)
	simulate(true, 2e6, eventloop.MostPauses, 1)
	_, last = simulate(true, 0, 1, 10e6)
	require.Equal(t, eventloop.MostPauses, last, "and at once, where one was long among many that were short")

	lost, _ := simulate(false, 0, 1, 1e9)
	require.Less(t, lost, 0.001, "vain pauses are given up, but for a try now and then")

	_, last = simulate(true, 0, 1, 60e6)
	require.Equal(t, eventloop.MostPauses, last, "and taken up again")
}

// The time that a loop sleeps is not taken for that of its pauses.
func TestSleepIsNoPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, err := eventloop.New()
		require.NoError(t, err)
		go l.Run(context.Background())
		for range 10 {
			var banned time.Duration
			require.NoError(t, l.Submit(func() { banned = l.PausesBanned() }))
			synctest.Wait()
			require.LessOrEqual(t, banned, time.Millisecond)
			time.Sleep(time.Hour)
		}
		require.NoError(t, l.Shutdown(context.Background()))
	})
}

// Once SubmitInternal has returned, no external task starts but the one that the loop is just about to start: what the
// caller then reads of the loop's progress, without any lock, is of before. A store that is not visible yet would show.
func TestInternalWorkIsSeenAtOnce(t *testing.T) {
	if runtime.GOMAXPROCS(0) < 2 {
		t.Skip("on one processor there is nothing to see")
	}
	l, err := eventloop.New()
	require.NoError(t, err)
	go l.Run(context.Background())
	var started atomic.Int64
	task := func() { started.Store(started.Load() + 1) }
	for range scale(10, 300, 300) {
		begin := make(chan struct{})
		require.NoError(t, l.Submit(func() { <-begin }))
		for range 900 {
			require.NoError(t, l.Submit(task))
		}
		before := started.Load()
		close(begin)
		for started.Load() == before {
			runtime.Gosched()
		}
		for range 20 {
			var ran atomic.Int64
			err := l.SubmitInternal(func() { ran.Store(started.Load()) })
			known := started.Load() // before anything that would make the submission visible
			require.NoError(t, err)
			for ran.Load() == 0 {
				runtime.Gosched()
			}
			require.LessOrEqual(t, ran.Load(), known+1)
		}
	}
	require.NoError(t, l.Shutdown(context.Background()))
}
