package promise

// The realm: what the promises of one loop share, and how users make promises.

import (
	"github.com/turnloop/turnloop/internal/loopapi"
	"github.com/turnloop/turnloop/internal/place"
	"github.com/turnloop/turnloop/internal/sched/atomic"
)

// Realm makes the promises of one loop, and has what they share: the jobs that are due, the unhandled rejections, the
// waiters, the end. All its methods may be called from any goroutine.
// Its [Owner] runs and ends it.
type Realm struct {
	sched       Scheduler
	step        func() // runs the first job; made once, so that scheduling a job allocates nothing
	onUnhandled func(*Promise, error)
	debug       bool
	ending      atomic.Bool           // NoticeEnd was called: new promises are late; written once, by the loop; read by any goroutine
	here        func() *place.Place   // the caller's stack, or that on which the callback was queued that runs; nil if the loop does not tell
	handlerFrom func(at *place.Place) // tells the loop, before a handler is called, on which stack it was attached; nil if the loop does not ask

	// Touched on the loop alone.
	jobs      jobs // due, in order
	refused   jobs // refused by the loop; empty except within enqueue
	registry  registry
	unhandled []*Promise // promises that had no handler when they were rejected, in order
	reports   []*Promise // promises from unhandled that this round of reports has yet to look at

	// end is the error that pending promises are rejected with at the loop's end; nil before the end has begun. Written
	// once, by the loop; read by any goroutine that makes a promise or finds one pending.
	end atomic.Pointer[error]

	waiters waiters
}

// New returns a pending promise and the two functions that settle it (ECMAScript's Promise.withResolvers). The first call
// of either decides; later ones, and those after the end of the loop, do nothing. Both may be called from any goroutine,
// and take effect on the loop: at once when called there, as a microtask otherwise. resolve with a *Promise or an [Of]
// makes p follow that promise. reject with a nil error rejects with ErrNilReason.
//
// Once the end of the loop has begun to reject pending promises, New returns a promise that already counts as rejected. An
// ending loop may refuse a call of resolve or reject: then the call has no effect, and the end of the loop rejects p.
func (r *Realm) New() (p *Promise, resolve func(value any), reject func(reason error)) {
	q := r.open() // not p: a result that functions refer to is an allocation more
	resolve = func(value any) { q.conclude(fulfilled, value) }
	reject = func(reason error) { q.conclude(rejected, mustReason(reason)) }
	return q, resolve, reject
}

// Resolved returns a promise that is fulfilled with value. If value is a *Promise or an [Of], it returns that promise if
// it is of this realm, and otherwise one that follows it.
func (r *Realm) Resolved(value any) *Promise {
	q, ok := promised(value)
	switch {
	case !ok:
		return r.settled(fulfilled, value)
	case q == nil:
		return r.settled(fulfilled, nil)
	case q.realm == r:
		return q
	}
	p := r.open()
	p.conclude(fulfilled, q)
	return p
}

// Rejected returns a promise that is rejected with reason, or with ErrNilReason if that is nil.
func (r *Realm) Rejected(reason error) *Promise {
	p := r.settled(rejected, mustReason(reason))
	if r.onUnhandled != nil {
		if r.sched.OnLoop() {
			r.noteUnhandled(p)
		} else {
			_ = r.sched.ScheduleMicrotask(func() { r.noteUnhandled(p) }) // what an ending loop refuses goes unreported
		}
	}
	return p
}

// Try calls fn at once, on the calling goroutine, and returns a promise of its outcome, as Then does for a handler.
func (r *Realm) Try(fn func() (any, error)) *Promise {
	if fn == nil {
		return r.Rejected(loopapi.ErrNilCallback)
	}
	value, err := protect(tryFunc(fn), nil)
	if err != nil {
		return r.Rejected(err)
	}
	if _, follows := promised(value); !follows {
		return r.settled(fulfilled, value)
	}
	p := r.open()
	p.conclude(fulfilled, value)
	return p
}

// open returns a pending promise that conclude may settle. Once the loop's end has begun, the promise counts as rejected:
// conclude, attach, waiters.add and outcome look at Realm.end for that.
func (r *Realm) open() *Promise {
	p := r.pending()
	p.state.Store(p.state.Load() | open)
	return p
}

// pending returns a pending promise that only its maker settles.
func (r *Realm) pending() *Promise {
	p := new(Promise)
	if r.init(p); r.ending.Load() {
		p.state.Store(late)
	}
	return p
}

func (r *Realm) init(p *Promise) {
	p.realm = r
	p.target = p
	if r.debug {
		p.origin = r.newOrigin(nil)
	}
}

// settled returns a promise that is settled from the start.
func (r *Realm) settled(state uint32, value any) *Promise {
	p := r.pending()
	p.value = value
	p.state.Store(state)
	return p
}

// jobs is a list of reactions that are due, in order; reaction.next links them.
type jobs struct{ head, tail *reaction }

func (j *jobs) push(n *reaction) {
	if j.head == nil {
		j.head = n
	} else {
		j.tail.next = n
	}
	n.next = nil
	j.tail = n
}

func (j *jobs) pop() *reaction {
	n := j.head
	if j.head = n.next; j.head == nil {
		j.tail = nil
	}
	n.next = nil // a reaction that has run keeps no other alive
	return n
}

// enqueue makes n a job. Each job has a microtask that runs it, so reactions and other microtasks keep the order in which
// they were scheduled. An ending loop may refuse one, unless n was attached before the end. Then no handler of n is
// called, and the promise that n was to settle is rejected. The rejection enqueues that promise's own reactions, which are refused in turn. Chains of promises
// may be long, so the outermost call takes the refused reactions from a list, and the calls within it only add to that list.
func (r *Realm) enqueue(n *reaction) {
	schedule := Scheduler.ScheduleMicrotask
	if r.ending.Load() && n.target != nil && n.target.state.Load()&late == 0 {
		schedule = scheduleAwaited
	}
	if schedule(r.sched, r.step) == nil {
		r.jobs.push(n)
		return
	}
	first := r.refused.head == nil
	for r.refused.push(n); first && r.refused.head != nil; r.refused.pop() {
		r.refused.head.void(r.reason())
	}
}

// scheduleAwaited is ScheduleMicrotask for what was attached before the end; of a Scheduler that tells the two apart, another.
func scheduleAwaited(s Scheduler, fn func()) error {
	if tells, ok := s.(interface{ ScheduleAwaited(fn func()) error }); ok {
		return tells.ScheduleAwaited(fn)
	}
	return s.ScheduleMicrotask(fn)
}

// reason returns the error with which an ending loop rejects promises.
func (r *Realm) reason() error {
	if end := r.end.Load(); end != nil {
		return *end
	}
	return loopapi.ErrLoopTerminated
}

// runJob runs the first job. The job is taken off the list before any of its code runs: if that ends the goroutine, the
// next microtask finds the next job.
func (r *Realm) runJob() { r.jobs.pop().run() }
