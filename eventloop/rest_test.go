package eventloop_test

// Tests of an ending loop that waits for its workers.

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/internal/beat"
)

// The last worker is done, or Close comes, at the very moment at which an ending loop goes to rest.
func TestRestEnds(t *testing.T) {
	for _, mode := range []eventloop.FastPathMode{eventloop.FastPathAuto, eventloop.FastPathDisabled} {
		for i := range scale(8, 10_000, 100_000) {
			l, err := eventloop.New(eventloop.WithFastPathMode(mode))
			if errors.Is(err, errors.ErrUnsupported) {
				break
			}
			require.NoError(t, err)
			closing := i%4 == 0
			ran := make(chan error, 1)
			go func() { ran <- l.Run(context.Background()) }()
			p := l.Promisify(context.Background(), func(context.Context) (any, error) {
				for looks := 1; l.State() != eventloop.StateTerminating; looks++ {
					if looks%1000 == 0 || runtime.GOMAXPROCS(0) == 1 { // who is to end the loop may wait for this processor
						runtime.Gosched()
					}
				}
				for range i % 64 { // a little later each time
					l.State()
				}
				if closing {
					return nil, l.Close()
				}
				return i, nil
			})
			require.NoError(t, l.Submit(func() { _ = l.Shutdown(context.Background()) }))
			require.Equal(t, closing, beat.Receive(t, ran, "the end of a loop that rests") != nil)
			_, err = p.Await(context.Background())
			require.Equal(t, closing, err != nil)
		}
	}
}

// Workers, foreign internal work, Shutdown and Close all at once, over and over, in every place where the loop sleeps:
// all waiters hear, and the loop ends.
func TestWorkersMeetTheEnd(t *testing.T) {
	for _, mode := range []eventloop.FastPathMode{eventloop.FastPathAuto, eventloop.FastPathDisabled} {
		for i := range scale(6, 1000, 20_000) {
			l, err := eventloop.New(eventloop.WithFastPathMode(mode), eventloop.WithWorkerLimit(i%3))
			if errors.Is(err, errors.ErrUnsupported) {
				break
			}
			require.NoError(t, err)
			ran := make(chan error, 1)
			go func() { ran <- l.Run(context.Background()) }()
			require.NoError(t, onLoop(t, l, func() error { return nil }))
			pair, err := openPair()
			if err == nil && i%2 == 0 {
				send(pair[1], 1) // which is never read: the loop is told of it again and again
				require.NoError(t, l.RegisterFD(pair[0], eventloop.EventRead, func(eventloop.IOEvents) { runtime.Gosched() }))
			}
			var all sync.WaitGroup
			var worked, heard, handled atomic.Int32
			for range 4 {
				all.Go(func() {
					pause := rand.N(20)
					p := l.Promisify(context.Background(), func(context.Context) (any, error) {
						for range pause {
							runtime.Gosched()
						}
						worked.Add(1)
						return pause, nil
					})
					_, errThen := p.Then(func(any) (any, error) { handled.Add(1); return nil, nil }, nil).Await(context.Background())
					value, err := p.Await(context.Background())
					if err != nil {
						require.ErrorIs(t, err, eventloop.ErrLoopTerminated)
						require.ErrorIs(t, errThen, eventloop.ErrLoopTerminated)
						return
					}
					require.Equal(t, pause, value)
					heard.Add(1)
					if errThen == nil { // it came in time
						handled.Add(-1)
					}
				})
			}
			all.Go(func() {
				for l.SubmitInternal(func() {}) == nil {
					runtime.Gosched()
				}
			})
			for range rand.N(40) {
				runtime.Gosched()
			}
			switch i % 3 {
			case 0:
				require.NoError(t, l.Shutdown(context.Background()))
				require.NoError(t, <-ran)
			case 1:
				require.NoError(t, l.Close())
				require.ErrorIs(t, <-ran, eventloop.ErrLoopTerminated)
			default:
				all.Go(func() { _ = l.Shutdown(context.Background()) })
				_ = l.Close()
				<-ran
			}
			all.Wait()
			closeAll(pair[:]...)
			require.Zero(t, handled.Load(), "a handler was called, and its promise does not say so")
			if i%3 == 0 {
				require.Equal(t, worked.Load(), heard.Load(), "accepted work is heard of at Shutdown")
			}
		}
	}
}

// A loop that slept in the poller, and ends with a worker under way, rests on its channel: the worker's outcome wakes it there.
func TestRestBehindThePoller(t *testing.T) {
	near, _ := newPair(t)
	l, err := eventloop.New(eventloop.WithFastPathMode(eventloop.FastPathDisabled))
	require.NoError(t, err)
	require.NoError(t, l.RegisterFD(near, eventloop.EventRead, func(eventloop.IOEvents) {}))
	release, ran := make(chan struct{}), make(chan error, 1)
	l.Promisify(context.Background(), func(context.Context) (any, error) { <-release; return nil, nil })
	go func() { ran <- l.Run(context.Background()) }()
	beat.Eventually(t, func() bool { return l.State() == eventloop.StateSleeping }, "the sleep in the poller")
	go func() { _ = l.Shutdown(context.Background()) }()
	beat.Eventually(t, func() bool { return l.State() == eventloop.StateTerminating }, "the end's begin")
	time.Sleep(30 * time.Millisecond) // so that it rests; before that the outcome needs no wake-up
	close(release)
	require.NoError(t, beat.Receive(t, ran, "the end"))
}
