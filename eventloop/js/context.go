package js

// Contexts: the bridge between abort signals and context.Context, both ways.

import (
	"context"
	"runtime"
	"weak"
)

// Context returns a context derived from parent that is cancelled when the signal is aborted, with the reason as its
// context.Cause. It is cancelled by the goroutine that aborts the signal, before listeners run. cancel should be called as
// soon as the context is not needed: it releases what the context holds. Any goroutine may call Context.
func (s *AbortSignal) Context(parent context.Context) (ctx context.Context, cancel context.CancelFunc) {
	ctx, cancelCause := context.WithCancelCause(parent)
	remove := s.watch(cancelCause, false)
	if reason := s.Reason(); reason != nil {
		cancelCause(reason)
	}
	if parent.Done() != nil {
		context.AfterFunc(ctx, remove) // also when the parent has ended it
	}
	return ctx, func() {
		remove()
		cancelCause(nil)
	}
}

// SignalFromContext returns a signal that is aborted when ctx is done, at once if it is already. The reason is the
// context's cause, with two exceptions: ErrAbort replaces context.Canceled, and ErrTimeout replaces
// context.DeadlineExceeded. errors.Is(ErrTimeout, context.DeadlineExceeded) is true. ctx holds the signal in memory only
// while the signal has listeners; the signal does not hold ctx in memory. Any goroutine may call it.
func (j *JS) SignalFromContext(ctx context.Context) *AbortSignal {
	if ctx.Err() != nil {
		return j.AbortedSignal(contextReason(ctx))
	}
	bridged := j.newSignal()
	stop := new(func() bool) // it refers to the signal's listeners, so only the function that ctx holds may refer to it
	*stop = context.AfterFunc(ctx, func() {
		bridged.abort(contextReason(ctx))
		runtime.KeepAlive(stop)
	})
	s := j.owner(bridged)
	runtime.AddCleanup(s, func(stop weak.Pointer[func() bool]) {
		if stop := stop.Value(); stop != nil {
			(*stop)()
		}
	}, weak.Make(stop))
	return s
}

func contextReason(ctx context.Context) error {
	switch cause := context.Cause(ctx); cause {
	case context.DeadlineExceeded:
		return ErrTimeout
	case context.Canceled:
		return ErrAbort
	default:
		return cause
	}
}
