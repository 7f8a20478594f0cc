package promise

// Waiting for a promise on another goroutine, or on behalf of another loop.

import (
	"context"
	"maps"
	"math"
	"runtime"
	"slices"

	"github.com/turnloop/turnloop/internal/loopapi"
	"github.com/turnloop/turnloop/internal/sched"
	"github.com/turnloop/turnloop/internal/sched/atomic"
	"github.com/turnloop/turnloop/internal/slim"
)

// Outcome is how a promise of T settled: with Err if that is not nil, and otherwise with Value.
type Outcome[T any] struct {
	Value T
	Err   error
}

// Result is how an untyped promise settled.
type Result = Outcome[any]

// Await blocks until the promise settles and returns its outcome, or ctx.Err() if ctx ends first. It counts as a handler
// of the rejection. It is for other goroutines: on the promise's own loop, which it would block for ever, it returns
// ErrAwaitOnLoop. A promise that is pending when its loop ends is rejected with ErrLoopTerminated.
func (p *Promise) Await(ctx context.Context) (any, error) {
	ended := ctx.Done() // a nil context panics here
	if p.realm.sched.OnLoop() {
		return nil, loopapi.ErrAwaitOnLoop
	}
	ch := make(channel[any], 1)
	w := p.realm.waiters.add(p, ch)
	if w == nil {
		return p.outcome()
	}
	select {
	case res := <-ch:
		return res.Value, res.Err
	case <-ended:
	}
	if p.realm.waiters.remove(p, w) {
		return nil, ctx.Err()
	}
	res := <-ch // the promise settled before ctx ended, and the outcome is on its way
	return res.Value, res.Err
}

// ToChannel returns a new channel that receives the outcome once the promise settles, and is then closed. It counts
// as a handler of the rejection. The channel has room for the outcome, so nothing waits for its receiver. The promise is
// kept alive until it settles; if it is pending when its loop ends, it is rejected with ErrLoopTerminated. The channel cannot be
// taken back: a wait that may end before its promise is one for [Promise.Await].
func (p *Promise) ToChannel() <-chan Result { return toChannel[any](p) }

func toChannel[T any](p *Promise) <-chan Outcome[T] {
	ch := make(channel[T], 1)
	if p.realm.waiters.add(p, ch) == nil {
		ch.notify(p)
	}
	return ch
}

// listener is notified once, when a promise has settled or counts as rejected: on the promise's loop; on the goroutine that
// wants to wait, if the promise has settled before; or, behind thousands of others, on a goroutine made for that.
type listener interface {
	notify(p *Promise)
}

// channel is a listener with room for one outcome.
type channel[T any] chan Outcome[T]

func (ch channel[T]) notify(p *Promise) {
	var o Outcome[T]
	o.Value, o.Err = outcomeAs[T](p)
	ch <- o
	close(ch)
}

// waiters are all listeners of a realm. They keep their promises alive, and the promises that these wait for.
type waiters struct {
	// mu guards what follows. Any goroutine adds and removes listeners. When the loop settles a promise whose state has the
	// bit waited, it takes the promise's listeners. add sets that bit under mu: either the loop sees it and finds the
	// listener, or add finds the promise settled.
	mu    sched.Mutex
	lists slim.Map[*Promise, []*waiter]
	held  []*Promise // roots whose settlement the loop has refused; nobody else may hold them until the end rejects them

	// wanted says that the loop waits for mu. Only the loop writes it. Whoever is about to take mu then yields: a goroutine
	// takes mu again and again for as long as it runs, so the loop would wait a time slice for each that is before it.
	wanted atomic.Bool

	// ended says that end was called: no pending promise settles any more. end sets it before it takes mu, so that whoever
	// comes later needs no lock; add reads it under mu too, so that end finds the listeners that were added before.
	ended atomic.Bool
}

// waiter is one listener in the list of its promise.
type waiter struct {
	listener
	place int // the waiter's index in the list
}

// add registers the listener l, to be notified when p settles. If p has settled or counts as rejected, add returns nil, and
// p.outcome has the answer. Any goroutine may call it.
func (ws *waiters) add(p *Promise, l listener) *waiter {
	if p.settled() || ws.ended.Load() {
		return nil
	}
	w := &waiter{listener: l} // before the lock: an allocation may have to help the garbage collector
	ws.lock(p.realm)
	defer ws.mu.Unlock()
	answered := settledMask
	if p.realm.end.Load() != nil {
		answered |= rootMask // RejectAll has collected, under mu, the roots that are waited for, and does not do so again
	}
	if ws.ended.Load() || !p.set(waited, answered) {
		return nil
	}
	list := ws.lists.Of[p]
	w.place = len(list)
	ws.lists.Put(p, append(list, w))
	return w
}

// lock takes mu. If the caller is the loop of r, the realm of ws, others give way.
func (ws *waiters) lock(r *Realm) {
	wanted := ws.wanted.Load()
	switch {
	case !wanted && ws.mu.TryLock():
		return
	case r.sched.OnLoop():
		ws.wanted.Store(true)
		defer ws.wanted.Store(false)
	case wanted:
		runtime.Gosched()
	}
	ws.mu.Lock()
}

// remove takes w out. It returns false if w was notified, or is about to be.
func (ws *waiters) remove(p *Promise, w *waiter) bool {
	ws.lock(p.realm)
	defer ws.mu.Unlock()
	list := ws.lists.Of[p]
	last := len(list) - 1
	switch {
	case last < 0: // notify or end has taken the list
		return false
	case last == 0:
		ws.lists.Delete(p)
	default:
		list[w.place] = list[last]
		list[w.place].place = w.place
		list[last] = nil
		ws.lists.Of[p] = slim.Slice(list[:last])
	}
	return true
}

// notify notifies the listeners of p, which has settled. Only the loop calls it.
func (ws *waiters) notify(p *Promise) {
	ws.lock(p.realm)
	list := ws.lists.Of[p]
	if list != nil {
		ws.lists.Delete(p)
	}
	ws.mu.Unlock()
	now := min(len(list), notifyAtOnce)
	notifyAll(p, list[:now]) // the first listener handles a rejection
	if rest := list[now:]; len(rest) != 0 {
		sched.Go(func() { notifyAll(p, rest) })
	}
}

// notifyAtOnce is how many listeners the loop notifies itself, of one promise, or of all at the end. A goroutine made for
// that notifies the others: millions of them would hold up the loop, or its end.
const notifyAtOnce = 1 << 12

func notifyAll(p *Promise, list []*waiter) {
	for _, w := range list {
		w.notify(p)
	}
}

// end notifies every listener, since no pending promise settles any more, and makes add accept none. The loop does not wait
// for mu, for which it would queue behind all goroutines that are about to add or remove a listener.
func (ws *waiters) end() {
	ws.ended.Store(true)
	if ws.mu.TryLock() {
		ws.dismiss()
	} else {
		sched.Go(func() {
			ws.mu.Lock()
			ws.dismiss()
		})
	}
}

// dismiss is the part of end for which mu is locked; it unlocks mu.
func (ws *waiters) dismiss() {
	of := ws.lists.Of
	ws.lists, ws.held = slim.Map[*Promise, []*waiter]{}, nil
	ws.mu.Unlock()
	left := notifyAtOnce
	for p, list := range of {
		if left -= len(list); left < 0 {
			sched.Go(func() {
				for p, list := range of {
					notifyAll(p, list)
				}
			})
			return
		}
		notifyAll(p, list)
		delete(of, p)
	}
}

// hold keeps a root alive until the end. The loop has refused to settle it, so the end rejects it, for the handlers that it
// has. Any goroutine may call it.
func (ws *waiters) hold(p *Promise) {
	ws.lock(p.realm)
	defer ws.mu.Unlock()
	if !ws.ended.Load() {
		ws.held = append(ws.held, p)
	}
}

// promises returns the promises that have listeners, unless they are more than most; and how many there are.
func (ws *waiters) promises(r *Realm, most int) (all []*Promise, n int) {
	ws.lock(r)
	defer ws.mu.Unlock()
	if n = len(ws.lists.Of); n <= most {
		all = slices.Collect(maps.Keys(ws.lists.Of))
	}
	return all, n
}

// all returns all promises that have listeners.
func (ws *waiters) all(r *Realm) []*Promise {
	all, _ := ws.promises(r, math.MaxInt)
	return all
}

// foreign makes p follow q, a promise of another realm. It is the value of p until p settles.
type foreign struct {
	p, q   *Promise
	waiter *waiter // p's listener in the list of q; nil if p does not wait; touched on the loop of p alone
	guest  bool    // p was made for an element of a group, and nothing else refers to it
}

// follow makes f.p wait for f.q as any other goroutine would. Until f.q settles, f.p is a registered root of its own realm,
// so the end of that realm rejects it.
func (f *foreign) follow() {
	p, q := f.p, f.q
	p.source, p.value = nil, f
	p.cameThrough(q)
	if p.realm.register(p); p.settled() {
		return
	}
	if f.waiter = q.realm.waiters.add(q, f); f.waiter == nil {
		f.notify(q)
	}
}

// leave ends the waiting. A later rejection of f.q counts as handled, as it would if the waiting went on.
func (f *foreign) leave() {
	if f.waiter != nil {
		f.q.set(handled, 0) // before the waiter is removed, or a rejection might be reported in between
		f.q.realm.waiters.remove(f.q, f.waiter)
		f.waiter = nil
	}
}

func (f *foreign) notify(q *Promise) {
	value, err := q.outcome()
	refused := f.p.realm.sched.ScheduleMicrotask(func() {
		if f.p.settled() {
			return
		}
		if err != nil {
			f.p.settle(rejected, err)
		} else {
			f.p.settle(fulfilled, value)
		}
	})
	if refused != nil {
		f.p.realm.waiters.hold(f.p) // the end finds f.p in the registry
	}
}
