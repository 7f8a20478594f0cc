package alternatethree

// The loop: its fields and its tick.

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/turnloop/turnloop/internal/loopapi"
	"github.com/turnloop/turnloop/internal/poller"
	"github.com/turnloop/turnloop/internal/rival"
)

// Loop is an event loop. Create one with [New]. All methods may be called from any goroutine, also from callbacks.
type Loop struct {
	// Shared. Each part says what guards it.
	rival.Base
	state   stateWord
	closing atomic.Bool // Close was called: written under the ingress's lock, read by the loop before each callback
	in      ingress
	timers  timers
	table   table
	poller  rival.Poller

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
	faults       rival.Faults

	cfg loopapi.Config // fixed by New
}

// New creates a loop. It starts no goroutine, but holds the poller's descriptors until the loop has ended, which takes
// a Run, a Shutdown or a Close.
//
// It returns an error that names the field of cfg that is out of range, one that wraps errors.ErrUnsupported for AutoExit, or the
// wrapped error of the system.
func New(cfg loopapi.Config) (*Loop, error) {
	return newLoop(cfg, func() (rival.Poller, error) { return poller.New() })
}

func newLoop(cfg loopapi.Config, open func() (rival.Poller, error)) (*Loop, error) {
	cfg, err := rival.Checked(cfg)
	if err != nil {
		return nil, fmt.Errorf("eventloop: Config.%w", err)
	}
	l := &Loop{cfg: cfg, microLeft: cfg.MicrotaskBudget}
	l.Init()
	l.faults.Handlers = cfg
	if l.poller, err = open(); err != nil {
		return nil, fmt.Errorf("eventloop: open the poller: %w", err)
	}
	l.timers.noteFirst()
	l.table.entries = make(map[int]*registration)
	return l, nil
}

// Run implements loopapi.EventLoop. It also returns the system's error, wrapped, when the loop shut down because it could not
// wait for events any more.
func (l *Loop) Run(ctx context.Context) error {
	_ = ctx.Done() // a nil context panics before the loop is claimed
	switch {
	case l.OnLoop():
		return loopapi.ErrReentrantRun
	case l.state.start():
	case l.state.ending():
		return loopapi.ErrLoopTerminated
	default:
		return loopapi.ErrLoopAlreadyRunning
	}
	l.Follow(ctx, func() { l.terminate(ctx.Err()) })
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
	l.SetTickTime(l.Now())
	l.externalLeft = l.cfg.TickBudget
	l.internalLeft = rival.InternalBudget
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
			l.faults.Overload(&l.runaway, rival.ErrRunaway)
			return false
		}
		l.internalLeft--
		l.faults.Call(l.internal.pop())
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
			l.faults.Overload(&l.overloaded, loopapi.ErrLoopOverloaded)
			return
		}
		l.externalLeft--
		if l.cfg.QueueLimit > 0 {
			l.in.waiting.Add(-1)
		}
		l.faults.Call(l.external.pop())
		l.checkpoint()
	}
}

// hasWork reports whether the loop has taken functions that have not run yet.
func (l *Loop) hasWork() bool {
	return !l.micro.empty() || !l.internal.empty() || !l.external.empty()
}

// serve runs the loop to its end.
func (l *Loop) serve() {
	l.faults.Serve(&l.Base, func(resumed bool) {
		for l.tick(resumed) {
			resumed = false
		}
	}, l.end)
}

// State returns the loop's state at some moment during the call.
func (l *Loop) State() loopapi.State { return l.state.load() }
