package gojaloop

// Call: a script's function, called from Go.

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/dop251/goja"
	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/internal/loopapi"
)

// ErrNotBegun is wrapped by the error of a call whose context ended while it waited for its turn: nothing of it has run.
var ErrNotBegun = errors.New("gojaloop: the call had not begun")

var errCallWaits = fmt.Errorf("gojaloop: Call would wait for its own loop: %w", eventloop.ErrAwaitOnLoop)

// Call calls a script's global function on the loop, and waits for what it returns: if that is a promise, for its outcome.
// name may be that of a method, such as "shop.price", which then has its object as this. The arguments become values as
// [goja.Runtime.ToValue] makes them; the result is exported on the loop. An exception, or the reason of a rejection, is an
// [*Error], which unwraps to the Go error that was thrown; neither counts as unhandled.
//
// The time in the queue counts for ctx too. If ctx ends before the call has begun, nothing of it runs, and the error wraps
// [ErrNotBegun] beside ctx.Err(). If ctx ends later, all that the call has left is ended, wherever it waits: its script is
// interrupted, its timers are cleared, contexts of [Host.Promisify] end, and code behind an await does not run. Other calls do
// not notice. The error wraps ctx.Err() and says how long the call has run. Go code that blocks is not interrupted: Call waits
// for it. [WithCallbackLimit] bounds what runs at a time; a call that exceeds it fails with [ErrCallbackLimit], and is ended
// in the same way. What a call leaves behind that returns in time, such as timers, goes on.
//
// Any goroutine may call it. It returns [ErrClosed] with the reason when the host ends, eventloop.ErrLoopTerminated when the
// loop does, and on the loop, where it would wait for itself, an error that wraps eventloop.ErrAwaitOnLoop. It costs a
// callback of the loop.
func (h *Host) Call(ctx context.Context, name string, args ...any) (any, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if h.loop.OnLoop() {
		return nil, errCallWaits
	}
	c := &call{host: h, name: name, args: args, done: make(chan struct{})}
	if err := h.inbox.add(item{own: c.run}); err != nil {
		return nil, err
	}
	loop := h.loop.Done()
	select {
	case <-c.done:
		return c.value, c.err
	case <-ctx.Done():
		if !c.begun.Swap(true) {
			return nil, loopapi.Errorf("gojaloop: %s: %v: %v", name, ErrNotBegun, ctx.Err())
		}
		if err := c.explain(ctx.Err()); !c.end(err) {
			return nil, err
		}
	case <-loop:
		c.begun.Store(true)
	}
	select {
	case <-c.done:
		return c.value, c.err
	case <-loop:
		return nil, eventloop.ErrLoopTerminated
	}
}

// call is one call of Call. The loop writes value and err, and then closes done.
type call struct {
	host  *Host
	name  string
	args  []any
	begun atomic.Bool           // the loop has begun the call, or the caller has given it up
	ended atomic.Pointer[error] // why nothing of the call is to run any more; nil while it may

	finished bool // used on the loop alone, like work
	work     work
	done     chan struct{}
	value    any
	err      error
}

func (c *call) explain(why error) error {
	return loopapi.Errorf("gojaloop: %s: begun, and ended: %v", c.name, why)
}

// end ends what the call has left. It tells whether code of the call was running: done is then closed when it does not any
// more. Any goroutine but the loop's.
func (c *call) end(why error) (running bool) {
	c.ended.CompareAndSwap(nil, &why)
	running = c.host.guard.interruptCall(c, why)
	_ = c.host.inbox.add(item{own: func() { c.finish(nil, why) }})
	return running
}

// finish tells the outcome to the caller; the first one counts. With an error that is no script's, all that the call has left
// is dropped. On the loop.
func (c *call) finish(value any, err error) {
	if c.finished {
		return
	}
	h := c.host
	c.finished, c.value, c.err = true, value, err
	h.inFlight.Delete(c)
	var thrown *Error
	if err != nil && !as(err, &thrown) {
		c.ended.CompareAndSwap(nil, &err)
		c.work.end()
		h.clearWhere(func(o *scope) bool { return o != nil && o.call == c })
	}
	close(c.done)
}

func (c *call) run() {
	h := c.host
	if c.begun.Swap(true) {
		return
	}
	if h.endErr != nil {
		c.finish(nil, closed(h.endErr))
		return
	}
	h.follow()
	h.inFlight.Put(c, struct{}{})
	err := h.enter(entry{fn: func() {
		h.switchTo(&scope{call: c})
		defer h.switchTo(nil)
		err := h.protect(func() error { h.contain(c.start); return nil })
		var inter *goja.InterruptedError
		if as(err, &inter) {
			panic(inter)
		} else if err != nil {
			c.finish(nil, h.portable(err))
		}
	}, then: checking, alone: true}, nil)
	if err != nil && h.endErr == nil { // parked
		c.finish(nil, err)
	}
}

// start calls the function, and attaches to what it returns.
func (c *call) start() {
	h := c.host
	fn, this := h.named(c.name)
	values := make([]goja.Value, len(c.args))
	for i, arg := range c.args {
		values[i] = h.vm.ToValue(arg)
	}
	v := h.apply(fn, this, values)
	if _, ok := v.(*goja.Object); !ok {
		c.finish(v.Export(), nil)
		return
	}
	err := h.attach(v, func(v goja.Value) { c.finish(v.Export(), nil) }, func(reason goja.Value) { c.finish(nil, h.errorOf(reason, nil)) })
	if err != nil {
		panic(err)
	}
}

// named returns the function of that name, and its object. It throws if there is none.
func (h *Host) named(name string) (fn, this goja.Value) {
	first, rest, _ := strings.Cut(name, ".")
	this, fn = goja.Undefined(), h.vm.Get(first)
	if fn == nil { // it may be a variable of let, const or class, which goja shows to scripts alone
		fn = goja.Undefined()
		if p, err := goja.Compile(internalFile, "typeof "+first+" === 'undefined' ? undefined : "+first, true); err == nil {
			fn, err = h.vm.RunProgram(p)
			if err != nil {
				panic(err)
			}
		}
	}
	for part := range strings.SplitSeq(rest, ".") {
		if o, ok := fn.(*goja.Object); ok && rest != "" {
			this, fn = o, o.Get(part)
		}
	}
	if _, ok := goja.AssertFunction(fn); !ok {
		panic(h.vm.NewTypeError("%s is not a function", name))
	}
	return fn, this
}
