package rival

// Callbacks that do not return, and the reports of them and of spent budgets.

import (
	"log/slog"
	"runtime/debug"

	"github.com/turnloop/turnloop/internal/loopapi"
)

// Faults contains the callbacks of a loop that do not return, and reports them. Only the owner touches it.
type Faults struct {
	Handlers loopapi.Config // of which OnPanic and OnOverload are called; slog.Default takes what they do not

	fault *loopapi.PanicError // the callback that did not return and was not reported yet
	told  int                 // how often its report has failed; each goes to another receiver: see report
}

// Serve runs a loop to its end on the calling goroutine, which owns it meanwhile, and then calls end. ticks runs ticks until the
// last one. A callback that does not return and was not called by Call ends it: it is called again, with resumed set. If a
// callback calls runtime.Goexit, which nothing can stop, the loop continues on a new goroutine. Its progress is in its fields and
// not on the stack, so nothing is lost.
func (f *Faults) Serve(b *Base, ticks func(resumed bool), end func()) {
	b.Own()
	finished := false
	defer func() {
		if !finished && f.fault != nil {
			f.fault.Value = loopapi.ErrGoexit
			b.Disown() // this goroutine's identity may be used again
			go f.Serve(b, ticks, end)
		}
	}()
	for over := false; !over; {
		resumed := f.fault != nil
		over = f.protect(func() { f.report(); ticks(resumed) })
	}
	end()
	finished = true
}

// Call runs a callback. A panic ends the callback only.
func (f *Faults) Call(fn func()) {
	if !f.protect(fn) {
		f.report()
	}
}

// protect runs fn and reports whether it returned; if not, it stores the fault. After a panic protect returns; after Goexit
// it does not, and so Serve tells them apart.
func (f *Faults) protect(fn func()) (returned bool) {
	defer func() {
		if !returned {
			if value := recover(); f.fault == nil { // Goexit passes through several
				f.fault = &loopapi.PanicError{Value: value, Stack: debug.Stack()}
			}
		}
	}()
	fn()
	return true
}

// report reports the stored fault, if there is one, to the handler, or to the logger without a handler. A handler or logger
// that does not return is a fault as well: it goes to the logger, and after that to the standard error.
func (f *Faults) report() {
	for f.fault != nil {
		fault := f.fault
		f.fault = nil
		f.told++
		switch {
		case f.told == 1 && f.Handlers.OnPanic != nil:
			f.protect(func() { f.Handlers.OnPanic(fault) })
		case f.told <= 2:
			f.protect(func() { slog.Default().Error("callback panicked", "error", fault, "stack", string(fault.Stack)) })
		default:
			Print(fault, fault.Stack)
		}
	}
	f.told = 0
}

// Overload reports a spent budget to OnOverload, once until reported is reset. Without a handler it is logged, except for a
// long external queue, which is no fault.
func (f *Faults) Overload(reported *bool, err error) {
	if *reported {
		return
	}
	*reported = true
	switch {
	case f.Handlers.OnOverload != nil:
		f.Call(func() { f.Handlers.OnOverload(err) })
	case err != loopapi.ErrLoopOverloaded:
		f.Call(func() { slog.Default().Warn("the event loop is overloaded", "error", err) })
	}
}
