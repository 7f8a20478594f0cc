package eventloop

// Sleep and Retry: waiting, and trying again, as promises.

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"time"

	"github.com/turnloop/turnloop/eventloop/promise"
	"github.com/turnloop/turnloop/internal/sched"
)

// Sleep returns a promise that is fulfilled with nil when d has passed. It is rejected as soon as ctx ends, as that of
// [Loop.Promisify] is, and with ErrLoopTerminated when the loop shuts down, or is ending already. Its timer keeps an
// auto-exit loop alive. It costs a timer and two promises, and context.AfterFunc for a context that can end.
func (l *Loop) Sleep(ctx context.Context, d time.Duration) *Promise {
	if ctx.Err() != nil {
		return l.promises.Rejected(cancelled(ctx))
	}
	p, resolve, reject := l.promises.New()
	forget := func() bool { return true }
	var timer TimerID
	if ctx.Done() != nil {
		armed := make(chan struct{})
		defer close(armed)
		forget = sched.AfterContext(ctx, func() {
			<-armed
			_ = l.CancelTimer(timer)
			reject(cancelled(ctx))
		})
	}
	timer, err := l.ScheduleTimer(d, func() { resolve(nil) })
	if err != nil {
		forget()
		return l.promises.Refused(err)
	}
	if ctx.Done() == nil {
		return p
	}
	return p.Finally(func() error { // also when the loop shuts down
		forget()
		return nil
	})
}

// Backoff says how often, and after which waits, [Retry] tries again.
type Backoff struct {
	Attempts int              // the most attempts; 0 is no limit
	First    time.Duration    // the wait after the first failure; each further one is twice the one before; 0 is none
	Most     time.Duration    // the longest wait; 0 is no bound
	Jitter   float64          // the share of each wait, from 0 to 1, that is random, lest all that failed together try again together
	If       func(error) bool // tells, on the loop, whether an error is worth another attempt; nil is always
}

// Retry calls fn as [Promisify] does until it succeeds, and returns a promise of its value. Between two attempts there
// is only a timer, no goroutine. When b allows no further attempt, the promise is rejected with fn's last error,
// wrapped with the number of attempts. When ctx or the loop ends, it is rejected with an error that wraps ctx.Err() or
// ErrLoopTerminated, and fn's last one if there was any. Shutdown waits for an attempt that is under way, and its
// outcome counts; so ErrLoopTerminated says that the work is not done, and may be kept for the next start.
//
// It keeps an auto-exit loop alive. An attempt costs what Promisify costs, and a wait what [Loop.Sleep] does. With a
// nil fn the promise is rejected with ErrNilCallback.
func Retry[T any](ctx context.Context, l *Loop, b Backoff, fn func(context.Context) (T, error)) promise.Of[T] {
	if fn == nil {
		return promise.As[T](l.promises.Rejected(ErrNilCallback))
	}
	if refused := l.admitWorker(ctx); refused != nil {
		return promise.As[T](refused)
	}
	r := &retry{loop: l, ctx: ctx, backoff: b}
	r.fn = func(ctx context.Context) (any, error) { return fn(ctx) }
	l.promises.Begin(&r.promise)
	// The first attempt starts here and not on the loop: a caller far ahead of the loop would leave it all to the loop's end.
	l.startWorker(&workItem{loop: l, ctx: ctx, fn: r.fn, retry: r})
	return promise.As[T](&r.promise)
}

// retry is one call of Retry. Its promise is in it, and is settled by the handlers of the attempts. From the first outcome
// on the loop's goroutine owns it. If the loop refuses a handler, or is closed, the loop's end settles the promise.
type retry struct {
	promise Promise
	loop    *Loop
	ctx     context.Context
	backoff Backoff
	fn      func(context.Context) (any, error)
	failed  int // attempts that have failed
}

func (r *retry) attempt() { r.follow(r.loop.Promisify(r.ctx, r.fn)) }

// follow has the outcome of an attempt handled. On the loop.
func (r *retry) follow(attempt *Promise) {
	settled := attempt.Then(r.succeed, r.fail)
	if r.backoff.If != nil { // which may call Goexit: that rejects settled too, which nobody has
		settled.Catch(func(error) (any, error) { return nil, nil })
	}
}

func (r *retry) succeed(value any) (any, error) {
	r.finish(false, value)
	return nil, nil
}

func (r *retry) fail(err error) (any, error) {
	returned := false
	defer func() {
		if !returned { // If has panicked, or called Goexit
			value := recover()
			if value == nil {
				value = ErrGoexit
			}
			r.finish(true, &PanicError{Value: value, Stack: debug.Stack()})
		}
	}()
	r.failed++
	switch {
	case r.ctx.Err() != nil:
		r.finish(true, err)
	case r.failed == r.backoff.Attempts || r.backoff.If != nil && !r.backoff.If(err):
		r.finish(true, fmt.Errorf("eventloop: attempt %d: %w", r.failed, err))
	default:
		r.loop.Sleep(r.ctx, r.backoff.wait(r.failed)).Then(func(any) (any, error) {
			r.attempt()
			return nil, nil
		}, func(end error) (any, error) {
			r.finish(true, &endedRetry{end, r.failed, err})
			return nil, nil
		})
	}
	returned = true
	return nil, nil
}

// endedRetry is the error of a retry that its context or the loop has ended. Its text is made when it is asked for: when the
// loop ends, all that wait for their next attempt get such an error at once.
type endedRetry struct {
	end    error
	failed int   // attempts
	last   error // of the last attempt
}

func (e *endedRetry) Error() string {
	return fmt.Sprintf("%v; attempt %d: %v", e.end, e.failed, e.last)
}

func (e *endedRetry) Unwrap() []error { return []error{e.end, e.last} }

func (r *retry) finish(failed bool, result any) {
	r.ctx, r.fn, r.backoff.If = nil, nil, nil
	r.loop.promises.Finish(&r.promise, failed, result)
}

// wait returns how long to wait after that many failures.
func (b Backoff) wait(failures int) time.Duration {
	d, doublings := time.Duration(never), failures-1
	switch {
	case b.First <= 0:
		d = 0
	case doublings < 62 && b.First <= never>>doublings:
		d = b.First << doublings
	}
	if b.Most > 0 {
		d = min(d, b.Most)
	}
	if b.Jitter > 0 {
		d -= time.Duration(float64(d) * min(b.Jitter, 1) * rand.Float64())
	}
	return d
}
