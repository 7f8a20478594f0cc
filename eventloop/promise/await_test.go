package promise_test

// Tests of waiting for promises outside of the loop: Await and ToChannel.

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"weak"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop/promise"
	"github.com/turnloop/turnloop/internal/beat"
	"github.com/turnloop/turnloop/internal/garbage"
	"github.com/turnloop/turnloop/internal/loopapi"
	"github.com/turnloop/turnloop/internal/race"
)

// soon returns a context whose end fails a test that hangs.
func soon(t *testing.T) context.Context {
	ctx, cancel := beat.Context(context.Background())
	t.Cleanup(cancel)
	return ctx
}

// receive returns what ch receives, and makes sure that it is then closed.
func receive[T any](t *testing.T, ch <-chan promise.Outcome[T]) promise.Outcome[T] {
	t.Helper()
	select {
	case o := <-ch:
		_, more := <-ch
		require.False(t, more, "a second outcome")
		return o
	case <-soon(t).Done():
		t.Fatal("nobody answers")
		panic("unreachable")
	}
}

func startLoop(t *testing.T, c promise.Config) (*fake, *promise.Owner, func()) {
	f := newFake()
	r := promise.NewOwner(f, c)
	return f, r, f.run(t, r)
}

func TestAwait(t *testing.T) {
	f, r, _ := startLoop(t, promise.Config{})
	ctx := soon(t)
	for _, early := range []bool{true, false} {
		p, resolve, _ := r.New()
		q, _, reject := r.New()
		settle := func() { resolve(7); reject(errTest) }
		if early {
			settle()
		} else {
			go func() {
				for n := 0; n < 2; n, _, _ = r.Listeners() {
					runtime.Gosched()
				}
				settle()
			}()
		}
		chP, chQ := p.ToChannel(), q.ToChannel()
		value, err := p.Await(ctx)
		require.NoError(t, err)
		require.Equal(t, 7, value)
		_, err = q.Await(ctx)
		require.Equal(t, errTest, err)
		require.Equal(t, promise.Result{Value: 7}, receive(t, chP))
		require.Equal(t, promise.Result{Err: errTest}, receive(t, chQ))
	}
	done := make(chan error)
	require.NoError(t, f.ScheduleMicrotask(func() {
		_, err := r.Resolved(1).Await(ctx)
		done <- err
	}))
	require.ErrorIs(t, <-done, loopapi.ErrAwaitOnLoop)
}

// The end of a context ends the waiting and leaves nothing behind, in whatever order several contexts end.
func TestAwaitContext(t *testing.T) {
	_, r, stop := startLoop(t, promise.Config{})
	p, resolve, _ := r.New()
	const waiters = 100
	var wg sync.WaitGroup
	cancels := make([]context.CancelFunc, waiters)
	for i := range waiters {
		var ctx context.Context
		ctx, cancels[i] = context.WithCancel(context.Background())
		wg.Go(func() {
			_, err := p.Await(ctx)
			if err != context.Canceled {
				t.Errorf("Await returned %v", err)
			}
		})
	}
	for n := 0; n < waiters; n, _, _ = r.Listeners() {
		runtime.Gosched()
	}
	kept := p.ToChannel()
	for i := range waiters {
		cancels[i*37%waiters]()
	}
	wg.Wait()
	listeners, _, room := r.Listeners()
	require.Equal(t, 1, listeners)
	require.LessOrEqual(t, room, promise.RegistryKeep)
	resolve(1)
	require.Equal(t, promise.Result{Value: 1}, receive(t, kept))

	gone := func() weak.Pointer[promise.Promise] { // in a frame of its own, which then holds nothing
		q, _, _ := r.New()
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_, err := q.Await(ctx)
		require.Equal(t, context.Canceled, err)
		return weak.Make(q)
	}()
	require.True(t, garbage.Taken(gone))
	stop()
}

// After many waiters the map is as small as a few need.
func TestWaitersShrink(t *testing.T) {
	f, r := newOwner(promise.Config{})
	const n = 10_000
	resolves := make([]func(any), n)
	for i := range n {
		var p *promise.Promise
		p, resolves[i], _ = r.New()
		p.ToChannel()
	}
	_, _, peak := r.Listeners()
	require.Equal(t, n, peak)
	for _, resolve := range resolves[:n-10] {
		resolve(1)
	}
	listeners, promises, peak := r.Listeners()
	require.Equal(t, 10, listeners)
	require.Equal(t, 10, promises)
	require.LessOrEqual(t, peak, promise.RegistryKeep)
	f.drain()
}

// A promise may follow one of another loop, and combinators take promises of other loops.
func TestTwoLoops(t *testing.T) {
	_, a, _ := startLoop(t, promise.Config{})
	fb, b, _ := startLoop(t, promise.Config{})
	ctx := soon(t)
	settled := a.Resolved("settled")
	pending, resolve, _ := a.New()
	failing, _, reject := a.New()

	onB := func(p *promise.Promise) *promise.Promise { // what a handler of b returned
		return b.Resolved(nil).Then(func(any) (any, error) { return p, nil }, nil).Then(func(v any) (any, error) {
			if !fb.OnLoop() {
				return nil, errors.New("on another loop")
			}
			return v, nil
		}, nil)
	}
	p, q, f := onB(settled), onB(pending), onB(failing)
	all := b.All(settled, pending, b.Resolved("own"))
	resolve("late")
	reject(errTest)
	v, err := p.Await(ctx)
	require.NoError(t, err)
	require.Equal(t, "settled", v)
	v, err = q.Await(ctx)
	require.NoError(t, err)
	require.Equal(t, "late", v)
	_, err = f.Await(ctx)
	require.Equal(t, errTest, err)
	v, err = all.Await(ctx)
	require.NoError(t, err)
	require.Equal(t, []any{"settled", "late", "own"}, v)
	v, err = b.Resolved(settled).Await(ctx)
	require.NoError(t, err)
	require.Equal(t, "settled", v)
}

// A group that was decided, or a loop that has ended, leaves nothing waiting at a promise of another loop. A promise that
// others have, too, goes on following. A reaction that was taken back has handled the rejection, on either loop.
func TestNothingStaysAtAnotherLoop(t *testing.T) {
	unhandled := promise.Config{OnUnhandled: func(_ *promise.Promise, err error) {
		if err != loopapi.ErrLoopTerminated { // which is no fault
			t.Error("reported: ", err)
		}
	}}
	fa, a := newOwner(unhandled)
	fb, b := newOwner(unhandled)
	long, _, reject := b.New()
	waiting := func() int {
		n, _, _ := b.Listeners()
		return n
	}
	for name, combine := range map[string]func(...*promise.Promise) *promise.Promise{
		"Race": a.Race, "Any": a.Any, "All": a.All,
	} {
		result := func() weak.Pointer[promise.Promise] {
			p, resolve, rejectP := a.New()
			result := combine(long, p, long)
			result.Catch(func(error) (any, error) { return nil, nil })
			fa.tick(a)
			require.Equal(t, 2, waiting(), name)
			if name == "All" {
				rejectP(errTest)
			} else {
				resolve(1)
			}
			fa.tick(a)
			return weak.Make(result)
		}()
		require.Zero(t, waiting(), name)
		require.Zero(t, registered(a), name)
		require.True(t, garbage.Taken(result))
	}
	var got probe
	shared := a.Resolved(long)
	got.on(shared.Catch(func(err error) (any, error) { return err, nil }))
	a.Race(a.Resolved(1), shared)
	fa.drain()
	require.Equal(t, 1, waiting())
	late, _, rejectLate := b.New()
	a.Race(a.Resolved(1), late)
	rejectLate(errTest) // the rejection is on its way when the group is decided
	fa.tick(a)
	reject(errTest)
	fb.checkpoint(b)
	fa.checkpoint(a)
	got.want(t, errTest, nil)

	for name, end := range map[string]func(f *fake, r *promise.Owner){
		"shutdown": (*fake).shutdown, "close": (*fake).close,
	} {
		f, r := newOwner(unhandled)
		source, _, reject := b.New()
		r.Race(source).Catch(nil)
		old := r.Resolved(source)
		f.tick(r)
		young := r.Resolved(nil).Then(func(any) (any, error) { return source, nil }, nil)
		f.drain()
		require.Equal(t, 3, waiting())
		end(f, r)
		require.Zero(t, waiting(), name)
		reject(errTest)
		fb.checkpoint(b)
		for _, p := range []*promise.Promise{old, young} {
			_, err := p.Await(t.Context())
			require.Equal(t, loopapi.ErrLoopTerminated, err)
		}
	}
}

// A promise that the end of its own loop has settled is not settled again by the loop of the promise that it follows.
func TestFollowedSettlesAfterTheEnd(t *testing.T) {
	fa, a := newOwner(promise.Config{})
	fb, b := newOwner(promise.Config{})
	source, resolve, _ := a.New()
	p := b.Resolved(source)
	var before, after probe
	before.on(p)
	require.True(t, b.RejectAll(loopapi.ErrLoopTerminated))
	resolve("late")
	fa.drain()
	fb.drain()
	after.on(p)
	fb.drain()
	before.want(t, nil, loopapi.ErrLoopTerminated)
	after.want(t, nil, loopapi.ErrLoopTerminated)
}

// A rejection that races with the end of a context is not lost: Await returns it, or it is reported (or both, when
// the report was first).
func TestAwaitContextRaces(t *testing.T) {
	var reported atomic.Int64
	_, r, _ := startLoop(t, promise.Config{OnUnhandled: func(*promise.Promise, error) { reported.Add(1) }})
	rounds := 20_000
	switch {
	case testing.Short():
		rounds = 400
	case race.Enabled:
		rounds = 4_000
	}
	returned := int64(0)
	for range rounds {
		p, _, reject := r.New()
		ctx, cancel := context.WithCancel(context.Background())
		go func() { cancel() }()
		reject(errTest)
		if _, err := p.Await(ctx); err == errTest {
			returned++
		} else {
			require.Equal(t, context.Canceled, err)
		}
		cancel()
	}
	for ctx := soon(t); returned+reported.Load() < int64(rounds); runtime.Gosched() {
		require.NoError(t, ctx.Err(), "%d returned, %d reported", returned, reported.Load())
	}
}

// A loop that settles a promise does not wait for a time slice of each goroutine that begins and ends its waiting for others: that is
// counted in waits.
func TestWaitersGiveWay(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	worst := func() (worst int64) {
		_, r := newOwner(promise.Config{})
		ended, cancel := context.WithCancel(context.Background())
		cancel()
		var stop atomic.Bool
		var waits atomic.Int64
		var all sync.WaitGroup
		p, _, _ := r.New()
		for range 512 {
			all.Go(func() {
				for !stop.Load() {
					_, _ = p.Await(ended)
					waits.Add(1)
				}
			})
		}
		for range 40 {
			time.Sleep(time.Millisecond)
			q, resolve, _ := r.New()
			q.ToChannel()
			before := waits.Load()
			resolve(nil)
			worst = max(worst, waits.Load()-before)
		}
		stop.Store(true)
		all.Wait()
		return worst
	}
	const bound = 100_000 // as many as a few slices have, where hundreds of waiters would take one each
	counts := []int64{worst(), worst()}
	if max(counts[0], counts[1]) > bound { // the loop may have had to wait for something else
		counts = append(counts, worst())
		slices.Sort(counts)
		require.LessOrEqual(t, counts[1], int64(bound))
	}
}
