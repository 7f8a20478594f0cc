package threadlet

// Waiting: the one place where a threadlet lets go of the loop, and what is built on it without anything else.

import (
	"context"
	"runtime/debug"
	"time"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/promise"
)

// stubborn is how many more waits a threadlet may try when it has heard of the loop's end.
const stubborn = 1000

// unwind is the panic that ends a threadlet that goes on waiting.
type unwind struct{}

// enter is asked before each wait, and returns why there is to be none.
func (t *Threadlet) enter() error {
	if t.s.over {
		if t.refused++; t.refused > stubborn {
			panic(unwind{})
		}
		return eventloop.ErrLoopTerminated
	}
	if t.signaled.Load() {
		t.signaled.Store(false)
		return ErrSignaled
	}
	return nil
}

// wait suspends the threadlet until wake, and returns what that says.
func (t *Threadlet) wait(why reason) error {
	t.phase, t.reason, t.since = waiting, why, t.s.host.Tick()
	t.waits++
	t.s.seen.waits(t)
	t.leave()
	return t.result
}

// leave lets the loop go on until it resumes the threadlet. It may be resumed only to say where it is.
func (t *Threadlet) leave() {
	if t.s.drive(t) {
		return
	}
	for c := t.co; ; t.s.trace = debug.Stack() {
		c.yield(struct{}{})
		if !t.s.tracing {
			return
		}
	}
}

// wake ends the wait of a threadlet with err. It returns false if it is not waiting: another was first.
func (t *Threadlet) wake(err error) bool {
	if t.phase != waiting {
		return false
	}
	t.result = err
	t.s.resumeLater(t)
	return true
}

// wakeNumber is wake for one wait and none that comes after it.
func (t *Threadlet) wakeNumber(n uint32, err error) bool { return t.waits == n && t.wake(err) }

// wakeAfter has the end of ctx end the wait that comes next.
func (t *Threadlet) wakeAfter(ctx context.Context) (stop func() bool) {
	n := t.waits + 1
	return context.AfterFunc(ctx, func() {
		_ = t.s.loop.SubmitInternal(func() { t.wakeNumber(n, ctx.Err()) }) // as in Signal
	})
}

// Yield lets the loop do what else there is to do, and other threadlets run that are ready, before the caller goes on. It
// costs two switches of coroutines.
func Yield() error {
	t := Current()
	if t == nil {
		return ErrNotThreadlet
	}
	if err := t.enter(); err != nil {
		return err
	}
	t.s.resumeLater(t)
	t.leave()
	if t.s.over || t.signaled.Load() {
		return t.enter()
	}
	return nil
}

// Sleep waits until d has passed, and lets others go on as Yield does if d is not positive. It costs a timer of the loop,
// which keeps one with WithAutoExit alive.
func Sleep(d time.Duration) error {
	if d <= 0 {
		return Yield()
	}
	t := Current()
	if t == nil {
		return ErrNotThreadlet
	}
	if err := t.enter(); err != nil {
		return err
	}
	id, _ := t.startTimer(d, nil) // refused by a loop that is ending, which ends the wait
	err := t.wait(sleeping)
	if err != nil {
		_ = t.s.loop.CancelTimer(id)
	}
	return err
}

// startTimer has the wait that comes next end with err after d. A threadlet has one such timer at a time; if another is
// first, that cancels it: both happen on the loop, so it does not fire then.
func (t *Threadlet) startTimer(d time.Duration, err error) (eventloop.TimerID, error) {
	if t.timer == nil {
		m := new(timer)
		m.fire = func() { t.wake(m.err) }
		t.timer = m
	}
	t.timer.err = err
	return t.s.loop.ScheduleTimer(d, t.timer.fire)
}

// timer wakes a threadlet.
type timer struct {
	fire func()
	err  error // with what
}

// Await waits until p settles, and returns its outcome; that of a promise of another loop too. It handles the rejection.
// It costs what [promise.Promise.Then] costs.
func Await[T any](p promise.Of[T]) (T, error) {
	t := Current()
	if t == nil {
		return *new(T), ErrNotThreadlet
	}
	q := t.s.loop.Promises().Resolved(p.Untyped()) // p, or one of this loop that follows it
	if err := t.enter(); err != nil {
		q.Catch(func(error) (any, error) { return nil, nil })
		return *new(T), err
	}
	value, err := t.await(promised, q)
	if err != nil {
		return *new(T), err
	}
	if v, ok := value.(T); ok {
		return v, nil
	}
	o := <-promise.As[T](q).ToChannel() // it has settled; what T makes of the value is the engine's affair
	return o.Value, o.Err
}

// await waits until a promise of the loop settles. Its caller has entered.
func (t *Threadlet) await(why reason, p *promise.Promise) (value any, err error) {
	n := t.waits + 1
	var reject error
	p.Then(func(v any) (any, error) {
		if value = v; !t.wakeNumber(n, nil) {
			value = nil
		}
		return nil, nil
	}, func(err error) (any, error) {
		reject = err
		t.wakeNumber(n, nil)
		return nil, nil
	})
	if err := t.wait(why); err != nil {
		return nil, err
	}
	return value, reject
}

// Do calls fn on a goroutine of its own, where it may block, and waits until it has returned; it returns fn's error, or its
// panic as a *eventloop.PanicError. The context of fn ends with ctx, and when the wait ends for another reason.
//
// When ctx ends, the threadlet is signaled or the loop ends, Do returns at once, and fn may still be running: what it
// shares with its caller is its own from then on. Shutdown of the loop waits for it. Do costs what
// [eventloop.Loop.Promisify] costs, and obeys eventloop.WithWorkerLimit. A nil fn is eventloop.ErrNilCallback.
func Do(ctx context.Context, fn func(context.Context) error) error {
	t := Current()
	switch {
	case t == nil:
		return ErrNotThreadlet
	case fn == nil:
		return eventloop.ErrNilCallback
	}
	if err := t.enter(); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	_, err := t.await(working, t.s.loop.Promisify(ctx, func(ctx context.Context) (any, error) { return nil, fn(ctx) }))
	return err
}
