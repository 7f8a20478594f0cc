//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows

package threadlet_test

// The end of many threadlets at once.

import (
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/threadlet"
)

// All that wait hear of the end, for each of ten thousand at about the cost of each of a thousand, and leave nothing behind.
func TestManyAtTheEnd(t *testing.T) {
	const few, many, readers = 1000, 10_000, 50
	end := func(n int) int64 {
		before := runtime.NumGoroutine()
		l := start(t)
		told := 0
		var ways []func(*eventloop.Loop) error
		for _, name := range []string{"sleep", "await", "join", "mutex", "cond", "send", "receive"} {
			ways = append(ways, waits[name])
		}
		for range readers {
			c, far := quickPair(t, l)
			ways = append(ways, func(*eventloop.Loop) error {
				_, err := c.Read(make([]byte, 1))
				runtime.KeepAlive(far) // or else the collector closes it
				return err
			})
		}
		require.NoError(t, do(t, l, func() {
			for i := range n {
				_, _ = threadlet.Go(l, func() {
					if errors.Is(ways[i%len(ways)](l), eventloop.ErrLoopTerminated) {
						told++
					}
				})
			}
			_ = threadlet.Sleep(time.Millisecond)
		}))
		require.Greater(t, runtime.NumGoroutine(), n)
		began := processorTime(t)
		require.NoError(t, l.Close())
		<-l.Done()
		spent := processorTime(t) - began
		require.Equal(t, n, told)
		awaitGoroutines(t, before)
		return spent
	}
	costs(t, "the end of ten times as many", 4*many/few, func() int64 { return end(few) }, func() int64 { return end(many) })
}
