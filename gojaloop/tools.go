package gojaloop

// Methods for programs that run scripts as a command line does.

import (
	"context"
	"io"

	"github.com/dop251/goja"
	"github.com/turnloop/turnloop/eventloop"
)

// RunFunc is [Host.Run] with a function in place of the source. The function runs on the loop, and may run compiled programs.
func (h *Host) RunFunc(ctx context.Context, fn func(*goja.Runtime) (goja.Value, error)) (goja.Value, error) {
	if fn == nil {
		return nil, eventloop.ErrNilCallback
	}
	if err := h.mayRun(ctx); err != nil {
		return nil, err
	}
	return h.runScript(ctx, fn)
}

// Module returns the exports of one of the host's own modules: inspect (with inspect, format and formatWithOptions,
// as Node's util has them), events, encoding, performance, clone, console, crypto, streams, fetch, url or process. It
// panics if there is no such module. It is for the loop.
func (h *Host) Module(name string) *goja.Object { return h.module(name) }

// Output returns the writers for output and for errors.
func (h *Host) Output() (stdout, stderr io.Writer) { return h.stdout, h.stderr }

// Sandboxed tells whether there was [WithSandbox], and Scheduled whether there was [WithSchedule].
func (h *Host) Sandboxed() bool { return h.sandbox }
func (h *Host) Scheduled() bool { return h.schedule != nil }

// Sources has the host ask f for the text of a source by its name, "" if there is none: messages of errors quote it. It is for the loop.
func (h *Host) Sources(f func(name string) string) { h.source = f }

// Hears tells whether scripts listen to a signal, by its name. Any goroutine may call it.
func (h *Host) Hears(signal string) bool { listens, _ := h.heard.Load(signal); return listens == true }

// Thrown returns the thrown value that e describes, nil if it is of another runtime. It is for the loop.
func (h *Host) Thrown(e *Error) goja.Value {
	if e.vm != h.vm {
		return nil
	}
	return e.thrown
}

// StackOf returns the frames of an Error object as text, a line for each call, without the host's own; "" for any
// other value. It is for the loop.
func (h *Host) StackOf(v goja.Value) string { return h.stackOf(v) }

// Exit is process.exit for Go: listeners of 'exit' run, and the host ends with an [*ExitError]. Call it in a Go
// function that a script has called, or in one that was given to the host.
func (h *Host) Exit(code int) {
	h.makeProcess()
	h.exit(goja.FunctionCall{Arguments: []goja.Value{h.vm.ToValue(code)}})
}

// Fail is for a function of [WithUncaughtException] that ends the program as Node would: listeners of 'exit' run, unless they run
// already, and the host ends with an [*ExitError]: 1, or what process.exitCode says.
func (h *Host) Fail() { h.makeProcess(); h.end(&ExitError{h.failed()}) }

// ClassOf returns the class by which goja implements an object, such as "Map" or "Promise"; "" for a primitive. It is
// for the loop.
func (h *Host) ClassOf(v goja.Value) string { return classOf(v) }

// Hold keeps Run waiting until release is called, for work that a script waits for. It is for the loop, and so is release, which
// may be called more than once.
func (h *Host) Hold() (release func()) {
	if h.endErr != nil {
		return func() {}
	}
	h.hold(1)
	held := true
	return func() {
		if held && h.endErr == nil {
			h.hold(-1)
		}
		held = false
	}
}
