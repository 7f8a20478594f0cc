package eventloop_test

// Tests of Promisify: outcomes, contexts, limits, and what is kept.

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/promise"
	"github.com/turnloop/turnloop/internal/garbage"
)

var errWork = errors.New("work failed")

// ends are all ways in which a worker can end, and what its promise makes of each.
var ends = map[string]struct {
	fn    func(context.Context) (any, error)
	value any
	err   error
	panic any // value of the PanicError
}{
	"value":       {fn: func(context.Context) (any, error) { return 42, nil }, value: 42},
	"nothing":     {fn: func(context.Context) (any, error) { return nil, nil }},
	"error":       {fn: func(context.Context) (any, error) { return 1, fmt.Errorf("wrapped: %w", errWork) }, err: errWork},
	"panic":       {fn: func(context.Context) (any, error) { panic("lost temper") }, panic: "lost temper"},
	"panic error": {fn: func(context.Context) (any, error) { panic(errWork) }, err: errWork, panic: errWork},
	"Goexit": {fn: func(context.Context) (any, error) { runtime.Goexit(); return nil, nil },
		err: eventloop.ErrGoexit, panic: eventloop.ErrGoexit},
	"nil": {err: eventloop.ErrNilCallback},
}

// Every ending of a worker settles its promise, or is told to done, and lets an auto-exit loop end, wherever Promisify or Work was
// called.
func TestPromisifyEnds(t *testing.T) {
	check := func(t *testing.T, name string, value any, err error) {
		want := ends[name]
		require.Equal(t, want.value, value, name)
		if want.err != nil {
			require.ErrorIs(t, err, want.err, name)
		}
		var fault *eventloop.PanicError
		require.Equal(t, want.panic != nil, errors.As(err, &fault), "%s: %v", name, err)
		if fault != nil {
			require.Equal(t, want.panic, fault.Value, name)
			require.Contains(t, string(fault.Stack), "promisify_test.go", "%s: the stack names the culprit", name)
		}
		if want.err == nil && want.panic == nil {
			require.NoError(t, err, name)
		}
	}
	for _, limit := range []int{0, 1, 2} {
		synctest.Test(t, func(t *testing.T) {
			l := made(t, eventloop.WithAutoExit(true), eventloop.WithWorkerLimit(limit))
			results := map[string]<-chan eventloop.Result{}
			heard := map[string]eventloop.Result{}
			told := map[string][]eventloop.Result{}
			for name, end := range ends {
				results["off "+name] = l.Promisify(t.Context(), end.fn).ToChannel()
				tell := func(v any, err error) { told[name] = append(told[name], eventloop.Result{Value: v, Err: err}) }
				if err := l.Work(t.Context(), end.fn, tell); err != nil {
					tell(nil, err)
				}
				require.NoError(t, l.Submit(func() {
					l.Promisify(context.Background(), end.fn).Then(func(v any) (any, error) {
						heard[name] = eventloop.Result{Value: v}
						return nil, nil
					}, func(err error) (any, error) {
						heard[name] = eventloop.Result{Err: err}
						return nil, nil
					})
				}))
			}
			require.NoError(t, l.Run(context.Background()))
			for name := range ends {
				r, ok := <-results["off "+name]
				require.True(t, ok)
				check(t, name, r.Value, r.Err)
				require.Contains(t, heard, name)
				check(t, name, heard[name].Value, heard[name].Err)
				require.Len(t, told[name], 1)
				check(t, name, told[name][0].Value, told[name][0].Err)
			}
		})
	}
}

// The end of the context settles the promise at once, with the cause, although the worker takes no notice; the worker's
// own end is then nobody's business.
func TestPromisifyHearsOfItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var buf bytes.Buffer
		l := made(t, eventloop.WithAutoExit(true), eventloop.WithLogger(slog.New(slog.NewTextHandler(&buf, nil))))
		stubborn := func(context.Context) (any, error) { time.Sleep(time.Hour); return "late", nil }
		began := time.Now()

		over, cancelOver := context.WithCancel(context.Background())
		cancelOver()
		plain, cancel := context.WithCancel(context.Background())
		caused, cancelWith := context.WithCancelCause(context.Background())
		timed, cancelTimed := context.WithTimeout(context.Background(), time.Minute)
		defer cancelTimed()
		time.AfterFunc(time.Second, func() { cancel(); cancelWith(errWork) })

		results := []struct {
			ch   <-chan eventloop.Result
			is   []error
			took time.Duration
		}{
			{l.Promisify(over, func(context.Context) (any, error) { t.Error("called"); return nil, nil }).ToChannel(),
				[]error{context.Canceled}, 0},
			{l.Promisify(plain, stubborn).ToChannel(), []error{context.Canceled}, time.Second},
			{l.Promisify(caused, stubborn).ToChannel(), []error{context.Canceled, errWork}, time.Second},
			{l.Promisify(timed, stubborn).ToChannel(), []error{context.DeadlineExceeded}, time.Minute},
		}
		l.Promisify(context.Background(), func(context.Context) (any, error) { time.Sleep(2 * time.Hour); return nil, nil }).
			Then(func(any) (any, error) { return nil, l.Submit(func() {}) }, nil) // which fails in a loop that is ending
		ended := make(chan error, 1)
		go func() { ended <- l.Run(context.Background()) }()
		for i, r := range results {
			res := <-r.ch
			require.Equal(t, r.took, time.Since(began), "%d", i)
			for _, is := range r.is {
				require.ErrorIs(t, res.Err, is, "%d", i)
			}
		}
		require.NoError(t, <-ended)
		require.Equal(t, 2*time.Hour, time.Since(began), "the loop ends when the last promise has settled, and not before")
		require.NotContains(t, buf.String(), "unhandled")
	})
}

// slowContext ends like its parent, but what is registered with it hears of that too late.
type slowContext struct {
	context.Context
	done chan struct{}
}

func (c slowContext) Done() <-chan struct{}             { return c.done }
func (slowContext) AfterFunc(func()) (stop func() bool) { return func() bool { return true } }

// A worker that notices the end of its context first, and returns ctx.Err(), takes nothing from the cause.
func TestPromisifyKeepsTheCause(t *testing.T) {
	loop := observed(t)
	parent, cancel := context.WithCancelCause(context.Background())
	ctx := slowContext{parent, make(chan struct{})}
	p := loop.Promisify(ctx, func(ctx context.Context) (any, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	})
	cancel(io.EOF)
	close(ctx.done)
	_, err := p.Await(context.Background())
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, err, io.EOF)
}

// With a limit no more run at once, those that wait go in order, a place is given on however a worker ends, and a
// cancelled one has no turn.
func TestWorkerLimit(t *testing.T) {
	const limit, n = 3, 30
	synctest.Test(t, func(t *testing.T) {
		l := made(t, eventloop.WithWorkerLimit(limit), eventloop.WithAutoExit(true))
		ctx, cancel := context.WithCancel(context.Background())
		cancelled := func(i int) bool { return i%7 == 6 }
		var mu sync.Mutex
		running, started := 0, []int(nil)
		var want []int
		for i := range n {
			mine := context.Background()
			if cancelled(i) {
				mine = ctx
			} else {
				want = append(want, i)
			}
			l.Promisify(mine, func(context.Context) (any, error) {
				mu.Lock()
				running++
				started = append(started, i)
				require.LessOrEqual(t, running, limit)
				mu.Unlock()
				defer func() {
					mu.Lock()
					running--
					mu.Unlock()
				}()
				time.Sleep(time.Second + time.Duration(i)*time.Millisecond) // no two end at the same time
				switch i % 3 {
				case 0:
					runtime.Goexit()
				case 1:
					panic(i)
				}
				return nil, nil
			}).ToChannel() // handles the rejection
			synctest.Wait()
		}
		cancel()
		last := l.Promisify(context.Background(), func(context.Context) (any, error) { time.Sleep(time.Hour); return nil, nil }).Then(
			func(any) (any, error) { // finds all places free
				return l.Promisify(context.Background(), func(context.Context) (any, error) { return "again", nil }), nil
			}, nil).ToChannel()
		began := time.Now()
		require.NoError(t, l.Run(context.Background()))
		require.Equal(t, want, started)
		require.Equal(t, eventloop.Result{Value: "again"}, <-last)
		require.Less(t, time.Since(began), time.Hour+time.Duration(len(want)/limit+2)*time.Second, "all places are used")
	})
}

// A context that lives on, as that of a server, keeps nothing of what was done under it, or not done, however that ended.
// Nor does the promise of it, or a queue what has no turn any more.
func TestContextKeepsNoFinishedWork(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	collected := func(name string, captured weak.Pointer[[1024]byte]) {
		eventually(t, func() bool { garbage.Collect(); return captured.Value() == nil }, "%s: the work is collected", name)
	}
	work := func(fn func(context.Context) (any, error)) (func(context.Context) (any, error), weak.Pointer[[1024]byte]) {
		b := new([1024]byte)
		return func(ctx context.Context) (any, error) { b[0]++; return fn(ctx) }, weak.Make(b)
	}
	l := observed(t)
	for name, end := range ends {
		if end.fn == nil {
			continue
		}
		fn, captured := work(end.fn)
		p := l.Promisify(ctx, fn)
		_, _ = p.Await(ctx)
		fn = nil
		collected(name, captured)
		runtime.KeepAlive(p)
	}
	require.NoError(t, l.Shutdown(ctx))

	l = made(t, eventloop.WithWorkerLimit(1))
	go l.Run(context.Background())
	release := make(chan struct{})
	l.Promisify(ctx, func(context.Context) (any, error) { <-release; return nil, nil })
	short, cancelShort := context.WithCancel(ctx)
	fn, captured := work(ends["value"].fn)
	p := l.Promisify(short, fn)
	fn = nil
	cancelShort()
	_, err := p.Await(ctx)
	require.ErrorIs(t, err, context.Canceled)
	collected("cancelled while it waited", captured)
	runtime.KeepAlive(p)

	fn, captured = work(ends["value"].fn)
	p = l.Promisify(ctx, fn)
	fn = nil
	require.NoError(t, l.Close())
	close(release)
	collected("closed while it waited", captured)
	runtime.KeepAlive(p)

	for name, ctx := range map[string]context.Context{"that can end": ctx, "that cannot end": context.Background()} {
		l, err = eventloop.New()
		require.NoError(t, err)
		go l.Run(context.Background())
		begun, release := make(chan struct{}), make(chan struct{})
		var result weak.Pointer[[1024]byte]
		p = l.Promisify(ctx, func(context.Context) (any, error) {
			b := new([1024]byte)
			result = weak.Make(b)
			close(begun)
			<-release
			return b, nil
		})
		<-begun
		require.NoError(t, l.Close())
		<-l.Done()
		close(release)
		collected("closed while it ran, under a context "+name, result)
		runtime.KeepAlive(p)
	}
}

// hostile are errors whose methods do not return.
type hostile struct{ exit bool }

func (hostile) Error() string { return "hostile" }
func (h hostile) Is(error) bool {
	if h.exit {
		runtime.Goexit()
	}
	panic("in Is")
}

// uncomparable is an error that == panics for.
type uncomparable struct{ v any }

func (uncomparable) Error() string { return "uncomparable" }

// Errors that misbehave settle the promise like any other.
func TestPromisifySurvivesErrors(t *testing.T) {
	l := observed(t)
	for _, bad := range []error{hostile{}, hostile{exit: true}, uncomparable{[]int{1}}} {
		ctx, cancel := context.WithCancelCause(context.Background())
		defer cancel(nil)
		_, err := l.Promisify(ctx, func(context.Context) (any, error) { cancel(bad); return nil, bad }).Await(context.Background())
		require.Error(t, err)
	}
	require.NoError(t, l.Shutdown(context.Background()))
}

// The typed Promisify is the same, without casts.
func TestTypedPromisify(t *testing.T) {
	l := observed(t)
	length := promise.Then(
		eventloop.Promisify(t.Context(), l, func(context.Context) (string, error) { return "hello", nil }),
		func(s string) (int, error) { return len(s), nil })
	n, err := length.Await(t.Context())
	require.NoError(t, err)
	require.Equal(t, 5, n)
	_, err = eventloop.Promisify(t.Context(), l, func(context.Context) (int, error) { return 1, errWork }).Await(t.Context())
	require.ErrorIs(t, err, errWork)
	_, err = eventloop.Promisify[int](t.Context(), l, nil).Await(t.Context())
	require.ErrorIs(t, err, eventloop.ErrNilCallback)
	require.ErrorIs(t, onLoop(t, l, func() error { _, err := length.Await(t.Context()); return err }), eventloop.ErrAwaitOnLoop)
	require.NoError(t, l.Shutdown(context.Background()))
}

// onLoop calls f on the loop.
func onLoop(t *testing.T, l *eventloop.Loop, f func() error) error {
	done := make(chan error, 1)
	require.NoError(t, l.Submit(func() { done <- f() }))
	return <-done
}
