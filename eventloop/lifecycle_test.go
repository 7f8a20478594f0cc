package eventloop_test

// Tests of a loop's life and end: what is reported, what stays in memory, what was never started.

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"runtime"
	"runtime/metrics"
	"sync"
	"testing"
	"time"
	"weak"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/internal/garbage"
)

// A loop that ends by itself is Terminating until the handlers of what was pending have run.
func TestAutoExitIsTerminatingWhileHandlersRun(t *testing.T) {
	loop := made(t, eventloop.WithAutoExit(true))
	var states []eventloop.State
	p, _, _ := loop.NewPromise()
	p.Catch(func(error) (any, error) {
		states = append(states, loop.State())
		return nil, nil
	})
	require.NoError(t, loop.Run(context.Background()))
	runtime.KeepAlive(p) // the loop does not
	require.Equal(t, []eventloop.State{eventloop.StateTerminating}, states)
	require.Equal(t, eventloop.StateTerminated, loop.State())
}

// A report is a callback too: none starts when Close has returned.
func TestNoReportAfterClose(t *testing.T) {
	var loop *eventloop.Loop
	loop, err := eventloop.New(
		eventloop.WithTickBudget(1),
		eventloop.WithOnOverload(func(err error) { t.Errorf("OnOverload(%v) after Close", err) }),
	)
	require.NoError(t, err)
	require.NoError(t, loop.Submit(func() { require.NoError(t, loop.Close()) }))
	require.NoError(t, loop.Submit(func() { t.Error("a task after Close") }))
	require.ErrorIs(t, loop.Run(context.Background()), eventloop.ErrLoopTerminated)
}

// Without a context Shutdown panics, as Run does, and before it has asked for anything: the loop goes on.
func TestNilContexts(t *testing.T) {
	var none context.Context
	for _, running := range []bool{false, true} {
		loop := made(t)
		if require.Panics(t, func() { loop.Run(none) }); running {
			go loop.Run(context.Background())
		}
		require.Panics(t, func() { loop.Shutdown(none) })
		require.NotEqual(t, eventloop.StateTerminated, loop.State())
		ran := false
		require.NoError(t, loop.Submit(func() {
			require.Panics(t, func() { loop.Shutdown(none) })
			ran = true
		}))
		require.NoError(t, loop.Shutdown(context.Background()))
		require.True(t, ran)
	}
}

// The panic of a callback that Close has overtaken is reported, and nothing else starts.
func TestPanicIsReportedAfterClose(t *testing.T) {
	var reported []any
	loop := made(t, eventloop.WithPanicHandler(func(p *eventloop.PanicError) { reported = append(reported, p.Value) }))
	require.NoError(t, loop.Submit(func() {
		require.NoError(t, loop.ScheduleMicrotask(func() { t.Error("a microtask after Close") }))
		require.NoError(t, loop.Close())
		panic("lost")
	}))
	require.NoError(t, loop.Submit(func() { t.Error("a task after Close") }))
	require.ErrorIs(t, loop.Run(context.Background()), eventloop.ErrLoopTerminated)
	require.Equal(t, []any{"lost"}, reported)
}

// Alive is asked while a task is on its way from acceptance to its end, wherever that leads through.
func TestAliveWhileATaskIsUnderWay(t *testing.T) {
	for range scale(300, 3000, 3000) {
		loop := observed(t)
		looked := make(chan struct{})
		require.NoError(t, loop.Submit(func() { <-looked }))
		if !loop.Alive() {
			t.Fatal("not alive, although an accepted task has not returned")
		}
		close(looked)
		require.NoError(t, loop.Close())
	}
}

// A context that goes on does not keep a loop that has ended.
func TestContextKeepsNoEndedLoop(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	loop := made(t, eventloop.WithAutoExit(true))
	require.NoError(t, loop.Run(ctx))
	p := weak.Make(loop)
	loop = nil
	require.True(t, garbage.Taken(p))
}

// A loop that nobody ran or ended, and that nobody has any more, leaves no descriptors behind, also when its callbacks
// refer to it. One that runs keeps its own though only its goroutine has it, and one that has ended closes nothing twice.
func TestForgottenLoopsReleaseDescriptors(t *testing.T) {
	needDescriptors(t)
	near, far := newPair(t)
	const loops = 40
	var fakes []*fakePoller
	var known []*eventloop.Loop
	create := func(opts ...eventloop.Option) *eventloop.Loop {
		f := &fakePoller{}
		fakes = append(fakes, f)
		l := made(t, append(opts, eventloop.WithPoller(f.open))...)
		known = append(known, l)
		return l
	}
	called := make(chan struct{}, 1)
	func() {
		l := made(t)
		require.NoError(t, l.RegisterFD(near, eventloop.EventRead, func(eventloop.IOEvents) {
			if _, b := receive(near); b == 2 {
				require.NoError(t, l.Close())
			}
			called <- struct{}{}
		}))
		go l.Run(context.Background())
		send(far, 1)
		<-called // so it has all the descriptors that it needs
	}()
	before := openDescriptors()
	for range loops {
		l := create()
		require.NoError(t, l.RegisterFD(near, 0, func(eventloop.IOEvents) { l.Close() }))
		require.NoError(t, l.RegisterFD(far, 0, func(eventloop.IOEvents) {}))
		require.NoError(t, l.UnregisterFDThen(far, func() {}))
		create(eventloop.WithFastPathMode(eventloop.FastPathDisabled))
		require.NoError(t, create(eventloop.WithFastPathMode(eventloop.FastPathDisabled)).Close())
	}
	require.Greater(t, openDescriptors(), before)
	clear(known)
	require.True(t, garbage.Until(func() bool { return openDescriptors() <= before }), "descriptors are left")
	for _, f := range fakes {
		require.EqualValues(t, 1, f.calls[opClose].Load())
		require.Empty(t, f.breaches)
	}
	send(far, 2)
	<-called
}

// The alarm of a far timer is stopped when the loop ends. That it keeps nothing then is up to the runtime, which lets go of a
// stopped timer when there are enough of them.
func TestEndStopsTheAlarm(t *testing.T) {
	loop := made(t)
	_, err := loop.ScheduleTimer(time.Hour, func() {})
	require.NoError(t, err)
	var running sync.WaitGroup
	running.Go(func() { loop.Run(context.Background()) })
	rest(loop)
	require.NoError(t, loop.Shutdown(context.Background()))
	running.Wait()
	require.False(t, loop.Park().Stop(), "it was still armed")
}

// An idle loop is small, at most 16 KiB beyond its goroutine's stack, whatever it was busy with before.
func TestIdleLoopIsSmall(t *testing.T) {
	n := scale(8, 32, 32)
	amounts := []int{0, 100, 500, 1000, 3000, 10_000}
	if testing.Short() {
		amounts = amounts[:4]
	}
	for _, amount := range amounts {
		undisturbed(t, func() error {
			before := garbage.Heap()
			loops := make([]*eventloop.Loop, n)
			for i := range loops {
				loop := made(t, eventloop.WithLogger(slog.New(slog.DiscardHandler)))
				loops[i] = loop
				go loop.Run(context.Background())
				for range amount {
					require.NoError(t, loop.Submit(func() {}))
				}
				ran := make(chan struct{})
				require.NoError(t, loop.Submit(func() {
					for i := range amount {
						loop.ScheduleMicrotask(func() {})
						loop.NextTick(func() {})
						id, _ := loop.ScheduleTimer(time.Hour>>(i%40)<<(i%10), func() {})
						defer loop.CancelTimer(id)
					}
					loop.ScheduleMicrotask(func() { close(ran) })
				}))
				<-ran
			}
			rest(loops...) // what a callback's end gives back is given back when the loop has got to sleep
			perLoop := int64(garbage.Heap()-before) / int64(n)
			for _, loop := range loops {
				require.NoError(t, loop.Shutdown(context.Background()))
			}
			if perLoop >= 16<<10 {
				return fmt.Errorf("%d bytes after %d tasks, microtasks and timers", perLoop, amount)
			}
			return nil
		})
	}
}

// A loop that was never used ends without a goroutine and without a thread.
func TestUnusedLoopStartsNothing(t *testing.T) {
	samples := []metrics.Sample{{Name: "/sched/goroutines-created:goroutines"}, {Name: "/sched/threads/total:threads"}}
	read := func() (goroutines, threads uint64) {
		metrics.Read(samples)
		return samples[0].Value.Uint64(), samples[1].Value.Uint64()
	}
	const n, tries = 1000, 5
	for name, end := range map[string]func(l *eventloop.Loop) error{
		"Shutdown": func(l *eventloop.Loop) error { return l.Shutdown(context.Background()) },
		"Close":    (*eventloop.Loop).Close,
	} {
		var goroutines, threads uint64
		for range tries { // others may start something meanwhile
			goroutinesBefore, threadsBefore := read()
			for range n {
				l := made(t)
				require.NoError(t, end(l))
			}
			goroutines, threads = read()
			goroutines, threads = goroutines-goroutinesBefore, max(threads, threadsBefore)-threadsBefore
			if goroutines < n/10 && threads < 10 {
				break
			}
		}
		require.Less(t, goroutines, uint64(n/10), "%s of %d unused loops", name, n)
		require.Less(t, threads, uint64(10), "%s of %d unused loops", name, n)
	}
}

// In a coroutine that a callback resumes OnLoop is false, and Shutdown and Await wait for that callback, until their context
// ends; the rest serves there as anywhere. The end then comes once the callback has returned.
func TestCoroutineOfACallback(t *testing.T) {
	l, ended := running(t, nil)
	p, _, _ := l.NewPromise()
	q, _, _ := l.NewPromise() // shows that the callback has returned
	var log []string
	require.NoError(t, onLoop(t, l, func() error {
		briefly := func(wait func(ctx context.Context) error) error {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
			defer cancel()
			return wait(ctx)
		}
		next, stop := iter.Pull(func(yield func(error) bool) {
			if l.OnLoop() {
				log = append(log, "on the loop")
			}
			if !yield(errors.Join(l.Submit(func() { log = append(log, "task") }), l.SubmitInternal(func() { log = append(log, "internal task") }))) ||
				!yield(briefly(func(ctx context.Context) error { _, err := p.Await(ctx); return err })) {
				return
			}
			yield(briefly(l.Shutdown))
		})
		defer stop()
		submitted, _ := next()
		awaited, _ := next()
		if !l.OnLoop() {
			log = append(log, "not on the loop after a coroutine")
		}
		_, err := q.Await(t.Context())
		ending, _ := next()
		log = append(log, l.State().String())
		return errors.Join(submitted, is(awaited, context.DeadlineExceeded), is(err, eventloop.ErrAwaitOnLoop), is(ending, context.DeadlineExceeded))
	}))
	require.NoError(t, <-ended)
	require.Equal(t, []string{"terminating", "internal task", "task"}, log)
	_, err := p.Await(t.Context())
	require.ErrorIs(t, err, eventloop.ErrLoopTerminated)
}

// is returns nil if err is what is wanted, or else why not.
func is(err, wanted error) error {
	if errors.Is(err, wanted) {
		return nil
	}
	return fmt.Errorf("%v, want %v", err, wanted)
}
