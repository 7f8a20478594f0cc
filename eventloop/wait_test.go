package eventloop_test

// Tests of sleeping and waking.

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// Once SubmitInternal has returned, no external task starts but the one that the loop is just about to start: what the
// caller then reads of the loop's progress, without any lock, is of before. A store that is not visible yet would show.
func TestInternalWorkIsSeenAtOnce(t *testing.T) {
	if runtime.GOMAXPROCS(0) < 2 {
		t.Skip("on one processor there is nothing to see")
	}
	l := observed(t)
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
