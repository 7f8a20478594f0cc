package gojaloop

// The process object, and the events of a program.

import (
	"github.com/dop251/goja"
)

// process is the process object. Its fields are nil until a script asks for it.
type process struct {
	object         *goja.Object
	emit, listened goja.Callable
}

func (h *Host) makeProcess() *goja.Object {
	if p := &h.process; p.object == nil {
		m := h.module("process")
		p.emit, _ = goja.AssertFunction(m.Get("emit"))
		p.listened, _ = goja.AssertFunction(m.Get("listenerCount"))
		p.object = m.Get("process").ToObject(h.vm)
	}
	return h.process.object
}

// listens tells whether an event of the process has listeners. In the frame.
func (h *Host) listens(event string) bool {
	if h.process.object == nil {
		return false
	}
	n, err := h.process.listened(h.process.object, h.vm.ToValue(event))
	return err == nil && n.ToInteger() > 0
}

// emit calls the listeners of an event, until one throws or panics, and returns that as an error. In the frame.
func (h *Host) emit(event string, args ...goja.Value) error {
	if h.process.object == nil {
		return nil
	}
	return h.protect(func() error {
		_, err := h.process.emit(h.process.object, append([]goja.Value{h.vm.ToValue(event)}, args...)...)
		return err
	})
}

// exit is process.exit: listeners of 'exit' run, and then the host ends.
func (h *Host) exit(call goja.FunctionCall) goja.Value {
	if code := call.Argument(0); !goja.IsUndefined(code) {
		if err := h.process.object.Set("exitCode", code); err != nil { // not a valid code
			panic(err)
		}
	}
	if !h.exiting {
		if err := h.emitExit(); err != nil {
			panic(err)
		}
	}
	code := h.exitCode()
	if end, ok := goja.AssertFunction(h.process.object.Get("reallyExit")); ok { // a script may have put its own in front
		if _, err := end(h.process.object, h.vm.ToValue(code)); err != nil {
			panic(err)
		}
	}
	h.end(&ExitError{code})
	return goja.Undefined()
}

// reallyExit is process.reallyExit: the host ends, and no listener runs.
func (h *Host) reallyExit(call goja.FunctionCall) goja.Value {
	h.end(&ExitError{int(call.Argument(0).ToInteger())})
	return goja.Undefined()
}

// emitExit calls the listeners of 'exit'. They are not called again, nor is anything scheduled, until confirm clears exiting.
// In the frame.
func (h *Host) emitExit() error {
	if h.process.object == nil {
		return nil
	}
	h.exiting = true
	return h.emit("exit", h.vm.ToValue(h.exitCode()))
}

// over tells whether scripts schedule in vain: the host has ended, or listeners of 'exit' have been called.
func (h *Host) over() bool { return h.endErr != nil || h.exiting }

func (h *Host) exitCode() int {
	if h.process.object == nil {
		return 0
	}
	return int(h.process.object.Get("exitCode").ToInteger())
}
