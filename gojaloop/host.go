package gojaloop

// The host itself: what it is made of, and how it comes to life and ends.

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"reflect"
	"sync/atomic"

	"github.com/dop251/goja"
	"github.com/dop251/goja_nodejs/require"
	"github.com/turnloop/turnloop/eventloop"
)

// Host is a runtime on a loop. Create one with [New]; several may share a loop, each with a runtime of its own. It
// starts no goroutine, and needs no closing: with its loop, or when nobody has it any more and nothing of it is pending,
// it is garbage.
type Host struct {
	loop *eventloop.Loop
	vm   *goja.Runtime

	promise       *goja.Object  // the class Promise
	resolve, then goja.Callable // its functions, as they were before scripts ran
	thenValue     goja.Value
	frame         goja.Callable // see prelude.go

	// Of the globals; see lazy.go. Made when they are first asked for.
	globals      globals
	modules      map[string]*goja.Object
	natives, use goja.Value // what modules are given
	client       *http.Client
	registry     *require.Registry
	stdout       io.Writer
	stderr       io.Writer
	sandbox      bool
	signals      map[string]func() // that are asked for, by name, and what ends that
	// What is seen of goja's insides, and not touched: the queue of promise jobs, and the calls and try statements that are
	// under way. Each is invalid if goja has nothing of that name.
	jobs, calls, tries reflect.Value

	process process

	schedule     Schedule // nil for the machine's time and the loop's timers
	maxCallStack int
	onUncaught   func(*Error)
	onUnhandled  func(*goja.Promise, *Error)

	// What follows is touched on the loop alone.
	over       error // why the program has ended; nil before
	inside     int   // entries into the runtime that are under way, one within the other
	now        entry // what runs, or ran last
	phase      phase // what comes next in the turn
	cut        bool  // timers were cut short: they come before anything else
	owed       bool  // the loop has been asked to have the turn go on
	goOn       func()
	inbox      inbox
	parked     atomic.Bool // nothing begins until Resume
	ending     error       // the loop has refused to have the turn go on
	ticks      ticks
	rejections rejections
	timers     timers
	immediates immediates
	pending    int // Go work under way, and promises that Go is to settle, for which Run waits
	awaited    map[*waiter]struct{}
	work       work
	release    func() // of the loop's hold, while pending is not zero
	runs       []*run // that wait until nothing is left to do
	settling   bool   // confirm is queued at the loop, or runs
	exiting    bool   // listeners of 'exit' run

	guard guard
	ended atomic.Pointer[error] // over, for other goroutines
}

// New makes a host for a loop, and a runtime, unless [WithRuntime] gives one, with the globals that docs/goja.md lists.
// They are made when a script first asks for them. Until the host is given something to run, its runtime and
// methods are for who has made it. Any goroutine may call it. It returns an error when the loop or an option is nil, or an option is out of range.
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
	h.goOn = h.turn
	h.inbox.init(h)
	h.timers.init(h)
	h.immediates.init(h)
	if err := h.install(); err != nil {
		return nil, fmt.Errorf("gojaloop: the runtime does not take the globals: %w", err)
	}
	return h, nil
}

// Loop returns the host's loop. Any goroutine may call it.
func (h *Host) Loop() *eventloop.Loop { return h.loop }

// Runtime returns the host's runtime, which is for the loop alone.
func (h *Host) Runtime() *goja.Runtime { return h.vm }

// Err returns why the host has ended, nil before: an [*Error] for an exception that nobody has caught, an [*ExitError], the
// error of Run's context, [eventloop.ErrLoopTerminated], or [ErrClosed]. Any goroutine may call it.
func (h *Host) Err() error {
	if err := h.ended.Load(); err != nil {
		return *err
	}
	return nil
}

// Close ends the program at once, also a script that runs: what is queued and pending is dropped. The loop goes on. It
// does not wait. Any goroutine may call it; calling it again does nothing.
func (h *Host) Close() { h.kill(ErrClosed) }

// install defines what scripts see.
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
	// Of what the runtime has already, its own process, console and the like stay; what makes callbacks must be the host's.
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
	return global.SetPrototype(vm.NewDynamicObject(&h.globals))
}

// makeQueueMicrotask makes the function, and what microtasks hang on: a promise with a then of its own, which looks there
// for the class of what it returns and finds that it is the ordinary one, whatever scripts do to Promise.
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
	return h.apply(made, goja.Undefined(), []goja.Value{h.vm.ToValue(h.fail), h.vm.ToValue(h.invalidCallback), resolved})
}

// slice returns a field that is a slice, or the zero Value.
func slice(of reflect.Value, name string) reflect.Value {
	if f := of.FieldByName(name); f.Kind() == reflect.Slice {
		return f
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

// end ends the program; the first reason counts. On the loop. What runs is interrupted, and goja forgets the promise
// jobs that are ready.
func (h *Host) end(err error) {
	if h.over != nil {
		return
	}
	h.over = err
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
	for w := range h.awaited {
		w.reject(closed(err))
	}
	h.awaited = nil
	if h.inside > 0 {
		h.guard.interrupt(h.guard.current(), err)
	}
	h.inbox.drop()
	told := len(h.runs) > 0
	for _, r := range h.runs {
		r.finish(err)
	}
	h.runs = nil
	var e *Error
	if !told && errors.As(err, &e) {
		_ = h.loop.SubmitInternal(func() { panic(e) }) // so that the loop reports it: it is never silent
	}
}

// kill is end from any goroutine.
func (h *Host) kill(err error) {
	if h.loop.OnLoop() {
		h.end(err)
		return
	}
	h.guard.kill(err)
	if h.loop.SubmitInternal(func() { h.end(err) }) != nil {
		h.ended.CompareAndSwap(nil, &err)
	}
}

// hold counts what Run has to wait for, and keeps an auto-exit loop alive meanwhile.
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
