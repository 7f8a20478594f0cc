package eventloop

// Faults and overload: how what goes wrong in callbacks is contained, and who hears of it.

import (
	"fmt"
	"os"
	"runtime/debug"

	"github.com/turnloop/turnloop/internal/goroutine"
	"github.com/turnloop/turnloop/internal/sched"
)

// serve runs the loop to its end on the calling goroutine. runtime.Goexit in a callback ends that goroutine and cannot be
// stopped, so the loop then goes on with a new one.
func (l *Loop) serve() {
	ended := false
	defer func() {
		l.owner.Store(0)
		if !ended {
			l.fault.Value = ErrGoexit
			sched.Go(l.serve)
		}
	}()
	l.owner.Store(goroutine.ID())
	for !l.attempt() {
	}
	ended = true
	l.end()
}

// attempt runs turns until the loop is to end, or until a callback does not return: then it notes the fault and returns
// false (or, after runtime.Goexit, does not return at all). Guarding the turns as a whole instead of each callback makes
// the guard free; what is left to run is in the loop, not on the stack.
func (l *Loop) attempt() (returned bool) {
	defer func() {
		if !returned {
			l.fault = &PanicError{Value: recover(), Stack: debug.Stack()}
		}
	}()
	l.turns()
	return true
}

// sink is somebody to tell about a fault. A fault of one sink goes to the next.
type sink int

const (
	toHandler sink = iota
	toLogger
	toStderr
)

// report tells about the fault that ended the previous attempt, if there is one.
func (l *Loop) report() {
	fault, to := l.fault, l.sink
	l.fault = nil
	if fault == nil {
		return
	}
	if to == toHandler && l.onPanic == nil {
		to = toLogger
	}
	l.sink = to + 1
	switch to {
	case toHandler:
		l.onPanic(fault)
	case toLogger:
		l.log().Error("callback panicked", "error", fault, "stack", string(fault.Stack))
	default:
		fmt.Fprintf(os.Stderr, "%v\n%s", fault, fault.Stack)
	}
	l.sink = toHandler
}

// episode is a condition that lasts over many ticks and is reported once.
type episode struct{ reported bool }

func (e *episode) over() { e.reported = false }

// report tells about the condition, if it is new. It runs user code, as a callback does.
func (e *episode) report(l *Loop, err error) {
	if e.reported {
		return
	}
	e.reported = true
	switch {
	case l.onOverload != nil:
		l.onOverload(err)
	case err != ErrLoopOverloaded: // a long queue is no fault; these are
		l.log().Warn("loop overloaded", "error", err)
	}
}
