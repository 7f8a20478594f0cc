package promise_test

// Who hears of the end, and when.

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop/promise"
	"github.com/turnloop/turnloop/internal/loopapi"
)

// Once the loop has rejected what was pending, and waits for its workers, nobody waits for what only resolve and reject
// could settle: the answer is there at once, without a turn of the loop.
func TestRootsAnswerAtOnce(t *testing.T) {
	f, r := newRealm(promise.Config{})
	_, other := newRealm(promise.Config{})
	var work promise.Promise
	r.Begin(&work)
	roots := map[string]*promise.Promise{}
	var resolve, send func(any)
	roots["old"], _, _ = r.New()
	roots["race of none"] = r.Race()
	roots["resolved late"], resolve, _ = r.New()
	roots["sent late"], send, _ = r.New()
	sent, sendNow, _ := r.New()
	typed, _, _ := promise.New[int](r)
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

// Who follows a promise is no root any more: the end reaches it through that promise, also if it is waited for.
func TestFollowersHearThroughOthers(t *testing.T) {
	f, r := newRealm(promise.Config{})
	root, _, _ := r.New()
	recovered := root.Catch(func(error) (any, error) { return "recovered", nil })
	here, follow, _ := r.New()
	here.Then(nil, nil)
	require.Equal(t, 2, registered(r))
	follow(recovered)
	there, send, _ := r.New()
	elsewhere(func() { send(recovered) })
	circle, resolve, _ := r.New()
	resolve(r.Race(circle, recovered))
	f.drain()
	require.Equal(t, 2, registered(r), "the root, and what may wait for itself")
	early := []<-chan promise.Result{here.ToChannel(), there.ToChannel(), circle.ToChannel()}
	require.True(t, r.RejectAll(loopapi.ErrLoopTerminated))
	for _, p := range []*promise.Promise{here, there, circle} {
		early = append(early, p.ToChannel())
	}
	f.finish(r)
	for i, ch := range early {
		require.Equal(t, promise.Result{Value: "recovered"}, receive(t, ch), i)
	}
}

// What waits for a promise of Begin in several ways, and long ones, is in no circle, and hears when that is finished; a
// circle does not wait for it.
func TestEndTellsCirclesFromLongWays(t *testing.T) {
	f, r := newRealm(promise.Config{})
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
	circle, resolve, _ := r.New()
	resolve(r.All(circle, twice).Then(nil, nil))
	called := 0
	const links = 40
	for catch := range links {
		circle, resolve, _ := r.New()
		way := circle
		for i := range links {
			h := func(error) (any, error) { called++; return nil, nil }
			if i != catch {
				h = func(err error) (any, error) { return nil, err }
			}
			if way = way.Catch(h); i == 20 { // from where the search may come too
				_, resolve, _ := r.New()
				resolve(r.All(way))
			}
		}
		resolve(way)
	}
	long, both, ended := last.ToChannel(), twice.ToChannel(), circle.ToChannel()
	f.finish(r)
	require.Equal(t, promise.Result{Err: loopapi.ErrLoopTerminated}, receive(t, ended))
	require.Equal(t, links, called, "a handler of each other circle, wherever it is")
	r.Finish(&begun, false, "done")
	f.finish(r)
	require.Equal(t, promise.Result{Value: "done"}, receive(t, long))
	require.Equal(t, promise.Result{Value: []any{"done", "done", "done"}}, receive(t, both))
}
