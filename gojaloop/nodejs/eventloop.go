// Package nodejs has the names of github.com/dop251/goja_nodejs/eventloop, on this project's loop: whoever uses that
// package changes one import line. What behaves otherwise is listed in docs/goja.md; the rest is as there.
//
// # Threading rule
//
// The methods may be called from any goroutine, but for Run, Start, StartInForeground, Stop and Terminate, of which one
// may be called at a time. The runtime, and values of it, are for functions that the loop runs.
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

// Immediate is here for its name: scripts have immediates of their own.
type Immediate struct{}

// object is what scripts would have. On the loop.
type object struct {
	value   goja.Value // nil until it has been set
	cleared bool
}

// EventLoop runs a goja runtime. Create one with [NewEventLoop]. It can be started again when it has stopped, and then goes
// on with the timers and functions that it had.
type EventLoop struct {
	host *gojaloop.Host
	vm   *goja.Runtime

	enableConsole bool
	registry      *require.Registry

	setTimeout, setInterval, clearTimeout goja.Callable // as they were before scripts ran

	mu       sync.Mutex // guards what follows
	running  bool
	stopping bool
	loop     *eventloop.Loop       // of this start
	ended    chan struct{}         // closed when it has stopped
	waiting  []func(*goja.Runtime) // for the next start
	late     atomic.Bool           // there are such; changed under mu

	terminated atomic.Bool // until the next start; changed by who starts and stops

	panicked *eventloop.PanicError // what ended this start; the loop's, and Run's when it has stopped
}

// Option configures an EventLoop.
type Option func(*EventLoop)

// EnableConsole says whether the runtime gets the global console, which it does by default.
func EnableConsole(enableConsole bool) Option {
	return func(loop *EventLoop) { loop.enableConsole = enableConsole }
}

// WithRegistry sets the registry of modules that require finds; by default an empty one is made.
func WithRegistry(registry *require.Registry) Option {
	return func(loop *EventLoop) { loop.registry = registry }
}

// NewEventLoop makes a runtime and a loop for it, which does not run yet.
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
	var err error
	l.host, err = gojaloop.New(newLoop(false), gojaloop.WithRuntime(l.vm), gojaloop.WithZeroDelays(), gojaloop.WithSandbox(),
		gojaloop.WithUncaughtException(l.uncaught))
	if err != nil {
		panic(err) // of a fresh runtime: cannot be
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
		panic(err) // without options that could be wrong: cannot be
	}
	return l
}

// uncaught logs an exception, and lets a Go panic come out of who runs the loop.
func (l *EventLoop) uncaught(e *gojaloop.Error) {
	if errors.As(e, &l.panicked) {
		l.StopNoWait()
		return
	}
	slog.Error("uncaught exception", "error", e)
}

// Run calls fn, runs the loop until there are no timers, immediates or functions left, or it is stopped, and returns.
// If the loop is running it panics.
func (l *EventLoop) Run(fn func(*goja.Runtime)) { l.begin(fn, true)() }

// Start runs the loop on a goroutine of its own, until it is stopped. If the loop is running it panics.
func (l *EventLoop) Start() { go l.begin(nil, false)() }

// StartInForeground runs the loop on this goroutine, until it is stopped. If the loop is running it panics. A panic of a Go
// function comes out of it, when the callback's ticks and promise jobs have run.
func (l *EventLoop) StartInForeground() { l.begin(nil, false)() }

// begin claims the loop, and returns what runs it.
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
	l.late.Store(false)
	return func() {
		_ = loop.Run(context.Background())
		<-loop.Done()
		l.host.Park()
		l.mu.Lock()
		l.running = false
		panicked := l.panicked
		close(l.ended)
		l.mu.Unlock()
		if panicked != nil {
			panic(panicked.Value)
		}
	}
}

// Stop stops the loop and waits until it has. What is queued and pending stays for the next start; it returns how many
// timers, intervals and immediates that are. On a loop that does not run it only returns that. From a callback of the loop
// it does not wait.
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

// StopNoWait asks the loop to stop. On a loop that does not run it does nothing.
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

// Terminate stops the loop, takes back all timers, intervals and immediates, and lets RunOnLoop, SetTimeout and
// SetInterval fail until the next start. What RunOnLoop has accepted stays for that.
func (l *EventLoop) Terminate() {
	l.Stop()
	l.terminated.Store(true)
	l.host.Forget()
}

// RunOnLoop has fn run on the loop, in the order of the calls; if it does not run, when it is started. It returns false
// if the loop was terminated.
func (l *EventLoop) RunOnLoop(fn func(*goja.Runtime)) bool {
	if l.terminated.Load() {
		return false
	}
	if !l.late.Load() && l.host.Submit(fn) == nil {
		return true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.waiting) != 0 || l.host.Submit(fn) != nil { // the loop is ending by itself, as nothing was left to do
		l.waiting = append(l.waiting, fn)
		l.late.Store(true)
	}
	return true
}

// SetTimeout has fn run on the loop once, when timeout has passed. It returns nil if the loop was terminated.
func (l *EventLoop) SetTimeout(fn func(*goja.Runtime), timeout time.Duration) *Timer {
	t := new(Timer)
	if !l.RunOnLoop(func(*goja.Runtime) { l.set(&t.object, l.setTimeout, fn, timeout) }) {
		return nil
	}
	return t
}

// SetInterval has fn run on the loop every timeout. It returns nil if the loop was terminated.
func (l *EventLoop) SetInterval(fn func(*goja.Runtime), timeout time.Duration) *Interval {
	i := new(Interval)
	if !l.RunOnLoop(func(*goja.Runtime) { l.set(&i.object, l.setInterval, fn, timeout) }) {
		return nil
	}
	return i
}

// set sets a timer, with a delay of whole milliseconds, rounded up.
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

// ClearTimeout takes back a timer that has not run. A nil one does nothing.
func (l *EventLoop) ClearTimeout(t *Timer) {
	if t != nil {
		l.clear(&t.object)
	}
}

// ClearInterval takes back an interval. A nil one does nothing.
func (l *EventLoop) ClearInterval(i *Interval) {
	if i != nil {
		l.clear(&i.object)
	}
}

func (l *EventLoop) clear(o *object) {
	l.RunOnLoop(func(*goja.Runtime) {
		o.cleared = true
		if o.value != nil {
			_, _ = l.clearTimeout(nil, o.value)
		}
	})
}
