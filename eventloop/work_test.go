package eventloop_test

// Tests of Work, RefuseWork, NewWorkPromise and AfterEnd: what others build on.

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
)

// Under a limit of workers what runs goes on, and what waits is told at once, in order, that it does not begin; so is all that
// comes later. None of it is reported.
func TestRefuseWork(t *testing.T) {
	const limit, n = 2, 5
	for _, inside := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			var reported []error
			l := made(t, eventloop.WithWorkerLimit(limit), eventloop.WithUnhandledRejection(func(_ *eventloop.Promise, err error) { reported = append(reported, err) }))
			go l.Run(context.Background())
			began := time.Now()
			var called, told []int
			var errs []error
			var after []time.Duration
			ctx, cancel := context.WithCancel(context.Background()) // that can end, so that somebody could still begin it
			defer cancel()
			work := func(i int) error {
				return l.Work(ctx, func(context.Context) (any, error) { time.Sleep(time.Second + time.Duration(i)); return i, nil },
					func(value any, err error) {
						if told, errs, after = append(told, i), append(errs, err), append(after, time.Since(began)); err == nil {
							called = append(called, value.(int))
						}
					})
			}
			for i := range n {
				require.NoError(t, work(i))
				synctest.Wait()
			}
			promisify := func() *eventloop.Promise {
				return l.Promisify(ctx, func(context.Context) (any, error) { t.Error("called"); return nil, nil })
			}
			p := promisify()
			promisify().Then(nil, func(err error) (any, error) { return nil, fmt.Errorf("upload: %w", err) })
			refuse := func() {
				l.RefuseWork()
				l.RefuseWork()
				require.ErrorIs(t, work(n), eventloop.ErrLoopTerminated)
				promisify()
				promisify().Then(nil, nil)
			}
			if inside {
				require.NoError(t, l.Submit(refuse))
			} else {
				refuse()
			}
			_, err := p.Await(context.Background())
			require.ErrorIs(t, err, eventloop.ErrLoopTerminated)
			synctest.Wait()
			time.Sleep(time.Minute)
			synctest.Wait()
			require.Equal(t, []int{2, 3, 4, 0, 1}, told)
			require.Equal(t, []int{0, 1}, called)
			require.Equal(t, []time.Duration{0, 0, 0, time.Second, time.Second + 1}, after)
			for i, err := range errs {
				require.Equal(t, i < n-limit, errors.Is(err, eventloop.ErrLoopTerminated), err)
			}
			require.Empty(t, reported)
			of := fmt.Errorf("upstream: %w", eventloop.ErrLoopTerminated) // of another loop
			l.Promises().Rejected(of)
			synctest.Wait()
			require.Equal(t, []error{of}, reported)
			require.Zero(t, l.Metrics().Workers)
			require.NoError(t, l.Shutdown(context.Background()))
		})
	}
}

// Without a limit nothing waits for a worker: what was begun goes on, also where a callback has begun more than have goroutines.
func TestRefuseWorkWithoutLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := made(t)
		var called, told atomic.Int32
		require.NoError(t, l.Submit(func() {
			for range 1000 {
				require.NoError(t, l.Work(context.Background(), func(context.Context) (any, error) { called.Add(1); return nil, nil },
					func(any, error) { told.Add(1) }))
			}
			l.RefuseWork()
		}))
		go l.Run(context.Background())
		synctest.Wait()
		require.NoError(t, l.Shutdown(context.Background()))
		require.EqualValues(t, 1000, called.Load())
		require.EqualValues(t, 1000, told.Load())
	})
}

// The error of a Shutdown tells those that wait for a worker from those that run.
func TestWaitingIsNotUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := made(t, eventloop.WithWorkerLimit(2))
		go l.Run(context.Background())
		for range 5 {
			l.Promisify(context.Background(), func(context.Context) (any, error) { time.Sleep(time.Hour); return nil, nil })
		}
		synctest.Wait()
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		err := l.Shutdown(ctx)
		require.True(t, strings.HasSuffix(err.Error(), "waits for: worker 2 under way, 3 waiting"), err)
		time.Sleep(3 * time.Hour)
		<-l.Done()
	})
}

// A promise of NewWorkPromise stays pending while the loop ends, and takes the first outcome that the loop gives it.
func TestWorkPromise(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := made(t)
		go l.Run(context.Background())
		p, settle := l.NewWorkPromise()
		failed, fail := l.NewWorkPromise()
		forgotten, _ := l.NewWorkPromise()
		require.Panics(t, func() { settle(1, nil) }, "off the loop")
		began := time.Now()
		require.NoError(t, l.Work(context.Background(), func(context.Context) (any, error) { time.Sleep(time.Hour); return 42, nil },
			func(value any, err error) {
				settle(value, err)
				settle(nil, errWork)
				fail(nil, errWork)
			}))
		var heard []any
		p.Then(func(v any) (any, error) { heard = append(heard, v, time.Since(began)); return nil, nil }, nil)
		forgotten.Catch(func(error) (any, error) { t.Error("called"); return nil, nil })
		waited, failure := forgotten.ToChannel(), failed.ToChannel()
		require.NoError(t, l.Shutdown(context.Background()))
		require.Equal(t, []any{42, time.Hour}, heard)
		require.Equal(t, errWork, (<-failure).Err)
		require.Equal(t, eventloop.ErrLoopTerminated, (<-waited).Err)
	})
}

// What waits for the end is called once it has come, however it comes, each on a goroutine of its own; unless it was stopped.
func TestAfterEnd(t *testing.T) {
	for name, end := range map[string]func(l *eventloop.Loop){
		"shutdown": func(l *eventloop.Loop) {
			go l.Run(context.Background())
			synctest.Wait()
			l.Shutdown(context.Background())
		},
		"close":     func(l *eventloop.Loop) { go l.Run(context.Background()); synctest.Wait(); l.Close() },
		"never run": func(l *eventloop.Loop) { l.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := made(t)
				var called, wrong atomic.Int32
				gate := make(chan struct{})
				after := func(wait bool) func() {
					return func() {
						select {
						case <-l.Done():
						default:
							wrong.Add(1)
						}
						if called.Add(1); wait {
							<-gate
						}
					}
				}
				var stops []func() bool
				for i := range 100 {
					stops = append(stops, l.AfterEnd(after(i == 0)))
				}
				for _, i := range []int{3, 99, 50} {
					require.True(t, stops[i]())
					require.False(t, stops[i]())
				}
				synctest.Wait()
				require.Zero(t, called.Load())
				end(l)
				synctest.Wait()
				require.EqualValues(t, 97, called.Load(), "though one of them blocks")
				require.False(t, stops[1]())
				stop := l.AfterEnd(after(false))
				require.False(t, stop())
				synctest.Wait()
				require.EqualValues(t, 98, called.Load())
				require.Zero(t, wrong.Load())
				require.PanicsWithValue(t, eventloop.ErrNilCallback, func() { l.AfterEnd(nil) })
				close(gate)
			})
		})
	}
}
