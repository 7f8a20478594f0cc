package threadlet_test

// Tests of threadlets: beginning, waiting, and ending.

import (
	"context"
	"errors"
	"iter"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/promise"
	"github.com/turnloop/turnloop/eventloop/threadlet"
	"github.com/turnloop/turnloop/internal/beat"
)

var background = context.Background()

// start runs a loop on a goroutine of its own until the test ends.
func start(t *testing.T, opts ...eventloop.Option) *eventloop.Loop {
	t.Helper()
	l, err := eventloop.New(opts...)
	require.NoError(t, err)
	go func() { _ = l.Run(background) }()
	t.Cleanup(func() {
		_ = l.Close()
		<-l.Done()
	})
	return l
}

// do runs fn in a threadlet of l, from another goroutine, and returns what Join returns.
func do(t *testing.T, l *eventloop.Loop, fn func()) error {
	t.Helper()
	th, err := threadlet.Go(l, fn)
	require.NoError(t, err)
	return th.Join(background)
}

// scale returns how much of something a test does: short under -short, soak under TURNLOOP_SOAK, and otherwise normal.
func scale(short, normal, soak int) int {
	switch {
	case os.Getenv("TURNLOOP_SOAK") != "":
		return soak
	case testing.Short():
		return short
	}
	return normal
}

func TestWhoIsWho(t *testing.T) {
	l := start(t)
	require.Nil(t, threadlet.Current())
	require.ErrorIs(t, threadlet.Yield(), threadlet.ErrNotThreadlet)
	require.ErrorIs(t, threadlet.Sleep(time.Hour), threadlet.ErrNotThreadlet)
	require.ErrorIs(t, threadlet.Do(background, func(context.Context) error { return nil }), threadlet.ErrNotThreadlet)
	var self *threadlet.Threadlet
	th, err := threadlet.Go(l, func() {
		self = threadlet.Current()
		for range 3 {
			if !l.OnLoop() {
				t.Error("OnLoop is false in a threadlet")
			}
			if err := threadlet.Yield(); err != nil {
				t.Error(err)
			}
		}
		// A coroutine that a threadlet has made cannot wait for it.
		next, stop := iter.Pull(func(yield func(error) bool) { yield(threadlet.Yield()) })
		defer stop()
		if err, _ := next(); err != threadlet.ErrNotThreadlet {
			t.Errorf("Yield in another coroutine: %v", err)
		}
		onLoop := make(chan bool)
		go func() { onLoop <- l.OnLoop() || threadlet.Current() != nil }()
		if <-onLoop {
			t.Error("a goroutine that a threadlet starts is taken for it")
		}
	})
	require.NoError(t, err)
	require.NoError(t, th.Join(background))
	require.Same(t, th, self)
	require.Same(t, l, th.Loop())
	_, err = threadlet.Go(l, nil)
	require.ErrorIs(t, err, eventloop.ErrNilCallback)
	onLoop := make(chan error, 2)
	require.NoError(t, l.Submit(func() {
		other, _ := threadlet.Go(l, func() {})
		onLoop <- other.Join(background)
		onLoop <- threadlet.Yield()
	}))
	require.ErrorIs(t, <-onLoop, eventloop.ErrAwaitOnLoop)
	require.ErrorIs(t, <-onLoop, threadlet.ErrNotThreadlet)
}

func sink() (opt eventloop.Option, faults *[]*eventloop.PanicError) {
	faults = new([]*eventloop.PanicError)
	return eventloop.WithPanicHandler(func(err *eventloop.PanicError) { *faults = append(*faults, err) }), faults
}

//go:noinline
func culprit(how string) {
	switch how {
	case "panic":
		panic(errors.New("of the test"))
	case "Goexit":
		runtime.Goexit()
	case "FailNow":
		new(testing.T).FailNow()
	case "panic in Goexit":
		defer culprit("panic")
		runtime.Goexit()
	}
}

// A panic, Goexit or a test's FailNow in a threadlet ends it, and is reported once, with the stack of its origin; the loop goes on.
func TestFaults(t *testing.T) {
	for _, how := range []string{"panic", "Goexit", "FailNow", "panic in Goexit"} {
		for _, when := range []string{"at once", "after a wait"} {
			t.Run(how+" "+when, func(t *testing.T) {
				opt, faults := sink()
				l, err := eventloop.New(opt)
				require.NoError(t, err)
				result := make(chan error, 1)
				go func() { result <- l.Run(background) }()
				deferred := 0
				err = do(t, l, func() {
					defer func() { deferred++ }()
					if when != "at once" {
						_ = threadlet.Yield()
					}
					culprit(how)
				})
				var fault *eventloop.PanicError
				require.ErrorAs(t, err, &fault)
				require.Contains(t, string(fault.Stack), "culprit")
				if strings.HasPrefix(how, "panic") {
					require.ErrorContains(t, err, "of the test")
				} else {
					require.ErrorIs(t, err, eventloop.ErrGoexit)
				}
				for range 3 { // others run, also on the same coroutine
					require.NoError(t, do(t, l, func() { _ = threadlet.Yield() }))
				}
				require.NoError(t, l.Shutdown(background))
				require.Equal(t, 1, deferred)
				require.Equal(t, []*eventloop.PanicError{fault}, *faults)
				require.NoError(t, beat.Receive(t, result, "Run, whose goroutine must not end with the threadlet"))
			})
		}
	}
}

// Signal ends the current wait, or the next one. Several count as one. After it the threadlet waits as ever.
func TestSignal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := start(t)
		var log []error
		th, err := threadlet.Go(l, func() {
			log = append(log, threadlet.Sleep(time.Hour)) // signaled while it waits
			threadlet.Current().Signal()
			threadlet.Current().Signal()
			log = append(log, threadlet.Sleep(time.Hour), threadlet.Sleep(time.Hour))
		})
		require.NoError(t, err)
		synctest.Wait()
		th.Signal()
		require.NoError(t, th.Join(background))
		th.Signal()
		require.Equal(t, []error{threadlet.ErrSignaled, threadlet.ErrSignaled, nil}, log)
	})
}

func TestJoin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, other := start(t), start(t)
		sleeper, err := threadlet.Go(l, func() { _ = threadlet.Sleep(time.Hour) })
		require.NoError(t, err)
		var group sync.WaitGroup
		joins := map[string]func(context.Context) error{
			"outside": sleeper.Join,
			"threadlet": func(ctx context.Context) (err error) {
				require.NoError(t, do(t, l, func() { err = sleeper.Join(ctx) }))
				return err
			},
			"threadlet of another loop": func(ctx context.Context) (err error) {
				require.NoError(t, do(t, other, func() { err = sleeper.Join(ctx) }))
				return err
			},
		}
		for name, join := range joins {
			group.Go(func() {
				ctx, cancel := context.WithTimeout(background, time.Minute)
				defer cancel()
				if err := join(ctx); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("%s: %v", name, err)
				}
				if err := join(background); err != nil {
					t.Errorf("%s: %v", name, err)
				}
				if err := join(background); err != nil { // again, when it has ended
					t.Errorf("%s: %v", name, err)
				}
			})
		}
		group.Wait()
		require.NoError(t, do(t, l, func() {
			if err := threadlet.Current().Join(background); err != eventloop.ErrAwaitOnLoop {
				t.Errorf("of itself: %v", err)
			}
		}))
	})
}

func TestAwait(t *testing.T) {
	l, other := start(t), start(t)
	broken := errors.New("of the test")
	require.NoError(t, do(t, l, func() {
		for name, from := range map[string]*eventloop.Loop{"own": l, "foreign": other} {
			n, err := threadlet.Await(eventloop.Promisify(background, from, func(context.Context) (int, error) { return 42, nil }))
			if n != 42 || err != nil {
				t.Errorf("%s: %v, %v", name, n, err)
			}
			if _, err = threadlet.Await(eventloop.Promisify(background, from, func(context.Context) (int, error) { return 0, broken })); err != broken {
				t.Errorf("%s: %v", name, err)
			}
			x, err := threadlet.Await(eventloop.Promisify(background, from, func(context.Context) (any, error) { return nil, nil }))
			if x != nil || err != nil {
				t.Errorf("%s: %v, %v", name, x, err)
			}
		}
		if n, err := threadlet.Await(promise.Of[int]{}); n != 0 || err != nil {
			t.Errorf("no promise: %v, %v", n, err)
		}
		p := eventloop.Promisify(background, other, func(ctx context.Context) (string, error) { <-other.Done(); return "", nil })
		_ = other.Close()
		if _, err := threadlet.Await(p); !errors.Is(err, eventloop.ErrLoopTerminated) {
			t.Errorf("of a loop that was closed: %v", err)
		}
	}))
	_, err := threadlet.Await(eventloop.Promisify(background, l, func(context.Context) (int, error) { return 42, nil }))
	require.ErrorIs(t, err, threadlet.ErrNotThreadlet)
}

func TestDo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := start(t)
		broken := errors.New("of the test")
		require.NoError(t, do(t, l, func() {
			ran := false
			if err := threadlet.Do(background, func(context.Context) error {
				time.Sleep(time.Hour)
				ran = !l.OnLoop() && threadlet.Current() == nil
				return broken
			}); err != broken || !ran {
				t.Error(err, ran)
			}
			var fault *eventloop.PanicError
			if err := threadlet.Do(background, func(context.Context) error { panic("of the test") }); !errors.As(err, &fault) {
				t.Error(err)
			}
			if err := threadlet.Do(background, nil); err != eventloop.ErrNilCallback {
				t.Error(err)
			}
			untilEnd := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
			ctx, cancel := context.WithTimeout(background, time.Minute)
			defer cancel()
			if err := threadlet.Do(ctx, untilEnd); !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
			self := threadlet.Current()
			self.Signal()
			if err := threadlet.Do(background, func(context.Context) error { t.Error("called"); return nil }); err != threadlet.ErrSignaled {
				t.Error(err)
			}
			_, _ = l.ScheduleTimer(time.Minute, self.Signal)
			if err := threadlet.Do(background, untilEnd); err != threadlet.ErrSignaled {
				t.Error(err)
			}
		}))
	})
}

// A threadlet that goes on waiting at the end of its loop is unwound: its deferred calls run. So it is if it recovers whatever
// panics.
func TestStubborn(t *testing.T) {
	wait := func() { _ = threadlet.Sleep(time.Hour) }
	recovers := func() {
		defer func() { _ = recover() }()
		wait()
	}
	for _, end := range []func(*eventloop.Loop) error{(*eventloop.Loop).Close, func(l *eventloop.Loop) error { return l.Shutdown(background) }} {
		for _, step := range []func(){wait, recovers} {
			opt, faults := sink()
			l := start(t, opt)
			var deferred sync.WaitGroup
			var all []*threadlet.Threadlet
			for range 2 {
				deferred.Add(1)
				th, err := threadlet.Go(l, func() {
					defer deferred.Done()
					for {
						step()
					}
				})
				require.NoError(t, err)
				all = append(all, th)
			}
			require.NoError(t, do(t, l, func() {}))
			require.NoError(t, end(l))
			deferred.Wait()
			<-l.Done()
			for _, th := range all {
				require.ErrorIs(t, th.Join(background), eventloop.ErrLoopTerminated)
			}
			require.Empty(t, *faults)
		}
	}
}
