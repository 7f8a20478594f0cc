package eventloop_test

// Tests of Retry.

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
)

var errBusy = errors.New("busy")

// Sleep is fulfilled when its time has come, and rejected when its context or the loop ends first; it leaves no timer.
func TestSleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, c := range map[string]struct {
			ends string
			want time.Duration
			err  error
		}{
			"time":      {"", time.Hour, nil},
			"context":   {"context", time.Minute, errBusy},
			"shutdown":  {"shutdown", time.Minute, eventloop.ErrLoopTerminated},
			"close":     {"close", time.Minute, eventloop.ErrLoopTerminated},
			"both late": {"late", time.Hour, nil},
		} {
			for _, endless := range []bool{false, true} {
				if endless && c.ends == "context" {
					continue
				}
				l, err := eventloop.New()
				require.NoError(t, err)
				go l.Run(context.Background())
				ctx, cancel := context.WithCancelCause(context.Background())
				if endless {
					ctx = context.Background()
				}
				began := time.Now()
				p := l.Sleep(ctx, time.Hour)
				time.AfterFunc(time.Minute, func() {
					switch c.ends {
					case "context":
						cancel(errBusy)
					case "shutdown":
						l.Shutdown(context.Background())
					case "close":
						l.Close()
					}
				})
				_, err = p.Await(context.Background())
				require.Equal(t, c.want, time.Since(began), name)
				require.ErrorIs(t, err, c.err, name)
				synctest.Wait()
				require.Zero(t, l.Metrics().Timers, name)
				cancel(nil)
				synctest.Wait()
				l.Close()
				_, err = l.Sleep(context.Background(), 0).Await(context.Background())
				require.ErrorIs(t, err, eventloop.ErrLoopTerminated)
				_, err = l.Sleep(ctx, 0).Await(context.Background())
				require.Error(t, err)
			}
		}
	})
}

// What has slept, or paused between two attempts, is forgotten by its context, which may live for long. So it is when the loop
// is closed meanwhile.
func TestSleepLeavesItsContext(t *testing.T) {
	attempt := func(context.Context) (any, error) { return nil, errBusy }
	for name, begin := range map[string]func(*eventloop.Loop, context.Context) *eventloop.Promise{
		"sleep": func(l *eventloop.Loop, ctx context.Context) *eventloop.Promise { return l.Sleep(ctx, time.Second) },
		"retry": func(l *eventloop.Loop, ctx context.Context) *eventloop.Promise {
			return eventloop.Retry(ctx, l, eventloop.Backoff{First: time.Second, Attempts: 2}, attempt).Untyped()
		},
	} {
		for _, ends := range []string{"time", "shutdown", "close"} {
			synctest.Test(t, func(t *testing.T) {
				l, err := eventloop.New()
				require.NoError(t, err)
				go l.Run(context.Background())
				ctx := &countingContext{Context: context.Background(), done: make(chan struct{})}
				begin(l, ctx)
				p := begin(l, ctx)
				synctest.Wait()
				require.EqualValues(t, 2, ctx.waiting.Load(), name)
				switch ends {
				case "time":
					_, err = p.Await(context.Background())
					require.Equal(t, name == "retry", err != nil)
				case "close":
					require.NoError(t, l.Close())
				}
				_ = l.Shutdown(context.Background())
				synctest.Wait()
				require.Zero(t, ctx.waiting.Load(), name)
			})
		}
	}
}

// countingContext counts who waits for its end.
type countingContext struct {
	context.Context
	done    chan struct{}
	waiting atomic.Int32
}

func (c *countingContext) Done() <-chan struct{} { return c.done }

func (c *countingContext) AfterFunc(func()) (stop func() bool) {
	c.waiting.Add(1)
	return func() bool { c.waiting.Add(-1); return true }
}

// Work that fails is tried again after waits that double, until it succeeds, or no other attempt is allowed.
func TestRetry(t *testing.T) {
	const s = time.Second
	for name, c := range map[string]struct {
		backoff  eventloop.Backoff
		failures int
		at       []time.Duration // of the attempts
		err      string
	}{
		"at once":   {eventloop.Backoff{First: s}, 0, []time.Duration{0}, ""},
		"doubles":   {eventloop.Backoff{First: s}, 4, []time.Duration{0, s, 3 * s, 7 * s, 15 * s}, ""},
		"bounded":   {eventloop.Backoff{First: s, Most: 3 * s}, 4, []time.Duration{0, s, 3 * s, 6 * s, 9 * s}, ""},
		"no wait":   {eventloop.Backoff{}, 2, []time.Duration{0, 0, 0}, ""},
		"gives up":  {eventloop.Backoff{First: s, Attempts: 3}, 9, []time.Duration{0, s, 3 * s}, "eventloop: attempt 3: busy"},
		"just so":   {eventloop.Backoff{First: s, Attempts: 3}, 2, []time.Duration{0, s, 3 * s}, ""},
		"pointless": {eventloop.Backoff{First: s, If: func(err error) bool { return err != errBusy }}, 9, []time.Duration{0}, "eventloop: attempt 1: busy"},
		"panics":    {eventloop.Backoff{First: s, If: func(error) bool { panic(errBusy) }}, 9, []time.Duration{0}, "eventloop: callback panicked: busy"},
		"most days": {eventloop.Backoff{First: s, Most: 24 * time.Hour}, 100, nil, ""},
	} {
		for _, inside := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					l, err := eventloop.New(eventloop.WithAutoExit(true))
					require.NoError(t, err)
					began := time.Now()
					var at []time.Duration
					work := func(context.Context) (int, error) {
						if at = append(at, time.Since(began)); len(at) <= c.failures {
							return 0, errBusy
						}
						return len(at), nil
					}
					var value int
					begin := func() {
						eventloop.Retry(context.Background(), l, c.backoff, work).Untyped().Then(
							func(v any) (any, error) { value = v.(int); return nil, nil },
							func(e error) (any, error) { err = e; return nil, nil })
					}
					if inside {
						l.Submit(begin)
					} else {
						begin()
					}
					require.NoError(t, l.Run(context.Background()))
					if c.at != nil {
						require.Equal(t, c.at, at)
					}
					if c.err != "" {
						require.EqualError(t, err, c.err)
						require.ErrorIs(t, err, errBusy)
					} else {
						require.NoError(t, err)
						require.Equal(t, c.failures+1, value)
					}
				})
			})
		}
	}
}

// Chance shortens the waits by at most the share it is given, and not all by the same.
func TestBackoffJitter(t *testing.T) {
	seen := map[time.Duration]bool{}
	for range 1000 {
		d := eventloop.Backoff{First: time.Second, Most: 4 * time.Second, Jitter: 0.25}.Wait(5)
		require.LessOrEqual(t, d, 4*time.Second)
		require.GreaterOrEqual(t, d, 3*time.Second)
		seen[d] = true
	}
	require.Greater(t, len(seen), 500)
	for _, first := range []time.Duration{1, time.Second, math.MaxInt64} {
		for failures := 2; failures < 200; failures++ {
			require.GreaterOrEqual(t, eventloop.Backoff{First: first, Jitter: 2}.Wait(failures), time.Duration(0))
			require.GreaterOrEqual(t, eventloop.Backoff{First: first}.Wait(failures), eventloop.Backoff{First: first}.Wait(failures-1))
		}
	}
}

// When the context or the loop ends between two attempts, the promise says so, and what the last attempt said. An attempt
// that is under way when a shutdown begins is waited for, and its outcome counts.
func TestRetryEnds(t *testing.T) {
	for name, c := range map[string]struct {
		ends  string
		after time.Duration
		takes time.Duration
		good  bool // the second attempt
		want  []error
		value int
	}{
		"context in a wait":     {"context", 30 * time.Second, 0, false, []error{context.Canceled, errBusy}, 0},
		"context in an attempt": {"context", 30 * time.Second, time.Minute, true, []error{context.Canceled}, 0},
		"shutdown in a wait":    {"shutdown", 30 * time.Second, 0, false, []error{eventloop.ErrLoopTerminated, errBusy}, 0},
		"shutdown in a success": {"shutdown", 150 * time.Second, time.Minute, true, nil, 2},
		"shutdown in a failure": {"shutdown", 150 * time.Second, time.Minute, false, []error{eventloop.ErrLoopTerminated, errBusy}, 0},
		"close in a wait":       {"close", 30 * time.Second, 0, false, []error{eventloop.ErrLoopTerminated}, 0},
		"close in an attempt":   {"close", 150 * time.Second, time.Minute, true, []error{eventloop.ErrLoopTerminated}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, err := eventloop.New()
				require.NoError(t, err)
				go l.Run(context.Background())
				ctx, cancel := context.WithCancel(context.Background())
				attempts := 0
				p := eventloop.Retry(ctx, l, eventloop.Backoff{First: time.Minute}, func(context.Context) (int, error) {
					attempts++
					time.Sleep(c.takes)
					if attempts == 2 && c.good {
						return 2, nil
					}
					return 0, errBusy
				})
				time.AfterFunc(c.after, func() {
					switch c.ends {
					case "context":
						cancel()
					case "shutdown":
						l.Shutdown(context.Background())
					case "close":
						l.Close()
					}
				})
				value, err := p.Await(context.Background())
				require.Equal(t, c.value, value)
				for _, want := range c.want {
					require.ErrorIs(t, err, want)
				}
				switch name {
				case "context in an attempt": // which was called off, and has not failed
					require.EqualError(t, err, "context canceled")
				case "shutdown in a wait":
					require.EqualError(t, err, eventloop.ErrLoopTerminated.Error()+"; attempt 1: busy")
				case "shutdown in a success":
					require.NoError(t, err)
				}
				cancel()
				time.Sleep(time.Hour) // what is under way ends
				synctest.Wait()
				l.Close()
				require.LessOrEqual(t, attempts, 2)
			})
		})
	}
}

// The first attempt starts whatever the loop is doing: else those of a caller far ahead of the loop would wait for its end.
func TestRetryStartsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, err := eventloop.New()
		require.NoError(t, err)
		go l.Run(context.Background())
		gate := make(chan struct{})
		require.NoError(t, l.Submit(func() { <-gate }))
		synctest.Wait()
		attempts := 0
		p := eventloop.Retry(context.Background(), l, eventloop.Backoff{}, func(context.Context) (int, error) {
			if attempts++; attempts == 1 {
				return 0, errBusy
			}
			return attempts, nil
		})
		synctest.Wait()
		require.Equal(t, 1, attempts)
		close(gate)
		value, err := p.Await(context.Background())
		require.NoError(t, err)
		require.Equal(t, 2, value)
		require.NoError(t, l.Shutdown(context.Background()))
	})
}

// A first attempt that waits for its turn when the loop's end begins is waited for, like a function of Promisify; unless its
// context has ended by then.
func TestShutdownWaitsForTheFirstAttempt(t *testing.T) {
	for _, cancelled := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			l, err := eventloop.New(eventloop.WithWorkerLimit(1), eventloop.WithLogger(slog.New(slog.DiscardHandler)))
			require.NoError(t, err)
			go l.Run(context.Background())
			gate, ended := make(chan struct{}), make(chan error, 1)
			l.Promisify(context.Background(), func(context.Context) (any, error) { <-gate; return nil, nil })
			synctest.Wait()
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			p := eventloop.Retry(ctx, l, eventloop.Backoff{}, func(context.Context) (int, error) { return 1, nil })
			go func() { ended <- l.Shutdown(context.Background()) }()
			synctest.Wait()
			want := 1
			if cancelled {
				cancel()
				synctest.Wait()
				want = 0
			}
			close(gate)
			value, err := p.Await(context.Background())
			require.Equal(t, want, value)
			require.Equal(t, ctx.Err(), err)
			time.Sleep(time.Hour)
			select {
			case err := <-ended:
				require.NoError(t, err)
			default:
				l.Close()
				t.Error("Shutdown waits for an attempt that is over")
			}
		})
	}
}

func TestRetryRefuses(t *testing.T) {
	var unhandled []error
	l, err := eventloop.New(eventloop.WithLogger(slog.New(slog.DiscardHandler)),
		eventloop.WithUnhandledRejection(func(_ *eventloop.Promise, err error) { unhandled = append(unhandled, err) }))
	require.NoError(t, err)
	go l.Run(context.Background())
	waited := make(chan struct{})
	outcome := eventloop.Retry(context.Background(), l, eventloop.Backoff{If: func(error) bool { runtime.Goexit(); return true }},
		func(context.Context) (int, error) { <-waited; return 0, errBusy }).ToChannel()
	close(waited)
	require.ErrorIs(t, (<-outcome).Err, eventloop.ErrGoexit)
	require.NoError(t, l.Shutdown(context.Background()))
	require.Empty(t, unhandled, "the one rejection is handled")
	_, err = eventloop.Retry[int](context.Background(), l, eventloop.Backoff{}, nil).Await(context.Background())
	require.ErrorIs(t, err, eventloop.ErrNilCallback)
	_, err = eventloop.Retry(context.Background(), l, eventloop.Backoff{}, func(context.Context) (int, error) { return 0, nil }).Await(context.Background())
	require.ErrorIs(t, err, eventloop.ErrLoopTerminated)
}

// Trying without end takes no more memory than trying once: what has failed is forgotten.
func TestRetryForgetsFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, err := eventloop.New()
		require.NoError(t, err)
		go l.Run(context.Background())
		attempts := 0
		p := eventloop.Retry(context.Background(), l, eventloop.Backoff{First: time.Second, Most: time.Second}, func(context.Context) (int, error) {
			attempts++
			return 0, errBusy
		})
		grown := func(seconds time.Duration) uint64 {
			time.Sleep(seconds * time.Second)
			synctest.Wait()
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			return m.HeapAlloc
		}
		before := grown(100)
		after := grown(20_000)
		require.Greater(t, attempts, 20_000)
		require.Less(t, after, before+1<<20) // a promise each would be five times that
		require.NoError(t, l.Shutdown(context.Background()))
		_, err = p.Await(context.Background())
		require.ErrorIs(t, err, errBusy)
	})
}
