package gojaloop

// The process object: ticks, and the events of a program.

import (
	"github.com/dop251/goja"
)

// process is nil until a script has asked for it, as most of it is made then.
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

// listens tells whether scripts listen to an event of the process. In the frame.
func (h *Host) listens(event string) bool {
	if h.process.object == nil {
		return false
	}
	n, err := h.process.listened(h.process.object, h.vm.ToValue(event))
	return err == nil && n.ToInteger() > 0
}

// emit tells the listeners of an event, until one throws. In the frame.
func (h *Host) emit(event string, args ...goja.Value) error {
	if h.process.object == nil {
		return nil
	}
	_, err := h.process.emit(h.process.object, append([]goja.Value{h.vm.ToValue(event)}, args...)...)
	return err
}

// exit is process.exit: listeners of 'exit' run, and nothing else.
func (h *Host) exit(call goja.FunctionCall) goja.Value {
	if code := call.Argument(0); !goja.IsUndefined(code) {
		_ = h.process.object.Set("exitCode", code)
	}
	if !h.exiting {
		if err := h.emitExit(); err != nil {
			panic(err)
		}
	}
	h.end(&ExitError{h.exitCode()})
	return goja.Undefined()
}

// emitExit tells that the program is over. In the frame.
func (h *Host) emitExit() error {
	h.exiting = true
	defer func() { h.exiting = false }()
	if h.process.object == nil {
		return nil
	}
	return h.emit("exit", h.vm.ToValue(h.exitCode()))
}

func (h *Host) exitCode() int {
	if h.process.object == nil {
		return 0
	}
	return int(h.process.object.Get("exitCode").ToInteger())
}
