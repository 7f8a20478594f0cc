package promise

// Reactions: the work that follows when a promise settles, and how handlers are called.

import (
	"runtime/debug"

	"github.com/turnloop/turnloop/internal/loopapi"
)

// reaction waits for a promise. It is a part of the promise that it will settle, so that deriving a promise takes one
// allocation; or it is a part of a combinator's element. It is in one list at a time: that of its source, or the realm's
// jobs. Once it is in a list, only the loop touches it.
type reaction struct {
	next       *reaction
	source     *Promise // the promise that it waits for; the reference keeps alive what may settle a pending promise
	target     *Promise // the promise that it settles
	onRejected func(error) (any, error)

	// value has two uses. While the promise that contains this reaction is pending, value says how it will settle: by a
	// handler of the source's outcome; by that outcome itself, if value is nil; or by a follow, element, foreign, group or
	// begun. When the promise has settled, value is the promise's value or error.
	value any
}

// handler is the step that a reaction takes when its source has settled. Its dynamic types are functions, which an interface
// holds without an allocation.
type handler interface {
	call(source *Promise) (any, error)
}

// Then attaches two handlers, of which one is called when the promise has settled, and returns a promise of its result.
// onFulfilled is called with the value if the promise is fulfilled, onRejected with the error if it is rejected; on the
// loop, as a microtask, never before Then has returned, and in the order of the calls to Then. (From another goroutine Then
// takes effect as a microtask.) A nil handler passes the outcome on.
//
// The new promise is rejected with the error that the handler returns, or with a *PanicError when it panics or calls
// runtime.Goexit (which errors.Is finds as ErrGoexit). Otherwise it is fulfilled with the value; and if that is a
// *Promise or an [Of], also of another loop, it follows that promise. If it would thereby wait for itself, it is rejected
// with ErrPromiseCycle.
//
// On a loop that has ended no handler is called, and the new promise is rejected with ErrLoopTerminated; so it is if an
// ending loop refuses the microtask that Then or the handler needs.
func (p *Promise) Then(onFulfilled func(any) (any, error), onRejected func(error) (any, error)) *Promise {
	return p.then(unlessNil(onFulfilled == nil, thenFunc(onFulfilled)), onRejected)
}

// Catch is Then with a nil onFulfilled.
func (p *Promise) Catch(onRejected func(error) (any, error)) *Promise { return p.then(nil, onRejected) }

// Finally calls onFinally when the promise has settled either way, and passes the outcome on unless onFinally fails: an
// error or a panic takes the outcome's place.
func (p *Promise) Finally(onFinally func() error) *Promise {
	return p.then(unlessNil(onFinally == nil, finallyFunc(onFinally)), nil)
}

// unlessNil returns h, or nil for one that was made of a nil function.
func unlessNil(isNil bool, h handler) handler {
	if isNil {
		return nil
	}
	return h
}

func (p *Promise) then(h handler, onRejected func(error) (any, error)) *Promise {
	r := p.realm
	c := &Promise{reaction: reaction{source: p, onRejected: onRejected, value: h}, realm: r}
	c.target = c
	if r.ending.Load() {
		c.state.Store(late)
	}
	if r.debug {
		c.origin = r.newOrigin(p.origin)
	}
	if r.sched.OnLoop() {
		p.attach(&c.reaction)
	} else if r.sched.ScheduleMicrotask(func() { p.attach(&c.reaction) }) != nil {
		p.set(handled, 0)
		c.refuse()
	}
	return c
}

// refuse rejects a promise that no caller has yet, because the loop has refused the microtask that would have led to its
// settlement.
func (p *Promise) refuse() {
	p.source, p.onRejected, p.value = nil, nil, p.realm.reason()
	p.state.Store(rejected | handled)
}

// attach makes n wait for p, or makes n a job if p has settled. On the loop.
func (p *Promise) attach(n *reaction) {
	if p.last == nil && p.isRoot() {
		p.realm.register(p) // or rejects p, if the end has begun
	}
	switch s := p.state.Load(); {
	case s&settledMask != 0:
		if s&(rejected|handled) == rejected {
			p.set(handled, 0)
		}
		p.realm.enqueue(n)
		return
	case p.last == nil:
		n.next = n
	default:
		n.next = p.last.next
		p.last.next = n
	}
	p.last = n
}

// run is the job of a reaction.
func (n *reaction) run() {
	source, target, onRejected := n.source, n.target, n.onRejected
	if source == nil {
		return // the group's result was decided meanwhile, by another element or by the end
	}
	var h handler
	switch v := n.value.(type) {
	case thenFunc:
		h = v
	case *element:
		v.call(source)
		return
	case follow:
		n.value = nil
		source.attach(n)
		return
	case handler:
		h = v
	}
	n.value, n.onRejected = nil, nil
	if source.state.Load()&rejected == 0 {
		onRejected = nil
	}
	if h == nil && onRejected == nil {
		target.settleAs(source)
		return
	}
	if onRejected != nil {
		h = catchFunc(onRejected)
	}
	if r := target.realm; r.handlerFrom != nil && target.origin != nil {
		r.handlerFrom(&target.origin.at)
	}
	target.settleBy(h, source)
}

// void rejects the target of a refused job with the error of the end.
func (n *reaction) void(end error) {
	if n.source != nil { // otherwise the target was decided meanwhile
		n.target.rejectAtEnd(end)
	}
}

// settleBy settles p with what the handler makes of source. If the handler calls runtime.Goexit, which cannot be stopped,
// only deferred functions still run on this goroutine: one of them rejects p, and the loop goes on with another goroutine.
func (p *Promise) settleBy(h handler, source *Promise) {
	returned := false
	defer func() {
		if !returned {
			p.settle(rejected, &loopapi.PanicError{Value: loopapi.ErrGoexit, Stack: debug.Stack()})
		}
	}()
	value, err := protect(h, source)
	returned = true
	if err == nil {
		p.resolve(value)
		return
	}
	closed := p.realm.closed() // asked before: who hears of the rejection may close the loop
	p.settle(rejected, err)
	if fault, ok := err.(*loopapi.PanicError); ok && closed {
		panic(fault) // nobody hears of a rejection any more: this is a panic of the running callback
	}
}

// closed tells whether nothing may start any more. It returns false for a Scheduler that does not say.
func (r *Realm) closed() bool {
	l, ok := r.sched.(interface{ Closed() bool })
	return ok && l.Closed()
}

// protect calls the handler and returns a panic as an error.
func protect(h handler, source *Promise) (value any, err error) {
	returned := false
	defer func() {
		if !returned { // the result of recover does not tell this: it may be nil after a panic, too
			value, err = nil, &loopapi.PanicError{Value: recover(), Stack: debug.Stack()}
		}
	}()
	value, err = h.call(source)
	returned = true
	return value, err
}

type (
	thenFunc    func(any) (any, error)
	catchFunc   func(error) (any, error)
	finallyFunc func() error
	tryFunc     func() (any, error)
	follow      struct{} // marks the job of a promise that is to follow its source
)

func (f thenFunc) call(source *Promise) (any, error) {
	value, err := source.outcome()
	if err != nil {
		return nil, err
	}
	return f(value)
}

func (f catchFunc) call(source *Promise) (any, error) {
	value, err := source.outcome()
	if err == nil {
		return value, nil
	}
	return f(err)
}

// call returns source, which the derived promise then follows: so it gets the outcome of source, after as many microtasks as
// in ECMAScript.
func (f finallyFunc) call(source *Promise) (any, error) { return source, f() }

func (f tryFunc) call(*Promise) (any, error) { return f() }
