package alternateone

// Calling callbacks, and reporting those that do not return.

import (
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"

	"github.com/turnloop/turnloop/internal/loopapi"
	"github.com/turnloop/turnloop/internal/rival"
)

// call runs a callback, and reports it if it does not return.
func (l *Loop) call(j job) {
	l.invoke(j)
	l.report()
}

// invoke runs a callback and stores its failure in fault. After runtime.Goexit it does not return; serve goes on then.
//
// The panic of a violated invariant, of this loop or of another one that the callback has called, is not the callback's
// fault and is passed on.
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
		l.fault = &fault{&loopapi.PanicError{Value: value, Stack: debug.Stack()}, j.kind, j.id}
	}()
	j.fn()
	returned = true
}

// report reports the last fault to the panic handler, or to the logger if there is none. A fault of the handler goes to the
// logger, and a fault of the logger to the standard error.
func (l *Loop) report() {
	for l.fault != nil {
		fault := l.fault
		l.fault = nil
		switch {
		case fault.kind == KindLogger:
			rival.Print(fault, fault.Stack)
		case fault.kind == KindPanicHandler || l.OnPanic == nil:
			l.invoke(handler(KindLogger, func() {
				slog.Default().Error("callback panicked", "loop", l.id, "kind", string(fault.kind), "task", fault.task,
					"error", fault.PanicError, "stack", string(fault.Stack))
			}))
		default:
			l.invoke(handler(KindPanicHandler, func() { l.OnPanic(fault.PanicError) }))
		}
	}
}

// handler makes the job of a handler or of the logger.
func handler(kind Kind, fn func()) job { return job{kind, task{fn: fn}} }

// overloadJob makes the callback that reports a spent budget to the handler. Without a handler a long queue of tasks, which
// is no fault, is not reported; the other budgets are logged.
func (l *Loop) overloadJob(cause error) (job, bool) {
	e := l.fail("tick", cause,
		"external", l.external.length, "internal", l.internal.length, "microtasks", l.micro.len())
	return handler(KindOverloadHandler, func() {
		switch {
		case l.OnOverload != nil:
			l.OnOverload(e)
		case cause != loopapi.ErrLoopOverloaded:
			slog.Default().Warn("loop overloaded", "loop", l.id, "error", e)
		}
	}), true
}

// log calls the logger as a callback, as it is the user's code.
func (l *Loop) log(write func()) { l.call(handler(KindLogger, write)) }
