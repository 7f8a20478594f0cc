package gojaloop

// Promises between Go and scripts.

import (
	"context"

	"github.com/dop251/goja"
	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/promise"
)

// Promise returns a script's promise that settles as p does: with the value as [goja.Runtime.ToValue] makes it, or with
// the error as an exception: what a script threw, if it is of this host, else an Error object that has the Go error as
// its property value. Run waits until p settles. A nil p stands for one that is fulfilled with undefined.
//
// It is for the loop. It may follow a promise of any loop.
func (h *Host) Promise(p *promise.Promise) goja.Value {
	h.mustBeOnLoop()
	js, resolve, reject := h.vm.NewPromise()
	if p == nil {
		_ = resolve(goja.Undefined())
		return h.vm.ToValue(js)
	}
	if h.over != nil {
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

// toValue is ToValue for what Go promises hold.
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

// Await returns a Go promise that settles as a script's promise does; any other value, also one with a method then,
// counts as one, as in await. It is fulfilled with the value exported, and rejected with an [*Error], or with the Go error that
// the script has thrown. The rejection is handled as far as the script goes. When the host ends, it is rejected with
// [ErrClosed] and the reason; when the loop does, with eventloop.ErrLoopTerminated.
//
// It is for the loop; the promise it returns may be awaited on any goroutine.
func (h *Host) Await(v goja.Value) *promise.Promise {
	h.mustBeOnLoop()
	p, resolve, reject := h.loop.NewPromise()
	if h.over != nil {
		reject(closed(h.over))
		return p
	}
	w := &waiter{reject}
	if h.awaited == nil {
		h.awaited = map[*waiter]struct{}{}
	}
	h.awaited[w] = struct{}{}
	fulfilled := h.function("", 1, func(call goja.FunctionCall) goja.Value {
		delete(h.awaited, w)
		resolve(call.Argument(0).Export())
		return goja.Undefined()
	})
	rejected := h.function("", 1, func(call goja.FunctionCall) goja.Value {
		delete(h.awaited, w)
		e := h.errorOf(call.Argument(0), nil)
		if e.cause != nil {
			reject(e.cause)
		} else {
			reject(e)
		}
		return goja.Undefined()
	})
	if err := h.protect(func() error { return h.attach(v, fulfilled, rejected) }); err != nil {
		delete(h.awaited, w)
		reject(h.portable(err))
	}
	return p
}

// waiter is a promise of Await that is pending.
type waiter struct{ reject func(error) }

// attach has one of two functions called with the outcome of v. It enters the runtime within an entry only: elsewhere
// goja would run promise jobs before ticks.
func (h *Host) attach(v, fulfilled, rejected goja.Value) (err error) {
	then := func() {
		if v, err = h.resolve(h.promise, v); err == nil {
			_, err = h.then(v, fulfilled, rejected)
		}
	}
	if h.inside > 0 {
		then()
		return err
	}
	if over := h.enter(entry{fn: then, then: checking, alone: true}, nil); over != nil {
		return closed(over)
	}
	return err
}

// Promisify returns a function for scripts that calls fn on a goroutine of its own, and returns a promise of what it
// returns. fn may block. Of its arguments it may use primitives only. It returns a function that makes the value, which
// is called on the loop, or nil for undefined; or an error, with which the promise is rejected as [Host.Promise] says. So
// is it when either panics.
//
// The context ends when fn has returned, when the host ends, and when the loop has ended. Run, Shutdown and an auto-exit
// loop wait for fn. It is for the loop.
func (h *Host) Promisify(fn func(ctx context.Context, args []goja.Value) (func(*goja.Runtime) (goja.Value, error), error)) goja.Value {
	if fn == nil {
		panic(eventloop.ErrNilCallback)
	}
	return h.function("", 0, func(call goja.FunctionCall) goja.Value {
		args := rest(call.Arguments, 0)
		js, resolve, reject := h.vm.NewPromise()
		if h.over != nil {
			return h.vm.ToValue(js)
		}
		ctx := h.work.add(h.loop)
		h.hold(1)
		settle := func(set func() error) {
			h.work.remove()
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

// settlement settles a script's promise that Go has to settle: with set, or if that fails with its error.
func (h *Host) settlement(set func() error, reject func(any) error) {
	if h.over != nil { // a program that has ended hears of nothing
		return
	}
	h.tell(func() error {
		h.hold(-1)
		if err := h.protect(set); err != nil {
			return reject(h.valueOf(err))
		}
		return nil
	})
}

// work is what the functions of Promisify that are under way have in common. On the loop.
type work struct {
	count  int
	ctx    context.Context // nil while there are none
	cancel context.CancelFunc
}

func (w *work) add(l *eventloop.Loop) context.Context {
	if w.count++; w.ctx == nil {
		ctx, cancel := context.WithCancel(context.Background())
		w.ctx, w.cancel = ctx, cancel
		go func() {
			select {
			case <-l.Done():
				cancel()
			case <-ctx.Done():
			}
		}()
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
