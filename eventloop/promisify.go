package eventloop

// Promises of the loop, and the workers whose results they are.

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime/debug"
	"slices"

	"github.com/turnloop/turnloop/eventloop/promise"
	"github.com/turnloop/turnloop/internal/sched"
	"github.com/turnloop/turnloop/internal/sched/atomic"
)

// NewPromise returns a pending promise and the two functions that settle it. The first call of either decides; both may
// be called from any goroutine, and take effect on the loop. See [promise.Realm.New].
func (l *Loop) NewPromise() (p *Promise, resolve func(value any), reject func(reason error)) {
	return l.promises.New()
}

// Promises returns what makes and combines the promises of the loop: Resolved, Rejected, Try, All, Race and so on. The
// methods that are the loop's to call, as its documentation says, are not for others.
func (l *Loop) Promises() *promise.Realm { return l.promises }

// Promisify calls fn with ctx on a goroutine of its own, and returns a promise of what it returns. fn may block. See
// [WithWorkerLimit] for how many do so at once.
//
// The promise is rejected with the error that fn returns; with a *PanicError when fn panics or calls runtime.Goexit; as
// soon as ctx ends, with ctx.Err() or an error that wraps it and the cause (also if fn returns either); and at once
// with ErrNilCallback, with ctx.Err(), or with ErrLoopTerminated once the loop is ending. When ctx ends, fn is not
// called if it was waiting for its turn, and what it returns later is ignored; of an end of ctx and a return of fn at
// the same time, either may count.
//
// Until fn has returned, or ctx ended, it keeps an auto-exit loop alive, and Shutdown waits for it. Close does not
// wait, starts nothing that has not started, and does not stop what has, which is what ctx is for. fn must not wait for
// Shutdown, which waits for fn. Any goroutine may call it; elsewhere than on the loop, a function that fails at once may
// count as an unhandled rejection before the caller gets to wait for it. It costs a goroutine and a wake-up; who calls it
// while hundreds are under way lets other goroutines run now and then.
func (l *Loop) Promisify(ctx context.Context, fn func(context.Context) (any, error)) *Promise {
	if fn == nil {
		return l.promises.Rejected(ErrNilCallback)
	}
	if ctx.Err() != nil {
		return l.promises.Rejected(cancelled(ctx))
	}
	if err := l.addWorker(); err != nil {
		return l.promises.Refused(err)
	}
	w := &work{loop: l, ctx: ctx, fn: fn}
	l.promises.Begin(&w.promise)
	w.part = w.play
	if l.notes != nil { // nobody else needs the clock
		l.notes.put(w, l.now(), l.here())
	}
	run := w.part
	if ctx.Done() != nil {
		w.contested = true
		forget := sched.AfterContext(ctx, func() { w.cancel(ctx) })
		run = func() {
			defer forget()
			w.run()
		}
	}
	l.workers.start(l.workerLimit, turn{w, run})
	return &w.promise
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
	return fmt.Errorf("%w: %w", err, cause)
}

// isError is errors.Is for an error of somebody's own context, also for a target that cannot be compared: that is no other error.
func isError(err, target error) bool {
	return target != nil && reflect.ValueOf(target).Comparable() && errors.Is(err, target)
}

// work is one call of Promisify, with its promise in it: who holds that holds all of it, so it lets go of what it has
// used, but for an outcome that waits in the inbox when Close drops it. The inbox counts it until the loop has heard of
// its outcome.
type work struct {
	promise Promise
	loop    *Loop
	part    func() // play, bound once

	// started is set by who takes fn and ctx: the worker to call it, or who drops it.
	ctx     context.Context
	fn      func(context.Context) (any, error)
	started atomic.Bool

	// contested tells that ctx may end. Otherwise there is none but the worker to take what is here, and no flag is set.
	contested bool

	// over is set by who has the outcome first, and writes it; the loop reads it.
	over   atomic.Bool
	failed bool
	result any // the value; or the error, if it failed
}

// take takes what a flag stands for, and tells whether nobody has before.
func (w *work) take(flag *atomic.Bool) bool { return !w.contested || !flag.Swap(true) }

// play is finish on the loop, and run elsewhere: one function for both, as long as the worker needs no more.
func (w *work) play() {
	if w.loop.OnLoop() {
		w.finish()
	} else {
		w.run()
	}
}

// run is the worker's goroutine. runtime.Goexit cannot be stopped; the deferred functions are all that still runs then.
func (w *work) run() {
	if !w.take(&w.started) {
		return
	}
	ctx, fn := w.ctx, w.fn
	w.ctx, w.fn = nil, nil
	crew := w.loop.enlist() // first: who waits for workers after Close finds this one, or it finds the Close
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

// cancel is called, on a goroutine of its own, when the context ends.
func (w *work) cancel(ctx context.Context) {
	if w.take(&w.started) {
		w.ctx, w.fn = nil, nil
		w.loop.notes.drop(w)
		w.loop.workers.drop()
	}
	w.settle(nil, cancelled(ctx))
}

// call calls fn, unless ctx has ended while it waited for its turn, and returns a panic as an error, also one in a method
// of the error that fn returns.
func call(ctx context.Context, fn func(context.Context) (any, error)) (value any, err error) {
	returned := false
	defer func() {
		if !returned { // recover tells less: it returns nil for a panic(nil) too
			value, err = nil, &PanicError{Value: recover(), Stack: debug.Stack()}
		}
	}()
	if ctx.Err() != nil {
		err = cancelled(ctx)
	} else {
		value, err = fn(ctx)
		if end := ctx.Err(); end != nil && (isError(err, end) || isError(err, context.Cause(ctx))) {
			err = cancelled(ctx) // the same, whoever notices first
		}
	}
	returned = true
	return value, err
}

// settle tells the loop the outcome; the first one counts. If the loop was closed, its end has answered.
func (w *work) settle(value any, err error) {
	if !w.take(&w.over) {
		return
	}
	if w.result = value; err != nil {
		w.failed, w.result = true, err
	}
	if w.loop.enqueue(internal, w.part, true) != nil {
		w.result = nil
	}
}

// finish is called on the loop.
func (w *work) finish() {
	w.loop.urgent.addHeard(1)
	result := w.result
	w.result, w.part = nil, nil
	w.loop.promises.Finish(&w.promise, w.failed, result)
}

// addWorker counts a worker, if the loop is not ending. Elsewhere than on the loop this is decided under the lock that the
// loop takes to see whether there is any.
func (l *Loop) addWorker() error {
	u := &l.urgent
	if l.OnLoop() {
		if l.state.load().ending() {
			return ErrLoopTerminated
		}
		u.addHeard(-1)
		return nil
	}
	l.lock(&u.spinLock)
	refused := u.sealed || l.state.load().ending()
	if !refused {
		u.begun++
	}
	working := int(u.begun - u.heard.Load())
	due := u.begun%(chunkSize/workerShare) == 0 // to give way, if many work
	u.Unlock()
	if refused {
		l.turnAway()
		return ErrLoopTerminated
	}
	if waiting := working * workerShare; u.wanted.Load() != 0 || due && waiting >= crowd {
		giveWay(waiting)
	}
	return nil
}

// workerShare is how many functions that wait a worker counts for.
const workerShare = 8

// working tells whether there are workers that the loop will hear of. In a loop that is ending there come no more: who
// found it running has counted under the lock, or on the loop.
func (l *Loop) working() bool {
	l.lock(&l.urgent.spinLock)
	defer l.urgent.Unlock()
	return l.urgent.workers()
}

// workers tells whether there are calls of Promisify whose outcome the loop has not heard of. Under the lock.
func (u *urgent) workers() bool { return u.begun != u.heard.Load() }

// addHeard is the loop's.
func (u *urgent) addHeard(n int) { storeRelease(&u.heard, u.heard.Load()+uint32(n)) }

// workers starts work, some of it later if there is a limit.
type workers struct {
	mu      sched.Mutex
	running int // how many, if there is a limit
	waiting []turn
	dropped int // of those that wait; they have started, as it were
}

// turn is work with what a goroutine does for it.
type turn struct {
	*work
	run func()
}

func (ws *workers) start(limit int, t turn) {
	if limit == 0 {
		sched.Go(t.run)
		return
	}
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if ws.running == limit {
		ws.waiting = append(ws.waiting, t)
		return
	}
	ws.running++
	sched.Go(func() { ws.work(t.run) })
}

func (ws *workers) work(run func()) {
	defer ws.next() // also when run ends the goroutine
	run()
}

// next gives the place of work that is done to the next that waits.
func (ws *workers) next() {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for len(ws.waiting) > 0 {
		t := ws.waiting[0]
		ws.waiting[0] = turn{}
		ws.waiting = ws.waiting[1:]
		if !t.started.Load() {
			sched.Go(func() { ws.work(t.run) })
			return
		}
		ws.dropped = max(0, ws.dropped-1)
	}
	ws.waiting = nil
	ws.running--
}

// drop lets go of work that has no turn any more, when that is most of what waits.
func (ws *workers) drop() {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if ws.dropped++; 2*ws.dropped > len(ws.waiting) {
		ws.waiting = slices.DeleteFunc(ws.waiting, func(t turn) bool { return t.started.Load() })
		ws.dropped = 0
	}
}

// abandon takes away what waits when the loop has ended. It runs, sees that, and lets go of its context and its function:
// elsewhere, since that takes a while if there is much of it, and nobody waits for it.
func (ws *workers) abandon() {
	ws.mu.Lock()
	waiting := ws.waiting
	ws.waiting = nil
	ws.mu.Unlock()
	if len(waiting) != 0 {
		sched.Go(func() {
			for _, t := range waiting {
				t.run()
			}
		})
	}
}

// unhandled reports a rejection that nobody has handled. That a loop which is ending has refused something is nobody's
// fault.
func (l *Loop) unhandled(p *Promise, err error) {
	switch {
	case l.state.load().ending() && isError(err, ErrLoopTerminated):
	case l.onUnhandled != nil:
		l.handle(func() { l.onUnhandled(p, err) })
	default: // in debug mode err says where the promise comes from
		l.handle(func() { l.log().Error("unhandled promise rejection", "kind", "promise", "error", err) })
	}
}
