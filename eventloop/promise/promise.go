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
	reaction // to the promise that this one was derived from, or follows

	// state consists of the bits below. Any goroutine reads it. The loop writes it to settle the promise. Any goroutine
	// writes it to claim the decision, to wait, or to handle a rejection; each of these has a bit of its own. Who finds the
	// promise settled may read the field value: it is written before that, and not afterwards.
	state atomic.Uint32
	slot  uint32 // place in the registry, from 1; 0 if it has none; only the loop touches it
	realm *Realm
	last  *reaction // the last in the ring of reactions to this promise; last.next is the first; only the loop touches it

	origin *origin // where the promise was created; nil without Config.Debug
}

// The state of a promise. The methods conclude and settle take it from one state to the next; the begin of the loop's end
// changes no state, but open and claimed promises count as rejected from then on:
//
//	      conclude, by anyone          conclude, on the loop            settle, by the loop
//	open ────────────────────▶ claimed ──────────────────────▶ pending ─────────────────────▶ fulfilled
//	 │                          │ │    to follow another                                      or rejected
//	 │                          │ └────────────────── settle, by the loop ──────────────────▶ the same
//	 └──────────────────────────┴──── the end of the loop has begun ────────────────────────▶ as good as rejected
//
// Only promises of Realm.open are open at first. All others are pending: the promise that they wait for decides them.
const (
	pending uint32 = 0
	open    uint32 = 1 << iota // pending, and the decision is not claimed
	claimed                    // pending, and the decision is on its way to the loop, or was refused there
	waited                     // pending, and the realm's waiters may have listeners for it
	listed                     // pending, and it is in the registry, or has been
	handled                    // a rejection is not, or will not be, reported
	fulfilled
	rejected
	late // made since the loop has noticed its end; as long as it is pending

	rootMask    = open | claimed // a root: it waits for no promise of its realm, and once the end has begun only the end settles it
	settledMask = fulfilled | rejected
)

func (p *Promise) settled() bool { return p.state.Load()&settledMask != 0 }

// set adds a bit to the state and returns true, unless the state has one of the bits of unless.
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

// claim takes the decision about an open promise: of all calls, one succeeds.
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

// isRoot tells whether p is a pending root, which only resolve and reject, or another loop, can settle. Once the end has
// begun, a root counts as rejected.
func (p *Promise) isRoot() bool { return p.state.Load()&rootMask != 0 }

// clearRoot makes a root wait for another promise of its realm. On the loop.
func (p *Promise) clearRoot() {
	for s := p.state.Load(); s&rootMask != 0; s = p.state.Load() {
		p.state.CompareAndSwap(s, s&^rootMask)
	}
}

// conclude decides an open promise. Any goroutine may call it. The call claims the decision, so that the first call counts,
// wherever it is made; the decision takes effect on the loop. If the loop refuses it, the promise stays claimed, and the end
// rejects it as it does every root (see registry.go). Its maker may have dropped it by then: so conclude makes waiters hold
// a listed promise, which the registry may hold only weakly. A promise that is listed later stays in the registry strongly.
func (p *Promise) conclude(state uint32, value any) {
	if p.realm.end.Load() != nil || !p.claim() {
		return
	}
	if p.realm.sched.OnLoop() {
		p.concludeOnLoop(state, value)
		return
	}
	if p.realm.sched.ScheduleMicrotask(func() { p.concludeOnLoop(state, value) }) != nil && p.state.Load()&listed != 0 {
		p.realm.waiters.hold(p)
	}
}

func (p *Promise) concludeOnLoop(state uint32, value any) {
	switch end := p.realm.end.Load(); {
	case p.settled(): // by RejectAll, meanwhile
	case end != nil:
		p.rejectAtEnd(*end)
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

// promised returns the promise that value is, typed or not; ok is false if value is no promise. A nil promise stands for the
// value nil.
func promised(value any) (q *Promise, ok bool) {
	if q, ok = value.(*Promise); ok {
		return q, true
	}
	if p, is := value.(promiser); is && isOwn(reflect.TypeOf(value)) {
		return p.promise(), true
	}
	return nil, false
}

// isOwn tells whether t is a type of this package. A user's type that embeds one has the same methods, but is not.
func isOwn(t reflect.Type) bool { return t.PkgPath() == ownPackage }

var ownPackage = reflect.TypeFor[Promise]().PkgPath()

// follow makes p wait for q, a promise of its own realm. A job attaches it to q, as NewPromiseResolveThenableJob of
// ECMAScript does. If p may wait for itself, it is registered, so that the end finds it.
func (p *Promise) follow(q *Promise) {
	cycle, unknown := q.waitsFor(p)
	if cycle {
		p.settle(rejected, loopapi.ErrPromiseCycle)
		return
	}
	p.clearRoot()
	switch g := &p.realm.registry; {
	case unknown:
		g.addFollower(p)
	case p.slot != 0:
		g.remove(p)
	}
	p.source, p.value = q, follow{}
	p.cameThrough(q)
	p.realm.enqueue(&p.reaction)
}

// cycleLimit is how many promises waitsFor looks at: enough for the cycles that people write, few enough to cost nothing.
const cycleLimit = 32

// waitsFor tells whether q is p, or waits for p through other promises of the realm. unknown says that it has not looked at
// everything that q waits for, since the chain is longer than cycleLimit, or leads to a group.
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

// settle gives a pending promise its outcome, makes jobs of the reactions to it, and drops the references that led to the
// outcome. On the loop.
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
		r.waiters.notify(p) // handles a rejection if a listener is left
	}
	if state == rejected && !isHandled {
		r.noteUnhandled(p)
	}
}

// rejectAtEnd rejects a pending promise because the loop ends. Such a rejection is no fault, and is not reported.
func (p *Promise) rejectAtEnd(end error) {
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

// outcome returns what a settled promise has settled to, and marks a rejection as handled. For a promise that is pending
// after the end, it returns the error of the end.
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
	// These are read before the state. Once the end has begun, a root counts as rejected. Other promises do so only when
	// nothing runs any more: until then handlers and Finish may settle them.
	ending, ended := p.realm.end.Load() != nil, p.realm.waiters.ended.Load()
	text := "pending promise"
	switch s := p.state.Load(); {
	case s&fulfilled != 0:
		text = "fulfilled promise"
	case s&rejected != 0 || ending && s&rootMask != 0 || ended:
		text = "rejected promise"
	}
	return text + p.origin.String()
}
