package flow

// Waiting, and trying again, as promises.

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"time"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/promise"
	"github.com/turnloop/turnloop/internal/loopapi"
	"github.com/turnloop/turnloop/internal/outcome"
	"github.com/turnloop/turnloop/internal/sched"
)

// Sleep returns a promise that is fulfilled with nil when d has passed. It is rejected as soon as ctx ends, as that of Promisify
// is, and with ErrLoopTerminated when the loop shuts down, or is ending already. Its timer keeps an auto-exit loop alive. It
// costs a timer and a promise, and context.AfterFunc and AfterEnd for a context that can end.
func Sleep(ctx context.Context, l *eventloop.Loop, d time.Duration) *promise.Promise {
	if ctx.Err() != nil { // a nil context panics here
		return l.Promises().Rejected(outcome.Cancelled(ctx))
	}
	p, resolve, reject := l.NewPromise()
	wake := func() { resolve(nil) }
	var err error
	if ctx.Done() == nil {
		_, err = l.ScheduleTimer(d, wake)
	} else {
		err = (&sleeper{loop: l, ctx: ctx, reject: reject}).begin(d, wake)
	}
	if err != nil {
		return refused(l, err)
	}
	return p
}

// sleeper is one call of Sleep with a context that can end. The end of its context and the loop's timer are told of each other;
// the end of the loop, which rejects the promise, has the context forget it.
type sleeper struct {
	loop   *eventloop.Loop
	ctx    context.Context
	reject func(error)
	forget func() bool       // by the context
	stay   func() bool       // at the end of the loop
	arming sched.Mutex       // guards timer; the call holds it until timer is written, and cancel until the rejection is accepted
	timer  eventloop.TimerID // 0 once the wait is over, and if the loop has refused it
}

// begin has wake called when d has passed, unless the context or the loop ends first.
func (s *sleeper) begin(d time.Duration, wake func()) (err error) {
	s.arming.Lock()
	defer s.arming.Unlock()
	s.forget = sched.AfterContext(s.ctx, s.cancel)
	s.stay = s.loop.AfterEnd(func() { s.forget() })
	if s.timer, err = s.loop.ScheduleTimer(d, func() { s.fired(); wake() }); err != nil {
		s.leave()
	}
	return err
}

// cancel ends the wait because the context has ended. The loop has accepted the rejection before it loses the timer, which may
// be the last that keeps it alive.
func (s *sleeper) cancel() {
	s.arming.Lock()
	defer s.arming.Unlock()
	if s.timer != 0 { // else the loop has refused it, or it has fired
		s.reject(outcome.Cancelled(s.ctx))
		s.stay()
		_ = s.loop.CancelTimer(s.timer)
	}
}

// fired ends the wait because the time has passed. It waits for a cancel that is under way: a loop that exits by itself must not
// end between the decision to reject the promise and its acceptance.
func (s *sleeper) fired() {
	s.arming.Lock()
	s.timer = 0
	s.arming.Unlock()
	s.leave()
}

// leave ends the wait otherwise.
func (s *sleeper) leave() {
	s.stay()
	s.forget()
}

// refused returns a promise that is rejected with err; as no fault, if a loop refuses something because it ends, and so all work.
func refused(l *eventloop.Loop, err error) *promise.Promise {
	if errors.Is(err, eventloop.ErrLoopTerminated) {
		return l.Promisify(context.Background(), func(context.Context) (any, error) { return nil, err })
	}
	return l.Promises().Rejected(err)
}

// Backoff says how often, and after which waits, [Retry] tries again. The zero Backoff is meant for most uses: it waits 100 ms
// after the first failure and twice as long after each further one, up to 30 seconds, each shortened by chance by up to a
// fifth, and does not give up. A negative First, Max, Factor or Jitter is no wait, no bound, no growth or no chance.
type Backoff struct {
	First    time.Duration // the wait after the first failure; 0 is 100 ms
	Max      time.Duration // the longest wait; 0 is 30 s, or First if that is longer
	Factor   float64       // how much longer each further wait is than the one before; 0 is 2
	Jitter   float64       // the share of each wait, up to 1, that is left to chance, lest all try again together; 0 is 0.2
	Attempts int           // the most attempts; 0 is no limit
	// OnRetry is called on the loop when an attempt has failed, with its number and error, before the wait for the next. It may
	// be nil. A panic of it is reported like that of any callback, and the next attempt comes all the same.
	OnRetry func(attempt int, err error, wait time.Duration)
}

// Permanent returns an error that wraps err and ends a [Retry] whose function returns it: there is no further attempt. For a nil
// err it returns nil.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	return &permanent{err}
}

type permanent struct{ error }

func (p *permanent) Unwrap() error { return p.error }

// Retry calls fn as Promisify does, with the number of the attempt from 1, until it succeeds, and returns a promise of its
// value. Between two attempts there is only a timer, no goroutine. When b allows no further attempt, or fn's error is one of
// [Permanent] or wraps it, the promise is rejected with that error, wrapped with the number of the attempt. A panic of fn is
// an error like any other.
//
// When ctx or the loop ends, the promise is rejected with an error that wraps ctx.Err() or ErrLoopTerminated, and fn's last one
// if there was any. Shutdown waits for an attempt that is under way, and its outcome counts; so ErrLoopTerminated says that the
// work is not done, and may be kept for the next start.
//
// It keeps an auto-exit loop alive. An attempt costs what Promisify costs, and a wait what [Sleep] costs.
func Retry[T any](ctx context.Context, l *eventloop.Loop, b Backoff, fn func(ctx context.Context, attempt int) (T, error)) promise.Of[T] {
	_ = ctx.Done() // a nil context panics here
	if fn == nil {
		return promise.As[T](refused(l, eventloop.ErrNilCallback))
	}
	r := &retry{loop: l, ctx: ctx, backoff: b}
	r.fn = func(ctx context.Context, attempt int) (any, error) { return fn(ctx, attempt) }
	p, settle := l.NewWorkPromise()
	r.settle = settle
	// The first attempt starts here and not on the loop: a caller far ahead of the loop would leave it all to the loop's end.
	if err := r.start(); err != nil {
		p = refused(l, err)
	}
	return promise.As[T](p)
}

// retry is one call of Retry. Before each attempt, and from its outcome on, only code on the loop touches it, or the call itself.
type retry struct {
	loop    *eventloop.Loop
	ctx     context.Context
	backoff Backoff
	fn      func(ctx context.Context, attempt int) (any, error)
	settle  func(any, error)
	attempt int      // the number of the one that is under way, or was the last
	failed  *failure // the last failure
}

// start starts the next attempt.
func (r *retry) start() error {
	r.attempt++
	return r.loop.Work(r.ctx, r.try, r.hear)
}

// try is an attempt, on a goroutine of its own. It asks an error for what it wraps, as the methods of errors may panic or block.
func (r *retry) try(ctx context.Context) (any, error) {
	value, err := r.fn(ctx, r.attempt)
	if err == nil {
		return value, nil
	}
	var p *permanent
	return nil, &failure{r.attempt, err, errors.As(err, &p)}
}

// hear takes the outcome of an attempt, on the loop.
func (r *retry) hear(value any, err error) {
	switch fault := err.(type) {
	case nil:
		r.settle(value, nil)
	case *failure:
		r.again(fault)
	case *eventloop.PanicError:
		r.again(&failure{r.attempt, err, false})
	default: // the attempt was called off, or has not begun: it has not failed
		r.end(err)
	}
}

// again waits for the next attempt, unless there is to be none.
func (r *retry) again(f *failure) {
	if f.final || r.attempt == r.backoff.Attempts {
		r.settle(nil, f)
		return
	}
	r.failed = f
	wait := r.backoff.wait(r.attempt)
	Sleep(r.ctx, r.loop, wait).Then(func(any) (any, error) {
		if err := r.start(); err != nil {
			r.end(err)
		}
		return nil, nil
	}, func(err error) (any, error) {
		r.end(err)
		return nil, nil
	})
	if r.backoff.OnRetry != nil {
		r.backoff.OnRetry(f.attempt, f.err, wait)
	}
}

// end rejects the promise because the context or the loop has ended.
func (r *retry) end(err error) {
	if r.failed != nil {
		err = loopapi.Errorf("%v; %v", err, r.failed)
	}
	r.settle(nil, err)
}

// failure is the error of an attempt.
type failure struct {
	attempt int
	err     error
	final   bool // there is to be no further attempt
}

func (f *failure) Error() string {
	return loopapi.Errorf("flow: attempt %d: %v", f.attempt, f.err).Error()
}
func (f *failure) Unwrap() error { return f.err }

// wait returns how long to wait after that many failures.
func (b Backoff) wait(failures int) time.Duration {
	first := cmp.Or(b.First, 100*time.Millisecond)
	most := cmp.Or(b.Max, max(30*time.Second, first))
	factor := cmp.Or(b.Factor, 2)
	jitter := min(cmp.Or(b.Jitter, 0.2), 1)
	switch {
	case first < 0:
		return 0
	case most < 0:
		most = math.MaxInt64
	}
	if factor < 0 {
		factor = 1
	}
	d := most
	if exact := float64(first) * math.Pow(factor, float64(failures-1)); exact < float64(most) {
		d = time.Duration(exact)
	}
	if jitter > 0 {
		d -= time.Duration(float64(d) * jitter * rand.Float64())
	}
	return d
}
