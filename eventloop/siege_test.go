package eventloop_test

// The loop under siege, in what is its own: the kit's group Siege is for everybody. Goroutines and callbacks that never
// stop, promises and workers among them, and ends that come all the same.

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/internal/beat"
	"github.com/turnloop/turnloop/internal/quota"
)

// running makes a loop and runs it. j, if there is one, hears what it logs.
func running(t *testing.T, j *journal, opts ...eventloop.Option) (l *eventloop.Loop, ended <-chan error) {
	if j == nil {
		j = &journal{}
	}
	l = made(t, append(opts, eventloop.WithLogger(slog.New(j)))...)
	ch := make(chan error, 1)
	go func() { ch <- l.Run(context.Background()) }()
	require.NoError(t, onLoop(t, l, func() error { return nil }))
	return l, ch
}

// shutDown ends a loop, and waits no longer than that.
func shutDown(t *testing.T, l *eventloop.Loop) {
	ctx, cancel := beat.Context(context.Background())
	defer cancel()
	require.NoError(t, l.Shutdown(ctx))
}

func noWork(context.Context) (any, error) { return nil, nil }

// What an ending loop refuses queues nothing, and nobody reports it.
func TestRefusedWorkIsNoWork(t *testing.T) {
	var log journal
	l, ended := running(t, &log)
	require.NoError(t, onLoop(t, l, func() error {
		require.NoError(t, l.Shutdown(context.Background()))
		refused := make(chan struct{})
		go func() {
			defer close(refused)
			for range 1000 {
				l.Promisify(context.Background(), noWork)
			}
		}()
		<-refused
		require.Zero(t, l.Queued())
		return nil
	}))
	require.NoError(t, <-ended)
	require.Zero(t, log.count(), "%s", &log)
}

// While a loop ends, its workers bring as much as they like; goroutines that are none only so much.
func TestWorkersBringWhileOthersAreRefused(t *testing.T) {
	for name, submit := range map[string]func(*eventloop.Loop, func()) error{
		"SubmitInternal": (*eventloop.Loop).SubmitInternal, "ScheduleMicrotask": (*eventloop.Loop).ScheduleMicrotask,
		"NextTick": (*eventloop.Loop).NextTick,
	} {
		l, ended := running(t, nil)
		accepted, ran := 0, 0
		bystander, ready := make(chan int), make(chan struct{})
		p := l.Promisify(context.Background(), func(context.Context) (any, error) {
			<-ready
			for range <-bystander { // many more
				for range 2 {
					if err := submit(l, func() { ran++ }); err != nil {
						return nil, err
					}
					accepted++
				}
			}
			return nil, nil
		})
		require.NoError(t, onLoop(t, l, func() error { // holds the loop, so that it runs none of these
			require.NoError(t, l.Shutdown(context.Background()))
			close(ready)
			others := make(chan int)
			go func() {
				n := 0
				for submit(l, func() { ran++ }) == nil {
					n++
				}
				others <- n
			}()
			n := <-others
			require.Equal(t, quota.Each, n, name)
			accepted += n
			bystander <- 100 * n
			return nil
		}))
		_, err := p.Await(context.Background())
		require.NoError(t, err, name)
		require.NoError(t, <-ended)
		require.Equal(t, accepted, ran, name)
	}
}

// Goroutines that have a little to do each, on a loop that is busy, are no chain, however many; a chain beside them is one.
func TestManyAreNoChain(t *testing.T) {
	var told atomic.Int64
	l, ended := running(t, nil, eventloop.WithOnOverload(func(err error) {
		if errors.Is(err, eventloop.ErrMicrotaskBudget) {
			told.Add(1)
		}
	}))
	together := func() {
		var all sync.WaitGroup
		require.NoError(t, onLoop(t, l, func() error {
			for range 256 {
				all.Go(func() {
					for range 20 {
						p, resolve, _ := l.NewPromise()
						p.Then(func(any) (any, error) { return nil, nil }, nil)
						resolve(nil)
					}
				})
			}
			all.Wait() // all of it waits when the callback returns
			return nil
		}))
	}
	together()
	require.NoError(t, onLoop(t, l, func() error { return nil }))
	require.Zero(t, told.Load())

	var stop atomic.Bool
	var chain func()
	chain = func() {
		if !stop.Load() {
			_ = l.ScheduleMicrotask(chain)
		}
	}
	require.NoError(t, l.ScheduleMicrotask(chain))
	together()
	eventually(t, func() bool { return told.Load() > 0 }, "nobody tells of an endless chain")
	stop.Store(true)
	shutDown(t, l)
	require.NoError(t, <-ended)
}
