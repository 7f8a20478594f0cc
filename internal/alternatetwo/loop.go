package alternatetwo

// The loop: its fields and its tick.

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/turnloop/turnloop/internal/loopapi"
	"github.com/turnloop/turnloop/internal/poller"
	"github.com/turnloop/turnloop/internal/rival"
)

// Loop is an event loop. All methods may be called from any goroutine, also from its own callbacks. The package comment
// says what it skips.
type Loop struct {
	state state

	// Fixed by New. Producers read it, so it shares no line with what changes.
	cfg loopapi.Config
	_   [80]byte // with cfg two cache lines, so that the lanes begin one

	// Written by producers, each on lines of its own.
	external, internal, foreign lane
	waking                      atomic.Bool  // a wake-up is on its way; wait.go says who writes and what it pairs with
	waiting                     atomic.Int64 // external tasks under a queue limit that have not started: producers add, the loop subtracts
	timers                      timers

	rival.Base

	// Only the owner touches these.
	micro      ring
	microLeft  int  // what is left of the budget, which is renewed when no microtask is left
	microHeld  bool // the budget is spent; the rest waits for the next tick
	taskLeft   int
	innerLeft  int
	overloaded bool // this condition, like the next two, was reported and lasts
	breached   bool
	ranAway    bool
	linger     lingering
	faults     rival.Faults
	events     []poller.Event // a batch of events
	next       int            // the first event of the batch that was not dispatched
	polled     int64          // the time of the last poll
	ghost      ghost

	table  table
	poller *poller.Poller
}

// New makes a loop. It holds the poller's descriptors until Shutdown or Close. It returns an error that wraps
// errors.ErrUnsupported for AutoExit, and one that names the field for a number out of range.
func New(cfg loopapi.Config) (*Loop, error) {
	cfg, err := rival.Checked(cfg)
	if err != nil {
		return nil, fmt.Errorf("alternatetwo: %w", err)
	}
	l := &Loop{cfg: cfg, microLeft: cfg.MicrotaskBudget}
	l.Init()
	l.faults.Handlers = cfg
	l.external.init()
	l.internal.init()
	l.foreign.init()
	l.timers.earliest.Store(rival.Never)
	if l.poller, err = poller.New(); err != nil {
		return nil, err
	}
	return l, nil
}

// Submit implements loopapi.EventLoop. It costs one atomic addition; with a queue limit, two more.
func (l *Loop) Submit(fn func()) error {
	switch {
	case fn == nil:
		return loopapi.ErrNilCallback
	case l.state.ending():
		return loopapi.ErrLoopTerminated
	case l.cfg.QueueLimit != 0:
		return l.submitLimited(fn)
	}
	return l.enter(&l.external, fn)
}

// submitLimited does what Submit does, under a queue limit. It counts the function in waiting first; the loop subtracts it
// again when it takes the function out.
func (l *Loop) submitLimited(fn func()) error {
	for {
		n := l.waiting.Load()
		if n >= int64(l.cfg.QueueLimit) {
			return loopapi.ErrLoopOverloaded
		}
		if l.waiting.CompareAndSwap(n, n+1) {
			return l.enter(&l.external, fn)
		}
	}
}

// SubmitInternal implements loopapi.EventLoop. It costs one atomic addition.
func (l *Loop) SubmitInternal(fn func()) error {
	if fn == nil {
		return loopapi.ErrNilCallback
	}
	return l.enter(&l.internal, fn)
}

// enter publishes fn in q, and only then reads the state: a loop that goes to sleep does the same in the opposite order.
func (l *Loop) enter(q *lane, fn func()) error {
	if !q.push(fn) {
		return loopapi.ErrLoopTerminated
	}
	if l.state.load() == sleeping {
		l.wake()
	}
	return nil
}

// State returns the loop's state at some moment during the call.
func (l *Loop) State() loopapi.State { return loopapi.State(l.state.load() &^ causes) }

// Run implements loopapi.EventLoop.
func (l *Loop) Run(ctx context.Context) error {
	_ = ctx.Done() // a nil context panics before the loop is claimed
	if l.OnLoop() {
		return loopapi.ErrReentrantRun
	}
	if !l.state.swap(awake, running) {
		if l.state.ending() {
			return loopapi.ErrLoopTerminated
		}
		return loopapi.ErrLoopAlreadyRunning
	}
	l.Follow(ctx, func() { l.terminate(contextCause) })
	l.serve()
	switch w := l.state.load(); {
	case w&closeCause != 0:
		return loopapi.ErrLoopTerminated
	case w&contextCause != 0:
		return ctx.Err()
	}
	return nil
}

// tick is one tick; it returns false when the loop is to end. After a callback that did not return, the tick is resumed
// behind it: it keeps its budgets and does not run timers again.
func (l *Loop) tick(resumed bool) bool {
	if resumed {
		l.state.swap(sleeping, running) // the logger may have failed in the midst of a sleep
		l.checkpoint()
	} else {
		l.beginTick()
		l.runTimers()
	}
	l.runInternal()
	l.runExternal()
	l.checkpoint()

	switch {
	case l.state.closing():
		return false
	case l.state.ending():
		l.external.close() // terminate may have set the state and not yet closed the lane
		return l.hasWork() || !l.seal()
	case l.next < len(l.events): // the rest of a batch
	case l.hasWork() || l.timeout() == 0:
		if l.table.watched.Load() != 0 && l.TickTime()-l.polled >= pollInterval {
			l.poll(0)
		}
	default:
		l.sleep()
	}
	l.dispatch()
	return true
}

func (l *Loop) beginTick() {
	now := l.Now()
	l.linger.setBudget(now, now-l.TickTime())
	l.SetTickTime(now)
	l.taskLeft, l.innerLeft = l.cfg.TickBudget, rival.InternalBudget
	if l.microHeld {
		l.microHeld, l.microLeft = false, l.cfg.MicrotaskBudget
	}
}

// hasWork reports whether any function is queued.
func (l *Loop) hasWork() bool {
	return !l.micro.empty() || !l.internal.empty() || !l.external.empty() || !l.foreign.empty()
}

// seal closes the lanes if nothing is left to run, and reports whether all are closed and empty. The internal lane is
// closed last, when the loop has run everything that could submit to it.
func (l *Loop) seal() bool {
	return l.micro.empty() && l.external.seal() && l.foreign.seal() && l.internal.seal()
}

// runInternal runs internal tasks until none is left, also those that come meanwhile.
func (l *Loop) runInternal() {
	for !l.internal.empty() {
		switch {
		case l.state.closing():
			return
		case l.innerLeft == 0:
			l.faults.Overload(&l.ranAway, rival.ErrRunaway)
			return
		}
		fn := l.internal.pop()
		if fn == nil {
			continue // not published yet, while functions behind it may be
		}
		l.innerLeft--
		fn()
		l.afterCallback()
	}
	l.ranAway = false
}

// runExternal runs external tasks up to the budget, each with no internal task before it.
func (l *Loop) runExternal() {
	ran := 0
	for {
		if !l.internal.empty() {
			if l.runInternal(); l.innerLeft == 0 {
				return
			}
		}
		if l.state.closing() {
			return
		}
		if l.taskLeft == 0 {
			if l.external.empty() {
				break
			}
			l.faults.Overload(&l.overloaded, loopapi.ErrLoopOverloaded)
			return
		}
		fn := l.external.pop()
		if fn == nil {
			if l.lull(ran) {
				ran = 0
				continue
			}
			break
		}
		if l.cfg.QueueLimit != 0 {
			l.waiting.Add(-1)
		}
		l.taskLeft--
		ran++
		fn()
		l.afterCallback()
	}
	l.overloaded = false
}
