package eventloop

// Faults and overload: how what goes wrong in callbacks is contained, and who hears of it.

import (
	"fmt"
	"os"

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
			l.regions.current = nil // it has ended with its goroutine
			sched.Go(l.serve)
		}
	}()
	l.owner.Store(goroutine.ID())
	if l.probe != nil {
		l.probe.watched()
		l.probe.unpark(noCallback)
	}
	for !l.attempt() {
	}
	ended = true
	l.regions.leave()
	l.end()
}

// attempt runs turns until the loop is to end, or until a callback does not return: then it notes the fault and returns
// false (or, after runtime.Goexit, does not return at all). Guarding the turns as a whole instead of each callback makes
// the guard free; what is left to run is in the loop, not on the stack.
func (l *Loop) attempt() (returned bool) {
	defer func() {
		if !returned {
			l.blame(recover())
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
	fault, to, of := l.fault, l.sink, l.calling
	l.fault = nil
	if fault == nil {
		return
	}
	if to == toHandler && l.onPanic == nil {
		to = toLogger
	}
	l.sink = to + 1
	var attributes []any
	if to == toLogger {
		attributes = l.attributes(of) // while the callback is still what ran last
	}
	l.handle(func() {
		switch to {
		case toHandler:
			l.onPanic(fault)
		case toLogger:
			l.log().Error("callback panicked", append(attributes, "error", fault, "stack", string(fault.Stack))...)
		default:
			fmt.Fprintf(os.Stderr, "%v\n%s", fault, fault.Stack)
		}
	})
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
		l.handle(func() { l.onOverload(err) })
	case err != ErrLoopOverloaded: // a long queue is no fault; these are
		at, k := internal, anInternal
		if err == ErrMicrotaskBudget {
			at, k = microtask, aMicrotask
		}
		l.handle(func() { l.log().Warn("loop overloaded", "kind", k.String(), "waiting", l.queued(at), "error", err) })
	}
}
