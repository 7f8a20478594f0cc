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
	if ctx.Done() == nil {
		if _, err := l.ScheduleTimer(d, func() { resolve(nil) }); err != nil {
			return l.promises.Refused(err)
		}
		return p
	}
	s := new(sleeper)
	armed := make(chan struct{})
	defer close(armed)
	s.forget = sched.AfterContext(ctx, func() {
		<-armed
		_ = l.CancelTimer(s.timer)
		reject(cancelled(ctx))
	})
	timer, err := l.ScheduleTimer(d, func() { resolve(nil) })
	if err == nil && !l.sleepers.add(s) {
		err = ErrLoopTerminated
	}
	if err != nil {
		s.forget()
		return l.promises.Refused(err)
	}
	s.timer = timer
	return p.Finally(func() error { // also when the loop shuts down
		s.forget()
		l.sleepers.remove(s)
		return nil
	})
}

// sleeper is one call of Sleep with a context that can end. Only the call writes its fields: the context's end waits for the
// call, and the loop forgets nobody before it has added them.
type sleeper struct {
	timer          TimerID
	forget         func() bool
	links[sleeper] // in sleepers
}

// sleepers lists those whose contexts may still end their sleep. Handlers remove them; but these are not called once the loop
// was closed, and then its end has the contexts forget those that are left.
type sleepers struct {
	mu    sched.Mutex // guards the other fields
	list  list[sleeper, *sleeper]
	ended bool // nobody is added any more
}

// add tells whether it has added s.
func (ss *sleepers) add(s *sleeper) bool {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	if !ss.ended {
		ss.list.add(s)
	}
	return !ss.ended
}

// remove removes s. The loop calls it.
func (ss *sleepers) remove(s *sleeper) {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	ss.list.remove(s)
}

// end empties the list, and returns its first element, from which the links lead to all others.
func (ss *sleepers) end() *sleeper {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	first := ss.list.first
	ss.list, ss.ended = list[sleeper, *sleeper]{}, true
	return first
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
// It keeps an auto-exit loop alive. An attempt costs what Promisify costs, and a wait a timer, and context.AfterFunc for a
// context that can end. With a nil fn the promise is rejected with ErrNilCallback.
func Retry[T any](ctx context.Context, l *Loop, b Backoff, fn func(context.Context) (T, error)) promise.Of[T] {
	if fn == nil {
		return promise.As[T](l.promises.Rejected(ErrNilCallback))
	}
	if err := l.admitWorker(ctx); err != nil {
		return promise.As[T](l.refusedWork(err))
	}
	r := &retry{loop: l, ctx: ctx, backoff: b}
	r.fn = func(ctx context.Context) (any, error) { return fn(ctx) }
	l.promises.Begin(&r.promise)
	l.notes.put(r, l.tickTime.Load(), l.here())
	// The first attempt starts here and not on the loop: a caller far ahead of the loop would leave it all to the loop's end.
	l.startWorker(r.attempt())
	return promise.As[T](&r.promise)
}

// retry is one call of Retry. Its promise is in it. From the first outcome on only code on the loop touches it. A million may
// wait at once, so a pause takes a timer and no promise. If the loop is closed, the loop's end settles the promise.
type retry struct {
	promise Promise
	loop    *Loop
	ctx     context.Context
	backoff Backoff
	fn      func(context.Context) (any, error)
	failed  int   // attempts that have failed
	last    error // of the last of them

	// While it waits for its next attempt:
	timer        TimerID // 0 at all other times
	forget       func() bool
	links[retry] // in retries
}

// retries is the list of those that wait for their next attempt.
type retries = list[retry, *retry]

func (r *retry) attempt() *workItem { return &workItem{retry: r, loop: r.loop, ctx: r.ctx, fn: r.fn} }

// hear takes the outcome of an attempt.
func (r *retry) hear(failed bool, result any) {
	if notes := r.loop.notes; notes != nil { // what follows comes from where Retry was called
		_, from := notes.get(r)
		r.loop.shows(from)
	}
	if !failed {
		r.finish(false, result)
		return
	}
	err := result.(error)
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
	switch {
	case r.ctx.Err() != nil && isError(err, r.ctx.Err()): // the attempt was called off, and has not failed
		r.end(err)
	case r.failed+1 == r.backoff.Attempts || r.backoff.If != nil && !r.backoff.If(err):
		r.finish(true, fmt.Errorf("eventloop: attempt %d: %w", r.failed+1, err))
	default:
		r.failed, r.last = r.failed+1, err
		r.pause()
	}
	returned = true
}

// pause waits for the next attempt. When the loop shuts down, endRetries ends the wait.
func (r *retry) pause() {
	l := r.loop
	timer, err := l.ScheduleTimer(r.backoff.wait(r.failed), r.again)
	if err != nil {
		r.end(err)
		return
	}
	r.timer = timer
	l.retries.add(r)
	if r.ctx.Done() != nil {
		r.forget = sched.AfterContext(r.ctx, func() {
			_ = l.SubmitInternal(func() { // refused only at the end of the loop, which ends the pause, too
				if r.timer != 0 {
					_ = l.CancelTimer(r.timer)
					r.resume()
					r.end(cancelled(r.ctx))
				}
			})
		})
	}
}

// resume ends a pause. Its timer has fired, or fires no more.
func (r *retry) resume() {
	r.timer = 0
	r.loop.retries.remove(r)
	if r.forget != nil {
		r.forget()
		r.forget = nil
	}
}

// again is called by the timer of a pause.
func (r *retry) again() {
	r.resume()
	if err := r.loop.admitWorker(r.ctx); err != nil {
		r.end(err)
		return
	}
	r.loop.startWorker(r.attempt())
}

// endRetries ends all pauses at the end of the loop, whose timers do not fire any more. It tells whether there were any.
func (l *Loop) endRetries() (ended bool) {
	for r := l.retries.first; r != nil; r = l.retries.first {
		r.resume()
		r.end(ErrLoopTerminated)
		ended = true
	}
	return ended
}

// leaveContexts has the contexts of all that sleeps or pauses forget it when the loop was closed. This may take a while and
// nobody waits for it, so it is done on another goroutine.
func (l *Loop) leaveContexts() {
	sleeper, paused := l.sleepers.end(), l.retries.first
	l.retries = retries{}
	if sleeper == nil && paused == nil {
		return
	}
	sched.Go(func() {
		for s := sleeper; s != nil; s = s.next {
			s.forget()
		}
		for r := paused; r != nil; r = r.next {
			if r.forget != nil {
				r.forget()
			}
		}
	})
}

// end rejects the promise because the context or the loop has ended.
func (r *retry) end(err error) {
	if r.failed > 0 {
		err = &endedRetry{err, r.failed, r.last}
	}
	r.finish(true, err)
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
	r.loop.notes.drop(r)
	r.ctx, r.fn, r.backoff.If, r.last = nil, nil, nil, nil
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
