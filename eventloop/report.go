package eventloop

// Faults and overload: how a failure in a callback is contained, and where it is reported.

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"runtime/pprof"
	"strconv"

	"github.com/turnloop/turnloop/internal/goroutine"
	"github.com/turnloop/turnloop/internal/observe"
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
			l.regions.Forget()
			sched.Go(l.serve)
		}
	}()
	l.owner.Store(goroutine.ID())
	l.probe.Runs()
	l.probe.Woke(observe.None, l.park.Sleeps.Load() != 0)
	for !l.attempt() {
	}
	ended = true
	l.regions.Leave()
	l.end()
}

// attempt runs ticks until the loop is to end, and returns true. If a callback does not return, attempt notes the
// fault: after a panic it returns false, after runtime.Goexit it does not return. One recover around all ticks, instead
// of one for each callback, costs nothing; what is left to run is in the loop, not on the stack.
func (l *Loop) attempt() (returned bool) {
	defer func() {
		if !returned {
			l.noteFault(recover())
		}
	}()
	l.runTicks()
	return true
}

// sink is a receiver of faults. A fault in one sink is reported to the next.
type sink int

const (
	toHandler sink = iota
	toLogger
	toStderr
)

// report reports the fault that ended the previous attempt, if there is one.
func (l *Loop) report() {
	fault, to, of := l.fault, l.sink, l.current
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
		attributes = l.attributes(of) // before callHandler, which notes another callback
	}
	l.callHandler(func() {
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

func (e *episode) end() { e.reported = false }

// report reports err, once per episode. It runs user code, as a callback does.
func (e *episode) report(l *Loop, err error) {
	if e.reported {
		return
	}
	e.reported = true
	switch {
	case l.onOverload != nil:
		l.callHandler(func() { l.onOverload(err) })
	case err != ErrLoopOverloaded: // a long external queue is no fault, and is not logged; the others are
		at, k := internal, observe.Internal
		if err == ErrMicrotaskBudget {
			at, k = microtask, observe.Microtask
		}
		l.callHandler(func() { l.log().Warn("loop overloaded", "kind", k.String(), "waiting", l.queued(at), "error", err) })
	}
}

// logLater logs, on a goroutine of its own: a logger, or the text of a panic's value, may block, panic or call runtime.Goexit.
func (l *Loop) logLater(level slog.Level, msg string, err error, args ...any) {
	go func() {
		defer func() { _ = recover() }()
		l.log().Log(context.Background(), level, msg, append([]any{"error", err}, args...)...)
	}()
}

// label gives the calling goroutine, which is going to run the loop, the labels of ctx and the loop's own label for profiles.
// Goroutines that it starts inherit them.
func (l *Loop) label(ctx context.Context) {
	pprof.SetGoroutineLabels(pprof.WithLabels(ctx, pprof.Labels("loop", strconv.FormatUint(l.id, 10))))
}
