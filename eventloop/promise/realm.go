package promise

// The realm: what the promises of one loop share, and how they come into being.

import (
	"github.com/turnloop/turnloop/internal/loopapi"
	"github.com/turnloop/turnloop/internal/sched/atomic"
)

// Scheduler is what a realm needs of a loop.
type Scheduler interface {
	// ScheduleMicrotask queues fn to run on the loop, behind all that were queued before it. It may be called from any
	// goroutine. Once the loop takes nothing any more it returns an error, and goes on doing so.
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
	jobs      jobs
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
// resolve with a *Promise makes p follow that promise. reject with a nil error rejects with ErrNilReason.
//
// Once the loop is ending, p is rejected already.
func (r *Realm) New() (p *Promise, resolve func(value any), reject func(reason error)) {
	p = r.open()
	resolve = func(value any) { p.conclude(fulfilled, value) }
	reject = func(reason error) { p.conclude(rejected, mustReason(reason)) }
	return p, resolve, reject
}

// Resolved returns a promise that is fulfilled with value; or, when value is a *Promise, one that follows it: value
// itself if it is of this realm.
func (r *Realm) Resolved(value any) *Promise {
	q, ok := value.(*Promise)
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
			_ = r.sched.ScheduleMicrotask(func() { r.noteUnhandled(p) }) // nobody reports after the end
		}
	}
	return p
}

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
	if _, follows := value.(*Promise); !follows {
		return r.settled(fulfilled, value)
	}
	p := r.open()
	p.conclude(fulfilled, value)
	return p
}

// open returns a pending promise that conclude may settle. Once the loop is ending it is as good as rejected:
// conclude, attach and outcome see to that.
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
		p.origin = newOrigin()
	}
}

// settled returns a promise that never was pending.
func (r *Realm) settled(state uint32, value any) *Promise {
	p := r.pending()
	p.value = value
	p.state.Store(state)
	return p
}

// jobs are the reactions that are due, in order: a list through their next fields. Each has one microtask that runs
// it, so that reactions and other microtasks keep the order in which they were scheduled.
type jobs struct{ head, tail *reaction }

// enqueue makes n a job. A loop that takes no microtasks any more will not run it; then End settles what depends on it.
func (r *Realm) enqueue(n *reaction) {
	if r.sched.ScheduleMicrotask(r.step) != nil {
		return
	}
	if r.jobs.head == nil {
		r.jobs.head = n
	} else {
		r.jobs.tail.next = n
	}
	n.next = nil
	r.jobs.tail = n
}

// runJob runs the first job. It is taken off the list before any of its code runs: should that end the goroutine, the
// next microtask finds the next job.
func (r *Realm) runJob() {
	n := r.jobs.head
	if r.jobs.head = n.next; r.jobs.head == nil {
		r.jobs.tail = nil
	}
	n.next = nil // what has run keeps nothing alive, and nothing keeps it
	n.run()
}
