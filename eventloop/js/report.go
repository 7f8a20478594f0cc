package js

// Listeners that panic or end their goroutine: how they are contained, and reported.

import (
	"errors"
	"runtime/debug"

	"github.com/turnloop/turnloop/eventloop"
)

// each calls call with 0 to n-1. A call that panics is reported, and the next one is made. If a call ends in runtime.Goexit,
// the others are made before the goroutine ends.
func (j *JS) each(n int, call func(i int)) {
	next, fault := 0, (*eventloop.PanicError)(nil)
	defer func() {
		if fault != nil { // a call ended in runtime.Goexit, which cannot be stopped; the loop will report it, too
			if fault.Value = eventloop.ErrGoexit; j.onPanic != nil {
				defer j.report(fault)()
			}
			j.each(n-next, func(i int) { call(next + i) })
		}
	}()
	for next < n {
		attempt(&next, n, call, &fault)
		if fault != nil {
			defer j.report(fault)()
			fault = nil
		}
	}
}

// attempt makes the calls from next on, until one does not return; then it sets fault.
func attempt(next *int, n int, call func(i int), fault **eventloop.PanicError) {
	returned := false
	defer func() {
		if !returned {
			*fault = &eventloop.PanicError{Value: recover(), Stack: debug.Stack()}
		}
	}()
	for *next < n {
		*next++
		call(*next - 1)
	}
	returned = true
}

// report reports a listener's fault in a callback of its own, so that a panic handler that panics does no harm. A loop that
// was closed takes no callback: then the fault counts as one of the callback that runs, and the caller reports it by rest,
// when the other listeners have run. A callback has one fault, so rest, which is to be deferred, joins with it those of other
// rests. Otherwise rest does nothing.
func (j *JS) report(fault *eventloop.PanicError) (rest func()) {
	tell := func() {
		if j.onPanic == nil {
			panic(fault)
		}
		j.onPanic(fault)
	}
	switch {
	case j.loop.SubmitInternal(tell) == nil:
		return func() {}
	case j.onPanic != nil:
		return tell
	}
	return func() {
		if other, ok := recover().(*eventloop.PanicError); ok {
			fault = &eventloop.PanicError{Value: errors.Join(fault, other), Stack: fault.Stack}
		}
		tell()
	}
}
