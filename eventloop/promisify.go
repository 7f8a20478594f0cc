package eventloop

// Promises of the loop, and the workers that settle some of them.

import (
	"context"

	"github.com/turnloop/turnloop/eventloop/promise"
	"github.com/turnloop/turnloop/internal/crew"
	"github.com/turnloop/turnloop/internal/inbox"
	"github.com/turnloop/turnloop/internal/outcome"
	"github.com/turnloop/turnloop/internal/place"
	"github.com/turnloop/turnloop/internal/quota"
	"github.com/turnloop/turnloop/internal/release"
	"github.com/turnloop/turnloop/internal/sched"
	"github.com/turnloop/turnloop/internal/sched/atomic"
)

// NewPromise returns a pending promise and the two functions that settle it. The first call of either decides; both may
// be called from any goroutine, and take effect on the loop. See [promise.Realm.New].
func (l *Loop) NewPromise() (p *Promise, resolve func(value any), reject func(reason error)) {
	return l.promises.New()
}

// Promises returns the realm, which makes and combines the promises of the loop: Resolved, Rejected, Try, All, Race and so on.
func (l *Loop) Promises() *promise.Realm { return &l.promises.Realm }

// Promisify calls fn with ctx on a goroutine of its own, and returns a promise of what it returns. fn may block. See
// [WithWorkerLimit] for how many do so at once.
//
// The promise is rejected
//   - with the error that fn returns;
//   - with a *PanicError when fn panics or calls runtime.Goexit;
//   - with ctx.Err(), or an error that wraps it and the cause, as soon as ctx ends. It is the same error if fn itself
//     returns ctx.Err() or the cause;
//   - at once with ErrNilCallback if fn is nil, with such an error if ctx has ended, and with ErrLoopTerminated if the loop
//     is ending or has ended.
//
// When ctx ends, fn is not called if it was waiting to start, and what it returns later is ignored. If ctx ends and fn
// returns at the same time, either may count.
//
// Until fn has returned or ctx has ended, the call keeps an auto-exit loop alive, and Shutdown waits for it. So fn must not
// wait for Shutdown. Close does not wait: functions that have not started do not start, and those that have started go on
// until they return, so they should watch ctx.
//
// When another goroutine than the loop's calls it, and fn fails at once, the promise may be reported as an unhandled
// rejection before the caller can wait for it. A call costs a goroutine and a wake-up. While more than a
// hundred functions have not begun, another waits for its goroutine, and a call off the loop lets other goroutines run.
func (l *Loop) Promisify(ctx context.Context, fn func(context.Context) (any, error)) *Promise {
	w := &workItem{loop: l, ctx: ctx, fn: fn}
	l.promises.Begin(&w.promise)
	switch err := w.start(); err {
	case nil:
		return &w.promise
	case ErrLoopTerminated, outcome.Refusal{Loop: l.id}:
		return l.promises.Refused(err)
	default:
		return l.promises.Rejected(err)
	}
}

// Work is Promisify without the promise: it calls fn with ctx on a goroutine of its own, and then done on the loop, once, with
// what fn has returned or with the error that the promise would be rejected with. [Loop.Close] ends the loop without these
// calls. Work returns the error with which Promisify rejects at once, and then calls neither; a nil done is refused like a
// nil fn. A call costs what one of Promisify costs.
//
// Before the loop waits for workers it rejects promises that are pending. done may settle one of [Loop.NewWorkPromise],
// which stays pending until then.
func (l *Loop) Work(ctx context.Context, fn func(context.Context) (any, error), done func(value any, err error)) error {
	return l.work(ctx, fn, done, false)
}

// work is Work. RefuseWork does not keep it from the guest.
func (l *Loop) work(ctx context.Context, fn func(context.Context) (any, error), done func(value any, err error), guest bool) error {
	if done == nil {
		fn = nil
	}
	if from := l.here(); from != nil { // what done brings comes from here
		then := done
		done = func(value any, err error) {
			l.shows(from)
			then(value, err)
		}
	}
	return (&workItem{loop: l, ctx: ctx, fn: fn, done: done, guest: guest}).start()
}

// NewWorkPromise returns a pending promise, and the function that settles it: with err if that is not nil, else with value,
// which may be a promise to follow. With settle as its third argument, Work does what Promisify does. Only the loop may
// call settle, and whoever asks for such a promise must see to that: unlike one of NewPromise, this one is not rejected when
// the loop shuts down. If it is pending when the loop has ended, who waits for it hears ErrLoopTerminated, and no handler
// is called. Calls of settle but the first do nothing; one off the loop panics.
func (l *Loop) NewWorkPromise() (p *Promise, settle func(value any, err error)) {
	w := &workPromise{loop: l}
	l.promises.Begin(&w.promise)
	return &w.promise, w.settle
}

type workPromise struct {
	promise Promise
	loop    *Loop
	settled bool
}

func (w *workPromise) settle(value any, err error) {
	if !w.loop.OnLoop() {
		panic("eventloop: a promise of NewWorkPromise is settled off the loop")
	}
	if w.settled {
		return
	}
	if w.settled = true; err != nil {
		value = err
	}
	w.loop.promises.Finish(&w.promise, err != nil, value)
}

// start starts a worker, or returns the reason why there must be none.
func (w *workItem) start() error {
	l, ctx := w.loop, w.ctx
	ended := ctx.Err() // a nil context panics here
	switch {
	case w.fn == nil:
		return ErrNilCallback
	case ended != nil:
		return outcome.Cancelled(ctx)
	}
	if err := l.addWorker(w.guest); err != nil {
		return err
	}
	w.task = w.runOrFinish
	if l.notes != nil { // only debug mode needs the clock
		l.notes.Put(place.Workers, w, l.now(), l.here())
	}
	run := w.task
	if ctx.Done() != nil {
		w.contested = true
		forget := sched.AfterContext(ctx, func() { w.cancel(ctx) })
		run = func() {
			defer forget()
			w.run()
		}
	}
	l.crew.Start(w, run)
	return nil
}

// RefuseWork has the loop begin no more work. What waits for a worker under [WithWorkerLimit], and all later calls of Work and
// Promisify, end with an error that wraps ErrLoopTerminated and is not reported as unhandled; functions that run go on. It
// cannot be taken back. A stop that waits only for what runs begins with it. Threadlets that run may still call threadlet.Do.
// Any goroutine may call it, any number of times.
func (l *Loop) RefuseWork() { l.crew.Refuse() }

// addWorker counts a worker, unless the loop is ending, or refuses work and this is not the guest's. Off the loop it decides this
// under the lock that the loop takes to look for workers.
func (l *Loop) addWorker(guest bool) error {
	u := &l.urgent
	if !guest && l.crew.Refused() {
		return outcome.Refusal{Loop: l.id}
	}
	if l.state.Load().Ending() { // looked at before the lock too, so that refused calls do not keep the loop from the lock
		l.yieldOffLoop()
		return ErrLoopTerminated
	}
	if l.OnLoop() {
		u.addDelivered(-1)
		return nil
	}
	l.lock(&u.Lock)
	refused := u.Sealed() || l.state.Load().Ending()
	if !refused {
		u.begun++
	}
	u.Unlock()
	if refused {
		l.yieldOffLoop()
		return ErrLoopTerminated
	}
	if u.Wanted() || l.crew.Waiting() >= crew.Many {
		inbox.GiveWay(0)
	}
	return nil
}

// hasWorkers tells whether workers are under way whose outcome the loop will get. An ending loop gets no new ones: each call of
// Promisify that found the loop not ending yet has been counted, under the lock or on the loop.
func (l *Loop) hasWorkers() bool {
	l.lock(&l.urgent.Lock)
	defer l.urgent.Unlock()
	return l.urgent.workers()
}

// workers tells whether there are calls of Promisify whose outcome the loop has not received. The caller holds the lock.
func (u *urgent) workers() bool { return u.begun != u.delivered.Load() }

// addDelivered adds n to delivered. Only the loop calls it.
func (u *urgent) addDelivered(n int) { release.Store(&u.delivered, u.delivered.Load()+uint32(n)) }

// Promisify is [Loop.Promisify] for a T.
func Promisify[T any](ctx context.Context, l *Loop, fn func(context.Context) (T, error)) promise.Of[T] {
	if fn == nil {
		return promise.As[T](l.Promisify(ctx, nil))
	}
	return promise.As[T](l.Promisify(ctx, func(ctx context.Context) (any, error) { return fn(ctx) }))
}

// workItem is a call of Promisify, with its promise, or of Work. A reference to the promise keeps the whole workItem in
// memory, so its other fields are cleared once they are used. Only result and task may stay, and done, beside which there is no
// promise: if Close drops the outcome from the inbox, finish, which would clear them, is not called. The urgent inbox counts the
// workItem until the loop has received the outcome.
type workItem struct {
	promise Promise                    // of Promisify
	done    func(value any, err error) // of Work; nil for Promisify
	loop    *Loop
	task    func() // runOrFinish, bound once

	// started is set by the goroutine that takes fn and ctx: by the worker, which calls fn, or by another, which drops both.
	ctx     context.Context
	fn      func(context.Context) (any, error)
	started atomic.Bool

	// contested says that ctx may end, so that another goroutine than the worker may take fn, or settle first. If contested
	// is false, the flags started and settled are not used. Promisify sets contested before the worker starts.
	contested bool

	// settled is set by the goroutine whose outcome is the first. That goroutine then writes the outcome, which the loop reads.
	settled atomic.Bool
	guest   bool // a threadlet waits for it, so RefuseWork leaves it alone
	refused bool // it waited for a worker when RefuseWork was called; written before run is called
	failed  bool
	result  any // the value; or the error, if it failed
}

// Begun, Unrefused and Refuse are what the crew asks and tells.
func (w *workItem) Begun() bool     { return w.started.Load() }
func (w *workItem) Unrefused() bool { return w.guest }
func (w *workItem) Refuse()         { w.refused = true }

// take sets a flag, and tells whether this call is the first to do so.
func (w *workItem) take(flag *atomic.Bool) bool { return !w.contested || !flag.Swap(true) }

// runOrFinish calls finish on the loop, and run elsewhere: so one closure serves both, unless ctx may end.
func (w *workItem) runOrFinish() {
	if w.loop.OnLoop() {
		w.finish()
	} else {
		w.run()
	}
}

// run is the worker's goroutine. After runtime.Goexit only its deferred functions run.
func (w *workItem) run() {
	taken := w.take(&w.started)
	w.loop.crew.Begin(taken) // before the look at the state: AwaitWorkers after Close finds this worker, or it sees the Close
	if !taken {
		return
	}
	ctx, fn := w.ctx, w.fn
	w.ctx, w.fn = nil, nil
	defer func() {
		w.loop.crew.Leave()
		w.loop.notes.Drop(place.Workers, w)
	}()
	switch {
	case w.loop.state.Load().Closing():
	case w.refused:
		w.settle(nil, outcome.Refusal{Loop: w.loop.id})
	default:
		outcome.Of(ctx, fn, w.settle)
	}
}

// cancel drops fn, unless the worker has taken it, and rejects the promise. It runs on a goroutine of its own when ctx has ended.
func (w *workItem) cancel(ctx context.Context) {
	if w.take(&w.started) {
		w.ctx, w.fn = nil, nil
		w.loop.notes.Drop(place.Workers, w)
		w.loop.crew.Drop()
	}
	w.settle(nil, outcome.Cancelled(ctx))
}

// settle tells the loop the outcome; the first one counts. If the loop was closed, its end has rejected the promise.
func (w *workItem) settle(value any, err error) {
	if !w.take(&w.settled) {
		return
	}
	if w.result = value; err != nil {
		w.failed, w.result = true, err
	}
	if w.loop.enqueue(internal, w.task, true) != nil {
		w.result = nil
	}
}

// finish hands over the outcome. The loop calls it.
func (w *workItem) finish() {
	w.loop.urgent.addDelivered(1)
	done, result := w.done, w.result
	w.done, w.result, w.task = nil, nil, nil
	switch {
	case done == nil:
		w.loop.promises.Finish(&w.promise, w.failed, result)
	case w.failed:
		done(nil, result.(error))
	default:
		done(result, nil)
	}
}

// unhandled reports a rejection without a handler. Rejections by which the loop refuses something because it ends, or is about
// to, are no faults, and are not reported; nor is what comes when the account of an ending loop is spent.
func (l *Loop) unhandled(p *Promise, err error) {
	refuses, ending := l.crew.Refused(), l.state.Load().Ending()
	if ending && (!l.starts(quota.Reports) || l.Closed()) {
		return
	}
	l.callHandler(func() {
		switch {
		case refuses && outcome.Is(err, outcome.Refusal{Loop: l.id}) || ending && outcome.Is(err, ErrLoopTerminated):
		case l.onUnhandled != nil:
			l.onUnhandled(p, err)
		default: // in debug mode err says where the promise comes from
			l.log().Error("unhandled promise rejection", "kind", "promise", "error", err)
		}
	})
}
