package alternateone

// Calling callbacks, and what becomes of those that do not return.

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"

	"github.com/turnloop/turnloop/internal/loopapi"
)

// errRunaway is reported when a tick's budget of internal tasks is spent.
var errRunaway = fmt.Errorf("internal work does not come to an end: %w", loopapi.ErrLoopOverloaded)

// call runs a callback, and reports it if it does not return.
func (l *Loop) call(j job) {
	l.invoke(j)
	l.report()
}

// invoke runs a callback and notes how it failed. After runtime.Goexit it does not return; serve goes on from there.
//
// A violated invariant is not the callback's fault, so it is passed on: of this loop or of any other that the callback
// has called.
func (l *Loop) invoke(j job) {
	if state := l.State(); state == terminated || state == sleeping {
		l.violated("callback", fmt.Errorf("a callback is to start in the state %v", state), "kind", j.kind, "task", j.id)
	}
	returned := false
	defer func() {
		if returned {
			return
		}
		value := recover()
		if e, ok := value.(*LoopError); ok && errors.Is(e, ErrInvariant) {
			panic(e)
		}
		l.fault = &PanicError{&loopapi.PanicError{Value: value, Stack: debug.Stack()}, j.kind, j.id, l.id}
	}()
	j.fn()
	returned = true
}

// report tells about the last fault: the panic handler, or else the logger. A fault of the one goes to the next, and
// one of the logger to the standard error.
func (l *Loop) report() {
	for l.fault != nil {
		fault := l.fault
		l.fault = nil
		switch {
		case fault.Kind == KindLogger:
			fault.print()
		case fault.Kind == KindPanicHandler || l.onPanic == nil:
			l.invoke(handler(KindLogger, func() {
				l.logger().Error("callback panicked", "loop", l.id, "kind", string(fault.Kind), "task", fault.TaskID,
					"error", fault, "stack", string(fault.Stack))
			}))
		default:
			l.invoke(handler(KindPanicHandler, func() { l.onPanic(fault) }))
		}
	}
}

// handler makes a job of what the loop calls by itself.
func handler(kind Kind, fn func()) job { return job{kind, task{fn: fn}} }

// print is the last resort, when the logger fails.
func (e *PanicError) print() { fmt.Fprintf(os.Stderr, "%v\n%s", e, e.Stack) }

// overloadJob makes the callback that reports a spent budget. A long queue is no fault, and goes to the handler only;
// the others are logged where there is none.
func (l *Loop) overloadJob(cause error) (job, bool) {
	e := l.fail("tick", cause,
		"external", l.external.length, "internal", l.internal.length, "microtasks", l.micro.len())
	return handler(KindOverloadHandler, func() {
		switch {
		case l.onOverload != nil:
			l.onOverload(e)
		case cause != loopapi.ErrLoopOverloaded:
			l.logger().Warn("loop overloaded", "loop", l.id, "error", e)
		}
	}), true
}

// log calls the logger, which is the user's code as well.
func (l *Loop) log(write func()) { l.call(handler(KindLogger, write)) }
