package promise_test

// Which promises and waiters hear of the end, and when.

import (
	"context"
	"io"
	"reflect"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop/promise"
	"github.com/turnloop/turnloop/internal/beat"
	"github.com/turnloop/turnloop/internal/goroutine"
	"github.com/turnloop/turnloop/internal/loopapi"
)

// Once the loop has rejected pending promises, and waits for its workers, a promise that only resolve and reject could
// settle has its answer at once, without a tick of the loop.
func TestRootsAnswerAtOnce(t *testing.T) {
	f, r := newOwner(promise.Config{})
	_, other := newOwner(promise.Config{})
	var work promise.Promise
	r.Begin(&work)
	roots := map[string]*promise.Promise{}
	var resolve, send func(any)
	roots["old"], _, _ = r.New()
	roots["race of none"] = r.Race()
	roots["resolved late"], resolve, _ = r.New()
	roots["sent late"], send, _ = r.New()
	sent, sendNow, _ := r.New()
	typed, _, _ := promise.New[int](&r.Realm)
	roots["typed"] = typed.Untyped()
	foreign, _, _ := other.New()
	roots["of another loop"] = r.Resolved(foreign)
	f.checkpoint(r)
	elsewhere(func() { sendNow(1) })
	require.True(t, r.RejectAll(loopapi.ErrLoopTerminated), "the follower")
	roots["on its way"] = sent
	calls := f.calls.Load()
	elsewhere(func() { send(1) })
	resolve(1)
	require.Equal(t, calls, f.calls.Load(), "nothing is queued")
	roots["new"], resolve, _ = r.New()
	resolve(1)
	roots["new race of none"] = r.Race()
	elsewhere(func() { roots["from elsewhere"], _, _ = r.New() })
	elsewhere(func() { roots["new, of another loop"] = r.Resolved(foreign) })
	answer := func() {
		for name, p := range roots {
			elsewhere(func() {
				_, err := p.Await(soon(t))
				require.Equal(t, loopapi.ErrLoopTerminated, err, name)
			})
			require.Equal(t, promise.Result{Err: loopapi.ErrLoopTerminated}, receive(t, p.ToChannel()), name)
			require.Equal(t, "rejected promise", p.String(), name)
		}
	}
	answer()
	f.finish(r)
	answer()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	elsewhere(func() {
		_, err := work.Await(ctx)
		require.Equal(t, context.Canceled, err, "work goes on")
	})
	var derived <-chan promise.Result
	elsewhere(func() { derived = roots["old"].Then(nil, nil).Then(nil, nil).ToChannel() })
	f.drain()
	require.Equal(t, promise.Result{Err: loopapi.ErrLoopTerminated}, receive(t, derived), "when its source is")
}

// A promise that follows another one is no root any more: the end reaches it through that one, also if it is waited for.
func TestFollowersHearThroughOthers(t *testing.T) {
	f, r := newOwner(promise.Config{})
	root, _, _ := r.New()
	recovered := root.Catch(func(error) (any, error) { return "recovered", nil })
	here, follow, _ := r.New()
	here.Then(nil, nil)
	require.Equal(t, 2, registered(r))
	follow(recovered)
	there, send, _ := r.New()
	elsewhere(func() { send(recovered) })
	cycle, resolve, _ := r.New()
	resolve(r.Race(cycle, recovered))
	f.drain()
	require.Equal(t, 2, registered(r), "the root, and what may wait for itself")
	early := []<-chan promise.Result{here.ToChannel(), there.ToChannel(), cycle.ToChannel()}
	require.True(t, r.RejectAll(loopapi.ErrLoopTerminated))
	for _, p := range []*promise.Promise{here, there, cycle} {
		early = append(early, p.ToChannel())
	}
	f.finish(r)
	for i, ch := range early {
		require.Equal(t, promise.Result{Value: "recovered"}, receive(t, ch), i)
	}
}

// Promises that wait for one of Begin, in several ways and through long chains, are in no cycle, and hear when it is
// finished. A cycle does not wait for it.
func TestEndTellsCirclesFromLongWays(t *testing.T) {
	f, r := newOwner(promise.Config{})
	var begun promise.Promise
	r.Begin(&begun)
	last := &begun
	for range 100 {
		p, resolve, _ := r.New()
		resolve(last)
		last = p
	}
	twice, resolve, _ := r.New()
	resolve(r.All(last.Then(nil, nil), last.Then(nil, nil), last))
	cycle, resolve, _ := r.New()
	resolve(r.All(cycle, twice).Then(nil, nil))
	called := 0
	const links = 40
	for catch := range links {
		cycle, resolve, _ := r.New()
		way := cycle
		for i := range links {
			h := func(error) (any, error) { called++; return nil, nil }
			if i != catch {
				h = func(err error) (any, error) { return nil, err }
			}
			if way = way.Catch(h); i == 20 { // the search may come from here, too
				_, resolve, _ := r.New()
				resolve(r.All(way))
			}
		}
		resolve(way)
	}
	long, both, ended := last.ToChannel(), twice.ToChannel(), cycle.ToChannel()
	f.finish(r)
	require.Equal(t, promise.Result{Err: loopapi.ErrLoopTerminated}, receive(t, ended))
	require.Equal(t, links, called, "a handler of each other cycle, wherever it is")
	r.Finish(&begun, false, "done")
	f.finish(r)
	require.Equal(t, promise.Result{Value: "done"}, receive(t, long))
	require.Equal(t, promise.Result{Value: []any{"done", "done", "done"}}, receive(t, both))
}

// The loop answers thousands of waiters itself, and leaves millions to another goroutine. All hear; meanwhile the loop goes
// on, or ends.
func TestManyWaitersHearElsewhere(t *testing.T) {
	const many = 5 * promise.NotifyAtOnce
	for _, ends := range []bool{false, true} {
		for _, promises := range []int{1, many} {
			unhandled := 0
			_, r := newOwner(promise.Config{OnUnhandled: func(*promise.Promise, error) { unhandled++ }})
			loop := goroutine.ID()
			var onLoop, elsewhere atomic.Int64
			var rejects []func(error)
			var first <-chan promise.Result
			for range promises {
				p, _, reject := r.New()
				if rejects = append(rejects, reject); first == nil {
					first = p.ToChannel()
				}
				p.OnHear(many/promises, func() {
					if goroutine.ID() == loop {
						onLoop.Add(1)
					} else {
						elsewhere.Add(1)
					}
				})
			}
			if ends {
				r.End()
			} else {
				for _, reject := range rejects {
					reject(io.EOF)
				}
			}
			require.Error(t, receive(t, first).Err)
			require.Eventually(t, func() bool { return onLoop.Load()+elsewhere.Load() == many }, 10*time.Second, time.Millisecond)
			if promises == 1 || ends {
				require.LessOrEqual(t, onLoop.Load(), int64(promise.NotifyAtOnce))
			} else {
				require.Zero(t, elsewhere.Load(), "each has few")
			}
			for r.Checkpoint() {
			}
			require.Zero(t, unhandled)
		}
	}
}

// The end does not wait for goroutines that begin to wait; nor does who asks when the end has
// come. Whoever was waiting hears a little later.
func TestEndTakesNoTurns(t *testing.T) {
	_, r := newOwner(promise.Config{})
	p, _, _ := r.New()
	ended, asked := make(chan struct{}), make(chan (<-chan promise.Result), 1)
	early := p.ToChannel()
	r.WithWaitersLock(func() {
		go func() {
			r.End()
			close(ended)
			asked <- p.ToChannel()
		}()
		beat.Receive(t, ended, "the end, which waits for the lock of the waiters")
		late := beat.Receive(t, asked, "who asks after the end, and waits for the lock of the waiters")
		require.Equal(t, promise.Result{Err: loopapi.ErrLoopTerminated}, receive(t, late))
	})
	require.Equal(t, promise.Result{Err: loopapi.ErrLoopTerminated}, receive(t, early))
}

// Row 93: a realm, which users have, has no method that settles a promise of others, or that later ones are settled by.
func TestUsersEndNoPromises(t *testing.T) {
	f, o := newOwner(promise.Config{OnUnhandled: func(*promise.Promise, error) {}})
	realm := reflect.ValueOf(&o.Realm)
	p, _, _ := o.New()
	p.Then(nil, nil) // it is in the registry
	for m := range realm.NumMethod() {
		method := realm.Method(m)
		args := make([]reflect.Value, method.Type().NumIn())
		for i := range args {
			of := method.Type().In(i)
			args[i] = reflect.Zero(of)
			for _, arg := range []any{p, []*promise.Promise{p}, io.EOF} {
				if reflect.TypeOf(arg).AssignableTo(of) {
					args[i] = reflect.ValueOf(arg)
					break
				}
			}
		}
		if method.Type().IsVariadic() {
			method.CallSlice(args)
		} else {
			method.Call(args)
		}
		f.checkpoint(o)
		name := realm.Type().Method(m).Name
		require.Equal(t, "pending promise", p.String(), name)
		q, _, _ := o.New()
		require.Equal(t, "pending promise", q.String(), name)
	}
}
