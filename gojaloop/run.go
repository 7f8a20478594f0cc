package gojaloop

// The ways in: Submit, Do and Run.

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/dop251/goja"
	"github.com/turnloop/turnloop/eventloop"
)

// Submit queues fn to run on the loop, in the order of submission to the host. It does not wait. An exception or a panic
// that comes out of fn is an uncaught exception. Ticks and promise jobs run behind each function; but functions that wait
// when the host has its turn run in one callback of the loop, so one may overtake what was submitted to the loop itself.
//
// Any goroutine may call it. It returns eventloop.ErrNilCallback, [ErrClosed] with the reason when the host has ended, or what
// the loop's Submit returns.
func (h *Host) Submit(fn func(vm *goja.Runtime)) error {
	if fn == nil {
		return eventloop.ErrNilCallback
	}
	return h.inbox.add(item{fn: fn})
}

// closed is the error of a host that has ended.
func closed(why error) error {
	if errors.Is(why, ErrClosed) || errors.Is(why, eventloop.ErrLoopTerminated) {
		return why
	}
	return fmt.Errorf("%w: %w", ErrClosed, why)
}

// Do calls fn on the loop, waits until it has returned and ticks and promise jobs have run, and returns its error. A
// script's exception that fn returns, or that comes out of it, arrives as an [*Error]; a panic as an
// *eventloop.PanicError. From a function that a script has called, or from fn, Do calls fn at once, and what it leaves
// runs later.
//
// When ctx ends, fn is not called if it has not begun; a script that runs is interrupted, what it left to be done at once
// is dropped, also what waits for ticks and promise jobs, and Do returns ctx.Err(). The host goes on, unless that was in an
// async function behind its first await, or in a generator: then it has ended, and the error wraps [ErrBroken] too. Go
// code that blocks is not interrupted: Do waits for it.
//
// Any goroutine may call it. It returns [ErrClosed] with the reason when the host has ended, eventloop.ErrLoopTerminated
// when the loop has or is ending, and an error that wraps eventloop.ErrAwaitOnLoop from a callback of the loop that is no
// script's, which could only wait for itself: there is Submit for that.
func (h *Host) Do(ctx context.Context, fn func(vm *goja.Runtime) error) error {
	if fn == nil {
		return eventloop.ErrNilCallback
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if h.loop.OnLoop() {
		if h.inside == 0 {
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
		if !d.begun.Swap(true) { // dropped
			return eventloop.ErrLoopTerminated
		}
		<-d.done
	}
	return d.err
}

var errWaits = fmt.Errorf("gojaloop: Do would wait for its own loop: %w", eventloop.ErrAwaitOnLoop)

// do is one call of Do. err is written before done is closed.
type do struct {
	host  *Host
	ctx   context.Context
	fn    func(*goja.Runtime) error
	begun atomic.Bool // by the loop, or given up by the caller
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
	}, then: checking, alone: true}, during)
	if err != nil && (!finished || d.err == nil || errors.Is(err, ErrBroken)) { // fn may have been told of the interrupt, and no more
		d.err = err
		if h.over != nil {
			d.err = closed(err)
		}
	}
}

// Run runs a script on the loop, and then waits until nothing is left to do: no timer or immediate with a ref, no Go work
// that scripts wait for. It returns the script's value, of which only a primitive may be used elsewhere than on the loop
// while that runs. The name is for stack traces.
//
// If nobody runs the loop, Run does, until there is nothing left to do; and the loop ends with it. Otherwise it waits, and the host
// may run other scripts. When ctx ends the program ends at once, and so does the host.
//
// It returns a *goja.CompilerSyntaxError; an [*Error] for an exception that nobody has caught; an [*ExitError] for an exit code
// other than 0; ctx.Err(); eventloop.ErrLoopTerminated when the loop ended first; [ErrClosed] with the reason when
// the host has ended before. Any goroutine may call it but the loop's, where it returns an error that wraps
// eventloop.ErrAwaitOnLoop.
func (h *Host) Run(ctx context.Context, name, source string) (goja.Value, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if h.loop.OnLoop() {
		return nil, fmt.Errorf("gojaloop: Run would wait for its own loop: %w", eventloop.ErrAwaitOnLoop)
	}
	if err := h.ended.Load(); err != nil {
		return nil, closed(*err)
	}
	parsed, err := goja.Parse(name, source)
	if err != nil {
		return nil, err
	}
	compiled, err := goja.CompileAST(parsed, false)
	if err != nil {
		return nil, err
	}
	return h.runScript(ctx, func(vm *goja.Runtime) (goja.Value, error) {
		h.globals.declare(parsed)
		return vm.RunProgram(compiled)
	})
}

// run is one call of Run. The loop writes value and err, and then closes done.
type run struct {
	value goja.Value
	err   error
	over  bool
	done  chan struct{}
	stop  func() // ends the loop, if Run runs it
}

func (r *run) finish(err error) {
	var exit *ExitError
	if errors.As(err, &exit) && exit.Code == 0 {
		err = nil
	}
	if r.over {
		return
	}
	if r.over, r.err = true, err; err != nil {
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
		if h.over != nil {
			r.finish(closed(h.over))
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
	if h.loop.State() != eventloop.StateAwake || h.loop.Run(until) == eventloop.ErrLoopAlreadyRunning {
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

// idle tells whether there is nothing that Run has to wait for.
func (h *Host) idle() bool { return h.pending+h.timers.refs+h.immediates.refs == 0 && !h.inbox.any() }

// settle has the loop confirm that nothing is left to do, behind what is queued already.
func (h *Host) settle() {
	if len(h.runs) == 0 || h.settling || !h.idle() {
		return
	}
	h.settling = true
	if h.loop.Submit(h.confirm) != nil {
		if err := h.loop.SubmitInternal(h.confirm); err != nil {
			h.end(err)
		}
	}
}

// confirm ends what Run waits for, if nothing has come since; listeners of 'beforeExit' may bring something.
func (h *Host) confirm() {
	if h.settling = false; h.over != nil || !h.idle() {
		return
	}
	if h.process.object != nil {
		h.settling = true // no entry of this one asks for another
		h.tell(func() error { return h.emit("beforeExit", h.vm.ToValue(h.exitCode())) })
		if h.over == nil && h.idle() {
			h.tell(h.emitExit)
		}
		if h.settling = false; h.over != nil || !h.idle() {
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
