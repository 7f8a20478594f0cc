package js

// Promises: the statics of JavaScript's Promise, on the promises of the loop.

import "github.com/turnloop/turnloop/eventloop"

// Resolve returns a promise that is fulfilled with value; or, when value is a promise, one that follows it: value
// itself if it is of this loop (ECMAScript's Promise.resolve). Any goroutine may call it.
func (j *JS) Resolve(value any) *eventloop.Promise { return j.loop.Promises().Resolved(value) }

// Reject returns a promise that is rejected with reason; a nil reason becomes an error that says so (ECMAScript's
// Promise.reject). The loop reports it (eventloop.WithUnhandledRejection) unless it is handled by the end of the
// microtask checkpoint, which may come before a handler that another goroutine attaches. Any goroutine may call it.
func (j *JS) Reject(reason error) *eventloop.Promise { return j.loop.Promises().Rejected(reason) }

// All returns a promise of the values of ps, an []any in their order; it is rejected with the first error. Without ps
// it is fulfilled at once (ECMAScript's Promise.all).
//
// As in the other combinators, each of ps may be of any loop, and a nil one stands for one that is fulfilled with nil.
// Any goroutine may call it.
func (j *JS) All(ps ...*eventloop.Promise) *eventloop.Promise { return j.loop.Promises().All(ps...) }

// AllSettled returns a promise of how each of ps settled, an []eventloop.Result in their order; it is never rejected by
// them. Without ps it is fulfilled at once (ECMAScript's Promise.allSettled). Any goroutine may call it.
func (j *JS) AllSettled(ps ...*eventloop.Promise) *eventloop.Promise {
	return j.loop.Promises().AllSettled(ps...)
}

// Race returns a promise that settles as the first of ps does. Without ps it stays pending (ECMAScript's
// Promise.race). The others go on, and the race leaves nothing attached to them. Any goroutine may call it.
func (j *JS) Race(ps ...*eventloop.Promise) *eventloop.Promise { return j.loop.Promises().Race(ps...) }

// Any returns a promise of the value of the first of ps that is fulfilled; when all are rejected, and also without ps, it is
// rejected with an *eventloop.AggregateError (ECMAScript's Promise.any). Any goroutine may call it.
func (j *JS) Any(ps ...*eventloop.Promise) *eventloop.Promise { return j.loop.Promises().Any(ps...) }

// Try calls fn at once, on the calling goroutine, and returns a promise of its outcome: rejected with its error, or
// with an *eventloop.PanicError if it panics; following what it returns if that is a promise (ECMAScript's
// Promise.try). A nil fn gives one that is rejected with ErrNilCallback. Any goroutine may call it. See
// [eventloop.Loop.Promisify] for functions that block.
func (j *JS) Try(fn func() (any, error)) *eventloop.Promise { return j.loop.Promises().Try(fn) }

// WithResolvers returns a pending promise and the two functions that settle it; the first call of either decides
// (ECMAScript's Promise.withResolvers). It and both functions may be called from any goroutine; they take effect on the
// loop. Once the loop is ending, the promise is rejected with ErrLoopTerminated from the start.
func (j *JS) WithResolvers() (p *eventloop.Promise, resolve func(value any), reject func(reason error)) {
	return j.loop.Promises().New()
}
