package gojaloop

// The functions of process.nextTick. Microtasks are goja's promise jobs, see prelude.go.

import (
	"math/big"

	"github.com/dop251/goja"
)

// tick is a function of process.nextTick: it runs at the checkpoint of the current callback.
type tick struct {
	fn    *goja.Object
	args  []goja.Value
	scope *scope
}

// value returns a function without arguments that calls the nextTick function.
func (t tick) value(h *Host) goja.Value {
	if len(t.args) == 0 {
		return t.fn
	}
	return h.vm.ToValue(func(goja.FunctionCall) goja.Value { return h.apply(t.fn, goja.Undefined(), t.args) })
}

// moreOfPhase tells whether another timer or immediate of the phase is to run. Only then does it come before what an
// exception has left of a checkpoint.
func (h *Host) moreOfPhase() bool {
	switch h.phase {
	case timing:
		return h.timers.ready(h.timers.phaseBegan)
	case checking:
		return h.immediates.batch.head != nil
	}
	return false
}

// apply calls a script's function, from a Go function that a script has called. It throws what the function throws.
func (h *Host) apply(fn, this goja.Value, args []goja.Value) goja.Value {
	f, ok := goja.AssertFunction(fn)
	if !ok {
		panic(h.invalid(fn, "callback"))
	}
	v, err := f(this, args...)
	if err != nil {
		panic(err)
	}
	return v
}

func (h *Host) nextTick(call goja.FunctionCall) goja.Value {
	fn, ok := h.callable(call.Argument(0))
	if !ok {
		panic(h.invalid(call.Argument(0), "callback"))
	}
	if !h.over() {
		h.ticks.push(tick{fn, rest(call.Arguments, 1), h.scope})
	}
	return goja.Undefined()
}

// callable returns a value as an object, and whether it is a function.
func (h *Host) callable(v goja.Value) (*goja.Object, bool) {
	o, ok := v.(*goja.Object)
	if !ok {
		return nil, false
	}
	if o.ClassName() == "Function" {
		return o, true
	}
	_, ok = goja.AssertFunction(o)
	return o, ok
}

// rest returns a copy of the arguments from n on: the originals are on goja's stack.
func rest(args []goja.Value, n int) []goja.Value {
	if len(args) <= n {
		return nil
	}
	return append([]goja.Value(nil), args[n:]...)
}

type ticks struct{ fifo[tick] }

// fifo is a queue that keeps no reference to what it has returned.
type fifo[T any] struct {
	items []T
	head  int
}

func (q *fifo[T]) len() int { return len(q.items) - q.head }

func (q *fifo[T]) push(v T) {
	if q.head > 64 && 2*q.head > len(q.items) {
		n := copy(q.items, q.items[q.head:])
		clear(q.items[n:])
		q.items, q.head = q.items[:n], 0
	}
	q.items = append(q.items, v)
}

func (q *fifo[T]) pop() T {
	var zero T
	v := q.items[q.head]
	q.items[q.head] = zero
	if q.head++; q.head == len(q.items) {
		if cap(q.items) > 1024 {
			q.items = nil
		}
		q.items, q.head = q.items[:0], 0
	}
	return v
}

func (q *fifo[T]) clear() { *q = fifo[T]{} }

// invalidCallback is the function invalid as scripts call it: with a value, and the name of the argument unless it is "callback".
func (h *Host) invalidCallback(call goja.FunctionCall) goja.Value {
	name := "callback"
	if n := call.Argument(1); !goja.IsUndefined(n) {
		name = n.String()
	}
	return h.invalid(call.Argument(0), name)
}

// invalid makes Node's error for an argument that is not a function.
func (h *Host) invalid(v goja.Value, name string) *goja.Object {
	return h.newError("TypeError", "ERR_INVALID_ARG_TYPE", `The "`+name+`" argument must be of type function. Received `+received(v))
}

// received describes a value as Node's errors do.
func received(v goja.Value) string {
	o, ok := v.(*goja.Object)
	switch {
	case v == nil || goja.IsUndefined(v):
		return "undefined"
	case goja.IsNull(v):
		return "null"
	case ok:
		if _, ok := goja.AssertFunction(o); ok {
			return "function " + o.Get("name").String()
		}
		if c, ok := o.Get("constructor").(*goja.Object); ok {
			return "an instance of " + c.Get("name").String()
		}
		return "[Object: null prototype] {}"
	}
	if _, symbol := v.(*goja.Symbol); symbol {
		return "type symbol (Symbol(" + v.String() + "))"
	}
	switch x := v.Export().(type) {
	case string:
		if len(x) > 28 {
			x = x[:25] + "..."
		}
		return "type string ('" + x + "')"
	case bool:
		return "type boolean (" + v.String() + ")"
	case *big.Int:
		return "type bigint (" + x.String() + "n)"
	}
	return "type number (" + v.String() + ")"
}
