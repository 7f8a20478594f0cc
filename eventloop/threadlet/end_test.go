package threadlet_test

// Tests of the end of a loop with threadlets.

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/promise"
	"github.com/turnloop/turnloop/eventloop/threadlet"
	"github.com/turnloop/turnloop/internal/beat"
)

// waits are all ways to wait for something that never comes.
var waits = map[string]func(l *eventloop.Loop) error{
	"sleep": func(*eventloop.Loop) error { return threadlet.Sleep(1 << 60) },
	"await": func(l *eventloop.Loop) error {
		p, _, _ := promise.New[int](l.Promises())
		_, err := threadlet.Await(p)
		return err
	},
	"do": func(*eventloop.Loop) error {
		return threadlet.Do(background, func(ctx context.Context) error { <-ctx.Done(); return nil })
	},
	"join": func(l *eventloop.Loop) error {
		other, err := threadlet.Go(l, func() { _ = threadlet.Sleep(1 << 60) })
		if err != nil {
			return err
		}
		if err = other.Join(background); err == nil { // the other heard of the end first, and has ended
			return eventloop.ErrLoopTerminated
		}
		return err
	},
	"mutex": func(*eventloop.Loop) error {
		var m threadlet.Mutex
		_ = m.Lock()
		return m.Lock()
	},
	"cond": func(*eventloop.Loop) error {
		var m threadlet.Mutex
		_ = m.Lock()
		defer m.Unlock()
		return threadlet.NewCond(&m).Wait()
	},
	"send": func(l *eventloop.Loop) error { return threadlet.NewChan[int](l, 0).Send(1) },
	"receive": func(l *eventloop.Loop) error {
		_, err := threadlet.NewChan[int](l, 0).Receive()
		return err
	},
	"yield": func(*eventloop.Loop) error {
		for {
			if err := threadlet.Yield(); err != nil {
				return err
			}
		}
	},
}

// The end of the loop ends every wait. Then deferred calls run, which cannot wait any more, and nothing is left.
func TestEndEndsWaits(t *testing.T) {
	before := runtime.NumGoroutine()
	for name, wait := range waits {
		for how, end := range map[string]func(l *eventloop.Loop, cancel func()) error{
			"Shutdown": func(l *eventloop.Loop, _ func()) error { return l.Shutdown(background) },
			"Close":    func(l *eventloop.Loop, _ func()) error { return l.Close() },
			"context":  func(_ *eventloop.Loop, cancel func()) error { cancel(); return nil },
		} {
			t.Run(name+"/"+how, func(t *testing.T) {
				l, err := eventloop.New()
				require.NoError(t, err)
				ctx, cancel := context.WithCancel(background)
				defer cancel()
				go func() { _ = l.Run(ctx) }()
				results := make(chan error, 2)
				th, err := threadlet.Go(l, func() {
					defer func() { results <- wait(l) }()
					results <- wait(l)
				})
				require.NoError(t, err)
				require.NoError(t, do(t, l, func() {}))
				require.NoError(t, end(l, cancel))
				<-l.Done()
				for range 2 {
					require.ErrorIs(t, <-results, eventloop.ErrLoopTerminated)
				}
				require.NoError(t, th.Join(background))
				_, err = threadlet.Go(l, func() {})
				require.ErrorIs(t, err, eventloop.ErrLoopTerminated)
			})
		}
	}
	awaitGoroutines(t, before)
}

// awaitGoroutines waits until goroutines that were told to end have ended.
func awaitGoroutines(t *testing.T, before int) {
	t.Helper()
	beat.Eventually(t, func() bool { return beat.Goroutines() <= before }, "goroutines to end")
}

// costs fails the test if what takes more than so many times the processor time of a control that is measured beside it, in each of three
// attempts.
func costs(t *testing.T, what string, times int64, control, measured func() int64) {
	t.Helper()
	for range 3 {
		than, is := control(), measured()
		if t.Logf("%s: %d ns of processor time, beside %d", what, is, than); is <= times*than {
			return
		}
	}
	t.Errorf("%s takes more than %d times the processor time of the control", what, times)
}

// A threadlet that was accepted runs, unless the loop is closed; then Join says that it never will.
func TestEndBeforeTheBeginning(t *testing.T) {
	for how, end := range map[string]func(*eventloop.Loop) error{
		"Shutdown": func(l *eventloop.Loop) error { return l.Shutdown(background) },
		"Close":    (*eventloop.Loop).Close,
	} {
		for _, where := range []string{"outside", "loop"} {
			t.Run(how+"/"+where, func(t *testing.T) {
				l, err := eventloop.New()
				require.NoError(t, err)
				ran := false
				var th *threadlet.Threadlet
				if where == "outside" {
					th, err = threadlet.Go(l, func() { ran = true })
					require.NoError(t, err)
					require.NoError(t, end(l))
				} else {
					require.NoError(t, l.Submit(func() {
						th, _ = threadlet.Go(l, func() { ran = true })
						_ = end(l)
						if _, err := threadlet.Go(l, func() {}); err != eventloop.ErrLoopTerminated {
							t.Errorf("begun when the end was asked for: %v", err)
						}
					}))
					_ = l.Run(background)
				}
				<-l.Done()
				if err := th.Join(background); how == "Close" {
					require.ErrorIs(t, err, eventloop.ErrLoopTerminated)
				} else {
					require.NoError(t, err)
				}
				require.Equal(t, how != "Close", ran)
			})
		}
	}
}

// Shutdown ends waits only when everything that was accepted has run: that may be what they wait for.
func TestShutdownRunsWhatWasAccepted(t *testing.T) {
	l, err := eventloop.New()
	require.NoError(t, err)
	const n = 100
	ch := threadlet.NewChan[int](l, n)
	var got []int
	_, err = threadlet.Go(l, func() {
		for {
			v, err := ch.Receive()
			if err != nil {
				return
			}
			got = append(got, v)
		}
	})
	require.NoError(t, err)
	require.NoError(t, l.Submit(func() { _ = l.Shutdown(background) }))
	for i := range n {
		require.NoError(t, l.Submit(func() {
			_ = l.SubmitInternal(func() {
				if !ch.TrySend(i) {
					t.Errorf("%d: no room", i)
				}
			})
		}))
	}
	require.NoError(t, l.Run(background))
	require.Len(t, got, n)
}

// Shutdown lets threadlets go on that are only giving way, however many there are, and whether a turn of the loop resumes one
// or many; but it does not let them do so for ever.
func TestYieldsAtTheEnd(t *testing.T) {
	for _, c := range []struct {
		threadlets, yields int // yields of each; 0 for ever
		metrics            bool
	}{{10_000, 5, false}, {1000, 50, true}, {100, 0, false}, {100, 0, true}} {
		synctest.Test(t, func(t *testing.T) { // so they take no time
			l, err := eventloop.New(eventloop.WithMetrics(c.metrics))
			require.NoError(t, err)
			resumed, refused := 0, 0
			for range c.threadlets {
				_, err := threadlet.Go(l, func() {
					for n := 0; c.yields == 0 || n < c.yields; n++ {
						if threadlet.Yield() != nil {
							refused++
							return
						}
						resumed++
					}
				})
				require.NoError(t, err)
			}
			require.NoError(t, l.Submit(func() { _ = l.Shutdown(background) }))
			require.NoError(t, l.Run(background))
			if c.yields != 0 {
				require.Zero(t, refused, c)
				require.Equal(t, c.threadlets*c.yields, resumed)
			} else {
				require.Equal(t, c.threadlets, refused, c)
				require.Less(t, resumed, 1_010_000)
			}
		})
	}
}

// A panic or Goexit while the loop is closed is reported, too, and ends no other threadlet.
func TestFaultsAtTheEnd(t *testing.T) {
	opt, faults := sink()
	l := start(t, opt)
	const n = 30
	told := 0
	for i := range n {
		_, err := threadlet.Go(l, func() {
			_ = threadlet.Sleep(time.Hour)
			told++
			culprit([]string{"panic", "Goexit", ""}[i%3])
		})
		require.NoError(t, err)
	}
	require.NoError(t, do(t, l, func() {}))
	require.NoError(t, l.Close())
	<-l.Done()
	require.Equal(t, n, told)
	require.Len(t, *faults, 2*n/3)
}

// Idle coroutines are kept for later threadlets, but not all of them.
func TestPool(t *testing.T) {
	before := runtime.NumGoroutine()
	l := start(t)
	require.NoError(t, do(t, l, func() {
		for range 5000 {
			_, _ = threadlet.Go(l, func() { _ = threadlet.Yield() })
		}
		for len(threadlet.Threadlets(l)) > 1 {
			_ = threadlet.Yield()
		}
	}))
	awaitGoroutines(t, before+1+threadlet.MostIdle)
}

// A loop that ends by itself reports, once, which threadlets wait for something that can never come.
func TestDeadlock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		l, err := eventloop.New(eventloop.WithAutoExit(true), eventloop.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		require.NoError(t, err)
		var m threadlet.Mutex
		var results []error
		for range 2 {
			_, err := threadlet.Go(l, func() {
				_ = m.Lock()
				_ = threadlet.Sleep(time.Hour) // no deadlock yet
				lockAgain(&m, &results)
			})
			require.NoError(t, err)
		}
		require.NoError(t, l.Run(background))
		require.Equal(t, []error{eventloop.ErrLoopTerminated, eventloop.ErrLoopTerminated}, results)
		require.Equal(t, 1, strings.Count(log.String(), "deadlock"), log.String())
		require.Equal(t, 2, strings.Count(log.String(), "waiting mutex"), log.String())
		require.Contains(t, log.String(), "lockAgain")

		log.Reset()
		l, err = eventloop.New(eventloop.WithAutoExit(true), eventloop.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		require.NoError(t, err)
		ch := threadlet.NewChan[int](l, 0)
		receiver, err := threadlet.Go(l, func() { _, _ = ch.Receive() })
		require.NoError(t, err)
		_, err = threadlet.Go(l, func() {
			_ = threadlet.Sleep(time.Hour)
			ctx, cancel := context.WithTimeout(background, time.Hour)
			defer cancel()
			if err := receiver.Join(ctx); !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
			other := start(t)
			p, settle, _ := other.NewPromise()
			_, _ = other.ScheduleTimer(time.Hour, func() { settle(1) })
			if v, err := threadlet.Await[int](promise.As[int](p)); v != 1 || err != nil {
				t.Error(v, err)
			}
			_ = ch.Send(1)
		})
		require.NoError(t, err)
		require.NoError(t, l.Run(background))
		require.Empty(t, log.String())
	})
}

//go:noinline
func lockAgain(m *threadlet.Mutex, results *[]error) { *results = append(*results, m.Lock()) }
