package gojaloop

// The host itself: its parts, its beginning and its end.

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"reflect"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/dop251/goja"
	"github.com/dop251/goja_nodejs/require"
	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/internal/slim"
)

// Host joins a goja runtime to a loop. Create one with [New]. Several hosts may share a loop; each has a runtime of
// its own. An idle host has no goroutine and needs no closing: it becomes garbage with its loop, or once nothing
// refers to it and nothing of it is pending.
type Host struct {
	loop *eventloop.Loop
	vm   *goja.Runtime

	promise       *goja.Object  // the class Promise
	resolve, then goja.Callable // Promise.resolve and then, saved before scripts can replace them
	thenValue     goja.Value    // then, as a value
	frame         goja.Callable // the JavaScript function that runs callbacks, see prelude.go

	// The globals, see lazy.go. Each is made on its first use.
	globals      globals
	modules      map[string]*goja.Object
	natives, use goja.Value // the arguments of a module's function
	client       *http.Client
	registry     *require.Registry
	stdout       io.Writer
	stderr       io.Writer
	sandbox      bool
	signals      map[string]func() // functions that stop listening to signals, by the signal's name
	heard        sync.Map          // of the names of signals that scripts listen to; written by the loop
	// goja's internals: the queue of promise jobs, the call stack, and the stack of try statements. Each is invalid if goja has
	// no such field. The call stack is only read; what is written has its rule in context.go.
	jobs, calls, tries reflect.Value

	process process

	source func(name string) string // the text of a source, for messages; may be nil
	ran    [2]string                // name and text of the last script of Run, for the same

	schedule     Schedule // nil: the machine's clock and the loop's timers
	maxCallStack int      // calls that may be nested
	onUncaught   func(*Error)
	onUnhandled  func(*goja.Promise, *Error)

	// The fields below belong to the loop, except parked and parts of the inbox.
	endErr     error  // why the host has ended; nil until then
	lost       *Error // endErr, if nobody waits for it and the loop was closed: the callback that runs panics with it
	depth      int    // entries under way, one within the other
	entry      entry  // the entry that runs, or ran last
	phase      phase  // next phase of the turn
	timersCut  bool   // the timing phase gave way: its rest comes before anything else
	turnQueued bool   // turnFunc is queued at the loop
	turnFunc   func() // the method turn
	inbox      inbox
	parked     atomic.Bool // no callback begins until Resume; any goroutine sets it
	ranLoop    atomic.Bool // Run runs the loop, or has run it; set by Run's goroutine
	ending     error       // why the loop takes no further turns; nil while it does
	ticks      ticks
	rejections rejections
	timers     timers
	immediates immediates
	pending    int                         // Go work under way, and promises that Go is to settle: Run waits for them
	awaited    slim.Map[*waiter, struct{}] // promises of Await that are pending
	work       work
	follows    bool                      // contexts are kept, see context.go
	scope      *scope                    // the context of what runs; nil for none
	inJobs     bool                      // runJobs runs
	inFlight   slim.Map[*call, struct{}] // calls that have begun
	release    func()                    // releases the hold on the loop; nil while pending is 0
	runs       []*run                    // calls of Run that wait until nothing is left to do
	confirming bool                      // confirm is queued at the loop, or runs
	exiting    bool                      // listeners of 'exit' run, or what they leave: no tick, timer or immediate is accepted

	guard guard
	ended atomic.Pointer[error] // endErr, for other goroutines
}

// New makes a host for a loop. It makes a runtime too, unless [WithRuntime] gives one, and adds the globals that docs/goja.md
// lists; each is made when a script first asks for it. Any goroutine may call New. Until the host is given something to run, its
// runtime and methods are for the goroutine that made it. New returns an error when the loop or an option is nil, when an option
// is out of range or contradicts another, or when the runtime does not take the globals.
func New(l *eventloop.Loop, opts ...Option) (*Host, error) {
	if l == nil {
		return nil, errors.New("gojaloop: nil loop")
	}
	h := &Host{loop: l, maxCallStack: 5000, client: http.DefaultClient, stdout: os.Stdout, stderr: os.Stderr}
	h.globals.host = h
	for i, opt := range opts {
		if opt == nil {
			return nil, fmt.Errorf("gojaloop: option %d is nil", i)
		}
		if err := opt(h); err != nil {
			return nil, err
		}
	}
	if h.timers.html && h.timers.zero {
		return nil, errors.New("gojaloop: WithZeroDelays: WithHTMLTimers has them already")
	}
	if h.vm == nil {
		h.vm = goja.New()
	}
	h.vm.SetMaxCallStackSize(h.maxCallStack)
	h.vm.SetPromiseRejectionTracker(h.track)
	h.guard.host = h
	h.guard.fuse.init()
	h.turnFunc = h.turn
	h.inbox.init(h)
	h.timers.init(h)
	h.immediates.host = h
	if err := h.install(); err != nil {
		return nil, fmt.Errorf("gojaloop: the runtime does not take the globals: %w", err)
	}
	return h, nil
}

// Loop returns the host's loop. Any goroutine may call it.
func (h *Host) Loop() *eventloop.Loop { return h.loop }

// Runtime returns the host's runtime, which may be used on the loop alone.
func (h *Host) Runtime() *goja.Runtime { return h.vm }

// Err returns why the host has ended: an [*Error] for an uncaught exception, an [*ExitError], [ErrMemory], the error
// of Run's context, [eventloop.ErrLoopTerminated], or [ErrClosed]; an error that wraps [ErrBroken] after an interrupt
// that goja could not survive. It returns nil until the host has ended. Any goroutine may call it.
func (h *Host) Err() error {
	if err := h.ended.Load(); err != nil {
		return *err
	}
	return nil
}

// Close ends the host at once: a script that runs is interrupted, and everything queued or pending is dropped. The
// loop goes on. Close does not wait. Any goroutine may call it; calling it again does nothing.
func (h *Host) Close() { h.kill(ErrClosed) }

// install puts the frame and the globals into the runtime.
func (h *Host) install() error {
	vm := h.vm
	h.jobs = slice(reflect.ValueOf(vm).Elem(), "jobQueue")
	if machine := reflect.ValueOf(vm).Elem().FieldByName("vm"); machine.Kind() == reflect.Pointer {
		h.calls, h.tries = slice(machine.Elem(), "callStack"), slice(machine.Elem(), "tryStack")
	}
	promise := vm.Get("Promise").ToObject(vm)
	then := promise.Get("prototype").ToObject(vm).Get("then")
	h.promise = promise
	h.thenValue = then
	h.then, _ = goja.AssertFunction(then)
	h.resolve, _ = goja.AssertFunction(promise.Get("resolve"))
	made, err := vm.RunProgram(prelude)
	if err != nil {
		return err
	}
	call, _ := goja.AssertFunction(made)
	frame, err := call(nil, vm.ToValue(h.next))
	if err != nil {
		return err
	}
	h.frame, _ = goja.AssertFunction(frame)
	// A runtime of WithRuntime keeps its own process, console and the like. The functions that make callbacks must be the host's.
	global := vm.GlobalObject()
	for _, name := range []string{"setTimeout", "setInterval", "setImmediate", "clearTimeout", "clearInterval", "clearImmediate", "queueMicrotask"} {
		if err := global.Delete(name); err != nil {
			return err
		}
	}
	if o, ok := global.Get("process").(*goja.Object); ok {
		if err := o.Set("nextTick", h.function("nextTick", 1, h.nextTick)); err != nil {
			return err
		}
	}
	if err := h.limitJSON(); err != nil {
		return err
	}
	return global.SetPrototype(vm.NewDynamicObject(&h.globals))
}

// makeQueueMicrotask makes the function, and the resolved promise on which microtasks hang. The promise has own
// properties then and constructor: so microtasks stay the same whatever scripts do to Promise.
func (h *Host) makeQueueMicrotask() goja.Value {
	js, resolve, _ := h.vm.NewPromise()
	_ = resolve(goja.Undefined())
	resolved := h.vm.ToValue(js).ToObject(h.vm)
	for name, v := range map[string]goja.Value{"constructor": goja.Undefined(), "then": h.thenValue} {
		if err := resolved.DefineDataProperty(name, v, goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE); err != nil {
			panic(err)
		}
	}
	made, err := h.vm.RunProgram(microtaskPrelude)
	if err != nil {
		panic(err)
	}
	return h.apply(made, goja.Undefined(), []goja.Value{h.vm.ToValue(h.reportUncaught), h.vm.ToValue(h.invalidCallback), resolved})
}

// slice returns the field of that name if it is a slice, else the zero Value.
func slice(of reflect.Value, name string) reflect.Value {
	if f := of.FieldByName(name); f.Kind() == reflect.Slice {
		return reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem()
	}
	return reflect.Value{}
}

// function makes a function with a name and a length.
func (h *Host) function(name string, length int, fn func(goja.FunctionCall) goja.Value) *goja.Object {
	f := h.vm.ToValue(fn).(*goja.Object)
	_ = f.DefineDataProperty("name", h.vm.ToValue(name), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	_ = f.DefineDataProperty("length", h.vm.ToValue(length), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	return f
}

// end ends the host; the first reason counts. On the loop. An entry that runs is interrupted, and goja forgets the
// promise jobs that are ready.
func (h *Host) end(err error) {
	if h.endErr != nil {
		return
	}
	h.endErr = err
	h.ended.Store(&err)
	h.ticks.clear()
	h.rejections = rejections{}
	h.timers.drop()
	h.immediates.drop()
	h.hold(-h.pending)
	h.work.end()
	for _, stop := range h.signals {
		stop()
	}
	h.signals = nil
	for w := range h.awaited.Of {
		w.reject(closed(err))
	}
	h.awaited = slim.Map[*waiter, struct{}]{}
	for c := range h.inFlight.Of {
		c.finish(nil, closed(err))
	}
	if h.depth > 0 {
		h.guard.interrupt(h.guard.current(), err)
	}
	h.inbox.drop()
	reported := len(h.runs) > 0
	for _, r := range h.runs {
		r.finish(err)
	}
	h.runs = nil
	var e *Error
	if !reported && as(err, &e) {
		if h.loop.SubmitInternal(func() { panic(e) }) != nil { // the loop reports it, so that it is not silent
			h.lost = e
		}
	}
}

// kill ends the host as end does, on any goroutine. Off the loop it does not wait for the end.
func (h *Host) kill(err error) {
	if h.loop.OnLoop() {
		h.end(err)
		return
	}
	h.killFrom(h.loop, err)
}

// killFrom does what kill does off the loop.
func (h *Host) killFrom(loop *eventloop.Loop, err error) {
	h.guard.kill(err)
	if loop.SubmitInternal(func() { h.end(err) }) != nil {
		h.ended.CompareAndSwap(nil, &err)
	}
}

// hold adds n to the work that Run waits for, and keeps an auto-exit loop alive while there is any. On the loop.
func (h *Host) hold(n int) {
	h.pending += n
	switch {
	case h.pending > 0 && h.release == nil:
		h.release = h.loop.Hold()
	case h.pending <= 0 && h.release != nil:
		h.pending = 0
		h.release()
		h.release = nil
	}
}
