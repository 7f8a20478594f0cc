package alternatethree

// The end: by Shutdown, by Close, by Run's context, and its phases.

import (
	"context"
	"errors"
	"log/slog"

	"github.com/turnloop/turnloop/internal/loopapi"
)

// Shutdown implements loopapi.EventLoop.
func (l *Loop) Shutdown(ctx context.Context) error {
	from, first := l.terminate(nil)
	if first && from == loopapi.StateAwake {
		go l.serve()
	}
	if !l.OnLoop() {
		if err := l.Await(ctx); err != nil {
			return err
		}
		first = first && !l.closing.Load()
	}
	if !first {
		return loopapi.ErrLoopTerminated
	}
	return nil
}

// Close implements loopapi.EventLoop. When it has returned, nothing starts any more.
func (l *Loop) Close() error {
	l.in.mu.Lock()
	if l.in.sealed {
		l.in.mu.Unlock()
		return loopapi.ErrLoopTerminated
	}
	l.in.sealed, l.in.result = true, loopapi.ErrLoopTerminated
	l.in.external, l.in.internal, l.in.microtasks = list{}, list{}, list{}
	l.closing.Store(true)
	from, _ := l.state.terminate()
	l.in.mu.Unlock()
	switch from {
	case loopapi.StateAwake:
		l.end()
	case loopapi.StateSleeping:
		l.wake()
	}
	return nil
}

// terminate asks for a graceful end; result is what Run is to return. It returns the state that it found and whether it
// was the first to ask.
func (l *Loop) terminate(result error) (from loopapi.State, first bool) {
	l.in.mu.Lock()
	if from, first = l.state.terminate(); first {
		l.in.result = result
	}
	l.in.mu.Unlock()
	if first && from == loopapi.StateSleeping {
		l.wake()
	}
	return from, first
}

// drained reports whether an ending loop has run everything. If so it seals the ingress: nothing is accepted any more.
func (l *Loop) drained() bool {
	l.in.mu.Lock()
	defer l.in.mu.Unlock()
	if !l.hasWork() && l.in.empty() {
		l.in.sealed = true
	}
	return l.in.sealed // Close seals the ingress, too, whatever is left
}

// end is the owner's last step. It drops queues, timers and descriptors, closes the poller, and releases the goroutines
// that wait for the end. The ingress is sealed, so no work comes any more. Steps that ran before have no effect.
func (l *Loop) end() {
	l.external, l.internal, l.micro = list{}, list{}, ring{}
	l.ready, l.called = nil, 0
	l.timers.drop()
	l.table.drop()
	if err := l.poller.Close(); err != nil && !errors.Is(err, loopapi.ErrPollerClosed) {
		l.faults.Call(func() {
			slog.Default().Error("closing the poller of an event loop", "error", wrap(err, "close the poller"))
		})
	}
	l.state.terminated()
	l.End()
}
