// The loop's life: how Run, Submit, Shutdown and Close map to goja_nodejs.

package gojabaseline

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/dop251/goja"
	"github.com/dop251/goja_nodejs/eventloop"
	"github.com/turnloop/turnloop/internal/goroutine"
	"github.com/turnloop/turnloop/internal/loopapi"
)

// Loop is a goja_nodejs event loop as a contestant. All methods may be called from any goroutine.
type Loop struct {
	js     *eventloop.EventLoop
	timers timers
	owner  atomic.Uintptr // the goroutine that runs callbacks, which alone writes it; 0 when there is none
	done   chan struct{}  // closed by finish

	mu      sync.Mutex // guards what follows; held for moments, never while a callback runs
	begun   bool       // Run was called, or the end came first
	ending  bool       // somebody asked for the end
	verdict error      // what Run returns; ErrLoopTerminated once somebody asked by Close
}

// New makes a loop with a JavaScript runtime of its own, without the console module.
func New() *Loop {
	return &Loop{
		js:     eventloop.NewEventLoop(eventloop.EnableConsole(false)),
		timers: timers{pending: map[loopapi.TimerID]*eventloop.Timer{}},
		done:   make(chan struct{}),
	}
}

// Submit queues fn. It returns ErrNilCallback, or ErrLoopTerminated when goja_nodejs refuses.
func (l *Loop) Submit(fn func()) error {
	if fn == nil {
		return loopapi.ErrNilCallback
	}
	if !l.js.RunOnLoop(func(*goja.Runtime) { fn() }) {
		return loopapi.ErrLoopTerminated
	}
	return nil
}

// SubmitJS is Submit for what needs the JavaScript runtime, which is the loop's: fn must not let others use it.
func (l *Loop) SubmitJS(fn func(*goja.Runtime)) error {
	if fn == nil {
		return loopapi.ErrNilCallback
	}
	if !l.js.RunOnLoop(fn) {
		return loopapi.ErrLoopTerminated
	}
	return nil
}

// SubmitInternal is Submit: goja_nodejs has one queue.
func (l *Loop) SubmitInternal(fn func()) error { return l.Submit(fn) }

// Run runs the loop on the calling goroutine until Shutdown, Close or the end of ctx. A panic in a callback comes out of
// it, and ends the loop without running what is queued.
func (l *Loop) Run(ctx context.Context) error {
	if err := l.begin(); err != nil {
		return err
	}
	defer l.finish()
	l.owner.Store(goroutine.ID())
	defer context.AfterFunc(ctx, func() { l.end(ctx.Err()) })()

	l.js.StartInForeground()
	l.js.Terminate() // runs what was accepted meanwhile, and refuses from then on

	l.mu.Lock()
	defer l.mu.Unlock()
	return l.verdict
}

func (l *Loop) begin() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case !l.begun:
		l.begun = true
		return nil
	case l.onLoop():
		return loopapi.ErrReentrantRun
	case l.ending || l.ended():
		return loopapi.ErrLoopTerminated
	default:
		return loopapi.ErrLoopAlreadyRunning
	}
}

// Shutdown lets the loop run what was accepted and waits for its end. The first call returns nil or ctx's error, later
// ones, and one that Close overtook, ErrLoopTerminated instead of nil. Called from a callback it does not wait.
func (l *Loop) Shutdown(ctx context.Context) error {
	first := l.end(nil)
	if !l.onLoop() {
		select {
		case <-l.done:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !first || l.verdict != nil { // a Close overtook
		return loopapi.ErrLoopTerminated
	}
	return nil
}

// Close is Shutdown without the wait, and Run returns ErrLoopTerminated: goja_nodejs cannot drop accepted work. Only the
// first call on a loop that has not ended returns nil.
func (l *Loop) Close() error {
	if !l.end(loopapi.ErrLoopTerminated) {
		return loopapi.ErrLoopTerminated
	}
	return nil
}

// end asks for the end with what Run shall return, which for Close is ErrLoopTerminated. It reports whether that counts:
// it does for the first who asks, and for the first Close after others.
func (l *Loop) end(verdict error) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch overtakes := verdict == loopapi.ErrLoopTerminated && l.verdict != verdict; {
	case l.ended(), l.ending && !overtakes:
		return false
	case l.ending:
		l.verdict = verdict
	case l.begun:
		l.ending, l.verdict = true, verdict
		// As a job, because StopNoWait is lost on a loop whose Run has begun but not got to its queue.
		l.js.RunOnLoop(func(*goja.Runtime) { l.js.StopNoWait() })
	default:
		l.begun, l.ending, l.verdict = true, true, verdict
		go func() {
			defer l.finish()
			l.owner.Store(goroutine.ID())
			l.js.Terminate()
		}()
	}
	return true
}

// finish is the last thing that the loop's goroutine does, whatever ended it.
func (l *Loop) finish() {
	l.owner.Store(0)
	l.timers.drop()
	close(l.done)
}

// Done is closed when Run is over. After a panic goroutines of pending timers may outlive it.
func (l *Loop) Done() <-chan struct{} { return l.done }

func (l *Loop) ended() bool {
	select {
	case <-l.done:
		return true
	default:
		return false
	}
}

func (l *Loop) onLoop() bool { return l.owner.Load() == goroutine.ID() }
