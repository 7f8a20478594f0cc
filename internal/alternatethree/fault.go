package alternatethree

// Faults: containing and reporting callbacks that do not return, and reporting overload.

import (
	"cmp"
	"log/slog"
	"runtime/debug"

	"github.com/turnloop/turnloop/internal/loopapi"
	"github.com/turnloop/turnloop/internal/rival"
)

// serve runs the loop to its end on the calling goroutine. If a callback calls runtime.Goexit, which nothing can stop,
// the loop continues on a new goroutine. Its progress is in its fields and not on the stack, so nothing is lost.
func (l *Loop) serve() {
	l.Own()
	finished := false
	defer func() {
		if !finished && l.fault != nil {
			l.fault.Value = loopapi.ErrGoexit
			l.Disown() // this goroutine's identity may be used again
			go l.serve()
		}
	}()
	resumed := l.fault != nil
	l.report()
	for l.tick(resumed) {
		resumed = false
	}
	l.end()
	finished = true
}

// call runs a callback. A panic ends the callback only.
func (l *Loop) call(fn func()) {
	if !l.protect(fn) {
		l.report()
	}
}

// protect runs fn and reports whether it returned; if not, it stores the fault. After a panic protect returns; after Goexit
// it does not, and so serve tells them apart.
func (l *Loop) protect(fn func()) (returned bool) {
	defer func() {
		if !returned {
			l.fault = &loopapi.PanicError{Value: recover(), Stack: debug.Stack()}
		}
	}()
	fn()
	return true
}

// report reports the stored fault, if there is one, to the handler, or to the logger without a handler. A handler or logger
// that does not return is a fault as well: it goes to the logger, and after that to the standard error.
func (l *Loop) report() {
	for l.fault != nil {
		fault := l.fault
		l.fault = nil
		l.told++
		switch {
		case l.told == 1 && l.cfg.OnPanic != nil:
			l.protect(func() { l.cfg.OnPanic(fault) })
		case l.told <= 2:
			l.protect(func() { l.log().Error("callback panicked", "error", fault, "stack", string(fault.Stack)) })
		default:
			rival.Print(fault, fault.Stack)
		}
	}
	l.told = 0
}

// overload reports a spent budget to OnOverload, once until reported is reset. Without a handler it is logged, except for a
// long external queue, which is no fault.
func (l *Loop) overload(reported *bool, err error) {
	if *reported {
		return
	}
	*reported = true
	switch {
	case l.cfg.OnOverload != nil:
		l.call(func() { l.cfg.OnOverload(err) })
	case err != loopapi.ErrLoopOverloaded:
		l.call(func() { l.log().Warn("the event loop is overloaded", "error", err) })
	}
}

// log returns the logger of the options, or the current default.
func (l *Loop) log() *slog.Logger { return cmp.Or(l.logger, slog.Default()) }
