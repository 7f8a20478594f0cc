package promise

// The promise itself: its state, and how it is settled.

import (
	"reflect"

	"github.com/turnloop/turnloop/internal/loopapi"
	"github.com/turnloop/turnloop/internal/sched/atomic"
)

// Promise is a value that will be known later, or an error that will be. Make one with the methods of [Realm], or
// from another promise with Then, Catch or Finally. All methods may be called from any goroutine.
type Promise struct {
	reaction // to what this promise was derived from, or follows

	// state is below. Everyone reads it. Written by the loop, which settles; by anyone who claims the decision,
	// starts to wait, or handles a rejection, each a bit of its own. A reader that finds it settled may read the reaction's
	// value, which is written before, and never after.
	state atomic.Uint32
	slot  uint32 // place in the registry, from 1; the loop's
	realm *Realm
	last  *reaction // the last that waits for this one, and its next is the first; the loop's

	origin *origin // where the promise was created; nil without Config.Debug
}

// The state of a promise:
//
//	      conclude, by anyone          conclude, on the loop            settle, by the loop
//	open ────────────────────▶ claimed ──────────────────────▶ pending ─────────────────────▶ fulfilled
//	 │                          │ │    to follow another                                      or rejected
//	 │                          │ └────────────────── settle, by the loop ──────────────────▶ the same
//	 └──────────────────────────┴──── the end of the loop has begun ────────────────────────▶ as good as rejected
//
// Only promises of New are ever open: derived ones are decided by what they wait for.
const (
	pending uint32 = 0
	open    uint32 = 1 << iota // pending, and nobody has claimed the decision
	claimed                    // pending, and the decision is on its way to the loop, or was refused there
	waited                     // pending, and the realm's waiters may have some for it
	handled                    // a rejection is not, or will not be, reported
	fulfilled
	rejected

	rootMask    = open | claimed // it waits for no other of its realm; once the end has begun, nothing but that settles it
	settledMask = fulfilled | rejected
)

func (p *Promise) settled() bool { return p.state.Load()&settledMask != 0 }

// set adds a bit to the state, unless that has one of the bits of unless; it tells whether it did.
func (p *Promise) set(bit, unless uint32) bool {
	for {
		s := p.state.Load()
		if s&unless != 0 {
			return false
		}
		if p.state.CompareAndSwap(s, s|bit) {
			return true
		}
	}
}

// claim takes the decision about an open promise: of all who try, one succeeds.
func (p *Promise) claim() bool {
	for {
		s := p.state.Load()
		if s&open == 0 {
			return false
		}
		if p.state.CompareAndSwap(s, s&^open|claimed) {
			return true
		}
	}
}

// isRoot tells whether p is pending, and only resolve and reject can settle it, or another loop. Once the end has begun,
// it counts as rejected.
func (p *Promise) isRoot() bool { return p.state.Load()&rootMask != 0 }

// derive makes a root wait for another promise of its realm. On the loop.
func (p *Promise) derive() {
	for s := p.state.Load(); s&rootMask != 0; s = p.state.Load() {
		p.state.CompareAndSwap(s, s&^rootMask)
	}
}

// conclude decides an open promise, from any goroutine. The decision is taken here, so that it belongs to the first who
// calls, wherever; it takes effect on the loop. One that the loop refuses stays taken, and nothing comes of it but what
// the end makes of every root (see registry.go).
func (p *Promise) conclude(state uint32, value any) {
	if p.realm.end.Load() != nil || !p.claim() {
		return
	}
	if p.realm.sched.OnLoop() {
		p.concludeOnLoop(state, value)
		return
	}
	_ = p.realm.sched.ScheduleMicrotask(func() { p.concludeOnLoop(state, value) })
}

func (p *Promise) concludeOnLoop(state uint32, value any) {
	switch end := p.realm.end.Load(); {
	case p.settled(): // by RejectAll, meanwhile
	case end != nil:
		p.over(*end)
	case state == rejected:
		p.settle(rejected, value)
	default:
		p.resolve(value)
	}
}

// resolve is the promise resolution procedure: it fulfils with a value, and follows a promise. On the loop.
func (p *Promise) resolve(value any) {
	q, ok := promised(value)
	switch {
	case !ok:
		p.settle(fulfilled, value)
	case q == nil:
		p.settle(fulfilled, nil)
	case q.realm != p.realm:
		(&foreign{p: p, q: q}).follow()
	default:
		p.follow(q)
	}
}

// promised returns the promise that value is, typed or not, if it is one. A nil one stands for the value nil.
func promised(value any) (q *Promise, ok bool) {
	if q, ok = value.(*Promise); ok {
		return q, true
	}
	if p, is := value.(promiser); is && isOwn(reflect.TypeOf(value)) {
		return p.promise(), true
	}
	return nil, false
}

// isOwn tells a type of this package from one that embeds such a type, and so has its methods.
func isOwn(t reflect.Type) bool { return t.PkgPath() == ownPackage }

var ownPackage = reflect.TypeFor[Promise]().PkgPath()

// follow makes p wait for q of its own realm: a job of its own asks q, as NewPromiseResolveThenableJob of ECMAScript does.
// What may wait for itself, for all that is known, is registered: the end has to look.
func (p *Promise) follow(q *Promise) {
	circle, unknown := q.waitsFor(p)
	if circle {
		p.settle(rejected, loopapi.ErrPromiseCycle)
		return
	}
	p.derive()
	switch g := &p.realm.registry; {
	case unknown && p.slot == 0:
		g.add(p)
	case !unknown && p.slot != 0:
		g.remove(p)
	}
	p.source, p.value = q, follow{}
	p.cameThrough(q)
	p.realm.enqueue(&p.reaction)
}

// cycleLimit is how far waitsFor looks: far enough for the cycles that people write, near enough to cost nothing.
const cycleLimit = 32

// waitsFor tells whether q is p or waits for it, through others of the realm; or that it has not seen all that q waits
// for, which may be far, or a group's.
func (q *Promise) waitsFor(p *Promise) (yes, unknown bool) {
	for range cycleLimit {
		if q == p {
			return true, false
		}
		if q.source == nil {
			_, unknown = q.value.(*group)
			return false, unknown
		}
		q = q.source
	}
	return false, true
}

// settle gives a pending promise its outcome, makes jobs of what waits for it, and lets go of everything that it
// needed to get there. On the loop.
func (p *Promise) settle(state uint32, value any) {
	r := p.realm
	p.value = value
	p.source, p.onRejected = nil, nil
	if p.slot != 0 {
		r.registry.remove(p)
	}
	old := p.state.Swap(state)
	isHandled := old&handled != 0
	if last := p.last; last != nil {
		p.last = nil
		isHandled = true
		for n, next := last.next, (*reaction)(nil); ; n = next {
			next = n.next
			r.enqueue(n)
			if n == last {
				break
			}
		}
	}
	if old&waited != 0 {
		r.waiters.answer(p) // which handles it, if anybody waits still
	}
	if state == rejected && !isHandled {
		r.noteUnhandled(p)
	}
}

// over rejects a pending promise because of the end, which is nobody's fault.
func (p *Promise) over(end error) {
	p.set(handled, settledMask)
	if g, ok := p.value.(*group); ok {
		g.settle(nil, end)
	} else {
		p.settle(rejected, end)
	}
}

// settleAs gives a pending promise the outcome of a settled one.
func (p *Promise) settleAs(q *Promise) {
	p.cameThrough(q)
	p.settle(q.state.Load()&settledMask, q.value)
}

// outcome returns what a promise has settled to, for somebody who handles it; and for one that is pending after the
// end, the end.
func (p *Promise) outcome() (any, error) {
	switch s := p.state.Load(); {
	case s&fulfilled != 0:
		return p.value, nil
	case s&rejected != 0:
		p.set(handled, 0)
		return nil, p.value.(error)
	}
	return nil, *p.realm.end.Load()
}

// String tells the promise's state, without its value.
func (p *Promise) String() string {
	// Read before the state: a root is as good as rejected when the end begins. What handlers and Finish may settle is
	// only when nothing runs any more.
	ending, ended := p.realm.end.Load() != nil, p.realm.waiters.hasEnded()
	text := "pending promise"
	switch s := p.state.Load(); {
	case s&fulfilled != 0:
		text = "fulfilled promise"
	case s&rejected != 0 || ending && s&rootMask != 0 || ended:
		text = "rejected promise"
	}
	return text + p.created()
}
