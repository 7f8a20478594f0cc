// Package nodejs has the names of github.com/dop251/goja_nodejs/eventloop, on this project's loop: users of that
// package change one import line, to
//
//	eventloop "github.com/turnloop/turnloop/gojaloop/nodejs"
//
// docs/goja.md lists the differences of behaviour.
//
// # Threading rule
//
// Any goroutine may call the methods. Of Run, Start, StartInForeground, Stop and Terminate only one may be called at
// a time. The runtime and its values may be used only in functions that the loop runs.
package nodejs

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dop251/goja"
	"github.com/dop251/goja_nodejs/console"
	"github.com/dop251/goja_nodejs/require"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/gojaloop"
)

// Timer is a timeout of [EventLoop.SetTimeout].
type Timer struct{ object }

// Interval is an interval of [EventLoop.SetInterval].
type Interval struct{ object }

// Immediate exists for its name: only scripts have immediates.
type Immediate struct{}

// object is a timer as scripts know it. Used on the loop alone.
type object struct {
	value   goja.Value // what setTimeout or setInterval returned; nil until then
	cleared bool
}

// EventLoop runs a goja runtime. Create one with [NewEventLoop]. After a stop it can be started again, and goes on
// with its timers and functions.
type EventLoop struct {
	host *gojaloop.Host
	vm   *goja.Runtime

	enableConsole bool
	registry      *require.Registry

	setTimeout, setInterval, clearTimeout goja.Callable // saved before scripts can replace them

	mu       sync.Mutex // guards what follows
	running  bool
	stopping bool
	loop     *eventloop.Loop       // the loop of the last start
	ended    chan struct{}         // closed when what the last start began has ended
	waiting  []func(*goja.Runtime) // functions for the next start
	queued   atomic.Bool           // waiting is not empty; changed under mu
	clears   []*object             // timers to cancel

	terminated atomic.Bool // from Terminate to the next start; written by their callers

	panicked *eventloop.PanicError // the panic that has stopped the loop; owned by the loop, then by Run
}

// Option configures an EventLoop.
type Option func(*EventLoop)

// EnableConsole sets whether the runtime has the global console, which it has by default.
func EnableConsole(enableConsole bool) Option {
	return func(loop *EventLoop) { loop.enableConsole = enableConsole }
}

// WithRegistry sets the registry in which require finds modules. By default it is a new one.
func WithRegistry(registry *require.Registry) Option {
	return func(loop *EventLoop) { loop.registry = registry }
}

// NewEventLoop makes a runtime and a loop for it. The loop does not run yet.
func NewEventLoop(opts ...Option) *EventLoop {
	l := &EventLoop{vm: goja.New(), enableConsole: true}
	for _, opt := range opts {
		opt(l)
	}
	if l.registry == nil {
		l.registry = new(require.Registry)
	}
	l.registry.Enable(l.vm)
	if l.enableConsole {
		console.Enable(l.vm)
	}
	options := []gojaloop.Option{
		gojaloop.WithRuntime(l.vm), gojaloop.WithZeroDelays(), gojaloop.WithSandbox(), gojaloop.WithUncaughtException(l.uncaught),
	}
	if !l.enableConsole {
		options = append(options, gojaloop.WithoutGlobals("console"))
	}
	var err error
	l.host, err = gojaloop.New(newLoop(false), options...)
	if err != nil {
		panic(err) // a fresh runtime does not fail
	}
	l.host.Park()
	l.setTimeout, _ = goja.AssertFunction(l.vm.Get("setTimeout"))
	l.setInterval, _ = goja.AssertFunction(l.vm.Get("setInterval"))
	l.clearTimeout, _ = goja.AssertFunction(l.vm.Get("clearTimeout"))
	return l
}

func newLoop(autoExit bool) *eventloop.Loop {
	l, err := eventloop.New(eventloop.WithAutoExit(autoExit))
	if err != nil {
		panic(err) // these options do not fail
	}
	return l
}

// uncaught logs an exception. A Go panic stops the loop, and comes out of the function that runs it.
func (l *EventLoop) uncaught(e *gojaloop.Error) {
	if errors.As(e, &l.panicked) {
		l.StopNoWait()
		return
	}
	slog.Error("uncaught exception", "error", e)
}

// Run calls fn on the loop, and runs the loop on this goroutine until no timers, immediates or functions are left, or
// until it is stopped. If the loop is running, Run panics.
func (l *EventLoop) Run(fn func(*goja.Runtime)) { l.begin(fn, true)() }

// Start runs the loop on a goroutine of its own until it is stopped. If the loop is running, Start panics.
func (l *EventLoop) Start() { go l.begin(nil, false)() }

// StartInForeground runs the loop on this goroutine until it is stopped. If the loop is running, it panics. A panic
// of a Go function comes out of it, after the callback's checkpoint.
func (l *EventLoop) StartInForeground() { l.begin(nil, false)() }

// begin claims the loop, and returns the function that runs it.
func (l *EventLoop) begin(first func(*goja.Runtime), autoExit bool) (run func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.running {
		panic("Loop is already started")
	}
	loop := newLoop(autoExit)
	l.running, l.stopping = true, false
	l.terminated.Store(false)
	l.loop, l.ended, l.panicked = loop, make(chan struct{}), nil
	if err := l.host.Resume(loop, first); err != nil {
		panic(err)
	}
	for _, fn := range l.waiting {
		_ = l.host.Submit(fn)
	}
	l.waiting = nil
	l.queued.Store(false)
	return func() {
		_ = loop.Run(context.Background())
		<-loop.Done()
		l.host.Park()
		l.mu.Lock()
		l.running = false
		l.clearAll()
		panicked := l.panicked
		close(l.ended)
		l.mu.Unlock()
		if panicked != nil {
			panic(panicked.Value)
		}
	}
}

// Stop stops the loop and waits until it has stopped; in a callback of the loop it does not wait. What is queued and
// pending stays for the next start. Stop returns the number of pending timers, intervals and immediates, also for a
// loop that does not run.
func (l *EventLoop) Stop() int {
	l.mu.Lock()
	running, loop, ended := l.running, l.loop, l.ended
	l.mu.Unlock()
	if running {
		l.StopNoWait()
		if loop.OnLoop() {
			return l.host.Pending()
		}
		<-ended
	}
	return l.host.Pending()
}

// StopNoWait asks the loop to stop. If the loop does not run, it does nothing.
func (l *EventLoop) StopNoWait() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.running && !l.stopping {
		l.stopping = true
		l.host.Park()
		now, cancel := context.WithCancel(context.Background())
		cancel()
		_ = l.loop.Shutdown(now)
	}
}

// Terminate stops the loop, and cancels all timers, intervals and immediates. Until the next start, RunOnLoop,
// SetTimeout and SetInterval fail. Functions that RunOnLoop has accepted stay for the next start.
func (l *EventLoop) Terminate() {
	l.Stop()
	l.terminated.Store(true)
	l.host.Forget()
}

// RunOnLoop queues fn to run on the loop, in the order of the calls. If the loop does not run, fn waits for the next
// start. RunOnLoop returns false after Terminate.
func (l *EventLoop) RunOnLoop(fn func(*goja.Runtime)) bool {
	if l.terminated.Load() {
		return false
	}
	if !l.queued.Load() && l.host.Submit(fn) == nil {
		return true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.waiting) != 0 || l.host.Submit(fn) != nil { // Submit also fails when the loop is ending because nothing was left to do
		l.waiting = append(l.waiting, fn)
		l.queued.Store(true)
	}
	return true
}

// SetTimeout runs fn on the loop once, after timeout. It returns nil after Terminate.
func (l *EventLoop) SetTimeout(fn func(*goja.Runtime), timeout time.Duration) *Timer {
	t := new(Timer)
	if !l.RunOnLoop(func(*goja.Runtime) { l.set(&t.object, l.setTimeout, fn, timeout) }) {
		return nil
	}
	return t
}

// SetInterval runs fn on the loop every timeout. It returns nil after Terminate.
func (l *EventLoop) SetInterval(fn func(*goja.Runtime), timeout time.Duration) *Interval {
	i := new(Interval)
	if !l.RunOnLoop(func(*goja.Runtime) { l.set(&i.object, l.setInterval, fn, timeout) }) {
		return nil
	}
	return i
}

// set sets a timer, with a delay in whole milliseconds, rounded up. On the loop.
func (l *EventLoop) set(o *object, set goja.Callable, fn func(*goja.Runtime), timeout time.Duration) {
	if o.cleared {
		return
	}
	callback := func(goja.FunctionCall) goja.Value {
		fn(l.vm)
		return goja.Undefined()
	}
	ms := (timeout + time.Millisecond - 1) / time.Millisecond
	o.value, _ = set(nil, l.vm.ToValue(callback), l.vm.ToValue(int64(ms)))
}

// ClearTimeout cancels a timer that has not run. A nil timer does nothing.
func (l *EventLoop) ClearTimeout(t *Timer) {
	if t != nil {
		l.clear(&t.object)
	}
}

// ClearInterval cancels an interval. A nil interval does nothing.
func (l *EventLoop) ClearInterval(i *Interval) {
	if i != nil {
		l.clear(&i.object)
	}
}

func (l *EventLoop) clear(o *object) {
	l.mu.Lock()
	l.clears = append(l.clears, o)
	l.mu.Unlock()
	l.RunOnLoop(func(*goja.Runtime) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.clearAll()
	})
}

// clearAll cancels the timers of clears: in a function of the loop, and when the loop has stopped, so that Stop does not count
// what was cleared before. The caller holds mu.
func (l *EventLoop) clearAll() {
	for _, o := range l.clears {
		o.cleared = true
		if o.value != nil {
			_, _ = l.clearTimeout(nil, o.value)
		}
	}
	l.clears = nil
}
