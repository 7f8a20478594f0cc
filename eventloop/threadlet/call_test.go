package threadlet_test

// Tests of Call, and of Join across loops.

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

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

// A wait for another loop's threadlet needs no worker of the caller's loop, keeps that loop alive, and ends as others do. The
// other loop's end tells it, also of a threadlet that was never begun.
func TestJoinAcross(t *testing.T) {
	block := func() { _ = threadlet.Sleep(time.Hour) }
	closes := func(t *testing.T, _ *threadlet.Threadlet, l *eventloop.Loop) { require.NoError(t, l.Close()) }
	shuts := func(t *testing.T, _ *threadlet.Threadlet, l *eventloop.Loop) {
		require.NoError(t, l.Shutdown(background))
	}
	signals := func(_ *testing.T, self *threadlet.Threadlet, _ *eventloop.Loop) { self.Signal() }
	for name, c := range map[string]struct {
		fn     func()
		during func(t *testing.T, self *threadlet.Threadlet, other *eventloop.Loop)
		want   error
		begins bool
	}{
		"returns":  {func() {}, nil, nil, true},
		"waits":    {block, nil, nil, true},
		"panics":   {func() { panic(errCalled) }, nil, errCalled, true},
		"signal":   {block, signals, threadlet.ErrSignaled, true},
		"context":  {block, nil, context.DeadlineExceeded, true},
		"Shutdown": {block, shuts, nil, true},
		"Close":    {block, closes, nil, true},
		"dropped":  {block, closes, eventloop.ErrLoopTerminated, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				opt, _ := sink()
				own, err := eventloop.New(eventloop.WithAutoExit(true), eventloop.WithWorkerLimit(1))
				require.NoError(t, err)
				other, err := eventloop.New(opt)
				require.NoError(t, err)
				if c.begins {
					go other.Run(background)
				}
				free := make(chan struct{})
				busy := eventloop.Promisify(background, own, func(context.Context) (any, error) { <-free; return nil, nil })
				joined, err := threadlet.Go(other, c.fn)
				require.NoError(t, err)
				ctx := background
				if name == "context" {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(background, time.Minute)
					defer cancel()
				}
				ended := make(chan error, 1)
				self, err := threadlet.Go(own, func() {
					ended <- joined.Join(ctx)
					close(free)
				})
				require.NoError(t, err)
				go own.Run(background)
				synctest.Wait()
				if c.during != nil {
					c.during(t, self, other)
				}
				if err := <-ended; !errors.Is(err, c.want) {
					t.Errorf("%v, want %v", err, c.want)
				}
				_, err = busy.Await(background)
				require.NoError(t, err)
				<-own.Done()
				_ = other.Close()
				<-other.Done()
			})
		})
	}
}

// A loop that has nothing else to do waits for the threadlet of another loop.
func TestJoinAcrossKeepsAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		own, err := eventloop.New(eventloop.WithAutoExit(true))
		require.NoError(t, err)
		other := start(t)
		sleeper, err := threadlet.Go(other, func() { _ = threadlet.Sleep(time.Hour) })
		require.NoError(t, err)
		joined := errCalled
		_, err = threadlet.Go(own, func() { joined = sleeper.Join(background) })
		require.NoError(t, err)
		require.NoError(t, own.Run(background))
		require.NoError(t, joined)
	})
}
