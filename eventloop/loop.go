package eventloop

// The loop itself: its fields, New, Submit, Run, and what one tick does.

import (
	"context"
	"fmt"
	"runtime/pprof"

	"github.com/turnloop/turnloop/eventloop/promise"
	"github.com/turnloop/turnloop/internal/crew"
	"github.com/turnloop/turnloop/internal/fdset"
	"github.com/turnloop/turnloop/internal/goroutine"
	"github.com/turnloop/turnloop/internal/inbox"
	"github.com/turnloop/turnloop/internal/observe"
	"github.com/turnloop/turnloop/internal/park"
	"github.com/turnloop/turnloop/internal/place"
	"github.com/turnloop/turnloop/internal/quota"
	"github.com/turnloop/turnloop/internal/sched"
	"github.com/turnloop/turnloop/internal/sched/atomic"
)

// Loop is an event loop: functions submitted from any goroutine run on it one at a time, in order. Create one with
// [New]; Run panics on a zero Loop.
type Loop struct {
	// Producers read these on every call. They are written rarely (state when a sleep begins or ends), so that a busy loop
	// and busy producers share the cache line without moving it.
	state park.StateWord
	// No timer is due before earliest (nanoseconds since anchor). Written under timers.mu, before the writer looks at state;
	// the loop reads it without the lock, to arm the alarm.
	earliest atomic.Int64
	// Identity of the goroutine that runs callbacks, which may be a guest's coroutine; 0 for none. Goroutines compare it with
	// their own.
	owner   atomic.Uintptr
	probe   *observe.Probe // measures callbacks; nil if no option asks for that; fixed by New
	express bool           // no queue limit and no debug mode, so Submit may take its short path; fixed by New
	direct  bool           // express, and nothing is measured, so a callback may submit without the inbox; fixed by New
	_       [30]byte

	// Work from any goroutine.
	inbox   tasks // external work
	_       [64]byte
	urgent  urgent // internal work
	_       [64]byte
	foreign foreign // microtasks of other goroutines
	_       [56]byte

	// Only the loop's goroutine touches these, except for what type park.Park names.
	queues             // what it has taken from the inboxes
	park     park.Park // sleep, wake and the clock
	bounds   bounds    // what the tick and the end may still do
	callback           // the one that runs, or ran last
	seen               // what is noted of the loop, beside the probe

	// Shared with other goroutines: each type says what guards its fields.
	timers   timers
	fds      fdset.Set
	promises *promise.Owner
	atEnd
	crew  crew.Crew
	guest guestSeat
	share // in the tasks of a group
	run   // of the goroutine that called Run

	// Fixed by New.
	done chan struct{} // closed by the loop's owner at the end
	config
}

// New creates a loop. It starts no goroutine, and holds no resource of the operating system before Run or RegisterFD, unless
// WithFastPathMode asks for one. The error names the option that is out of range, or that the system cannot provide.
func New(opts ...Option) (*Loop, error) {
	c, err := newConfig(opts)
	if err != nil {
		return nil, err
	}
	l := &Loop{
		done:   make(chan struct{}),
		config: c,
	}
	l.park.Init(&l.state, &l.earliest, parkHost{l})
	l.bounds.microtasks = c.microtaskBudget
	l.foreign.credit.Store(quota.Foreign)
	l.earliest.Store(never)
	l.timers.background.Store(never)
	l.probe = l.newProbe()
	if l.debug {
		l.notes = new(place.Ledger)
	}
	l.express = l.queueLimit == 0 && !l.debug
	l.direct = l.express && l.probe == nil
	var s promise.Scheduler = scheduler{l}
	if l.debug {
		s = places{scheduler{l}}
	}
	l.promises = promise.NewOwner(s, promise.Config{OnUnhandled: l.unhandled, Debug: c.promiseDebug})
	l.crew.Init(l.workerLimit)
	l.fds.Init(fdHost{l}, c.newPoller)
	if err := l.setMode(c.fastPath); err != nil {
		return nil, fmt.Errorf("eventloop: WithFastPathMode(%d): %w", c.fastPath, err)
	}
	return l, nil
}

// Submit queues fn to run on the loop. Functions run in the order of their submission. The call never waits for the
// loop, whatever the loop does. But two kinds of producers yield now and then: one that is thousands of functions
// ahead, and one whose loop often ran late because the goroutine that woke it went on computing. Once Submit has
// returned nil, fn runs exactly once unless the loop is ended by Close.
//
// It returns ErrNilCallback, ErrLoopTerminated once the loop is ending, or ErrLoopOverloaded at the limit that
// WithQueueLimit sets. It may be called before Run.
func (l *Loop) Submit(fn func()) error {
	b := &l.inbox.Inbox
	if l.direct && fn != nil && l.OnLoop() && !b.MayHaveWork() && !l.state.Load().Ending() {
		// A callback needs no fence towards its own loop: what was accepted before is in this queue already, or has run.
		l.externals.Add(fn)
		l.noteBacklog()
		return nil
	}
	// This is enqueue, written out for the common case: as long as one producer holds the lock, all others wait.
	if fn != nil && l.express && b.TryAcquire() {
		state := l.state.Load()
		if !state.Ending() && !b.Due() {
			b.Push(fn)
			wanted := b.Wanted()
			b.UnlockFull()
			if state.Sleeping() {
				l.park.WakeFor(true)
			}
			if wanted {
				inbox.GiveWay(0)
			}
			return nil
		}
		b.Unlock()
	}
	return l.enqueue(external, fn, false)
}

// SubmitInternal queues fn ahead of everything that Submit queues: no submitted function starts while one of these waits. It is
// meant for completions, which must get through under any load: the queue limit does not apply, and a loop that is ending still
// accepts bounded amounts, see [Loop.Shutdown]. A producer that is far ahead gives way as it does in Submit.
//
// It returns ErrNilCallback, or ErrLoopTerminated once the loop has ended, was closed, or is ending and accepts no more.
func (l *Loop) SubmitInternal(fn func()) error { return l.enqueue(internal, fn, false) }

// OnLoop tells whether the caller runs on the loop, that is, within one of its callbacks. It is exact and costs a few
// nanoseconds.
//
// It compares goroutines: in the body of a coroutine that a callback resumes (iter.Pull) it is false, although nothing
// else of the loop runs meanwhile. Await and Shutdown then do not notice that they cannot wait: they wait for the
// callback that waits for them, until their context ends.
func (l *Loop) OnLoop() bool { return l.owner.Load() == goroutine.ID() }

// State returns the loop's state at some moment during the call.
func (l *Loop) State() State { return l.state.Load().State() }

// Run runs the loop on the calling goroutine and blocks until it has ended. A loop runs once.
//
// It returns nil after Shutdown or auto-exit, ErrLoopTerminated after Close, ctx.Err() if the end of ctx has shut the
// loop down gracefully, or the system's error for which the loop has shut itself down. It returns at once with
// ErrReentrantRun if one of the loop's own callbacks calls it, with ErrLoopAlreadyRunning if the loop is running, and
// with ErrLoopTerminated if the loop is ending or has ended. If a callback calls runtime.Goexit, the calling goroutine
// ends without returning from Run, and the loop goes on without it; Done tells its end.
//
// In profiles the goroutine, and those that callbacks start, have the label "loop" with the loop's id beside the labels
// of ctx. Afterwards it has those of ctx alone. While a trace is written, the phases of each tick are regions.
func (l *Loop) Run(ctx context.Context) error {
	watched := ctx.Done() != nil // before the loop is claimed: a nil context panics here
	if l.done == nil {
		panic("eventloop: Run of a Loop that New has not made")
	}
	if l.OnLoop() {
		return ErrReentrantRun
	}
	if !l.state.Start() {
		if l.state.Load().Ending() {
			return ErrLoopTerminated
		}
		return ErrLoopAlreadyRunning
	}
	if ctx.Err() != nil {
		l.terminate(park.CauseContext)
	} else if watched {
		l.forget = sched.AfterContext(ctx, func() { l.terminate(park.CauseContext) })
	}
	l.label(ctx)
	l.serve()
	pprof.SetGoroutineLabels(ctx)
	switch w := l.state.Load(); {
	case w.Closing():
		return ErrLoopTerminated
	case l.failure != nil:
		return l.failure
	case w&park.CauseContext != 0:
		return ctx.Err()
	}
	return nil
}

// runTicks runs tick after tick until the loop is to end. If a callback does not return, runTicks is called once more: it then
// goes on with the same tick, behind that callback.
func (l *Loop) runTicks() {
	resumed := l.fault != nil
	if resumed {
		l.probe.Unwound()
	}
	for l.report(); l.tick(resumed); resumed = false {
	}
	l.guest.leave(l)
}

// tick is one iteration of the loop; it returns false after the last one. A resumed tick goes on after the callback
// that did not return, with what is left of its bounds: so a callback that always panics cannot starve the others.
func (l *Loop) tick(resumed bool) bool {
	if resumed {
		l.checkpoint()
	} else {
		l.beginTick()
	}
	r := &l.regions
	r.Enter(observe.Timers)
	l.runTimers()
	r.Enter(observe.Internals)
	l.runInternal()
	r.Enter(observe.Externals)
	l.runExternal()
	l.runGuest()
	r.Enter(observe.Microtasks)
	l.checkpoint()
	l.promises.Scavenge()
	r.Enter(observe.Sleep)

	switch w := l.state.Load(); {
	case w.Closing():
		return false
	case l.bounds.polled && !l.fds.Collected():
		return true // resumed after the last callback of its batch
	case l.hasWork() || l.promises.Behind():
	case w.Ending():
		return !l.finish()
	case l.fds.Pending():
	case l.runBackground():
	case l.autoExit && l.exit():
		l.guest.stuck()
		return true // the next tick finds the loop ending, and rejects pending promises
	default:
		l.sleep()
	}
	r.Enter(observe.Descriptors)
	l.runIO()
	return true
}

// beginTick reads the clock and renews the budgets.
func (l *Loop) beginTick() {
	now := l.now()
	l.park.Begin(now)
	l.regions.Look(l.id)
	l.probe.Tick(now)
	l.renewBounds(now)
}

// runInternal runs internal tasks, including those that arrive meanwhile, until none is left or a bound is reached.
func (l *Loop) runInternal() {
	t := &l.bounds
	for l.internalWaiting() {
		if l.internals.Len() != 0 && l.microtasksDue() {
			l.checkpoint()
		}
		switch {
		case t.stopped || l.Closed():
			return
		case l.internals.Len() == 0:
			l.shared.PassOn()
			l.take(internal, &l.internals)
			continue
		case t.internal.Used() && t.crowded || t.internal.Due() && t.internal.Spent(l.now()):
			if t.stopped, t.full = true, true; t.internal.Out() {
				l.bounds.runaway.report(l, errRunaway)
			}
			return
		}
		t.internal.Count()
		if !l.mayStart(quota.Internal) {
			return
		}
		l.current.kind = observe.Internal
		if l.probe != nil {
			l.measured(observe.Internal, &l.internals)
			continue
		}
		l.internals.Pop()()
	}
	l.bounds.runaway.end()
}

func (l *Loop) internalWaiting() bool { return l.internals.Len() != 0 || l.urgent.Raised() }

// runTasks runs the loop's own external tasks up to the tick's budget, or until they have taken too long. Internal tasks that
// arrive meanwhile go first.
func (l *Loop) runTasks() {
	t := &l.bounds
	for {
		if l.urgentWaits() && !l.runUrgent() {
			return
		}
		if l.externals.Len() == 0 {
			if l.refill() {
				continue
			}
			if l.noteBacklog(); !l.shared.MayHaveWork() {
				l.bounds.overload.end()
			}
			return
		}
		if t.tasks.Due() && l.tasksSpent(&t.tasks) {
			return
		}
		t.tasks.Count()
		if !l.mayStart(quota.External) {
			return
		}
		if l.queueLimit > 0 {
			l.inbox.waiting.Add(-1)
		}
		l.current.kind = observe.Task
		if l.probe != nil {
			l.measured(observe.Task, &l.externals)
		} else {
			l.externals.Pop()()
		}
		if t.crowded {
			return
		}
	}
}

// urgentWaits tells whether there is something that goes before external tasks.
func (l *Loop) urgentWaits() bool {
	return l.urgent.Raised() || l.foreign.Raised() || l.micro.Len()+l.ticks.Len()+l.internals.Len() != 0
}

// runUrgent runs what goes before the next external task, and tells whether that may then begin: it waits for internal tasks
// without end.
func (l *Loop) runUrgent() bool {
	l.shared.PassOn()
	for {
		if l.runInternal(); l.internalWaiting() {
			return false
		}
		if !l.microtasksDue() {
			return true
		}
		if l.checkpoint(); !l.internalWaiting() {
			return true
		}
	}
}

// refill takes the next batch of external tasks from the inbox, when the one before has run. It returns true if it has
// taken some, or if urgent work has arrived that goes before them.
func (l *Loop) refill() bool {
	if !l.mayHaveWork() && (l.fds.Pending() || l.guest.ready() || !l.park.Pause()) {
		return false
	}
	if l.inbox.MayHaveWork() && !l.urgentDue() && l.take(external, &l.externals) && l.externals.Len() != 0 {
		return true
	}
	for _, b := range [...]*inbox.Inbox{&l.urgent.Inbox, &l.foreign.Inbox} {
		if b.MayHaveWork() && !b.Raised() {
			l.lock(&b.Lock) // a producer holds it, and is about to raise it
			b.Unlock()
		}
	}
	return l.urgentDue()
}

// urgentDue tells whether urgent work waits that goes before external tasks and may run in this tick.
func (l *Loop) urgentDue() bool {
	return l.urgent.Raised() || l.foreign.Raised() && !l.bounds.held
}

// hasWork tells whether there may be callbacks to run other than those of timers and descriptors.
func (l *Loop) hasWork() bool {
	return l.micro.Len()+l.ticks.Len()+l.externals.Len()+l.internals.Len() != 0 || l.bounds.held || l.mayHaveWork() || l.guest.ready()
}
