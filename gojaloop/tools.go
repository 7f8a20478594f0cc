package gojaloop

// What programs that run scripts for people need beyond what embedders do.

import (
	"context"

	"github.com/dop251/goja"
	"github.com/turnloop/turnloop/eventloop"
)

// RunFunc is [Host.Run] for a function, which may run programs that were compiled before.
func (h *Host) RunFunc(ctx context.Context, fn func(*goja.Runtime) (goja.Value, error)) (goja.Value, error) {
	switch {
	case fn == nil:
		return nil, eventloop.ErrNilCallback
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case h.loop.OnLoop():
		return nil, errWaits
	}
	if err := h.Err(); err != nil {
		return nil, closed(err)
	}
	return h.runScript(ctx, fn)
}

// Module returns what one of the host's own modules exports: inspect (with inspect, format and formatWithOptions, as Node's
// util has them), events, encoding, performance, clone, console, crypto, streams, fetch, url or process. It panics if there is no such module.
// It is for the loop.
func (h *Host) Module(name string) *goja.Object { return h.module(name) }

// Thrown returns the value that an error stands for, if it was thrown in this host's runtime, else nil. It is for the loop.
func (h *Host) Thrown(e *Error) goja.Value {
	if e.vm != h.vm {
		return nil
	}
	return e.reason
}

// StackOf returns the frames of an Error object as text, a line for each call, without those of the host; "" if it is none. It
// is for the loop.
func (h *Host) StackOf(v goja.Value) string { return h.stackOf(v) }

// Exit is process.exit, for Go: listeners of 'exit' run, and the host ends with an [*ExitError]. It is for a function that a
// script has called, or that the host has.
func (h *Host) Exit(code int) {
	h.makeProcess()
	h.exit(goja.FunctionCall{Arguments: []goja.Value{h.vm.ToValue(code)}})
}

// ClassOf returns what an object is by its insides, as "Map" or "Promise", and "" for a primitive. It is for the loop.
func (h *Host) ClassOf(v goja.Value) string { return classOf(v) }
