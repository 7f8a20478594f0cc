package threadlet_test

// What a wait leaves behind that has ended before what it waited for.

import (
	"context"
	"errors"
	"net"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/promise"
	"github.com/turnloop/turnloop/eventloop/threadlet"
	"github.com/turnloop/turnloop/internal/garbage"
	"github.com/turnloop/turnloop/internal/race"
)

// Row 86: a hundred thousand waits for one thing, each of which ends otherwise, leave no memory behind, and nothing that runs
// when the thing happens. Waits for promises and for signals of package js are in their packages.
func TestEndedWaitsLeaveNothing(t *testing.T) {
	n := scale(10_000, 20_000, 100_000)
	if race.Enabled {
		n /= 10
	}
	ended, end := context.WithCancel(context.Background())
	end()
	// site has what all waits of a row wait for.
	type site struct {
		l, other *eventloop.Loop
		p        *eventloop.Promise // of other
		own      *eventloop.Promise // of l
		ctx      context.Context    // ends with the row
		long     *threadlet.Threadlet
	}
	// signaled calls wait in a threadlet of l, again and again, and signals it until each wait has ended.
	signaled := func(s *site, wait func() error) {
		done := make(chan struct{})
		waiter, err := threadlet.Go(s.l, func() {
			defer close(done)
			for range n {
				if err := wait(); !errors.Is(err, threadlet.ErrSignaled) {
					t.Error(err)
					return
				}
			}
		})
		require.NoError(t, err)
		_, err = threadlet.Go(s.l, func() {
			for threadlet.Yield() == nil {
				select {
				case <-done:
					return
				default:
					waiter.Signal()
				}
			}
		})
		require.NoError(t, err)
		<-done
	}
	// inThreadlet calls fn in a threadlet of l.
	inThreadlet := func(s *site, fn func()) {
		done := make(chan struct{})
		_, err := threadlet.Go(s.l, func() { defer close(done); fn() })
		require.NoError(t, err)
		<-done
	}
	// dial returns a connection of l, whose other end does nothing.
	dial := func(s *site) (c net.Conn, closeAll func()) {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		inThreadlet(s, func() { c, err = threadlet.Dial(context.Background(), "tcp", ln.Addr().String()) })
		require.NoError(t, err)
		return c, func() { c.Close(); ln.Close() }
	}
	for name, waits := range map[string]func(s *site){
		"threadlet.Await, signal": func(s *site) {
			signaled(s, func() error { _, err := threadlet.Await(promise.As[any](s.own)); return err })
		},
		"threadlet.Await of another loop, signal": func(s *site) {
			signaled(s, func() error { _, err := threadlet.Await(promise.As[any](s.p)); return err })
		},
		"threadlet.Await, signal before": func(s *site) {
			inThreadlet(s, func() {
				for range n {
					threadlet.Current().Signal()
					if _, err := threadlet.Await(promise.As[any](s.own)); err != threadlet.ErrSignaled {
						t.Error(err)
					}
				}
			})
		},
		"Join, signal": func(s *site) { signaled(s, func() error { return s.long.Join(context.Background()) }) },
		"Join, ctx": func(s *site) {
			for range n {
				require.ErrorIs(t, s.long.Join(ended), context.Canceled)
			}
		},
		"Mutex.Lock, signal": func(s *site) {
			var m threadlet.Mutex
			_, err := threadlet.Go(s.l, func() { _ = m.Lock() })
			require.NoError(t, err)
			signaled(s, m.Lock)
		},
		"Cond.Wait, signal": func(s *site) {
			var m threadlet.Mutex
			c := threadlet.NewCond(&m)
			signaled(s, func() error {
				_ = m.TryLock()
				defer m.Unlock()
				return c.Wait()
			})
		},
		"Chan.Send, signal": func(s *site) {
			c := threadlet.NewChan[int](s.l, 0)
			signaled(s, func() error { return c.Send(1) })
		},
		"Chan.Receive, signal": func(s *site) {
			c := threadlet.NewChan[int](s.l, 0)
			signaled(s, func() error { _, err := c.Receive(); return err })
		},
		"Read, signal": func(s *site) {
			c, done := dial(s)
			defer done()
			signaled(s, func() error { _, err := c.Read(make([]byte, 1)); return err })
		},
		"Accept, signal": func(s *site) {
			ln, err := threadlet.Listen(s.l, "tcp", "127.0.0.1:0")
			require.NoError(t, err)
			defer ln.Close()
			signaled(s, func() error { _, err := ln.Accept(); return err })
		},
		"Promisify, fn returns": func(s *site) {
			for range n {
				_, err := s.l.Promisify(s.ctx, func(context.Context) (any, error) { return nil, nil }).Await(context.Background())
				require.NoError(t, err)
			}
		},
		"AwaitWorkers, ctx": func(s *site) {
			begun, release := make(chan struct{}), make(chan struct{})
			defer close(release)
			s.l.Promisify(context.Background(), func(context.Context) (any, error) { close(begun); <-release; return nil, nil })
			<-begun
			for range n {
				require.ErrorIs(t, s.l.AwaitWorkers(ended), context.Canceled)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := &site{}
			ctx, end := context.WithCancel(context.Background())
			s.ctx = ctx
			var err error
			for _, l := range []**eventloop.Loop{&s.l, &s.other} {
				*l, err = eventloop.New(eventloop.WithMetrics(true), eventloop.WithOnOverload(func(error) {}))
				require.NoError(t, err)
				go (*l).Run(context.Background())
			}
			var resolve, resolveOwn func(any)
			s.p, resolve, _ = s.other.NewPromise()
			s.own, resolveOwn, _ = s.l.NewPromise()
			s.long, err = threadlet.Go(s.l, func() { _, _ = threadlet.Await(promise.As[any](s.own)) })
			require.NoError(t, err)

			waits(s) // what is made once
			before := garbage.Heap()
			waits(s)
			after := garbage.Heap()
			for tries := 0; tries < 100 && after > before+uint64(10*n); tries++ { // cleanups have a goroutine of their own
				runtime.Gosched()
				after = garbage.Heap()
			}
			if after > before+uint64(10*n) {
				t.Errorf("%d waits leave %d bytes behind", n, after-before)
			}
			ran := s.l.Metrics().Run + s.other.Metrics().Run
			resolve(nil)
			resolveOwn(nil)
			end()
			require.NoError(t, s.long.Join(context.Background()))
			if ran = s.l.Metrics().Run + s.other.Metrics().Run - ran; ran > 100 {
				t.Errorf("%d callbacks run for waits that have ended", ran)
			}
			require.NoError(t, s.l.Shutdown(context.Background()))
			require.NoError(t, s.other.Shutdown(context.Background()))
		})
	}
}

// An event that comes when its wait is over ends no other wait.
func TestLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := start(t, eventloop.WithOnOverload(func(error) {}))
		require.NoError(t, do(t, l, func() {
			self := threadlet.Current()
			p, resolve, _ := promise.New[int](l.Promises())
			_, _ = l.ScheduleTimer(time.Minute, self.Signal)
			_, _ = l.ScheduleTimer(time.Hour, func() { resolve(1) })
			if _, err := threadlet.Await(p); err != threadlet.ErrSignaled {
				t.Error(err)
			}
			other, _ := threadlet.Go(l, func() { _ = threadlet.Sleep(2 * time.Hour) })
			ctx, cancel := context.WithTimeout(background, time.Hour)
			defer cancel()
			_, _ = l.ScheduleTimer(time.Minute, self.Signal)
			if err := other.Join(ctx); err != threadlet.ErrSignaled {
				t.Error(err)
			}
			ctx, cancel = context.WithCancel(background)
			_, _ = l.ScheduleTimer(time.Minute, func() {
				for range 250_000 { // more than a tick runs: the end of the context comes behind them, and a turn of the threadlet before
					_ = l.SubmitInternal(func() {})
				}
				cancel()
				time.Sleep(time.Millisecond) // the context tells the loop
				self.Signal()
			})
			if err := other.Join(ctx); err != threadlet.ErrSignaled {
				t.Error(err)
			}
			began := time.Now()
			if err := threadlet.Sleep(3 * time.Hour); err != nil || time.Since(began) != 3*time.Hour {
				t.Errorf("%v after %v", err, time.Since(began))
			}
		}))
	})
}
