package promise_test

// Tests of the registry: what it keeps, what it lets go, and how much memory it takes.

import (
	"errors"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"slices"
	"testing"
	"weak"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop/promise"
	"github.com/turnloop/turnloop/internal/garbage"
	"github.com/turnloop/turnloop/internal/loopapi"
	"github.com/turnloop/turnloop/internal/race"
)

func collect() {
	for range 3 {
		garbage.Collect()
	}
}

func registered(r *promise.Owner) int {
	n, _ := r.Registered()
	return n
}

// Settled promises and jobs that have run are collected, with all that they were made of, while their realm lives on.
func TestSettledIsCollected(t *testing.T) {
	f, r := newOwner(promise.Config{})
	type big struct{ _ [1 << 10]int }
	var kept []*promise.Promise
	handlers, values := func() (hs []weak.Pointer[big], vs []weak.Pointer[promise.Promise]) {
		capture := func() func(any) (any, error) {
			b := new(big)
			hs = append(hs, weak.Make(b))
			return func(any) (any, error) { _ = b; return nil, nil }
		}
		p, resolve, _ := r.New()
		q, resolveQ, _ := r.New()
		for range 3 {
			c := p.Then(capture(), nil).Then(capture(), func(error) (any, error) { return capture()(nil) })
			kept = append(kept, c)
			vs = append(vs, weak.Make(p))
		}
		stay := capture()
		kept = append(kept, p.Then(func(any) (any, error) { return q.Then(stay, nil), nil }, nil))
		resolve(new(big))
		resolveQ(1)
		vs = append(vs, weak.Make(q))
		f.tick(r)
		return hs, vs
	}()
	for _, h := range handlers {
		require.True(t, garbage.Taken(h))
	}
	for _, v := range values {
		require.True(t, garbage.Taken(v))
	}
	runtime.KeepAlive(kept)
	runtime.KeepAlive(r)
}

// A million promises that nothing waits for leave a registry as small as the live ones need, and take no memory.
func TestAbandonedPromisesLeaveNothing(t *testing.T) {
	n := 1_000_000
	switch {
	case testing.Short():
		n = 10_000
	case race.Enabled:
		n = 50_000
	}
	f, r := newOwner(promise.Config{})
	heap := func() uint64 {
		collect()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	const live = 100
	var kept []*promise.Promise
	for i := range n {
		p, _, _ := r.New()
		q := p.Then(increment, nil)
		if i%(n/live) == 0 {
			kept = append(kept, q)
			r.Scavenge()
		}
	}
	r.Scavenge()
	collect()
	for range 2 * n / promise.ScavengeStep {
		r.Scavenge()
	}
	require.True(t, garbage.Until(func() bool {
		r.Scavenge()
		length, capacity := r.Registered()
		return length == live && capacity <= 4*live
	}))
	require.True(t, r.Intact())
	if after := heap(); after > before+1<<20 {
		t.Errorf("the heap grew from %d to %d bytes", before, after)
	}
	var got probe
	for _, p := range kept {
		got.on(p)
	}
	f.shutdown(r)
	require.Len(t, got.errs, live)
	runtime.KeepAlive(kept)
}

// The registry against a set: promises come, settle and are lost, and each that lives is in it once.
func TestRegistryModel(t *testing.T) {
	f, r := newOwner(promise.Config{})
	rnd := rand.New(rand.NewPCG(1, 2))
	type entry struct {
		p       *promise.Promise
		resolve func(any)
	}
	var live []entry
	lost := 0
	drop := func() entry {
		i := rnd.IntN(len(live))
		e := live[i]
		live[i] = live[len(live)-1]
		live[len(live)-1] = entry{}
		live = live[:len(live)-1]
		return e
	}
	for step := range 20_000 {
		growing := step/2000%2 == 0
		switch op := rnd.IntN(10); {
		case op < 6 && growing || len(live) == 0:
			p, resolve, _ := r.New()
			p.Then(nil, nil)
			live = append(live, entry{p, resolve})
		case op < 8:
			drop().resolve(nil)
		case op == 8:
			drop()
			lost++
		default:
			r.Scavenge()
		}
		if step%4000 == 3999 {
			collect()
		}
		f.drain()
		if length := registered(r); length < len(live) || length > len(live)+lost {
			t.Fatalf("%d entries for %d live promises, %d lost", length, len(live), lost)
		}
		if step%100 == 0 && !r.Intact() {
			t.Fatal("a promise does not know its place")
		}
	}
	require.True(t, garbage.Until(func() bool {
		for range registered(r) {
			r.Scavenge()
		}
		return registered(r) == len(live)
	}))
	runtime.KeepAlive(live)
}

// However many promises come at once, a Scavenge is short: the loop calls it again for the rest. At the end they are rejected
// in the order in which they came.
func TestManyNewcomers(t *testing.T) {
	const most = promise.PromoteMost
	f, r := newOwner(promise.Config{})
	var order []int
	var resolves []func(any)
	for i := range 3*most + 1 {
		p, resolve, _ := r.New()
		p.Catch(func(error) (any, error) { order = append(order, i); return nil, nil })
		resolves = append(resolves, resolve)
	}
	for _, left := range []int{2*most + 1, most + 1, 1, 0} {
		r.Scavenge()
		_, looked := r.Strong()
		require.Equal(t, left, looked)
		require.Equal(t, left != 0, r.Behind())
		require.True(t, r.Intact())
		if left == most+1 {
			resolves[3*most](nil)
			require.Equal(t, 3*most, registered(r))
		}
	}
	require.Equal(t, 3*most, r.Pending())
	r.RejectAll(loopapi.ErrLoopTerminated)
	f.drain()
	require.True(t, len(order) == 3*most && slices.IsSorted(order), "%d handlers", len(order))
	runtime.KeepAlive(resolves)
}

// Promises whose decisions wait behind others are held, at no cost for the ticks until then. One leaves when it settles, or
// when it follows another promise: then it is garbage when nobody else holds it.
func TestDecidedPromises(t *testing.T) {
	f, r := newOwner(promise.Config{})
	elsewhere := func(fn func()) {
		owner := f.owner.Swap(0)
		fn()
		f.owner.Store(owner)
	}
	const n = 200
	order := rand.New(rand.NewPCG(1, 2)).Perm(n)
	heard := 0
	resolves := make([]func(any), n)
	ps := make([]*promise.Promise, n)
	for i := range n {
		ps[i], resolves[i], _ = r.New()
	}
	for _, i := range order {
		elsewhere(func() { resolves[i](nil) })
	}
	for _, p := range ps {
		p.Then(func(any) (any, error) { heard++; return nil, nil }, nil)
	}
	r.Scavenge()
	all, looked := r.Strong()
	require.Equal(t, n, all)
	require.Zero(t, looked, "each tick looks at them")
	require.Equal(t, n, r.Pending())
	require.True(t, r.Intact())
	f.step(n / 2)
	all, _ = r.Strong()
	require.Equal(t, n/2, all)
	require.True(t, r.Intact())
	f.tick(r)
	require.Equal(t, n, heard)
	require.Zero(t, registered(r))

	followed := func() weak.Pointer[promise.Promise] {
		q, _, _ := r.New()
		q.Then(nil, nil)
		for range 40 { // more than the search for cycles looks at
			q = q.Then(nil, nil)
		}
		p, resolve, _ := r.New()
		elsewhere(func() { resolve(q) })
		p.Then(nil, nil)
		r.Scavenge()
		return weak.Make(p)
	}()
	f.tick(r)
	all, _ = r.Strong()
	require.Zero(t, all)
	require.True(t, garbage.Taken(followed))
}

// The scavenger looks at each entry once when a collection has ended, and otherwise at none: asking a weak pointer may block
// until a collection that is under way has ended.
func TestScavengerLooksOnceForEachCollection(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	const n = 10 * promise.ScavengeStep
	_, r := newOwner(promise.Config{})
	var kept []*promise.Promise
	for range n {
		p, _, _ := r.New()
		p.Then(nil, nil)
		kept = append(kept, p)
	}
	r.Scavenge()
	for range 3 {
		require.True(t, garbage.Until(func() bool { // the end of a collection is told a moment later
			r.Scavenge()
			return r.Unseen() > n/2
		}))
		looked := 0
		for range n {
			before := r.Unseen()
			if r.Scavenge(); r.Unseen() != before {
				looked += promise.ScavengeStep
			}
		}
		require.LessOrEqual(t, looked, 2*n, "there were two collections at most")
		require.Zero(t, r.Unseen())
	}
	require.Equal(t, n, registered(r))
	runtime.KeepAlive(kept)
}

// However many promises have become garbage at once, a Scavenge is short, and all of them are forgotten in the end.
func TestScavengeOfABurstIsShort(t *testing.T) {
	_, r := newOwner(promise.Config{})
	for range 10 * promise.FillMost {
		p, _, _ := r.New()
		p.Then(increment, nil)
	}
	for more := true; more; more = r.Behind() {
		r.Scavenge()
	}
	collect()
	calls := 0
	for left := registered(r); left > 0 && calls < 100; calls++ {
		r.Scavenge()
		require.LessOrEqual(t, left-registered(r), promise.FillMost+promise.ScavengeStep)
		require.True(t, r.Intact())
		left = registered(r)
	}
	require.Zero(t, registered(r), "after %d calls", calls)
}

// A promise that settles leaves a vacant place, which the scavenger fills after a collection: the table becomes as short as
// the pending promises need.
func TestVacantPlacesAreFilled(t *testing.T) {
	const n, live = 10_000, 10
	f, r := newOwner(promise.Config{})
	var resolves []func(any)
	var kept []*promise.Promise
	for range n {
		p, resolve, _ := r.New()
		p.Then(nil, nil)
		kept, resolves = append(kept, p), append(resolves, resolve)
	}
	r.Scavenge()
	for _, resolve := range resolves[:n-live] {
		resolve(nil)
	}
	f.drain()
	require.Equal(t, live, registered(r))
	require.True(t, garbage.Until(func() bool {
		for range n / promise.ScavengeStep {
			r.Scavenge()
		}
		_, capacity := r.Registered()
		return capacity <= promise.RegistryKeep
	}))
	require.True(t, r.Intact())
	require.Equal(t, live, registered(r))
	for _, resolve := range resolves {
		resolve(nil)
	}
	f.drain()
	require.Zero(t, registered(r))
	runtime.KeepAlive(kept)
}

// A promise of Begin is not in the registry, and RejectAll does not touch it: Finish settles it, whatever waits for it.
func TestBegunPromises(t *testing.T) {
	f, r := newOwner(promise.Config{})
	var heard []string
	var begun [4]promise.Promise
	for i := range begun {
		r.Begin(&begun[i])
	}
	p, failed, follows, unfinished := &begun[0], &begun[1], &begun[2], &begun[3]
	never, _, _ := r.New()
	p.Then(func(v any) (any, error) { heard = append(heard, v.(string)); return nil, nil }, nil)
	failed.Catch(func(err error) (any, error) { heard = append(heard, err.Error()); return nil, nil })
	ch := follows.ToChannel()
	f.drain()
	require.Zero(t, registered(r))
	derived := p.Then(nil, nil)
	require.False(t, r.RejectAll(loopapi.ErrLoopTerminated))
	late, _, _ := r.New()
	require.Equal(t, "rejected promise", late.String())
	for _, p := range []*promise.Promise{p, failed, derived} {
		require.Equal(t, "pending promise", p.String())
	}
	r.Finish(p, false, "value")
	r.Finish(failed, true, errors.New("error"))
	r.Finish(follows, false, never)
	f.drain()
	require.Equal(t, []string{"value", "error"}, heard)
	require.Equal(t, promise.Result{Err: loopapi.ErrLoopTerminated}, receive(t, ch))
	require.Equal(t, "fulfilled promise", derived.String())
	require.Equal(t, "pending promise", unfinished.String())
	f.close(r)
	require.Equal(t, "rejected promise", unfinished.String(), "nobody will finish it")
}
