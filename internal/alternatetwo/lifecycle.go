package alternatetwo

// The end of a loop, and what happens when a callback does not return.

import (
	"context"
	"log/slog"
	"runtime/debug"

	"github.com/turnloop/turnloop/internal/loopapi"
	"github.com/turnloop/turnloop/internal/rival"
)

// Shutdown implements loopapi.EventLoop.
func (l *Loop) Shutdown(ctx context.Context) error {
	from, first := l.terminate(0)
	if first && from == awake {
		if l.seal() {
			l.end()
		} else {
			go l.serve()
		}
	}
	if !l.OnLoop() {
		if err := l.Await(ctx); err != nil {
			return err
		}
		first = first && !l.state.closing()
	}
	if !first {
		return loopapi.ErrLoopTerminated
	}
	return nil
}

// Close implements loopapi.EventLoop.
func (l *Loop) Close() error {
	from, ok := l.terminate(closeCause)
	if !ok {
		return loopapi.ErrLoopTerminated
	}
	l.internal.close()
	l.foreign.close()
	if from == awake {
		l.end()
	}
	return nil
}

// terminate asks for the end, refuses external work from here on, and wakes the loop to hear of it.
func (l *Loop) terminate(cause uint32) (from uint32, ok bool) {
	if from, ok = l.state.terminate(cause); ok {
		l.external.close()
		if from == sleeping {
			l.wake()
		}
	}
	return from, ok
}

// end drops all that is left, releases the resources, and closes done. It is the owner's last step.
func (l *Loop) end() {
	l.external.drop()
	l.internal.drop()
	l.foreign.drop()
	l.micro = ring{}
	l.timers.drop()
	if err := l.poller.Close(); err != nil {
		slog.Default().Error("alternatetwo: closing the poller failed", "error", err)
	}
	l.table.drop()
	l.events = nil
	l.state.end()
	l.End()
}

// serve runs the loop to its end. runtime.Goexit in a callback ends the goroutine, so the loop continues on another one.
func (l *Loop) serve() {
	ended := false
	defer func() {
		if !ended {
			l.Disown()
			l.fault.Value = loopapi.ErrGoexit
			go l.serve()
		}
	}()
	l.Own()
	for l.interrupted() {
	}
	ended = true
	l.end()
}

// interrupted runs ticks. It returns true when a callback has panicked, false at the end of the loop. One deferred call
// around all ticks isolates every callback at no cost per callback: the loop's progress is in its fields, not on the stack.
func (l *Loop) interrupted() (cut bool) {
	cut = true
	defer func() {
		if cut {
			l.fault = &loopapi.PanicError{Value: recover(), Stack: debug.Stack()}
		}
	}()
	resumed := l.fault != nil
	for l.report(); l.tick(resumed); resumed = false {
	}
	return false
}

// report reports the last fault to the handler, a fault of the handler to the logger, and a fault of the logger to the
// standard error.
func (l *Loop) report() {
	fault := l.fault
	if fault == nil {
		return
	}
	l.fault = nil
	l.told++
	if l.told == 1 && l.cfg.OnPanic == nil {
		l.told++
	}
	switch l.told {
	case 1:
		l.cfg.OnPanic(fault)
	case 2:
		slog.Default().Error("alternatetwo: callback panicked", "error", fault, "stack", string(fault.Stack))
	default:
		rival.Print(fault, fault.Stack)
	}
	l.told = 0
}

// notify reports a condition once for as long as it lasts.
func (l *Loop) notify(reported *bool, err error) {
	if *reported {
		return
	}
	*reported = true
	switch {
	case l.cfg.OnOverload != nil:
		l.cfg.OnOverload(err)
	case err != loopapi.ErrLoopOverloaded: // a long queue is no fault
		slog.Default().Warn("alternatetwo: overloaded", "error", err)
	}
}
