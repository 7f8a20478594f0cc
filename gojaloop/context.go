package gojaloop

// The contexts of asynchronous work: what a callback begins belongs to the call from Go, and has the store, of the
// callback. Timers, immediates and nextTick functions keep their context themselves; goja tells those of promise jobs.

import (
	"github.com/dop251/goja"
)

// scope is a context. It does not change.
type scope struct {
	call  *call      // the call of Host.Call that the work belongs to; nil if it belongs to none
	store goja.Value // what scripts have set with the function of AsyncStore; nil for nothing
}

// over tells whether nothing of the context is to run any more.
func (o *scope) over() bool { return o != nil && o.call != nil && o.call.ended.Load() != nil }

// tracker is the goja.AsyncContextTracker of a host.
type tracker struct{ host *Host }

// skipped is the panic value with which Resumed leaves a job of a call that has ended, before goja has begun it.
type skipped struct{}

func (t tracker) Grab() any { return t.host.scope }

func (t tracker) Resumed(context any) {
	o, _ := context.(*scope)
	if o.over() && t.host.inJobs {
		panic(skipped{})
	}
	t.host.switchTo(o)
}

func (t tracker) Exited() { t.host.switchTo(nil) }

// follow begins to keep contexts. From then on the host calls promise jobs and callbacks itself, so that one can end, or be
// left out, without the others. If goja does not show its queue and stacks, no contexts are kept.
func (h *Host) follow() {
	if !h.follows && h.jobs.IsValid() && h.calls.IsValid() && h.tries.IsValid() {
		h.follows = true
		h.vm.SetAsyncContextTracker(tracker{h})
	}
}

// switchTo makes o the context of what runs. An interrupt for the call that ran is taken back, and the call ends.
func (h *Host) switchTo(o *scope) {
	h.scope = o
	var to *call
	if o != nil {
		to = o.call
	}
	from := h.guard.calling.Load()
	if from == to {
		return
	}
	h.guard.calling.Store(to)
	if h.guard.busy.Load() {
		h.guard.takeBack(func() bool { return h.guard.victim != nil && h.guard.victim != to })
	}
	if from != nil {
		if why := from.ended.Load(); why != nil {
			from.finish(nil, *why)
		}
	}
}

// within calls a script's function in a context, unless that has ended. What the function throws passes.
func (h *Host) within(o *scope, fn, this goja.Value, args ...goja.Value) (v goja.Value) {
	if o.over() {
		return goja.Undefined()
	}
	before := h.scope
	h.switchTo(o)
	defer h.switchTo(before)
	v = goja.Undefined()
	h.contain(func() { v = h.apply(fn, this, args) })
	return v
}

// contain calls fn, which runs scripts. An interrupt that ends the running call ends fn alone, and leaves goja as it was
// before: one that leaves an async function or a generator leaves a frame too many on the stack of try statements, and goja
// would unwind to that. All else that fn panics with passes.
func (h *Host) contain(fn func()) {
	calls := h.calls.Len()
	defer func() {
		switch x := recover().(type) {
		case nil:
		case *goja.InterruptedError:
			if !h.struck() {
				panic(x)
			}
		case skipped, *goja.StackOverflowError:
			panic(x)
		default:
			panic(asPanic(x)) // with its stack
		}
	}()
	ex := h.vm.Try(func() {
		n := h.tries.Len()
		defer func() {
			if h.tries.Len() > n {
				h.tries.SetLen(n)
			}
		}()
		fn()
	})
	if ex != nil {
		panic(ex)
	}
	if h.calls.Len() != calls {
		panic(errLost)
	}
}

// struck tells whether the interrupt under way is for the call or the callback that runs; it then ends the call, or reports
// what took too long, and takes the interrupt back.
func (h *Host) struck() bool {
	c, cause := h.guard.calling.Load(), h.guard.interruptCause()
	limit := cause == ErrCallbackLimit && (c != nil || !h.entry.told)
	if cause == nil || h.guard.dead.Load() || !limit && !h.guard.isFor(c) {
		return false
	}
	h.guard.forgive()
	h.guard.next() // what is left of the callback has its own time
	switch {
	case c == nil:
		h.overLimit()
	case limit:
		c.finish(nil, c.explain(cause))
	default:
		c.finish(nil, cause)
	}
	return true
}

// runJobs runs the promise jobs that are ready, and those that become ready meanwhile.
func (h *Host) runJobs() {
	queue := h.jobs.Addr().Interface().(*[]func())
	h.inJobs = true
	defer func() { h.inJobs = false }()
	for jobs := []func(){}; len(*queue) > 0 && h.endErr == nil; {
		jobs, *queue = *queue, jobs[:0]
		for i, job := range jobs {
			jobs[i] = nil
			h.runJob(job)
		}
	}
}

func (h *Host) runJob(job func()) {
	defer func() {
		switch x := recover().(type) {
		case nil, skipped:
		default:
			panic(x)
		}
	}()
	h.contain(job)
	h.switchTo(nil)
}

// Bound returns a function that calls fn in the context of asynchronous work that there is now: for callbacks of Go functions
// that scripts call. It is for the loop.
func (h *Host) Bound(fn goja.Value) goja.Value {
	o := h.scope
	if o == nil {
		return fn
	}
	return h.vm.ToValue(func(call goja.FunctionCall) goja.Value { return h.within(o, fn, call.This, call.Arguments...) })
}

// AsyncStore returns a function for scripts: it returns a value that asynchronous work inherits from the work that began it,
// and with an argument sets it for what runs. It is for the loop.
func (h *Host) AsyncStore() goja.Value {
	h.follow()
	return h.function("store", 0, func(call goja.FunctionCall) goja.Value {
		if len(call.Arguments) > 0 {
			o := scope{store: call.Arguments[0]}
			if h.scope != nil {
				o.call = h.scope.call
			}
			h.scope = &o
		}
		if h.scope == nil || h.scope.store == nil {
			return goja.Undefined()
		}
		return h.scope.store
	})
}
