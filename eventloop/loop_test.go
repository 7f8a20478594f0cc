package eventloop_test

// Tests of the tick: its order, its bounds, and what a burst leaves behind.

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/internal/garbage"
)

// A turn ends in time, however many microtasks other goroutines bring: there might be as many again behind each callback.
func TestTurnsEndInTime(t *testing.T) {
	l, ended := running(t, nil)
	ran := 0
	at := make(chan int, 1)
	require.NoError(t, onLoop(t, l, func() error {
		_, err := l.ScheduleTimer(0, func() { at <- ran })
		for range 500 {
			_ = l.Submit(func() {
				ran++
				crowd := make(chan struct{})
				go func() {
					defer close(crowd)
					for range 1024 {
						_ = l.ScheduleMicrotask(func() {})
					}
				}()
				<-crowd
			})
		}
		return err
	}))
	require.LessOrEqual(t, <-at, 50, "tasks with a thousand microtasks of another goroutine each")
	shutDown(t, l)
	require.NoError(t, <-ended)
}

// The memory of a burst goes although the loop has a little to do all the time, also between two collections.
func TestBurstsLeaveNoMemory(t *testing.T) {
	n := scale(100_000, 1_000_000, 1_000_000)
	for name, schedule := range map[string]func(*eventloop.Loop, func()) error{
		"ScheduleMicrotask": (*eventloop.Loop).ScheduleMicrotask, "NextTick": (*eventloop.Loop).NextTick,
		"SubmitInternal": (*eventloop.Loop).SubmitInternal, "Submit": (*eventloop.Loop).Submit,
	} {
		for _, where := range []string{"on the loop", "from elsewhere"} {
			undisturbed(t, func() error { // by what other tests have left running
				l, ended := running(t, nil, eventloop.WithOnOverload(func(error) {}))
				bring := func(n int) {
					burst := func() error {
						for range n {
							_ = schedule(l, func() {})
						}
						return nil
					}
					if where == "on the loop" {
						_ = onLoop(t, l, burst)
					} else {
						_ = burst()
					}
					_ = onLoop(t, l, func() error { return nil })
				}
				heap := func() int64 {
					for range 2 {
						bring(100)
						garbage.Heap()
					}
					return int64(garbage.Heap())
				}
				before := heap()
				bring(n)
				const most = 256 << 10
				left := heap() - before
				for tries := 0; left > most && tries < 20; tries++ {
					left = heap() - before
				}
				shutDown(t, l)
				require.NoError(t, <-ended)
				if left > most {
					return fmt.Errorf("%s %s: a burst of %d has left %d bytes", name, where, n, left)
				}
				return nil
			})
		}
	}
}
