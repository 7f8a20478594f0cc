package eventloop

// Promises of the loop, and the workers that settle some of them.

import (
	"context"
	"errors"
	"reflect"
	"runtime/debug"
	"slices"

	"github.com/turnloop/turnloop/eventloop/promise"
	"github.com/turnloop/turnloop/internal/loopapi"
	"github.com/turnloop/turnloop/internal/sched"
	"github.com/turnloop/turnloop/internal/sched/atomic"
)

// NewPromise returns a pending promise and the two functions that settle it. The first call of either decides; both may
// be called from any goroutine, and take effect on the loop. See [promise.Realm.New].
func (l *Loop) NewPromise() (p *Promise, resolve func(value any), reject func(reason error)) {
	return l.promises.New()
}

// Promises returns the realm, which makes and combines the promises of the loop: Resolved, Rejected, Try, All, Race and so
// on.
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
// hundred functions have not begun, each call lets other goroutines run; on the loop, its function waits for its goroutine.
func (l *Loop) Promisify(ctx context.Context, fn func(context.Context) (any, error)) *Promise {
	if fn == nil {
		return l.promises.Rejected(ErrNilCallback)
	}
	if err := l.admitWorker(ctx); err != nil {
		return l.refusedWork(err)
	}
	w := &workItem{loop: l, ctx: ctx, fn: fn}
	l.promises.Begin(&w.promise)
	l.startWorker(w)
	return &w.promise
}

// admitWorker counts a worker, which startWorker then starts. If there must be none, it returns the reason.
func (l *Loop) admitWorker(ctx context.Context) error {
	if ctx.Err() != nil {
		return cancelled(ctx)
	}
	return l.addWorker()
}

// refusedWork returns a promise that is rejected with the error of admitWorker.
func (l *Loop) refusedWork(err error) *Promise {
	if err == ErrLoopTerminated {
		return l.promises.Refused(err)
	}
	return l.promises.Rejected(err)
}

// startWorker starts a worker that admitWorker has counted.
func (l *Loop) startWorker(w *workItem) {
	ctx := w.ctx
	w.task = w.runOrFinish
	if l.notes != nil { // only debug mode needs the clock
		l.notes.put(w, l.now(), l.here())
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
	l.startItem(queuedItem{w, run})
}

// Promisify is [Loop.Promisify] for a T.
func Promisify[T any](ctx context.Context, l *Loop, fn func(context.Context) (T, error)) promise.Of[T] {
	if fn == nil {
		return promise.As[T](l.Promisify(ctx, nil))
	}
	return promise.As[T](l.Promisify(ctx, func(ctx context.Context) (any, error) { return fn(ctx) }))
}

// cancelled is the error of a context that has ended.
func cancelled(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if comparable := reflect.ValueOf(cause).Comparable(); cause == nil || comparable && cause == err {
		return err
	}
	return loopapi.Errorf("%v: %v", err, cause)
}

// isError is errors.Is, but false if that panics: methods of err may, and the error of a context may have a type that cannot be
// compared.
func isError(err, target error) (is bool) {
	defer func() { _ = recover() }()
	return target != nil && errors.Is(err, target)
}

// workItem is a call of Promisify, with its promise, or an attempt of Retry. A reference to the promise keeps the whole
// workItem in memory, so its other fields are cleared once they are used. Only result, task and retry may stay: if Close drops
// the outcome from the inbox, finish, which would clear them, is not called. The urgent inbox counts the workItem until the
// loop has received the outcome.
type workItem struct {
	promise Promise // of Promisify; not used by an attempt
	retry   *retry  // of which this is an attempt, or nil
	loop    *Loop
	task    func() // runOrFinish, bound once

	// started is set by the goroutine that takes fn and ctx: by the worker, which calls fn, or by another, which drops both.
	ctx     context.Context
	fn      func(context.Context) (any, error)
	started atomic.Bool

	// contested says that ctx may end, so that another goroutine than the worker may take fn, or settle first. If contested
	// is false, the flags started and settled are not used. Promisify sets contested before the worker starts.
	contested bool

	// settled is set by the goroutine whose outcome is the first. That goroutine then writes the outcome, which the loop
	// reads.
	settled atomic.Bool
	failed  bool
	result  any // the value; or the error, if it failed
}

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
	if !w.take(&w.started) {
		return
	}
	ctx, fn := w.ctx, w.fn
	w.ctx, w.fn = nil, nil
	crew := w.loop.ofCrew()
	crew.enter() // before the state is read: an AwaitWorkers after Close finds this worker, or the worker sees the Close
	w.loop.workers.followUp()
	if w.loop.state.load().closing() {
		crew.leave()
		w.loop.notes.drop(w)
		return
	}
	returned := false
	defer func() {
		if !returned {
			w.settle(nil, &PanicError{Value: ErrGoexit, Stack: debug.Stack()})
		}
		crew.leave()
		w.loop.notes.drop(w)
	}()
	value, err := call(ctx, fn)
	returned = true
	w.settle(value, err)
}

// cancel drops fn, unless the worker has taken it, and rejects the promise. It runs on a goroutine of its own when ctx has
// ended.
func (w *workItem) cancel(ctx context.Context) {
	if w.take(&w.started) {
		w.ctx, w.fn = nil, nil
		w.loop.ofCrew().count.Add(-oneWaits)
		w.loop.notes.drop(w)
		w.loop.workers.drop()
		w.loop.workers.followUp()
	}
	w.settle(nil, cancelled(ctx))
}

// call calls fn, unless ctx has ended before, and returns what fn returns. A panic becomes an error.
func call(ctx context.Context, fn func(context.Context) (any, error)) (value any, err error) {
	returned := false
	defer func() {
		if !returned { // recover does not tell: it returns nil for runtime.Goexit, too
			value, err = nil, &PanicError{Value: recover(), Stack: debug.Stack()}
		}
	}()
	if ctx.Err() != nil {
		err = cancelled(ctx)
	} else {
		value, err = fn(ctx)
		if end := ctx.Err(); end != nil && (isError(err, end) || isError(err, context.Cause(ctx))) {
			err = cancelled(ctx) // the same error as from cancel, which may have come first
		}
	}
	returned = true
	return value, err
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
	r, result := w.retry, w.result
	w.retry, w.result, w.task = nil, nil, nil
	if r != nil {
		r.hear(w.failed, result)
	} else {
		w.loop.promises.Finish(&w.promise, w.failed, result)
	}
}

// addWorker counts a worker, unless the loop is ending. Off the loop it decides this under the lock that the loop takes
// to look for workers.
func (l *Loop) addWorker() error {
	u := &l.urgent
	if l.state.load().ending() { // looked at before the lock too, so that refused calls do not keep the loop from the lock
		l.yieldOffLoop()
		return ErrLoopTerminated
	}
	if l.OnLoop() {
		u.addDelivered(-1)
		return nil
	}
	l.lock(&u.spinLock)
	refused := u.sealed || l.state.load().ending()
	if !refused {
		u.begun++
	}
	u.Unlock()
	if refused {
		l.yieldOffLoop()
		return ErrLoopTerminated
	}
	if u.wanted.Load() != 0 || l.ofCrew().waiting() >= manyWorkers {
		giveWay(0)
	}
	return nil
}

// manyWorkers is how many functions wait for a goroutine, or goroutines for their first step, when callers of Promisify give
// way. The run queue of a processor holds 256 goroutines. Those that find it full take half of it along to the global run
// queue, and with it whoever else waits there, like a loop that was woken. From that queue the runtime rarely takes a
// goroutine while others are ready.
const manyWorkers = 128

// hasWorkers tells whether workers are under way whose outcome the loop will get. An ending loop gets no new ones: each call of
// Promisify that found the loop not ending yet has been counted, under the lock or on the loop.
func (l *Loop) hasWorkers() bool {
	l.lock(&l.urgent.spinLock)
	defer l.urgent.Unlock()
	return l.urgent.workers()
}

// workers tells whether there are calls of Promisify whose outcome the loop has not received. The caller holds the
// lock.
func (u *urgent) workers() bool { return u.begun != u.delivered.Load() }

// addDelivered adds n to delivered. Only the loop calls it.
func (u *urgent) addDelivered(n int) { storeRelease(&u.delivered, u.delivered.Load()+uint32(n)) }

// workers starts a goroutine for each workItem; under a limit, or if there are too many, some of them later. In between its
// fields are zero.
type workers struct {
	mu       sched.Mutex  // guards the other fields, and writes of deferred
	running  int          // goroutines at work; counted under a limit only
	waiting  []queuedItem // in the order of the calls of Promisify
	dropped  int          // how many of waiting were cancelled: their started is set
	deferred atomic.Bool  // waiting is not empty, and there is no limit
}

// queuedItem is a workItem with the function that a goroutine calls for it.
type queuedItem struct {
	*workItem
	run func()
}

// startItem starts a goroutine for t, or has t wait for one. Other goroutines give way when too many workers have not begun. A
// callback of the loop cannot, so its functions wait, and each worker that begins starts the next.
//
// Whoever takes a function, to call it or because its context has ended, counts it out of crew.waiting, and then looks at
// deferred. startItem sets deferred before it looks at the count again. So either startItem starts t, or one of those will.
func (l *Loop) startItem(t queuedItem) {
	ws, crew := &l.workers, l.ofCrew()
	crew.count.Add(oneWaits)
	switch {
	case l.workerLimit != 0:
		ws.startWithin(l.workerLimit, t)
	case l.OnLoop() && (ws.deferred.Load() || crew.waiting() > manyWorkers):
		ws.mu.Lock()
		ws.waiting = append(ws.waiting, t)
		ws.deferred.Store(true)
		ws.mu.Unlock()
		for crew.waiting() <= manyWorkers && ws.startNext() {
		}
	default:
		sched.Go(t.run)
	}
}

// followUp starts a workItem in the place of one that waits no more. There may be a limit; then it does nothing.
func (ws *workers) followUp() {
	if ws.deferred.Load() {
		ws.startNext()
	}
}

// startNext starts the first workItem that waits, if there is one. There is no limit.
func (ws *workers) startNext() bool {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	t, ok := ws.pop()
	if ok {
		sched.Go(t.run)
	}
	ws.deferred.Store(len(ws.waiting) != 0)
	return ok
}

// pop takes the first workItem that waits and was not cancelled. The caller holds mu.
func (ws *workers) pop() (t queuedItem, ok bool) {
	for len(ws.waiting) > 0 {
		t := ws.waiting[0]
		ws.waiting[0] = queuedItem{}
		ws.waiting = ws.waiting[1:]
		if !t.started.Load() {
			return t, true
		}
		ws.dropped = max(0, ws.dropped-1)
	}
	ws.waiting = nil
	return queuedItem{}, false
}

func (ws *workers) startWithin(limit int, t queuedItem) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if ws.running == limit {
		ws.waiting = append(ws.waiting, t)
		return
	}
	ws.running++
	sched.Go(func() { ws.runItem(t.run) })
}

func (ws *workers) runItem(run func()) {
	defer ws.next() // also when run ends the goroutine
	run()
}

// next is called when a workItem is done, and starts the first that waits in its place.
func (ws *workers) next() {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if t, ok := ws.pop(); ok {
		sched.Go(func() { ws.runItem(t.run) })
	} else {
		ws.running--
	}
}

// drop counts a workItem that was cancelled while it waited. When most of those that wait were cancelled, it removes them.
func (ws *workers) drop() {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if ws.dropped++; 2*ws.dropped > len(ws.waiting) {
		ws.waiting = slices.DeleteFunc(ws.waiting, func(t queuedItem) bool { return t.started.Load() })
		ws.dropped = 0
		if len(ws.waiting) == 0 {
			ws.deferred.Store(false)
		}
	}
}

// abandon removes the work that still waits when the loop has ended. It calls run of each workItem all the same: run sees
// the end, and only clears the context and the function. This may take a while and nobody waits for it, so it is done on
// another goroutine.
func (ws *workers) abandon() {
	ws.mu.Lock()
	waiting := ws.waiting
	ws.waiting = nil
	ws.deferred.Store(false)
	ws.mu.Unlock()
	if len(waiting) != 0 {
		sched.Go(func() {
			for _, t := range waiting {
				t.run()
			}
		})
	}
}

// unhandled reports a rejection without a handler. Rejections by which an ending loop refuses something are no faults,
// and are not reported.
func (l *Loop) unhandled(p *Promise, err error) {
	l.callHandler(func() {
		switch {
		case l.state.load().ending() && isError(err, ErrLoopTerminated):
		case l.onUnhandled != nil:
			l.onUnhandled(p, err)
		default: // in debug mode err says where the promise comes from
			l.log().Error("unhandled promise rejection", "kind", "promise", "error", err)
		}
	})
}
