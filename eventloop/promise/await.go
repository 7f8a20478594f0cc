package promise

// Waiting for a promise on another goroutine, or on behalf of another loop.

import (
	"context"
	"maps"
	"math"
	"slices"

	"github.com/turnloop/turnloop/internal/loopapi"
	"github.com/turnloop/turnloop/internal/sched"
)

// Outcome is how a promise of T settled. Exactly one of the fields says it: Err is nil if and only if it was fulfilled.
type Outcome[T any] struct {
	Value T
	Err   error
}

// Result is how an untyped promise settled.
type Result = Outcome[any]

// Await blocks until the promise settles and returns its outcome; or, if ctx ends first, ctx.Err(). It handles the
// rejection. It is for other goroutines: on the promise's own loop, which it would block for ever, it returns
// ErrAwaitOnLoop. A promise that is pending when its loop ends is rejected with ErrLoopTerminated.
func (p *Promise) Await(ctx context.Context) (any, error) {
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
	case <-ctx.Done():
	}
	if p.realm.waiters.remove(p, w) {
		return nil, ctx.Err()
	}
	res := <-ch // settled first, and on its way
	return res.Value, res.Err
}

// ToChannel returns a new channel that receives the outcome once the promise settles, and is then closed. It counts
// as a handler of the rejection. The channel has room for the outcome, so nobody waits for its receiver. Until it
// settles the promise is kept alive; a promise that is pending when its loop ends is rejected with ErrLoopTerminated.
func (p *Promise) ToChannel() <-chan Result { return toChannel[any](p) }

func toChannel[T any](p *Promise) <-chan Outcome[T] {
	ch := make(channel[T], 1)
	if p.realm.waiters.add(p, ch) == nil {
		ch.hear(p)
	}
	return ch
}

// listener hears of a promise that has settled, or counts as rejected, once: on the goroutine of its loop, or at once on
// that of who wants to wait.
type listener interface {
	hear(p *Promise)
}

// channel is a listener with room for one outcome.
type channel[T any] chan Outcome[T]

func (ch channel[T]) hear(p *Promise) {
	var o Outcome[T]
	o.Value, o.Err = outcomeAs[T](p)
	ch <- o
	close(ch)
}

// waiters are all listeners of a realm. They hold their promises: somebody waits, so the promise and what it waits
// for are needed.
type waiters struct {
	// mu guards what follows. Listeners are added and removed by any goroutine, and taken by the loop when it settles
	// a promise that has the bit waited: that is set under mu, so who adds is found by who settles, or finds it
	// settled.
	mu    sched.Mutex
	of    map[*Promise][]*waiter
	peak  int  // size of the map, as it never shrinks
	ended bool // nobody will settle what is pending
}

// waiter is one listener in the list of its promise.
type waiter struct {
	listener
	place int
}

// add makes l hear of the outcome of p. It returns nil if p has settled or counts as rejected: ask for its outcome then.
func (ws *waiters) add(p *Promise, l listener) *waiter {
	if p.settled() {
		return nil
	}
	ws.mu.Lock()
	defer ws.mu.Unlock()
	answered := settledMask
	if p.realm.end.Load() != nil {
		answered |= rootMask // RejectAll, which has asked under mu who waits for a root, does not ask again
	}
	if ws.ended || !p.set(waited, answered) {
		return nil
	}
	if ws.of == nil {
		ws.of = make(map[*Promise][]*waiter)
	}
	list := ws.of[p]
	w := &waiter{l, len(list)}
	ws.of[p] = append(list, w)
	ws.peak = max(ws.peak, len(ws.of))
	return w
}

// remove takes w out, unless it has heard or is about to; it tells which.
func (ws *waiters) remove(p *Promise, w *waiter) bool {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	list := ws.of[p]
	last := len(list) - 1
	switch {
	case last < 0: // taken
		return false
	case last == 0:
		ws.drop(p)
	default:
		list[w.place] = list[last]
		list[w.place].place = w.place
		list[last] = nil
		ws.of[p] = shrunk(list[:last])
	}
	return true
}

// drop removes p from the map, under mu. A map with few of the entries that it has room for is replaced by a smaller
// one.
func (ws *waiters) drop(p *Promise) {
	delete(ws.of, p)
	if n := len(ws.of); ws.peak > registryKeep && n < ws.peak/4 {
		smaller := make(map[*Promise][]*waiter, n)
		maps.Copy(smaller, ws.of)
		ws.of, ws.peak = smaller, n
	}
}

// answer tells the listeners of p, which has settled.
func (ws *waiters) answer(p *Promise) {
	ws.mu.Lock()
	list := ws.of[p]
	if list != nil {
		ws.drop(p)
	}
	ws.mu.Unlock()
	for _, w := range list {
		w.hear(p)
	}
}

// end tells every listener; what is pending is over.
func (ws *waiters) end() {
	ws.mu.Lock()
	of := ws.of
	ws.of, ws.ended = nil, true
	ws.mu.Unlock()
	for p, list := range of {
		for _, w := range list {
			w.hear(p)
		}
	}
}

// hasEnded tells whether nobody will settle what is pending.
func (ws *waiters) hasEnded() bool {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	return ws.ended
}

// promises returns those that have listeners, unless they are more than most; and how many they are.
func (ws *waiters) promises(most int) (all []*Promise, n int) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if n = len(ws.of); n <= most {
		all = slices.Collect(maps.Keys(ws.of))
	}
	return all, n
}

// all returns all of them.
func (ws *waiters) all() []*Promise {
	all, _ := ws.promises(math.MaxInt)
	return all
}

// foreign makes p follow q of another realm, and is the value of p until p settles.
type foreign struct {
	p, q   *Promise
	waiter *waiter // among those of q; touched on the loop of p alone
	guest  bool    // p is a group's own: nobody else has it
}

// follow makes f.p wait for f.q as any other goroutine would. Until that settles f.p is a root in its own realm, whose
// end it must hear of.
func (f *foreign) follow() {
	p, q := f.p, f.q
	p.source, p.value = nil, f
	p.cameThrough(q)
	if p.realm.register(p); p.settled() {
		return
	}
	if f.waiter = q.realm.waiters.add(q, f); f.waiter == nil {
		f.hear(q)
	}
}

// leave ends the waiting. It has handled the rejection that may come, as it would have by going on.
func (f *foreign) leave() {
	if f.waiter != nil {
		f.q.set(handled, 0) // first: without a waiter it may be reported at once
		f.q.realm.waiters.remove(f.q, f.waiter)
		f.waiter = nil
	}
}

func (f *foreign) hear(q *Promise) {
	value, err := q.outcome()
	_ = f.p.realm.sched.ScheduleMicrotask(func() { // what is refused is registered, and the end rejects it
		if f.p.settled() {
			return
		}
		if err != nil {
			f.p.settle(rejected, err)
		} else {
			f.p.settle(fulfilled, value)
		}
	})
}
