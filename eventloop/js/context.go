package js

// Contexts: the bridge between abort signals and context.Context, both ways.

import (
	"context"
	"runtime"
	"weak"
)

// Context returns a context derived from parent that is cancelled when the signal is aborted, with the reason as its
// context.Cause; at once, on the aborting goroutine, before listeners run. Calling cancel releases what the context
// holds, and should be done as soon as it is not needed. Any goroutine may call it.
func (s *AbortSignal) Context(parent context.Context) (ctx context.Context, cancel context.CancelFunc) {
	ctx, cancelCause := context.WithCancelCause(parent)
	remove := s.watch(cancelCause, false)
	if reason := s.Reason(); reason != nil {
		cancelCause(reason)
	}
	return ctx, func() {
		remove()
		cancelCause(nil)
	}
}

// SignalFromContext returns a signal that is aborted when ctx is done, at once if it is already. The reason is the
// context's cause, except that ErrAbort stands for context.Canceled and ErrTimeout for context.DeadlineExceeded, which
// they are to errors.Is. Once the signal is garbage, ctx holds nothing of it, and a signal whose ctx is garbage is held
// by nothing. Any goroutine may call it.
func (j *JS) SignalFromContext(ctx context.Context) *AbortSignal {
	if ctx.Err() != nil {
		return j.AbortedSignal(contextReason(ctx))
	}
	source := j.newSignal()
	stop := new(func() bool) // held by what ctx holds alone, for it leads to the signal's listeners
	*stop = context.AfterFunc(ctx, func() {
		source.abort(contextReason(ctx))
		runtime.KeepAlive(stop)
	})
	s := j.AnySignal(source)
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
