package promise

// The realm: what the promises of one loop share, and how they come into being.

import (
	"github.com/turnloop/turnloop/internal/loopapi"
	"github.com/turnloop/turnloop/internal/sched/atomic"
)

// Scheduler is what a realm needs of a loop.
type Scheduler interface {
	// ScheduleMicrotask queues fn to run on the loop, behind all that were queued before it. It may be called from any
	// goroutine. An error means that this fn will not run, and that the loop is ending or has ended. An ending loop runs
	// what it has accepted, unless it is closed, calls RejectAll, and may accept a later call.
	ScheduleMicrotask(fn func()) error
	// OnLoop tells whether the caller runs on the loop.
	OnLoop() bool
}

// Config says how a realm behaves. The zero Config is a good one.
type Config struct {
	// OnUnhandled is called by Checkpoint, on the loop, once for each rejection that nobody has handled. The error is
	// what the promise was rejected with; with Debug, its text tells where the promise was created. Nil means that
	// nobody wants to know, and then nothing is recorded.
	OnUnhandled func(p *Promise, err error)
	// Debug records where each promise is created. Off, it costs nothing; on, it costs a stack trace for each promise.
	Debug bool
}

// Realm makes the promises of one loop, and knows what they have in common: the jobs that are due, the rejections that
// nobody has handled, the waiters, the end. New, Resolved, Rejected, Try and the combinators may be called from any
// goroutine; the other methods are for the loop and say so.
type Realm struct {
	sched       Scheduler
	step        func() // runs the first job; made once, so that scheduling a job allocates nothing
	onUnhandled func(*Promise, error)
	debug       bool

	// Touched on the loop alone.
	jobs      jobs // that are due
	refused   jobs // that the loop did not accept; not empty only while they are dealt with
	registry  registry
	unhandled []*Promise // rejected, and without a handler when that happened; in order
	reports   []*Promise // those of them that this round of reports has yet to look at

	// end is why nothing is pending any more, nil before the end. Written once, by the loop; read by anyone who makes a
	// promise or finds one pending.
	end atomic.Pointer[error]

	waiters waiters
}

// NewRealm returns a realm whose promises settle on the loop of s.
func NewRealm(s Scheduler, c Config) *Realm {
	r := &Realm{sched: s, onUnhandled: c.OnUnhandled, debug: c.Debug}
	r.step = r.runJob
	return r
}

// New returns a pending promise and the two functions that settle it: NewPromise and WithResolvers of other
// vocabularies. The first call of either decides; later ones, and those after the end of the loop, do nothing. Both
// may be called from any goroutine, and take effect on the loop: at once when called there, as a microtask otherwise.
// resolve with a *Promise or an [Of] makes p follow that promise. reject with a nil error rejects with ErrNilReason.
//
// Once the loop rejects what is pending, p is rejected already. A decision that an ending loop does not accept any more
// is void: p is rejected when it gets there.
func (r *Realm) New() (p *Promise, resolve func(value any), reject func(reason error)) {
	p = r.open()
	resolve = func(value any) { p.conclude(fulfilled, value) }
	reject = func(reason error) { p.conclude(rejected, mustReason(reason)) }
	return p, resolve, reject
}

// Resolved returns a promise that is fulfilled with value; or, when value is a *Promise or an [Of], one that follows it:
// the same promise if it is of this realm.
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
	p := r.Refused(reason)
	if r.onUnhandled != nil {
		if r.sched.OnLoop() {
			r.noteUnhandled(p)
		} else {
			_ = r.sched.ScheduleMicrotask(func() { r.noteUnhandled(p) }) // what an ending loop refuses goes unreported
		}
	}
	return p
}

// Refused is Rejected for what a loop refuses while it ends: it is nobody's fault, so nobody hears of it, and it queues
// nothing.
func (r *Realm) Refused(reason error) *Promise { return r.settled(rejected, mustReason(reason)) }

// Begin makes a zero Promise, part of something else perhaps, a pending one that only Finish settles. It costs less than
// New: its maker holds it, and will finish it, so that RejectAll leaves it alone and need not find it. Any goroutine may
// call it.
func (r *Realm) Begin(p *Promise) {
	r.init(p)
	p.value = begun{}
}

// Finish settles a promise of Begin: with a value, as resolve does; or, if what it stands for failed, with the error that
// result is then. It is called once, on the loop.
func (r *Realm) Finish(p *Promise, failed bool, result any) {
	if failed {
		p.settle(rejected, result)
	} else {
		p.resolve(result)
	}
}

// begun marks what is no root, although it waits for no other promise.
type begun struct{}

// Try calls fn at once, on the calling goroutine, and returns a promise of its outcome, as Then does of a handler's.
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

// open returns a pending promise that conclude may settle. Once the end has begun it is as good as rejected: conclude,
// attach, add and outcome see to that.
func (r *Realm) open() *Promise {
	p := r.pending()
	p.state.Store(open)
	return p
}

// pending returns a pending promise that only its maker settles.
func (r *Realm) pending() *Promise {
	p := new(Promise)
	r.init(p)
	return p
}

func (r *Realm) init(p *Promise) {
	p.realm = r
	p.target = p
	if r.debug {
		p.origin = newOrigin(nil)
	}
}

// settled returns a promise that never was pending.
func (r *Realm) settled(state uint32, value any) *Promise {
	p := r.pending()
	p.value = value
	p.state.Store(state)
	return p
}

// jobs are reactions that are due, in order: a list through their next fields.
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
	n.next = nil // what has run keeps nothing alive, and nothing keeps it
	return n
}

// enqueue makes n a job. Each has one microtask that runs it, so that reactions and other microtasks keep the order in
// which they were scheduled. Of one that an ending loop refuses no handler is called: what it was to settle is rejected,
// which brings jobs of its own, refused or not. They are dealt with one after the other, as the chains are long at whose
// end somebody waits.
func (r *Realm) enqueue(n *reaction) {
	if r.sched.ScheduleMicrotask(r.step) == nil {
		r.jobs.push(n)
		return
	}
	first := r.refused.head == nil
	for r.refused.push(n); first && r.refused.head != nil; r.refused.pop() {
		r.refused.head.void(r.reason())
	}
}

// reason is what the loop rejects with because it is ending.
func (r *Realm) reason() error {
	if end := r.end.Load(); end != nil {
		return *end
	}
	return loopapi.ErrLoopTerminated
}

// runJob runs the first job. It is taken off the list before any of its code runs: should that end the goroutine, the
// next microtask finds the next job.
func (r *Realm) runJob() { r.jobs.pop().run() }
