package eventloop_test

// Tests of the crew: when functions of Promisify get a goroutine.

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/internal/crew"
)

// A callback that begins thousands of functions does not overfill the run queue; all are called, once each, except those whose
// context has ended, also if all that have begun block.
func TestCallbackBeginsMany(t *testing.T) {
	const room = 256 // of a processor's queue
	for _, procs := range []int{1, 4} {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
		l := observed(t)
		ctx, cancel := context.WithCancel(context.Background())
		var called, cancelled atomic.Int64
		gate := make(chan struct{})
		fn := func(context.Context) (any, error) { called.Add(1); <-gate; return nil, nil }
		never := func(context.Context) (any, error) { cancelled.Add(1); return nil, nil }
		before, most, most2 := runtime.NumGoroutine(), 0, 0
		var early int64 // called before their context ended, as the callback was interrupted
		const n = 10 * room
		require.NoError(t, l.Submit(func() {
			for range n {
				l.Promisify(context.Background(), fn)
				most = max(most, runtime.NumGoroutine()-before-int(called.Load()))
			}
			for range n {
				l.Promisify(ctx, never)
			}
			cancel()
			early = cancelled.Load()
			for range n {
				l.Promisify(context.Background(), fn)
				most2 = max(most2, l.Crew().Queued()) // at the end none may wait, if the callback was interrupted there
			}
		}))
		for called.Load() != 2*n {
			runtime.Gosched()
		}
		close(gate)
		require.NoError(t, l.Shutdown(context.Background()))
		require.EqualValues(t, 2*n, called.Load())
		if procs == 1 {
			require.Less(t, most, room)
			require.NotZero(t, most2)
			require.Less(t, cancelled.Load()-early, int64(room))
		}
		require.Zero(t, l.Crew().Queued())
	}
}

// Functions that wait behind others are started although the contexts of all of those end before they begin.
func TestDeferredBehindCancelled(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	l := observed(t)
	for range 200 {
		ctx, cancel := context.WithCancel(context.Background())
		called, ended := make(chan struct{}), make(chan struct{})
		require.NoError(t, l.Submit(func() {
			for range crew.Many {
				l.Promisify(ctx, func(context.Context) (any, error) { return nil, nil })
			}
			l.Promisify(ctx, func(context.Context) (any, error) { return nil, nil })
			l.Promisify(context.Background(), func(context.Context) (any, error) { close(called); return nil, nil })
			close(ended)
			cancel()
		}))
		<-ended
		<-called
	}
	require.NoError(t, l.Shutdown(context.Background()))
}
