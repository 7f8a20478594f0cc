package promise_test

// Tests of the registry at the end of a loop: who is told, and what handlers may still do.

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop/promise"
	"github.com/turnloop/turnloop/internal/garbage"
	"github.com/turnloop/turnloop/internal/goroutine"
	"github.com/turnloop/turnloop/internal/loopapi"
)

// Row 57: a pending promise with a waiter and no other reference is not collected; the waiter hears at the end.
func TestWaiterHearsAtTheEnd(t *testing.T) {
	for name, end := range map[string]func(f *fake, r *promise.Owner){
		"shutdown": func(f *fake, r *promise.Owner) { f.shutdown(r) },
		"close":    func(f *fake, r *promise.Owner) { f.close(r) },
	} {
		t.Run(name, func(t *testing.T) {
			f, r := newOwner(promise.Config{})
			recovered := 0
			chs := func() []<-chan promise.Result {
				root, _, _ := r.New()
				bare, _, _ := r.New()
				other, _, _ := r.New()
				follower, follow, _ := r.New()
				follow(other)
				f.drain()
				return []<-chan promise.Result{
					bare.ToChannel(),
					root.ToChannel(),
					root.Then(increment, nil).Then(increment, nil).ToChannel(),
					r.All(root, r.Resolved(1)).ToChannel(),
					r.Race().ToChannel(),
					follower.ToChannel(),
					root.Catch(func(error) (any, error) { recovered++; return "recovered", nil }).ToChannel(),
				}
			}()
			f.drain()
			collect()
			end(f, r)
			last := len(chs) - 1
			for _, ch := range chs[:last] {
				require.Equal(t, promise.Result{Err: loopapi.ErrLoopTerminated}, receive(t, ch))
			}
			if name == "shutdown" {
				require.Equal(t, promise.Result{Value: "recovered"}, receive(t, chs[last]))
				require.Equal(t, 1, recovered)
			} else {
				require.Equal(t, promise.Result{Err: loopapi.ErrLoopTerminated}, receive(t, chs[last]))
				require.Zero(t, recovered, "Close runs nothing")
			}
		})
	}
}

// At the end, the rejection takes the way of any other: through roots and handlers, in order. It reaches every promise that
// is held, itself or through one derived from it, however often the collector ran.
func TestRejectAll(t *testing.T) {
	var unhandled []error
	f, r := newOwner(promise.Config{OnUnhandled: func(_ *promise.Promise, err error) { unhandled = append(unhandled, err) }})
	var got, typed, silent, silent2, late probe
	last := func() *promise.Promise {
		p, _, _ := r.New()
		got.on(p)
		typed.on(promise.Then(promise.As[int](p), func(int) (int, error) { return 0, nil }).Untyped())
		return p.Then(increment, nil).Then(increment, nil)
	}()
	unobserved, resolve, _ := r.New()
	failing, _, _ := r.New()
	failing.Catch(func(err error) (any, error) { return nil, fmt.Errorf("clean up: %w", err) })
	var followed, after probe
	recovers, _, _ := r.New()
	follower, follow, _ := r.New()
	followed.on(follower)
	follow(recovers.Catch(func(error) (any, error) { return "recovered", nil }))
	waited, _, _ := r.New()
	waiter := waited.ToChannel()
	f.drain()
	sent, send, _ := r.New()
	sent.Then(increment, nil)
	var sender sync.WaitGroup
	sender.Go(func() { send("on its way") })
	sender.Wait()
	collect()
	require.True(t, r.RejectAll(loopapi.ErrLoopTerminated))
	require.Zero(t, got.calls(), "reactions are microtasks")
	require.Equal(t, promise.Result{Err: loopapi.ErrLoopTerminated}, receive(t, waiter))
	unobserved2, _, _ := r.New()
	silent2.on(unobserved2)
	silent.on(unobserved)
	resolve("too late")
	p, resolve, _ := r.New()
	resolve("too late")
	late.on(p)
	f.checkpoint(r)
	after.on(follower)
	f.checkpoint(r)
	for _, probe := range []*probe{&got, &typed, &silent, &silent2, &late} {
		probe.want(t, nil, loopapi.ErrLoopTerminated)
	}
	followed.want(t, "recovered", nil)
	after.want(t, "recovered", nil)
	got = probe{}
	got.on(sent)
	f.checkpoint(r)
	got.want(t, nil, loopapi.ErrLoopTerminated)
	got = probe{}
	got.on(last)
	f.checkpoint(r)
	got.want(t, nil, loopapi.ErrLoopTerminated)
	require.False(t, r.RejectAll(loopapi.ErrLoopTerminated))
	for _, err := range unhandled {
		require.ErrorIs(t, err, loopapi.ErrLoopTerminated, "the owner can tell what comes of the end")
	}
}

// A promise whose settlement an ending loop has refused has its handlers called by the end, although nothing of the user's
// refers to it any more.
func TestRefusedIsNotForgotten(t *testing.T) {
	for name, settle := range map[string]func(r, other *promise.Owner, got *probe) func(){
		"resolve": func(r, _ *promise.Owner, got *probe) func() {
			p, resolve, _ := r.New()
			got.on(p)
			return func() { resolve(1) }
		},
		"reject": func(r, _ *promise.Owner, got *probe) func() {
			p, _, reject := r.New()
			got.on(p)
			return func() { reject(errTest) }
		},
		"another loop's promise": func(r, other *promise.Owner, got *probe) func() {
			q, resolve, _ := other.New()
			got.on(r.Resolved(q))
			return func() { resolve(1) }
		},
		"another loop's promise in a group": func(r, other *promise.Owner, got *probe) func() {
			q, resolve, _ := other.New()
			got.on(r.All(q))
			return func() { resolve(1) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			f, r := newOwner(promise.Config{})
			otherF, other := newOwner(promise.Config{})
			var got probe
			conclude := settle(r, other, &got)
			f.tick(r)
			r.Scavenge() // newcomers are held weakly from here on
			f.refuse = func(int64) bool { return true }
			elsewhere(conclude)
			elsewhere(func() { otherF.owner.Store(goroutine.ID()); otherF.checkpoint(other) })
			f.refuse, conclude = nil, nil
			for range 3 {
				garbage.Collect()
				r.Scavenge()
			}
			require.Zero(t, got.calls())
			f.shutdown(r)
			got.want(t, nil, loopapi.ErrLoopTerminated)
		})
	}
}

// Of promises whose decision an ending loop has refused, only those that have handlers are held until the end: the others could
// be any number.
func TestRefusedWithoutHandlersIsForgotten(t *testing.T) {
	f, r := newOwner(promise.Config{})
	var got probe
	later, resolveLater, _ := r.New()
	attach := func() { got.on(later) }
	elsewhere(func() { attach() }) // its microtask has not run when the decision is refused
	f.refuse = func(int64) bool { return true }
	elsewhere(func() {
		for range 1000 {
			_, resolve, _ := r.New()
			resolve(1)
			_, _, reject := r.New()
			reject(errTest)
		}
		resolveLater(1)
	})
	require.Zero(t, r.Held())
	f.refuse, later, resolveLater, attach = nil, nil, nil, nil
	f.tick(r)
	for range 3 {
		garbage.Collect()
		r.Scavenge()
	}
	require.Equal(t, 1, r.Pending())
	require.Zero(t, got.calls())
	f.shutdown(r)
	got.want(t, nil, loopapi.ErrLoopTerminated)
}
