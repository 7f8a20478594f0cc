package eventloop_test

// Tests of Promisify and the end of the loop: who waits for whom, and what those who wait get.

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
)

// Shutdown waits for workers, parked: in virtual time an hour passes only if nothing spins. Meanwhile the loop serves
// what a worker asks of it, and the handlers run before the end. Then what is pending is rejected, and handlers run.
func TestShutdownWaitsForWorkers(t *testing.T) {
	for name, end := range map[string]func(l *eventloop.Loop) error{
		"shutdown": func(l *eventloop.Loop) error {
			require.NoError(t, l.Shutdown(context.Background()))
			return nil
		},
		"context":   func(*eventloop.Loop) error { return context.DeadlineExceeded },
		"auto-exit": func(*eventloop.Loop) error { return nil },
		"never ran": func(l *eventloop.Loop) error { return l.Shutdown(context.Background()) },
	} {
		synctest.Test(t, func(t *testing.T) {
			l := made(t, eventloop.WithAutoExit(name == "auto-exit"))
			began := time.Now()
			var log []string
			l.Promisify(context.Background(), func(context.Context) (any, error) {
				time.Sleep(30 * time.Minute)
				asked := make(chan struct{})
				require.NoError(t, l.SubmitInternal(func() { log = append(log, "asked"); close(asked) }))
				<-asked
				time.Sleep(30 * time.Minute)
				return "worked", nil
			}).Then(func(v any) (any, error) { log = append(log, v.(string)); return nil, nil }, nil)
			never, _, _ := l.NewPromise()
			never.Catch(func(err error) (any, error) {
				require.ErrorIs(t, err, eventloop.ErrLoopTerminated)
				log = append(log, "rejected")
				late, _, _ := l.NewPromise()
				return late, nil
			}).Catch(func(err error) (any, error) {
				require.ErrorIs(t, err, eventloop.ErrLoopTerminated)
				require.NoError(t, l.SubmitInternal(func() { log = append(log, "last task") }))
				return nil, nil
			})
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			defer cancel()
			if name != "context" {
				ctx = context.Background()
			}
			ran := make(chan error, 1)
			if name == "never ran" {
				ran <- nil
			} else {
				go func() { ran <- l.Run(ctx) }()
			}
			synctest.Wait()
			want := end(l)
			require.ErrorIs(t, <-ran, want, name)
			require.Equal(t, time.Hour, time.Since(began), name)
			worked, rejected := []string{"asked", "worked"}, []string{"rejected", "last task"}
			if name == "auto-exit" { // which the worker keeps from ending
				require.Equal(t, append(worked, rejected...), log, name)
			} else {
				require.Equal(t, append(rejected, worked...), log, name)
			}
			runtime.KeepAlive(never) // which is garbage, handlers and all, when nobody has it
			_, err := l.Promisify(context.Background(), ends["value"].fn).Await(context.Background())
			require.ErrorIs(t, err, eventloop.ErrLoopTerminated, "%s: an ended loop refuses at once", name)
		})
	}
}

// An ending loop that never ran has nothing but a worker to wait for.
func TestShutdownOfALoopThatNeverRanWaitsForItsWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := made(t)
		began := time.Now()
		ch := l.Promisify(t.Context(), func(context.Context) (any, error) { time.Sleep(time.Hour); return 1, nil }).ToChannel()
		require.NoError(t, l.Shutdown(t.Context()))
		require.Equal(t, time.Hour, time.Since(began))
		require.Equal(t, eventloop.Result{Value: 1}, <-ch)
	})
}

// Close waits for no worker: the promise is rejected, what waits for its turn never starts, also in an ending loop that
// rests until workers are done.
func TestCloseDoesNotWaitForWorkers(t *testing.T) {
	for _, resting := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			l := made(t, eventloop.WithWorkerLimit(1))
			began := time.Now()
			first := l.Promisify(context.Background(), func(context.Context) (any, error) { time.Sleep(time.Hour); return 1, nil })
			second := l.Promisify(context.Background(), func(context.Context) (any, error) { t.Error("started"); return 2, nil })
			chs := []<-chan eventloop.Result{first.ToChannel(), second.ToChannel(),
				first.Then(func(any) (any, error) { t.Error("handler"); return nil, nil },
					func(error) (any, error) { t.Error("handler"); return nil, nil }).ToChannel()}
			ran := make(chan error, 1)
			go func() { ran <- l.Run(context.Background()) }()
			synctest.Wait()
			shut := make(chan error, 1)
			if resting {
				go func() { shut <- l.Shutdown(context.Background()) }()
				synctest.Wait()
				require.Equal(t, eventloop.StateTerminating, l.State())
			}
			require.NoError(t, l.Close())
			require.ErrorIs(t, <-ran, eventloop.ErrLoopTerminated)
			if resting {
				require.ErrorIs(t, <-shut, eventloop.ErrLoopTerminated)
			}
			for i, ch := range chs {
				require.ErrorIs(t, (<-ch).Err, eventloop.ErrLoopTerminated, "%d", i)
			}
			require.Zero(t, time.Since(began))
			time.Sleep(2 * time.Hour) // the worker ends, and finds nobody
		})
	}
}

// A worker that waits for a promise of an ending loop hears.
func TestWorkerThatWaitsHearsOfTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := made(t)
		rung, ring, _ := l.NewPromise()
		_, err := l.ScheduleTimer(time.Hour, func() { ring("too late") })
		require.NoError(t, err)
		ch := l.Promisify(t.Context(), func(ctx context.Context) (any, error) { return rung.Await(ctx) }).ToChannel()
		go l.Run(t.Context())
		synctest.Wait()
		require.NoError(t, l.Shutdown(t.Context()))
		require.ErrorIs(t, (<-ch).Err, eventloop.ErrLoopTerminated)
	})
}

// A worker may ask for the end, and waits for it no longer than its context: it is one of those that the end waits for.
func TestShutdownFromAWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := made(t)
		returned := make(chan error, 1)
		go func() { returned <- l.Run(t.Context()) }()
		synctest.Wait() // or else the end may come before Run, which then says so
		ch := l.Promisify(t.Context(), func(ctx context.Context) (any, error) {
			ctx, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			return nil, l.Shutdown(ctx)
		}).ToChannel()
		require.NoError(t, <-returned, "the shutdown goes on")
		require.ErrorIs(t, (<-ch).Err, context.DeadlineExceeded)
	})
}
