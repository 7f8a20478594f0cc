package gojaloop

// Promises between Go and scripts.

import (
	"context"

	"github.com/dop251/goja"
	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/promise"
)

// Promise returns a script's promise that settles as p does. It is fulfilled with p's value as [goja.Runtime.ToValue] makes it,
// nil as undefined. It is rejected with the value that a script of this host threw, else with an Error object whose property
// value is the Go error. Run waits until p settles. A nil p stands for one that is fulfilled with undefined.
//
// It is for the loop, and panics with [ErrNotOnLoop] elsewhere. p may belong to any loop.
func (h *Host) Promise(p *promise.Promise) goja.Value {
	h.mustBeOnLoop()
	js, resolve, reject := h.vm.NewPromise()
	if p == nil {
		_ = resolve(goja.Undefined())
		return h.vm.ToValue(js)
	}
	if h.endErr != nil {
		return h.vm.ToValue(js)
	}
	h.hold(1)
	h.here(p).Then(func(v any) (any, error) {
		h.settlement(func() error { return resolve(h.toValue(v)) }, reject)
		return nil, nil
	}, func(err error) (any, error) {
		h.settlement(func() error { return err }, reject)
		return nil, nil
	})
	return h.vm.ToValue(js)
}

// here returns a promise of the host's loop that follows p.
func (h *Host) here(p *promise.Promise) *promise.Promise { return h.loop.Promises().Resolved(p) }

// toValue is ToValue, with undefined for nil.
func (h *Host) toValue(v any) goja.Value {
	if v == nil {
		return goja.Undefined()
	}
	return h.vm.ToValue(v)
}

func (h *Host) mustBeOnLoop() {
	if !h.loop.OnLoop() && h.loop.State() != eventloop.StateAwake {
		panic(ErrNotOnLoop)
	}
}

// Await returns a Go promise that settles as v does. As with a script's await, v may be a promise, an object with a
// method then, or any other value. The Go promise is fulfilled with the exported value. It is rejected with the Go
// error that the script has thrown, else with an [*Error]; the rejection counts as handled, for scripts and for Go. When the host
// ends, it is rejected with [ErrClosed] and the reason; when the loop ends, with eventloop.ErrLoopTerminated.
//
// It is for the loop, and panics with [ErrNotOnLoop] elsewhere. Any goroutine may wait for the promise.
func (h *Host) Await(v goja.Value) *promise.Promise {
	h.mustBeOnLoop()
	p, resolve, reject := h.loop.NewPromise()
	p.Catch(func(error) (any, error) { return nil, nil }) // the caller awaits it, maybe not yet
	if h.endErr != nil {
		reject(closed(h.endErr))
		return p
	}
	w := &waiter{reject}
	h.awaited.Put(w, struct{}{})
	fulfilled := func(v goja.Value) {
		h.awaited.Delete(w)
		resolve(v.Export())
	}
	rejected := func(reason goja.Value) {
		h.awaited.Delete(w)
		if e := h.errorOf(reason, nil); e.cause != nil {
			reject(e.cause)
		} else {
			reject(e)
		}
	}
	if err := h.protect(func() error { return h.attach(v, fulfilled, rejected) }); err != nil {
		h.awaited.Delete(w)
		reject(h.portable(err))
	}
	return p
}

// waiter is a promise of Await that is pending.
type waiter struct{ reject func(error) }

// attach has one of the functions fulfilled and rejected called with the outcome of v. If no entry is under way, attach makes
// one: otherwise goja would run promise jobs before nextTick functions.
func (h *Host) attach(v goja.Value, fulfilled, rejected func(goja.Value)) (err error) {
	handler := func(f func(goja.Value)) goja.Value {
		return h.function("", 1, func(call goja.FunctionCall) goja.Value { f(call.Argument(0)); return goja.Undefined() })
	}
	then := func() {
		if v, err = h.resolve(h.promise, v); err == nil {
			_, err = h.then(v, handler(fulfilled), handler(rejected))
		}
	}
	if h.depth > 0 {
		then()
		return err
	}
	if ended := h.enter(entry{fn: then, then: checking, alone: true}, nil); ended != nil {
		return closed(ended)
	}
	return err
}

// Promisify returns a function for scripts. A call of it calls fn on a goroutine of its own, and returns a promise. fn may block,
// and may use only primitives among its arguments. On success fn returns a function that makes the promise's value and is called
// on the loop, or nil for undefined. An error of either function rejects the promise as [Host.Promise] says, and so does a panic.
//
// The context is common to all calls under way, or to those that a call of [Host.Call] has made: it ends when none is left, when
// that call is ended, when the host ends, and when the loop has ended.
// Run, Shutdown and an auto-exit loop wait for fn. Promisify is for the loop, and panics if fn is nil.
func (h *Host) Promisify(fn func(ctx context.Context, args []goja.Value) (func(*goja.Runtime) (goja.Value, error), error)) goja.Value {
	if fn == nil {
		panic(eventloop.ErrNilCallback)
	}
	return h.function("", 0, func(call goja.FunctionCall) goja.Value {
		args := rest(call.Arguments, 0)
		js, resolve, reject := h.vm.NewPromise()
		if h.endErr != nil {
			return h.vm.ToValue(js)
		}
		w := &h.work
		if h.scope != nil && h.scope.call != nil {
			w = &h.scope.call.work
		}
		ctx := w.add(h.loop)
		h.hold(1)
		settle := func(set func() error) {
			w.remove()
			h.settlement(set, reject)
		}
		h.begin(func() (any, error) { return fn(ctx, args) }).Then(func(v any) (any, error) {
			settle(func() error {
				value := goja.Undefined()
				if result, _ := v.(func(*goja.Runtime) (goja.Value, error)); result != nil {
					var err error
					if value, err = result(h.vm); err != nil {
						return err
					}
				}
				return resolve(value)
			})
			return nil, nil
		}, func(err error) (any, error) {
			settle(func() error { return err })
			return nil, nil
		})
		return h.vm.ToValue(js)
	})
}

// settlement settles a script's promise in an entry of its own: by set, or by reject with set's error. On the loop.
func (h *Host) settlement(set func() error, reject func(any) error) {
	if h.endErr != nil { // scripts of a host that has ended do not run
		return
	}
	h.runAlone(func() error {
		h.hold(-1)
		if err := h.protect(set); err != nil {
			return reject(h.valueOf(err))
		}
		return nil
	})
}

// work is the common context of the Promisify calls under way. Used on the loop alone.
type work struct {
	count  int
	ctx    context.Context // nil while there are none
	cancel func()
}

func (w *work) add(l *eventloop.Loop) context.Context {
	if w.count++; w.ctx == nil {
		ctx, cancel := context.WithCancel(context.Background())
		leave := l.AfterEnd(cancel)
		w.ctx, w.cancel = ctx, func() { leave(); cancel() }
	}
	return w.ctx
}

func (w *work) remove() {
	if w.count--; w.count <= 0 {
		w.end()
	}
}

func (w *work) end() {
	if w.cancel != nil {
		w.cancel()
	}
	*w = work{}
}
