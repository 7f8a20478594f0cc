package flow_test

// Tests of Retry.

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/flow"
	"github.com/turnloop/turnloop/eventloop/promise"
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
				p := flow.Sleep(ctx, l, time.Hour)
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
				_, err = flow.Sleep(context.Background(), l, 0).Await(context.Background())
				require.ErrorIs(t, err, eventloop.ErrLoopTerminated)
				_, err = flow.Sleep(ctx, l, 0).Await(context.Background())
				require.Error(t, err)
			}
		}
	})
}

// Work that fails is tried again after waits that double, until it succeeds, or no other attempt is allowed.
func TestRetry(t *testing.T) {
	const s = time.Second
	for name, c := range map[string]struct {
		backoff  flow.Backoff
		failures int
		at       []time.Duration // of the attempts
		err      string
	}{
		"at once":     {flow.Backoff{First: s}, 0, []time.Duration{0}, ""},
		"doubles":     {flow.Backoff{First: s, Jitter: -1}, 4, []time.Duration{0, s, 3 * s, 7 * s, 15 * s}, ""},
		"bounded":     {flow.Backoff{First: s, Jitter: -1, Max: 3 * s}, 4, []time.Duration{0, s, 3 * s, 6 * s, 9 * s}, ""},
		"its bound":   {flow.Backoff{First: 20 * s, Jitter: -1}, 3, []time.Duration{0, 20 * s, 50 * s, 80 * s}, ""},
		"long first":  {flow.Backoff{First: 40 * s, Jitter: -1}, 2, []time.Duration{0, 40 * s, 80 * s}, ""},
		"no bound":    {flow.Backoff{First: 20 * s, Jitter: -1, Max: -1}, 3, []time.Duration{0, 20 * s, 60 * s, 140 * s}, ""},
		"by factor":   {flow.Backoff{First: s, Jitter: -1, Factor: 3}, 3, []time.Duration{0, s, 4 * s, 13 * s}, ""},
		"no growth":   {flow.Backoff{First: s, Jitter: -1, Factor: -1}, 3, []time.Duration{0, s, 2 * s, 3 * s}, ""},
		"no wait":     {flow.Backoff{First: -1}, 2, []time.Duration{0, 0, 0}, ""},
		"gives up":    {flow.Backoff{First: s, Jitter: -1, Attempts: 3}, 9, []time.Duration{0, s, 3 * s}, "flow: attempt 3: busy"},
		"just so":     {flow.Backoff{First: s, Jitter: -1, Attempts: 3}, 2, []time.Duration{0, s, 3 * s}, ""},
		"most days":   {flow.Backoff{First: s, Max: 24 * time.Hour}, 100, nil, ""},
		"by default":  {flow.Backoff{}, 10, nil, ""},
		"permanent 3": {flow.Backoff{First: s, Jitter: -1}, 9, []time.Duration{0, s, 3 * s}, "flow: attempt 3: so: busy"},
	} {
		for _, inside := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					l, err := eventloop.New(eventloop.WithAutoExit(true))
					require.NoError(t, err)
					began := time.Now()
					var at []time.Duration
					work := func(_ context.Context, attempt int) (int, error) {
						at = append(at, time.Since(began))
						require.Equal(t, len(at), attempt)
						switch {
						case name == "permanent 3" && attempt == 3:
							return 0, fmt.Errorf("so: %w", flow.Permanent(errBusy))
						case attempt <= c.failures:
							return 0, errBusy
						}
						return attempt, nil
					}
					var value int
					begin := func() {
						flow.Retry(context.Background(), l, c.backoff, work).Untyped().Then(
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

// Chance shortens the waits by at most the share it is given, and not all by the same; without a choice by a fifth of what
// doubles from a tenth of a second to thirty.
func TestBackoffJitter(t *testing.T) {
	seen := map[time.Duration]bool{}
	for range 1000 {
		d := flow.Backoff{First: time.Second, Max: 4 * time.Second, Jitter: 0.25}.Wait(5)
		require.LessOrEqual(t, d, 4*time.Second)
		require.GreaterOrEqual(t, d, 3*time.Second)
		seen[d] = true
	}
	require.Greater(t, len(seen), 500)
	longest := 100 * time.Millisecond
	for failures := 1; failures < 20; failures++ {
		d := flow.Backoff{}.Wait(failures)
		require.LessOrEqual(t, d, longest)
		require.GreaterOrEqual(t, d, longest*4/5)
		longest = min(2*longest, 30*time.Second)
	}
	for _, first := range []time.Duration{1, time.Second, math.MaxInt64} {
		for failures := 2; failures < 200; failures++ {
			require.GreaterOrEqual(t, flow.Backoff{First: first, Jitter: 2}.Wait(failures), time.Duration(0))
			require.GreaterOrEqual(t, flow.Backoff{First: first, Jitter: -1, Max: -1}.Wait(failures), flow.Backoff{First: first, Jitter: -1, Max: -1}.Wait(failures-1))
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
		"refused after a wait":  {"refuse", 30 * time.Second, 0, false, []error{eventloop.ErrLoopTerminated, errBusy}, 0},
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
				p := flow.Retry(ctx, l, flow.Backoff{First: time.Minute, Jitter: -1}, func(context.Context, int) (int, error) {
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
					case "refuse":
						l.RefuseWork()
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
					require.EqualError(t, err, eventloop.ErrLoopTerminated.Error()+"; flow: attempt 1: busy")
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
		p := flow.Retry(context.Background(), l, flow.Backoff{}, func(context.Context, int) (int, error) {
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

func TestRetryRefuses(t *testing.T) {
	l, err := eventloop.New()
	require.NoError(t, err)
	_, err = flow.Retry[int](context.Background(), l, flow.Backoff{}, nil).Await(context.Background())
	require.ErrorIs(t, err, eventloop.ErrNilCallback)
	over, cancel := context.WithCancelCause(context.Background())
	cancel(errBusy)
	once := func(context.Context, int) (int, error) { t.Error("called"); return 0, nil }
	_, err = flow.Retry(over, l, flow.Backoff{}, once).Await(context.Background())
	require.ErrorIs(t, err, errBusy)
	require.NoError(t, l.Shutdown(context.Background()))
	_, err = flow.Retry(context.Background(), l, flow.Backoff{}, once).Await(context.Background())
	require.ErrorIs(t, err, eventloop.ErrLoopTerminated)
	require.NoError(t, flow.Permanent(nil))
}

// hostile is an error whose methods do not return.
type hostile struct{ exit bool }

func (hostile) Error() string { return "hostile" }
func (h hostile) As(any) bool {
	if h.exit {
		runtime.Goexit()
	}
	panic(errBusy)
}

// What is told of a failure is told before the wait, on the loop. Neither this nor an attempt or its error ends a retry by not
// returning.
func TestRetrySurvives(t *testing.T) {
	for name, c := range map[string]struct {
		fails  func() error // an attempt
		onto   func()       // OnRetry, behind its notes
		err    error
		faulty bool
	}{
		"an error":        {fails: func() error { return errBusy }, err: errBusy},
		"a panic":         {fails: func() error { panic(errBusy) }, err: errBusy},
		"a Goexit":        {fails: func() error { runtime.Goexit(); return nil }, err: eventloop.ErrGoexit},
		"its error":       {fails: func() error { return hostile{} }, err: errBusy},
		"its exit":        {fails: func() error { return hostile{exit: true} }, err: eventloop.ErrGoexit},
		"OnRetry panics":  {fails: func() error { return errBusy }, onto: func() { panic("no") }, err: errBusy, faulty: true},
		"OnRetry exits":   {fails: func() error { return errBusy }, onto: runtime.Goexit, err: errBusy, faulty: true},
		"no such context": {fails: func() error { return context.Canceled }, err: context.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				faults := 0
				l, err := eventloop.New(eventloop.WithAutoExit(true), eventloop.WithPanicHandler(func(*eventloop.PanicError) { faults++ }))
				require.NoError(t, err)
				var told []int
				b := flow.Backoff{Jitter: -1, OnRetry: func(attempt int, err error, wait time.Duration) {
					require.True(t, l.OnLoop())
					require.ErrorIs(t, err, c.err)
					require.Equal(t, time.Duration(attempt)*100*time.Millisecond, wait) // 100 ms, and twice that
					if told = append(told, attempt); c.onto != nil {
						c.onto()
					}
				}}
				done := flow.Retry(context.Background(), l, b, func(_ context.Context, attempt int) (int, error) {
					if attempt < 3 {
						return 0, c.fails()
					}
					return attempt, nil
				}).ToChannel()
				go l.Run(context.Background())
				require.Equal(t, promise.Outcome[int]{Value: 3}, <-done)
				<-l.Done()
				require.Equal(t, []int{1, 2}, told)
				require.Equal(t, c.faulty, faults == 2)
			})
		})
	}
}

// Trying without end takes no more memory than trying once: what has failed is forgotten.
func TestRetryForgetsFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, err := eventloop.New()
		require.NoError(t, err)
		go l.Run(context.Background())
		attempts := 0
		p := flow.Retry(context.Background(), l, flow.Backoff{First: time.Second, Max: time.Second}, func(context.Context, int) (int, error) {
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

// A sleep whose time and context end at once has one of these two outcomes, also where it was the last that kept the loop alive.
func TestSleepEndsTwice(t *testing.T) {
	rounds := 20_000
	if testing.Short() {
		rounds = 2000
	}
	for range rounds {
		l, err := eventloop.New(eventloop.WithAutoExit(true))
		require.NoError(t, err)
		const both = 50 * time.Microsecond
		ctx, cancel := context.WithTimeout(context.Background(), both)
		p := flow.Sleep(ctx, l, both)
		require.NoError(t, l.Run(context.Background()))
		if _, err := p.Await(context.Background()); err != nil {
			require.ErrorIs(t, err, context.DeadlineExceeded)
		}
		cancel()
	}
}
