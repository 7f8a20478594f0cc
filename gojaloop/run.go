package gojaloop

// The ways in: Submit, Do and Run.

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/dop251/goja"
	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/gojaloop/internal/compile"
	"github.com/turnloop/turnloop/internal/loopapi"
)

// Submit queues fn to run on the loop, in the order of submission to the host. It does not wait. A checkpoint follows
// each function. An exception or a panic that comes out of fn is an uncaught exception. All functions that wait when
// the host has its turn run in one callback of the loop, so fn may overtake tasks that were submitted to the loop
// itself. Functions that take long share the turn with immediates and timers.
//
// Any goroutine may call it; one that is thousands of functions ahead yields now and then. It returns
// eventloop.ErrNilCallback, [ErrClosed] with the reason when the host has ended, or the error of the loop's Submit.
func (h *Host) Submit(fn func(vm *goja.Runtime)) error {
	if fn == nil {
		return eventloop.ErrNilCallback
	}
	return h.inbox.add(item{fn: fn})
}

// closed returns the error of a host that has ended, with the reason.
func closed(why error) error {
	if is(why, ErrClosed) || is(why, eventloop.ErrLoopTerminated) {
		return why
	}
	return loopapi.Errorf("%v: %v", ErrClosed, why)
}

// Do calls fn on the loop, waits until fn has returned and its checkpoint has run, and returns fn's error. A script's exception
// that fn returns or lets pass arrives as an [*Error], a panic as an *eventloop.PanicError. In fn itself, and in a Go function
// that a script has called, Do calls fn at once; the nextTick functions and promise jobs that it leaves run later.
//
// If ctx ends before fn has begun, fn is not called. If ctx ends while a script runs, the script is interrupted, its nextTick
// functions, promise jobs and unhandled rejections are dropped with all that waits for them, and Do returns ctx.Err(). The host
// goes on, unless the interrupt hit an async function behind its first await, or a generator: then the host has ended, and the
// error wraps [ErrBroken] too. Go code that blocks is not interrupted: Do waits for it.
//
// Any goroutine may call it. It returns eventloop.ErrNilCallback, [ErrClosed] with the reason when the host has ended, and
// eventloop.ErrLoopTerminated when the loop is ending or has ended. In a callback of the loop that does not come from a script,
// Do would wait for itself: it returns an error that wraps eventloop.ErrAwaitOnLoop. Use Submit there.
func (h *Host) Do(ctx context.Context, fn func(vm *goja.Runtime) error) error {
	if fn == nil {
		return eventloop.ErrNilCallback
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if h.loop.OnLoop() {
		if h.depth == 0 {
			return errWaits
		}
		return h.portable(h.protect(func() error { return fn(h.vm) }))
	}
	d := &do{host: h, ctx: ctx, fn: fn, done: make(chan struct{})}
	if err := h.inbox.add(item{own: d.run}); err != nil {
		return err
	}
	select {
	case <-d.done:
	case <-ctx.Done():
		if !d.begun.Swap(true) {
			return ctx.Err()
		}
		<-d.done
	case <-h.loop.Done():
		if !d.begun.Swap(true) { // the loop has dropped the item
			return eventloop.ErrLoopTerminated
		}
		<-d.done
	}
	return d.err
}

var errWaits = fmt.Errorf("gojaloop: Do would wait for its own loop: %w", eventloop.ErrAwaitOnLoop)

// do is one call of Do. The loop writes err, and then closes done.
type do struct {
	host  *Host
	ctx   context.Context
	fn    func(*goja.Runtime) error
	begun atomic.Bool // the loop has begun the call, or the caller has given it up
	done  chan struct{}
	err   error
}

func (d *do) run() {
	if d.begun.Swap(true) {
		return
	}
	h := d.host
	defer close(d.done)
	var during func(uint64) func()
	if d.ctx.Done() != nil {
		during = func(entry uint64) func() {
			stop := context.AfterFunc(d.ctx, func() { h.guard.interrupt(entry, d.ctx.Err()) })
			return func() { stop() }
		}
	}
	finished := false
	err := h.enter(entry{fn: func() {
		d.err = h.portable(h.protect(func() error { return d.fn(h.vm) }))
		finished = true
		if cause := h.guard.interruptCause(); cause != nil && is(d.err, cause) {
			h.dropLeft() // now: handlers in Go are not interrupted, and would hear of the rejections
		}
	}, then: checking, alone: true, told: true}, during)
	if err != nil && (!finished || d.err == nil || is(err, ErrBroken)) { // otherwise fn has returned an error of its own after the interrupt, and that counts
		d.err = err
		if h.endErr != nil {
			d.err = closed(err)
		}
	}
}

// Run runs a script on the loop, and waits until nothing is left to do: no timer or immediate with a ref, no Go work
// that scripts wait for. It returns the script's value; while the loop runs, only a primitive may be used elsewhere.
// name is the script's name in stack traces.
//
// If the loop does not run yet, Run runs it on this goroutine, and the loop ends when nothing is left to do. Otherwise
// Run waits, and the host may run other scripts meanwhile. After "go loop.Run(ctx)" the loop may not run yet: call Do
// first, which waits until it does. If Run comes first all the same, loop.Run returns an error, and what is given to the
// host after Run is refused with one that says so. When ctx ends, the host ends at once.
//
// It returns a *goja.CompilerSyntaxError; an [*Error] for an uncaught exception; an [*ExitError] for an exit code other than 0;
// ctx.Err(); eventloop.ErrLoopTerminated when the loop ended first; or [ErrClosed] with the reason when the host had ended
// before. Any goroutine may call it but the loop's, where it returns an error that wraps eventloop.ErrAwaitOnLoop.
func (h *Host) Run(ctx context.Context, name, source string) (goja.Value, error) {
	if err := h.mayRun(ctx); err != nil {
		return nil, err
	}
	parsed, err := goja.Parse(name, source)
	if err != nil {
		return nil, err
	}
	compiled, err := compile.Program(parsed, false)
	if err != nil {
		return nil, err
	}
	return h.runScript(ctx, func(vm *goja.Runtime) (goja.Value, error) {
		h.ran = [2]string{name, source}
		h.globals.declare(parsed)
		return vm.RunProgram(compiled)
	})
}

// mayRun returns why Run cannot begin, nil if it can.
func (h *Host) mayRun(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if h.loop.OnLoop() {
		return fmt.Errorf("gojaloop: Run would wait for its own loop: %w", eventloop.ErrAwaitOnLoop)
	}
	if err := h.Err(); err != nil {
		return closed(err)
	}
	return nil
}

// errRanLoop is the error of what comes behind a Run that has run the loop.
var errRanLoop = fmt.Errorf("%w: the host's Run has run the loop, which did not run yet, and has ended it", eventloop.ErrLoopTerminated)

// run is one call of Run. The loop writes value and err, and then closes done.
type run struct {
	value    goja.Value
	err      error
	finished bool
	done     chan struct{}
	stop     func() // ends the loop, if Run runs it
}

func (r *run) finish(err error) {
	var exit *ExitError
	if as(err, &exit) && exit.Code == 0 {
		err = nil
	}
	if r.finished {
		return
	}
	if r.finished, r.err = true, err; err != nil {
		r.value = nil
	}
	close(r.done)
	r.stop()
}

func (h *Host) runScript(ctx context.Context, script func(*goja.Runtime) (goja.Value, error)) (goja.Value, error) {
	until, stop := context.WithCancel(context.Background())
	defer stop()
	r := &run{done: make(chan struct{}), stop: stop}
	err := h.inbox.add(item{own: func() {
		if h.endErr != nil {
			r.finish(closed(h.endErr))
			return
		}
		h.runs = append(h.runs, r)
		_ = h.enter(entry{fn: func() {
			err := h.protect(func() (err error) { r.value, err = script(h.vm); return err })
			if err != nil {
				h.uncaught(nil, err, "uncaughtException")
			}
		}, then: timing}, nil)
	}})
	if err != nil {
		return nil, err
	}
	defer context.AfterFunc(ctx, func() { h.kill(ctx.Err()) })()
	mine := h.loop.State() == eventloop.StateAwake && !h.ranLoop.Swap(true)
	if !mine || h.loop.Run(until) == eventloop.ErrLoopAlreadyRunning {
		if mine {
			h.ranLoop.Store(false)
		}
		select {
		case <-r.done:
		case <-h.loop.Done():
		}
	}
	select {
	case <-r.done:
		return r.value, r.err
	default:
		return nil, eventloop.ErrLoopTerminated
	}
}

// idle tells whether nothing is left that Run has to wait for.
func (h *Host) idle() bool { return h.pending+h.timers.refs+h.immediates.refs == 0 && !h.inbox.any() }

// queueConfirm queues confirm at the loop, behind what is queued already, if nothing is left to do and a Run waits for that.
func (h *Host) queueConfirm() {
	if len(h.runs) == 0 || h.confirming || !h.idle() {
		return
	}
	h.confirming = true
	if h.loop.Submit(h.confirm) != nil {
		if err := h.loop.SubmitInternal(h.confirm); err != nil {
			h.end(err)
		}
	}
}

// confirm ends the waiting calls of Run, if no work has come since queueConfirm. Listeners of 'beforeExit' run first, and may
// cause new work; those of 'exit' may not.
func (h *Host) confirm() {
	if h.confirming = false; h.endErr != nil || !h.idle() {
		return
	}
	if h.process.object != nil {
		h.confirming = true // so that this entry does not queue confirm again
		h.runAlone(func() error { return h.emit("beforeExit", h.vm.ToValue(h.exitCode())) })
		h.advance(timing) // what they have caused begins with a turn, as in Node: with timers that are due
		more := !h.idle()
		if h.endErr == nil && !more {
			h.runAlone(h.emitExit)
		}
		if h.confirming, h.exiting = false, false; h.endErr != nil || more {
			return
		}
	}
	runs := h.runs
	h.runs = nil
	var err error
	if code := h.exitCode(); code != 0 {
		err = &ExitError{code}
	}
	for _, r := range runs {
		r.finish(err)
	}
}
