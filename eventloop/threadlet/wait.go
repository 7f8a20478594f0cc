package threadlet

// Waiting: suspend, the one place where a threadlet gives way to the loop, and the waits that need nothing else.

import (
	"context"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/promise"
	"github.com/turnloop/turnloop/internal/guest"
	"github.com/turnloop/turnloop/internal/sched"
)

// stubborn is how many waits are refused to a threadlet at the end of the loop before it is unwound. If it recovers the panic
// that unwinds it, and waits as often again, runtime.Goexit ends it, which cannot be recovered.
const stubborn = 1000

// unwind is the panic value that ends such a threadlet.
type unwind struct{}

// enter is called before each wait. It returns an error if the wait must not begin: at the end of the loop, or because of a
// signal, which is thereby delivered.
func (t *Threadlet) enter() error {
	if t.s.terminated {
		switch t.refused++; {
		case t.refused > 2*stubborn:
			runtime.Goexit()
		case t.refused > stubborn:
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

// wait suspends the threadlet until wake, and returns the error that wake was given.
func (t *Threadlet) wait(why reason) error { return suspend(t, why) }

// suspend suspends the calling threadlet, t. If the reason is yielding, t stays ready and goes on in its turn. With any other
// reason t waits for wake, whose error suspend returns. For a caller that yields, t may be nil: then suspend finds the
// threadlet itself, and calls enter before and after.
//
// If there is no driver, the coroutine of t becomes the driver: instead of handing back to the loop at once, it resumes the
// threadlets of the queue as the loop would, until the turn of t comes. That saves two switches of four. It hands back when
// the queue is empty, when other work of the loop goes first (host.Another), for the report of a panic, and where the loop
// itself must act. All of this is one function because the processor mispredicts a return if a switch came since the call.
func suspend(t *Threadlet, why reason) error {
	self := t
	var c *coroutine
	if self == nil {
		if c = current(); c == nil || c.t == nil {
			return ErrNotThreadlet
		}
		self = c.t
		if self.s.terminated || self.signaled.Load() {
			if err := self.enter(); err != nil {
				return err
			}
		}
	} else {
		c = self.co
	}
	s := self.s
	if why == yielding {
		self.phase = ready
		s.queue(self)
	} else {
		self.phase, self.reason, self.since = waiting, why, s.host.Tick()
		self.waits++
	}
	if s.seen.places {
		s.seen.suspends(self)
	}
	if s.driver == nil && s.first != self {
		s.driver = c
		for s.first != nil && s.fault == nil {
			next := s.first
			if next.phase == fresh && len(s.idle) == 0 {
				break // the loop makes new coroutines: they inherit the profiler labels of the goroutine that makes them
			}
			if s.seen.turns || !s.host.Another() {
				break
			}
			s.take()
			if next == self {
				s.driver = nil
				s.goesOn(self)
				goto resumed
			}
			if next.phase == fresh {
				s.begin(next, s.takeIdle())
			}
			s.goesOn(next)
			o := next.co
			guest.SetOwner(s.owner, o.id)
			before := s.seen.enter(o)
			sched.Hand(o.id)
			o.next()
			sched.Hand(c.id)
			if s.wantsTrace {
				s.traceDriver(o)
			}
			s.seen.back(before)
			guest.SetOwner(s.owner, c.id)
			if s.spent != nil {
				s.bury()
			}
		}
		s.driver = nil
	}
	for c.yield(struct{}{}); s.tracing; c.yield(struct{}{}) { // resumed only to trace its stack
		s.trace = debug.Stack()
	}
resumed:
	switch {
	case why != yielding:
		return self.result
	case t == nil && (s.terminated || self.signaled.Load()):
		return self.enter()
	}
	return nil
}

// wake ends the wait of a threadlet with err. It returns false if the threadlet does not wait.
func (t *Threadlet) wake(err error) bool {
	if t.phase != waiting {
		return false
	}
	if t.at != nil {
		t.at.leave(t)
	}
	t.result = err
	t.s.resumeLater(t)
	return true
}

// wakeNumber ends the wait with the number n as wake does. If the threadlet is in a later wait, it does nothing.
func (t *Threadlet) wakeNumber(n uint32, err error) bool { return t.waits == n && t.wake(err) }

// wakeAfter arranges that the end of ctx ends the next wait with ctx.Err(). The caller calls stop after the wait. Until then a
// deadline of ctx keeps the loop alive, as a timer does.
func (t *Threadlet) wakeAfter(ctx context.Context) (stop func()) {
	n := t.waits + 1
	release := func() {}
	if _, ends := ctx.Deadline(); ends {
		release = t.s.loop.HoldNamed("the deadline of a Join")
	}
	forget := context.AfterFunc(ctx, func() {
		_ = t.s.loop.SubmitInternal(func() { t.wakeNumber(n, ctx.Err()) }) // as in Signal
	})
	return func() {
		forget()
		release()
	}
}

// Yield lets the loop do its other work, and other ready threadlets run, before the caller goes on. It returns ErrSignaled,
// eventloop.ErrLoopTerminated or ErrNotThreadlet. It costs two switches of coroutines.
func Yield() error { return suspend(nil, yielding) }

// Sleep waits until d has passed; if d is not positive it is Yield. It returns ErrSignaled or eventloop.ErrLoopTerminated if
// the wait ends early, ErrNotThreadlet, or an error of ScheduleTimer. Its timer keeps a loop with WithAutoExit alive.
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
	t.startTimer(d, nil)
	err := t.wait(sleeping)
	t.stopTimer()
	return err
}

// startTimer starts a timer that ends the next wait, or the current one, with err after d. A threadlet has one such timer.
// When something else has ended the wait, the threadlet calls stopTimer. All this happens on the loop, so the timer cannot
// fire in a later wait. An ending loop refuses the timer, and ends the wait itself. Another error of the loop ends the wait, too,
// but not at once: threadlets that only wait would keep the loop from all else.
func (t *Threadlet) startTimer(d time.Duration, err error) {
	x := t.more()
	if x.fire == nil {
		x.fire = func() { x.timer = 0; t.wake(x.timeout) }
	}
	x.timeout = err
	var refused error
	if x.timer, refused = t.s.loop.ScheduleTimer(d, x.fire); refused != nil && refused != eventloop.ErrLoopTerminated {
		n := t.waits + 1
		if t.phase == waiting {
			n = t.waits
		}
		_ = t.s.loop.SubmitInternal(func() { t.wakeNumber(n, refused) })
	}
}

// stopTimer cancels the timer if it is pending.
func (t *Threadlet) stopTimer() {
	if x := t.extra; x != nil && x.timer != 0 {
		_ = t.s.loop.CancelTimer(x.timer)
		x.timer = 0
	}
}

// Await waits until p settles, and returns its value or its error. p may belong to another loop; then it keeps the caller's
// loop alive meanwhile (WithAutoExit). Await counts as a handler of the rejection. If the wait ends before p settles, Await
// returns ErrSignaled or eventloop.ErrLoopTerminated. The zero Of counts as fulfilled with the zero T. Await costs what
// a Race of one promise costs.
func Await[T any](p promise.Of[T]) (T, error) {
	t := Current()
	if t == nil {
		return *new(T), ErrNotThreadlet
	}
	q := p.Untyped()
	if q == nil {
		q = t.s.loop.Promises().Resolved(nil)
	}
	if err := t.enter(); err != nil {
		t.s.host.Watch(q, func(any, error) {})()
		return *new(T), err
	}
	if !t.s.host.Has(q) {
		defer t.s.loop.HoldNamed("Await of another loop's promise")()
	}
	value, err := t.await(promised, q)
	if err != nil {
		return *new(T), err
	}
	if v, ok := value.(T); ok {
		return v, nil
	}
	o := <-promise.As[T](q).ToChannel() // does not block, as q has settled; the result is the value as a T, or an error
	return o.Value, o.Err
}

// await waits until p settles, and returns its outcome. The caller has called enter.
func (t *Threadlet) await(why reason, p *promise.Promise) (value any, err error) {
	stop := t.s.host.Watch(p, func(v any, e error) {
		value, err = v, e
		t.wake(nil)
	})
	if ended := t.wait(why); ended != nil {
		stop()
		return nil, ended
	}
	return value, err
}

// Do calls fn on a goroutine of its own, where fn may block, and waits until it has returned. It returns fn's error, or a
// *eventloop.PanicError if fn has panicked. The context that fn gets ends with ctx, and when Do returns.
//
// When ctx ends, the threadlet is signaled or the loop ends, Do returns at once although fn may still be running. From then
// on the caller must leave the variables alone that it shares with fn. Shutdown of the loop waits for fn. Do costs what
// [eventloop.Loop.Promisify] costs, and obeys eventloop.WithWorkerLimit. For a nil fn it returns eventloop.ErrNilCallback.
func Do(ctx context.Context, fn func(context.Context) error) error {
	_ = ctx.Done() // a nil context panics here
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
	n := t.waits + 1
	var err error
	if refused := t.s.host.Work(ctx, func(ctx context.Context) (any, error) { return nil, fn(ctx) }, func(_ any, outcome error) {
		err = outcome
		t.wakeNumber(n, nil)
	}); refused != nil {
		return refused
	}
	if ended := t.wait(working); ended != nil {
		return ended
	}
	return err
}
