package eventloop_test

// Tests of Promisify: outcomes, contexts, limits, and the end.

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/promise"
	"github.com/turnloop/turnloop/internal/garbage"
	"github.com/turnloop/turnloop/internal/race"
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

// Every ending of a worker settles its promise, and lets an auto-exit loop end, wherever Promisify was called.
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
			l, err := eventloop.New(eventloop.WithAutoExit(true), eventloop.WithWorkerLimit(limit))
			require.NoError(t, err)
			results := map[string]<-chan eventloop.Result{}
			heard := map[string]eventloop.Result{}
			for name, end := range ends {
				results["off "+name] = l.Promisify(t.Context(), end.fn).ToChannel()
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
			}
		})
	}
}

// The end of the context settles the promise at once, with the cause, although the worker takes no notice; the worker's
// own end is then nobody's business.
func TestPromisifyHearsOfItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var buf bytes.Buffer
		l, err := eventloop.New(eventloop.WithAutoExit(true), eventloop.WithLogger(slog.New(slog.NewTextHandler(&buf, nil))))
		require.NoError(t, err)
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
	loop, err := eventloop.New()
	require.NoError(t, err)
	go loop.Run(context.Background())
	defer loop.Close()
	parent, cancel := context.WithCancelCause(context.Background())
	ctx := slowContext{parent, make(chan struct{})}
	p := loop.Promisify(ctx, func(ctx context.Context) (any, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	})
	cancel(io.EOF)
	close(ctx.done)
	_, err = p.Await(context.Background())
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, err, io.EOF)
}

// With a limit no more run at once, those that wait go in order, a place is given on however a worker ends, and a
// cancelled one has no turn.
func TestWorkerLimit(t *testing.T) {
	const limit, n = 3, 30
	synctest.Test(t, func(t *testing.T) {
		l, err := eventloop.New(eventloop.WithWorkerLimit(limit), eventloop.WithAutoExit(true))
		require.NoError(t, err)
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
			l, err := eventloop.New(eventloop.WithAutoExit(name == "auto-exit"))
			require.NoError(t, err)
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
			_, err = l.Promisify(context.Background(), ends["value"].fn).Await(context.Background())
			require.ErrorIs(t, err, eventloop.ErrLoopTerminated, "%s: an ended loop refuses at once", name)
		})
	}
}

// An ending loop that never ran has nothing but a worker to wait for.
func TestShutdownOfALoopThatNeverRanWaitsForItsWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, err := eventloop.New()
		require.NoError(t, err)
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
			l, err := eventloop.New(eventloop.WithWorkerLimit(1))
			require.NoError(t, err)
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

// Rows 54 and 56: resolve, reject, Then and the end of the loop race; one settlement counts, and every handler is
// called once, with it.
func TestSettlementRaces(t *testing.T) {
	l, err := eventloop.New(eventloop.WithUnhandledRejection(func(*eventloop.Promise, error) {})) // Then may be late
	require.NoError(t, err)
	go l.Run(context.Background())
	races := scale(200, 100_000, 1_000_000)
	if race.Enabled {
		races = max(races/10, 200)
	}
	for i := range races {
		p, resolve, reject := l.NewPromise()
		var calls [4]atomic.Int32
		var got [4]any
		var all sync.WaitGroup
		ps := [4]*eventloop.Promise{}
		for j := range ps {
			all.Go(func() {
				hear := func(v any) (any, error) { calls[j].Add(1); got[j] = v; return v, nil }
				ps[j] = p.Then(hear, func(err error) (any, error) { return hear(err) })
			})
		}
		all.Go(func() { resolve(i) })
		all.Go(func() { reject(errWork) })
		if i%2 == 0 {
			require.NoError(t, l.Submit(func() { resolve(i) }))
		}
		all.Wait()
		value, err := p.Await(t.Context())
		if err != nil {
			require.Same(t, errWork, err)
			value = err
		} else {
			require.Equal(t, i, value)
		}
		for j := range ps {
			_, err := ps[j].Await(t.Context())
			require.NoError(t, err)
			require.EqualValues(t, 1, calls[j].Load())
			require.Equal(t, value, got[j])
		}
	}
	require.NoError(t, l.Shutdown(context.Background()))
}

// Promises that nobody can settle any more are garbage, handlers and all, while the loop lives: the heap is back where
// it was.
func TestAbandonedPromisesAreCollected(t *testing.T) {
	heap := func() int64 {
		var m runtime.MemStats
		garbage.Collect()
		garbage.Collect()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	l, err := eventloop.New()
	require.NoError(t, err)
	go l.Run(context.Background())
	onLoop := func(f func()) {
		done := make(chan struct{})
		require.NoError(t, l.Submit(func() { f(); close(done) }))
		<-done
	}
	const perTask = 1000
	n := scale(10_000, 1_000_000, 1_000_000)
	onLoop(func() {})
	before := heap()
	for range n / perTask {
		onLoop(func() {
			for range perTask {
				p, _, _ := l.NewPromise()
				p.Then(func(any) (any, error) { _ = p; return nil, nil }, nil)
			}
		})
	}
	for i := 0; ; i++ {
		for range 100 { // each tick looks at about twenty
			onLoop(func() {})
		}
		if i%(n/10_000) == 0 && heap()-before < 256<<10 {
			break
		}
		require.Less(t, i, n/100, "the heap stays %d bytes larger", heap()-before)
	}
	require.NoError(t, l.Shutdown(context.Background()))
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
	l, err := eventloop.New()
	require.NoError(t, err)
	go l.Run(context.Background())
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

	l, err = eventloop.New(eventloop.WithWorkerLimit(1))
	require.NoError(t, err)
	go l.Run(context.Background())
	release := make(chan struct{})
	l.Promisify(ctx, func(context.Context) (any, error) { <-release; return nil, nil })
	short, cancelShort := context.WithCancel(ctx)
	fn, captured := work(ends["value"].fn)
	p := l.Promisify(short, fn)
	fn = nil
	cancelShort()
	_, err = p.Await(ctx)
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

// Work that was cancelled while it waited makes room: what still waits goes on in order, and the queue does not grow.
func TestCancelledWorkLeavesTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, err := eventloop.New(eventloop.WithWorkerLimit(1), eventloop.WithAutoExit(true))
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(context.Background())
		var started []int
		run := func(ctx context.Context, i int) {
			l.Promisify(ctx, func(context.Context) (any, error) {
				started = append(started, i)
				time.Sleep(time.Second)
				return nil, nil
			}).ToChannel() // handles the rejection
		}
		for i := range 1000 {
			if i%100 == 0 {
				run(context.Background(), i)
			} else {
				run(ctx, i)
			}
		}
		cancel()
		synctest.Wait()
		require.LessOrEqual(t, l.WorkWaiting(), 20)
		require.NoError(t, l.Run(context.Background()))
		require.Equal(t, []int{0, 100, 200, 300, 400, 500, 600, 700, 800, 900}, started)
	})
}

// A worker that waits for a promise of an ending loop hears.
func TestWorkerThatWaitsHearsOfTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, err := eventloop.New()
		require.NoError(t, err)
		rung, ring, _ := l.NewPromise()
		_, err = l.ScheduleTimer(time.Hour, func() { ring("too late") })
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
		l, err := eventloop.New()
		require.NoError(t, err)
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
	l, err := eventloop.New()
	require.NoError(t, err)
	go l.Run(context.Background())
	for _, bad := range []error{hostile{}, hostile{exit: true}, uncomparable{[]int{1}}} {
		parent, cancel := context.WithCancelCause(context.Background())
		defer cancel(nil)
		for _, ctx := range []context.Context{parent, slowContext{parent, make(chan struct{})}} {
			_, err := l.Promisify(ctx, func(context.Context) (any, error) { cancel(bad); return nil, bad }).Await(context.Background())
			require.Error(t, err)
		}
	}
	require.NoError(t, l.Shutdown(context.Background()))
}

// Row 57: nobody but the channel's reader knows of the promise, or nobody but the handler's variables; the collector
// runs and runs; at the end the waiter hears.
func TestWaitersHearAtTheEnd(t *testing.T) {
	for _, closing := range []bool{false, true} {
		l, err := eventloop.New()
		require.NoError(t, err)
		go l.Run(context.Background())
		var chs []<-chan eventloop.Result
		for range 100 {
			bare, _, _ := l.NewPromise()
			derived, _, _ := l.NewPromise()
			chs = append(chs, bare.ToChannel(), derived.Then(nil, nil).Finally(nil).ToChannel())
		}
		typed, _, _ := promise.New[string](l.Promises())
		text := typed.ToChannel()
		for range 5 {
			garbage.Collect()
			require.NoError(t, l.SubmitInternal(func() {}))
		}
		if closing {
			require.NoError(t, l.Close())
		} else {
			require.NoError(t, l.Shutdown(context.Background()))
		}
		for _, ch := range chs {
			r, ok := <-ch
			require.True(t, ok)
			require.ErrorIs(t, r.Err, eventloop.ErrLoopTerminated)
			_, ok = <-ch
			require.False(t, ok, "one outcome, then the channel is closed")
		}
		require.ErrorIs(t, (<-text).Err, eventloop.ErrLoopTerminated)
	}
}

// The typed Promisify is the same, without casts.
func TestTypedPromisify(t *testing.T) {
	l, err := eventloop.New()
	require.NoError(t, err)
	go l.Run(context.Background())
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

// A worker that begins to wait when Shutdown waits for it already hears at once, whatever it waits for.
func TestWorkerThatBeginsToWaitDuringTheEnd(t *testing.T) {
	for name, wait := range map[string]func(l *eventloop.Loop, p *eventloop.Promise) <-chan eventloop.Result{
		"old": func(_ *eventloop.Loop, p *eventloop.Promise) <-chan eventloop.Result { return p.ToChannel() },
		"derived": func(_ *eventloop.Loop, p *eventloop.Promise) <-chan eventloop.Result {
			return p.Then(nil, nil).ToChannel()
		},
		"new": func(l *eventloop.Loop, _ *eventloop.Promise) <-chan eventloop.Result {
			q, _, _ := l.NewPromise()
			return q.ToChannel()
		},
		"race of none": func(l *eventloop.Loop, _ *eventloop.Promise) <-chan eventloop.Result {
			return l.Promises().Race().ToChannel()
		},
		"combined": func(l *eventloop.Loop, p *eventloop.Promise) <-chan eventloop.Result {
			return l.Promises().All(p, p).ToChannel()
		},
		"circle": func(_ *eventloop.Loop, p *eventloop.Promise) <-chan eventloop.Result { return p.ToChannel() },
	} {
		synctest.Test(t, func(t *testing.T) {
			l, err := eventloop.New()
			require.NoError(t, err)
			p, resolve, _ := l.NewPromise()
			if name == "circle" {
				resolve(l.Promises().All(p))
			}
			ch := l.Promisify(t.Context(), func(context.Context) (any, error) {
				time.Sleep(time.Hour)
				return nil, (<-wait(l, p)).Err
			}).ToChannel()
			go l.Run(t.Context())
			synctest.Wait()
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Hour)
			defer cancel()
			require.NoError(t, l.Shutdown(ctx), name)
			require.ErrorIs(t, (<-ch).Err, eventloop.ErrLoopTerminated, name)
		})
	}
}
