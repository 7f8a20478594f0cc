package alternatetwo

// The end of a loop.

import (
	"context"
	"log/slog"

	"github.com/turnloop/turnloop/internal/loopapi"
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

// serve runs the loop to its end. One deferred call around all ticks isolates every callback at no cost per callback: the loop's
// progress is in its fields, not on the stack.
func (l *Loop) serve() {
	l.faults.Serve(&l.Base, func(resumed bool) {
		for l.tick(resumed) {
			resumed = false
		}
	}, l.end)
}
