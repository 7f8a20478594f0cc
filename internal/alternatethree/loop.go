package alternatethree

// The loop: its fields and its tick.

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/turnloop/turnloop/internal/goroutine"
	"github.com/turnloop/turnloop/internal/loopapi"
	"github.com/turnloop/turnloop/internal/poller"
)

// Loop is an event loop. Create one with [New]. All methods may be called from any goroutine, also from callbacks.
type Loop struct {
	// Shared. Each part says what guards it.
	state    stateWord
	owner    atomic.Uintptr // the goroutine that runs the loop, or 0; written by it, read by OnLoop
	closing  atomic.Bool    // Close was called: written under the ingress's lock, read by the loop before each callback
	tickTime atomic.Int64   // when the tick began, in nanoseconds since anchor; written by the loop, read by everyone
	in       ingress
	timers   timers
	table    table
	poller   systemPoller

	// The loop's own: only the goroutine that runs the loop touches these.
	external     list // taken from the ingress, like internal
	internal     list
	micro        ring
	ready        []readiness // descriptors to call; those before called are done
	called       int
	externalLeft int  // what is left of the tick's budget of external tasks
	internalLeft int  // the same of internal tasks
	microLeft    int  // the same of the checkpoint's budget of microtasks
	microHeld    bool // that budget is spent, the rest waits for the next tick
	overloaded   bool // this condition, like the next three, was reported and lasts
	runaway      bool
	microBreach  bool
	ghosts       bool
	fault        *loopapi.PanicError // the callback that did not return and was not reported yet
	told         int                 // how often its report has failed: see report
	unwatch      func() bool         // ends the watch of Run's context

	// Fixed by New.
	cfg    loopapi.Config
	logger *slog.Logger // nil for slog.Default at the time of logging
	anchor time.Time
	done   chan struct{} // closed by end
}

// systemPoller has the methods of poller.Poller that the loop uses; package poller has the contract.
type systemPoller interface {
	Add(fd int, events loopapi.IOEvents, tag uint32) error
	Modify(fd int, old, events loopapi.IOEvents, tag uint32) error
	Remove(fd int, events loopapi.IOEvents) error
	Wait(timeout time.Duration) ([]poller.Event, error)
	Wake() error
	Reset() error
	Close() error
}

// New creates a loop. It starts no goroutine, but holds the poller's descriptors until the loop has ended, which takes
// a Run, a Shutdown or a Close.
//
// It returns an error that names the field of cfg or the option that is out of range, one that wraps
// errors.ErrUnsupported for AutoExit, or the wrapped error of the system.
func New(cfg loopapi.Config, opts ...Option) (*Loop, error) {
	return newLoop(cfg, opts, func() (systemPoller, error) { return poller.New() })
}

func newLoop(cfg loopapi.Config, opts []Option, open func() (systemPoller, error)) (*Loop, error) {
	l := &Loop{anchor: time.Now(), done: make(chan struct{})}
	if err := l.configure(cfg, opts); err != nil {
		return nil, err
	}
	p, err := open()
	if err != nil {
		return nil, fmt.Errorf("eventloop: open the poller: %w", err)
	}
	l.poller = p
	l.timers.reset()
	l.table.entries = make(map[int]*registration)
	l.microLeft = l.cfg.MicrotaskBudget
	return l, nil
}

// Run runs the loop on the calling goroutine and blocks until it has ended. A loop runs once.
//
// It returns nil after Shutdown, ErrLoopTerminated after Close, ctx.Err() when the end of ctx, which is a graceful
// shutdown, was what ended the loop, and the system's error, wrapped, when the loop shut down because it could not wait
// for events any more. At once it returns ErrReentrantRun from one of the loop's own callbacks, ErrLoopAlreadyRunning,
// or ErrLoopTerminated. When a callback calls runtime.Goexit, the calling goroutine ends without returning from Run,
// and the loop goes on without it; Done tells its end.
func (l *Loop) Run(ctx context.Context) error {
	switch {
	case l.OnLoop():
		return loopapi.ErrReentrantRun
	case l.state.start():
	case l.state.ending():
		return loopapi.ErrLoopTerminated
	default:
		return loopapi.ErrLoopAlreadyRunning
	}
	l.unwatch = context.AfterFunc(ctx, func() { l.terminate(ctx.Err()) })
	l.serve()
	l.in.mu.Lock()
	defer l.in.mu.Unlock()
	return l.in.result
}

// tick is one iteration of the loop. It returns false when it was the last one. A resumed tick goes on behind the callback
// that has ended its goroutine by Goexit. It skips the timers, so that a timer that always calls Goexit does not keep other
// work from running.
func (l *Loop) tick(resumed bool) bool {
	if resumed {
		l.checkpoint()
	} else {
		l.beginTick()
		l.runTimers()
	}
	l.runInternal()
	l.runExternal()
	l.checkpoint()
	if l.state.ending() {
		return !l.drained()
	}
	l.poll()
	l.runReady()
	l.checkpoint()
	return true
}

// beginTick updates the time and renews the budgets.
func (l *Loop) beginTick() {
	l.updateTime()
	l.externalLeft = l.cfg.TickBudget
	l.internalLeft = internalBudget
	if l.microHeld {
		l.microHeld = false
		l.microLeft = l.cfg.MicrotaskBudget
	}
}

// runInternal runs internal tasks, also those that come meanwhile. It reports whether none is left, so that other work may
// run.
func (l *Loop) runInternal() bool {
	for {
		if l.in.urgent.Load() {
			l.collect()
		}
		if l.closing.Load() { // the last look before a callback
			return false
		}
		if l.internal.empty() {
			l.runaway = false
			return true
		}
		if l.internalLeft == 0 {
			l.overload(&l.runaway, errRunaway)
			return false
		}
		l.internalLeft--
		l.call(l.internal.pop())
		l.checkpoint()
	}
}

// runExternal runs external tasks up to the tick's budget. Internal tasks that come meanwhile go first.
func (l *Loop) runExternal() {
	for l.runInternal() {
		if l.external.empty() {
			if l.collect(); l.external.empty() {
				l.overloaded = false
				return
			}
			continue // internal tasks may have come along
		}
		if l.externalLeft == 0 {
			l.overload(&l.overloaded, loopapi.ErrLoopOverloaded)
			return
		}
		l.externalLeft--
		if l.cfg.QueueLimit > 0 {
			l.in.waiting.Add(-1)
		}
		l.call(l.external.pop())
		l.checkpoint()
	}
}

// hasWork reports whether the loop has taken functions that have not run yet.
func (l *Loop) hasWork() bool {
	return !l.micro.empty() || !l.internal.empty() || !l.external.empty()
}

// OnLoop reports whether the caller runs on the loop, within one of its callbacks. It is exact and cheap.
func (l *Loop) OnLoop() bool { return l.owner.Load() == goroutine.ID() }

// State returns the loop's state at some moment during the call.
func (l *Loop) State() loopapi.State { return l.state.load() }

// Done returns a channel that is closed when nothing will ever run on the loop again and all it held is released.
func (l *Loop) Done() <-chan struct{} { return l.done }
