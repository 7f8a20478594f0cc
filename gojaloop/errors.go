package gojaloop

// Errors: the form in which exceptions leave the loop, and the fate of uncaught ones.

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/dop251/goja"
	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/gojaloop/internal/v8"
)

var (
	// ErrClosed is the error of a host that has ended, alone or wrapped beside the reason. Err tells why; make a new host to go on.
	ErrClosed = errors.New("gojaloop: the host is closed")
	// ErrBroken is wrapped, beside the reason, by the error of a host that had to end because an interrupt hit an
	// async function behind its first await, or a generator: goja cannot go on after that. Make a new host.
	ErrBroken = errors.New("gojaloop: the runtime was interrupted where it cannot go on")
	// ErrCallbackLimit is the error of a callback that took longer than [WithCallbackLimit] lets it.
	ErrCallbackLimit = errors.New("gojaloop: a callback took longer than its limit")
	// ErrParked is the error of a call that has to enter the runtime at once, while the host is parked: call it again after
	// Resume.
	ErrParked = errors.New("gojaloop: the host is parked")
	// ErrNotOnLoop is the panic value of a method that is for the loop, called elsewhere: call it in Do or Submit.
	ErrNotOnLoop = errors.New("gojaloop: called from elsewhere than the loop")
)

// as is errors.As, and is errors.Is, for what may be a user's error: they return false if one of its methods panics, and as
// does not find a nil pointer. Otherwise an exception that cannot be looked at would cause another one, without end.
func as[T comparable](err error, target *T) (found bool) {
	defer func() { _ = recover() }()
	var none T
	return errors.As(err, target) && *target != none
}

func is(err, target error) (same bool) {
	defer func() { _ = recover() }()
	return errors.Is(err, target)
}

// Error describes an exception, or the reason of a rejection, for Go. It holds text and a primitive value, and may be
// used on any goroutine. It unwraps to the Go error that the script has thrown, if it was one.
type Error struct {
	Message string // the value as text: "TypeError: x is not a function"
	Stack   string // where it was thrown, a line for each call, innermost first; empty if goja does not know
	Value   any    // the value exported if it is a primitive, else nil
	Code    int    // if it ends the host, Node's exit code: 1, or what process.exitCode says; 7 if a handler of uncaught exceptions threw it

	cause  error
	thrown goja.Value // the value thrown; for vm's loop alone
	vm     *goja.Runtime
}

// Error returns the message, and the stack if there is one.
func (e *Error) Error() string {
	if e.Stack == "" {
		return e.Message
	}
	return e.Message + "\n" + e.Stack
}

// Unwrap returns the Go error that the script has thrown, nil if it was another value.
func (e *Error) Unwrap() error { return e.cause }

// ExitError is the error of Run for an exit code other than 0, from process.exit or process.exitCode.
type ExitError struct{ Code int }

// Error names the code.
func (e *ExitError) Error() string { return fmt.Sprintf("gojaloop: exit code %d", e.Code) }

// errorOf makes an Error of a thrown value; stack is used if the value has no stack of its own. On the loop.
func (h *Host) errorOf(v goja.Value, stack []goja.StackFrame) *Error {
	e := &Error{thrown: v, vm: h.vm}
	if ex := h.vm.Try(func() { h.describe(e, v) }); ex != nil && e.Message == "" {
		e.Message = "an exception that throws when it is looked at"
	}
	if e.Stack == "" {
		e.Stack = frames(stack)
	}
	return e
}

// frames formats calls as a stack trace does, without those of the host.
func frames(stack []goja.StackFrame) string {
	var b bytes.Buffer
	for _, f := range stack {
		b.WriteString("\tat ")
		f.Write(&b)
		b.WriteByte('\n')
	}
	return cleanStack(b.String())
}

// prepareStack gives the stack of an error the form that it has in V8, if it has goja's, and returns the error.
func (h *Host) prepareStack(call goja.FunctionCall) goja.Value {
	v := h.spoken(call)
	if o, ok := v.(*goja.Object); ok && o.ClassName() == "Error" {
		if s, ok := o.Get("stack").(goja.String); ok && strings.HasSuffix(s.String(), ")\n") { // goja's
			head, _, _ := strings.Cut(s.String(), "\n\tat ")
			h.apply(h.module("stack").Get("set"), goja.Undefined(), []goja.Value{o, h.vm.ToValue(head), h.vm.ToValue(h.framesOf(o, s.String()))})
		}
	}
	return v
}

// spoken returns its argument. If that is an error of the language's own, it has V8's message then.
func (h *Host) spoken(call goja.FunctionCall) goja.Value {
	h.speak(call.Argument(0))
	return call.Argument(0)
}

func (h *Host) speak(v goja.Value) {
	o, ok := v.(*goja.Object)
	if !ok || o.ClassName() != "Error" {
		return
	}
	h.vm.Try(func() { // getters may throw
		if message, ok := o.Get("message").(goja.String); !ok || !v8.Suspected(message.String()) {
			return
		}
		stack := o.Get("stack").String()
		if !strings.HasSuffix(stack, ")\n") { // it is not goja's
			return
		}
		_, frames, _ := strings.Cut(stack, "\n\tat ")
		first, _, _ := strings.Cut(frames, "\n")
		native, before, after := strings.HasSuffix(first, "(native)"), "", first
		if m := placed.FindStringSubmatch(first); m != nil && !native {
			line, _ := strconv.Atoi(m[2])
			column, _ := strconv.Atoi(m[3])
			before, after = v8.Around(h.textOf(m[1]), line, column)
		}
		h.reword(o, func(message string) string { return v8.Message(message, native, before, after) })
	})
}

// textOf returns the text of a source; "" if it is not there.
func (h *Host) textOf(name string) string {
	if name == h.ran[0] {
		return h.ran[1]
	} else if h.source != nil {
		return h.source(name)
	}
	return ""
}

// placed finds the place in a frame of a stack of goja's.
var placed = regexp.MustCompile(`^(?:.* \()?(.+?):(\d+):(\d+)\(\d+\)\)?$`)

// reword changes the message of an error whose stack is goja's, and gives it V8's stack with that message.
func (h *Host) reword(o *goja.Object, change func(string) string) {
	stack, message := o.Get("stack").String(), o.Get("message").String()
	if text := change(message); text != "" && text != message {
		_ = o.DefineDataProperty("message", h.vm.ToValue(text), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
		h.apply(h.module("stack").Get("set"), goja.Undefined(), []goja.Value{o, h.vm.ToValue(o.String()), h.vm.ToValue(h.framesOf(o, stack))})
	}
}

// describe fills in e from the properties of the value. Reading them may run scripts, and throw.
func (h *Host) describe(e *Error, v goja.Value) {
	h.speak(v)
	o, ok := v.(*goja.Object)
	if !ok {
		if v == nil {
			v = goja.Undefined()
		}
		e.Message = v.String()
		if _, symbol := v.(*goja.Symbol); !symbol {
			e.Value = v.Export()
		}
		return
	}
	if inner := o.Get("value"); inner != nil {
		e.cause, _ = inner.Export().(error)
	}
	if e.cause == nil {
		e.cause, _ = o.Export().(error)
	}
	if e.cause != nil {
		e.Message = e.cause.Error()
	} else {
		e.Message = o.String()
	}
	if s := o.Get("stack"); s != nil && o.ClassName() == "Error" {
		e.Stack = h.framesOf(o, s.String())
	}
}

// framesOf returns the frames in the stack of an error, without those of the constructors of its classes: it was thrown where
// they were called. In goja a constructor's frame has no name.
func (h *Host) framesOf(o *goja.Object, stack string) string {
	h.vm.Try(func() { // getters may throw
		for proto := o.Prototype(); proto != nil && unnamed.MatchString(stack); proto = proto.Prototype() {
			class, ok := proto.Get("constructor").(*goja.Object)
			if !ok {
				continue
			}
			text, _ := goja.AssertFunction(h.vm.Get("Function").ToObject(h.vm).Get("prototype").ToObject(h.vm).Get("toString"))
			source, err := text(class)
			if err != nil || !strings.HasPrefix(source.String(), "class") {
				return
			}
			if explicit.MatchString(source.String()) {
				stack = unnamed.ReplaceAllString(stack, "\n")
			}
		}
	})
	return cleanStack(stack)
}

var (
	unnamed  = regexp.MustCompile(`\A[^\t]*\n\tat [^\n(]+:\d+:\d+(?:\(\d+\))?(?:\n|\z)`) // the first frame has no function's name
	explicit = regexp.MustCompile(`\bconstructor\s*\(`)
)

// cleanStack keeps the frames of a stack trace, without those of the host and without goja's offsets into its code.
func cleanStack(s string) string {
	var lines []string
	for line := range strings.Lines(s) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "at ") || strings.Contains(line, internalFile) || isOwn(line) {
			continue
		}
		lines = append(lines, "\t"+offset.ReplaceAllString(line, "$1"))
	}
	return strings.Join(lines, "\n")
}

// isOwn tells whether a line of a stack trace names a method of the host, or what reflect puts around a function of [Host.Func].
func isOwn(line string) bool {
	return strings.Contains(line, "/gojaloop.") || strings.Contains(line, "reflect.makeFuncStub")
}

// offset finds what goja adds to a position: where it is in its code.
var offset = regexp.MustCompile(`\(\d+\)(\)?)$`)

// portable turns an error from the runtime into one that may leave the loop. On the loop, before the entry ends.
func (h *Host) portable(err error) error {
	var (
		ex    *goja.Exception
		e     *Error
		inter *goja.InterruptedError
		deep  *goja.StackOverflowError
	)
	switch {
	case err == nil || as(err, &e):
		return err
	case as(err, &ex):
		return h.errorOf(ex.Value(), ex.Stack())
	case as(err, &deep):
		return &Error{Message: "RangeError: Maximum call stack size exceeded"}
	case as(err, &inter):
		if cause := h.guard.interruptCause(); cause != nil {
			return cause
		}
		return errInterrupted
	}
	return err
}

var errInterrupted = errors.New("gojaloop: interrupted")

// valueOf returns the value to throw for an error: the thrown value itself if it is of this runtime, else an Error
// object that holds err. On the loop.
func (h *Host) valueOf(err error) goja.Value {
	if e, ok := err.(*Error); ok && e.vm == h.vm && e.thrown != nil {
		return e.thrown
	}
	var ex *goja.Exception
	if as(err, &ex) {
		return ex.Value()
	}
	return h.vm.NewGoError(err)
}

// uncaught passes an exception that no script has caught to the listeners, else to the handler, else it ends the host. v is the
// thrown value, nil to take it from err; origin is the listeners' second argument. On the loop, in the frame. An interrupt by the
// guard is none; one without a cause of the guard's comes from the program's own call of goja's Interrupt.
func (h *Host) uncaught(v goja.Value, err error, origin string) {
	var interrupted *goja.InterruptedError
	if cause := h.guard.interruptCause(); h.endErr == nil && cause != nil && as(err, &interrupted) {
		if cause == ErrCallbackLimit && !h.entry.told {
			h.dropLeft()
			h.overLimit()
		}
		return
	}
	if h.endErr != nil {
		return
	}
	if v == nil {
		v = h.valueOf(err)
	}
	if h.listens("uncaughtExceptionMonitor") {
		if second := h.emit("uncaughtExceptionMonitor", v, h.vm.ToValue(origin)); second != nil {
			h.fatal(h.asError(nil, second), 7)
			return
		}
	}
	if h.listens("uncaughtException") {
		if second := h.emit("uncaughtException", v, h.vm.ToValue(origin)); second != nil {
			h.fatal(h.asError(nil, second), 7)
		}
		h.immediates.addEmpty()
		return
	}
	e := h.asError(v, err)
	if h.onUncaught == nil {
		h.fatal(e, 1)
		return
	}
	h.immediates.addEmpty()
	if second := h.protect(func() error { h.onUncaught(e); return nil }); second != nil {
		h.fatal(h.asError(nil, second), 7)
	}
}

// fatal ends the host because of an exception. Listeners of 'exit' run first, unless a handler of uncaught exceptions
// threw it, which is code 7.
func (h *Host) fatal(e *Error, code int) {
	if e.Code = code; code == 1 {
		e.Code = h.failed()
	}
	h.end(e)
}

// failed calls the listeners of 'exit' behind an exception that nobody has caught, unless they run already or have run,
// and returns the exit code: process.exitCode, which is 1 when they begin. What they throw counts no more, as in Node.
func (h *Host) failed() int {
	p := h.process.object
	if p == nil {
		return 1
	}
	if !h.exiting {
		_ = p.Set("exitCode", 1)
		_ = h.emitExit()
	}
	if code := p.Get("exitCode"); !goja.IsUndefined(code) && !goja.IsNull(code) {
		return int(code.ToInteger())
	}
	return 1
}

// asError describes any error as an *Error. v is the thrown value; it may be nil if err is not.
func (h *Host) asError(v goja.Value, err error) *Error {
	var e *Error
	switch err := h.portable(err); {
	case err == nil:
		e = h.errorOf(v, nil) // v is not nil then
	case !as(err, &e):
		e = &Error{Message: fmt.Sprint(err), cause: err, thrown: v, vm: h.vm}
		var p *eventloop.PanicError
		if as(err, &p) {
			e.Stack = string(p.Stack)
		}
	}
	return e
}

// newError makes an error object with a property code, as Node's own have.
func (h *Host) newError(class, code, message string) *goja.Object {
	e, err := h.vm.New(h.vm.Get(class), h.vm.ToValue(message))
	if err != nil { // a script has replaced the class
		e = h.vm.NewTypeError("%s", message)
	}
	_ = e.Set("code", code)
	return e
}

// reportUncaught passes its argument, an exception that no script has caught, to uncaught.
func (h *Host) reportUncaught(call goja.FunctionCall) goja.Value {
	h.uncaught(call.Argument(0), nil, "uncaughtException")
	return goja.Undefined()
}
