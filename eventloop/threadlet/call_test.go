package threadlet_test

// Tests of Call.

import (
	"context"
	"errors"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/threadlet"
)

var errCalled = errors.New("called")

// Threadlets of two loops ask each other's, and neither loop waits for the other: each sum is touched on its own loop.
func TestCallAcross(t *testing.T) {
	const askers, asks = 8, 50
	loops := [2]*eventloop.Loop{start(t), start(t)}
	var sums [2]int
	var all []*threadlet.Threadlet
	for i := range 2 * askers {
		own, other := i%2, 1-i%2
		th, err := threadlet.Go(loops[own], func() {
			for n := range asks {
				got, err := threadlet.Call(background, loops[other], func() (int, error) {
					_ = threadlet.Yield() // fn may wait as threadlets do
					sums[other]++
					return threadlet.Call(background, loops[other], func() (int, error) { return n, nil }) // its own loop: at once
				})
				if got != n || err != nil {
					t.Errorf("%d, %v", got, err)
				}
			}
		})
		require.NoError(t, err)
		all = append(all, th)
	}
	for _, th := range all {
		require.NoError(t, th.Join(background))
	}
	for i, l := range loops {
		sum, err := threadlet.Call(background, l, func() (int, error) { return sums[i], nil })
		require.NoError(t, err)
		require.Equal(t, askers*asks, sum)
	}
}

func TestCallFails(t *testing.T) {
	l := start(t)
	ended, cancel := context.WithCancel(background)
	cancel()
	for name, c := range map[string]struct {
		ctx  context.Context
		fn   func() (int, error)
		want error
	}{
		"nil":     {background, nil, eventloop.ErrNilCallback},
		"error":   {background, func() (int, error) { return 1, errCalled }, errCalled},
		"Goexit":  {background, func() (int, error) { runtime.Goexit(); return 1, nil }, eventloop.ErrGoexit},
		"ended":   {ended, func() (int, error) { t.Error("called"); return 1, nil }, context.Canceled},
		"signals": {background, func() (int, error) { threadlet.Current().Signal(); return 0, threadlet.Sleep(1 << 40) }, threadlet.ErrSignaled},
	} {
		ask := func() {
			if _, err := threadlet.Call(c.ctx, l, c.fn); !errors.Is(err, c.want) {
				t.Errorf("%s: %v", name, err)
			}
		}
		ask() // on a goroutine of its own
		require.NoError(t, do(t, start(t), ask), name)
	}
	require.NoError(t, l.Close())
	<-l.Done()
	_, err := threadlet.Call(background, l, func() (int, error) { return 0, nil })
	require.ErrorIs(t, err, eventloop.ErrLoopTerminated)
}
