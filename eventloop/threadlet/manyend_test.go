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
	"github.com/turnloop/turnloop/internal/race"
)

// Ten thousand that wait hear of the end within a tenth of a second, and leave nothing behind.
func TestManyAtTheEnd(t *testing.T) {
	const n, readers = 10_000, 50
	var took time.Duration
	for range 5 { // other programs may have the processors meanwhile
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
		began := time.Now()
		require.NoError(t, l.Close())
		<-l.Done()
		took = time.Since(began)
		t.Logf("%d threadlets ended within %v", n, took)
		require.Equal(t, n, told)
		awaitGoroutines(t, before)
		if race.Enabled || took <= 100*time.Millisecond {
			return
		}
	}
	t.Errorf("%d threadlets took %v to end, and never less than a tenth of a second", n, took)
}
