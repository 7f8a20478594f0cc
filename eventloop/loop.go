package eventloop

// The loop itself: what it is made of, and one tick of it.

import (
	"context"
	"fmt"
	"runtime/pprof"
	"time"

	"github.com/turnloop/turnloop/eventloop/promise"
	"github.com/turnloop/turnloop/internal/goroutine"
	"github.com/turnloop/turnloop/internal/sched"
	"github.com/turnloop/turnloop/internal/sched/atomic"
)

// Loop is an event loop: functions submitted from any goroutine run on it one at a time, in order. Create one with
// [New]; the zero Loop is none: Run panics. All methods may be called from any goroutine, also from the loop's own
// callbacks.
type Loop struct {
	// Read by producers on every call and written only at the edges of sleep, so that a busy loop and busy producers
	// share this line without moving it.
	state    stateWord
	earliest atomic.Int64   // no timer is due before it; written under the timers' lock
	owner    atomic.Uintptr // the goroutine that runs the loop, 0 when there is none; written by it alone
	express  bool           // nothing is to be looked at, or noted, of what Submit brings; fixed by New
	_        [39]byte

	inbox  inbox // external work
	_      [64]byte
	urgent urgent // all other work
	_      [64]byte

	// Touched by the loop's goroutine alone, except tickTime, which others may read.
	tickTime atomic.Int64 // when the current tick began, in nanoseconds since anchor
	probe    *probe       // what is measured; nil if nobody wants to know
	batch    queue        // external tasks taken from the inbox
	priority queue        // internal tasks taken from the inbox
	ticks    queue        // see NextTick
	micro    queue        // microtasks, those of other goroutines included once they are adopted
	inMicro  bool         // ticks wait until there are no microtasks
	draining bool         // a tick or a microtask runs
	pauses   pauses       // lets others run while there is nothing to do
	overload episode
	breach   episode
	runaway  episode
	bounds   bounds      // what the tick may still do
	chain    int64       // microtasks since there were none, less those that other goroutines account for
	grace    grace       // what an ending loop still accepts from itself
	polled   bool        // the tick has collected events; it does so once, also when it is resumed
	calling  calling     // the callback that runs, or ran last
	fault    *PanicError // a callback that did not return, not yet reported
	sink     sink        // who hears of the next fault
	alarm    alarm
	forget   func() bool // ends the interest in Run's context
	turned   turned      // what the loop has done, ever; anyone reads it
	regions  regions     // of a trace

	timers   timers
	fds      descriptors
	promises *promise.Realm
	workers  workers
	crew     atomic.Pointer[crew]
	guest    guestSeat
	share    *share       // of a group's tasks; nil if there is none; fixed by NewGroup
	failure  error        // why the loop ended by itself; written by its owner before the end
	notes    *ledger      // of debug mode; nil without
	held     holds        // that are not released; guarded by the urgent inbox's lock
	waiting  atomic.Int64 // accepted external tasks that have not started; counted only under a queue limit

	// Fixed by New.
	anchor time.Time
	born   int64         // the same, in nanoseconds since epoch
	wake   chan struct{} // capacity one: a wake-up in flight
	done   chan struct{}
	config
}

// New creates a loop. Nothing runs and no goroutine is started until Run. Nothing of the operating system is held
// before Run or RegisterFD, unless WithFastPathMode asks for it. It returns an error that names the option when an
// option is out of range, or cannot be had.
func New(opts ...Option) (*Loop, error) {
	c, err := newConfig(opts)
	if err != nil {
		return nil, err
	}
	l := &Loop{
		anchor: time.Now(),
		wake:   make(chan struct{}, 1),
		done:   make(chan struct{}),
		config: c,
	}
	l.born = int64(l.anchor.Sub(epoch))
	l.bounds.microtasks, l.bounds.internal = c.microtaskBudget, internalBudget
	l.urgent.late = mostLate
	l.earliest.Store(never)
	l.timers.background.Store(never)
	l.alarm.at = never
	l.probe = newProbe(l)
	if l.debug {
		l.notes = newLedger()
	}
	l.express = l.queueLimit == 0 && (l.probe == nil || !l.probe.stamps)
	l.promises = promise.NewRealm(l, promise.Config{OnUnhandled: l.unhandled, Debug: c.promiseDebug})
	if err := l.setMode(c.fastPath); err != nil {
		return nil, fmt.Errorf("eventloop: WithFastPathMode(%d): %w", c.fastPath, err)
	}
	return l, nil
}

// Submit queues fn to run on the loop. Functions run in the order of their submission. The call never waits for the
// loop, whatever the loop does; but a producer that is thousands of functions ahead lets other goroutines run now and
// then. Once it has returned nil, fn runs exactly once unless the loop is ended by Close.
//
// It returns ErrNilCallback, ErrLoopTerminated once the loop is ending, or ErrLoopOverloaded at the limit that
// WithQueueLimit sets. It may be called before Run.
func (l *Loop) Submit(fn func()) error {
	// This is enqueue where nothing stands in the way, written out: what one producer does with the lock in hand is what
	// ten of them wait for.
	b := &l.inbox
	q := &b.lane[external&1]
	if fn != nil && l.express && b.tryAcquire() {
		state := l.state.load()
		if !state.ending() && !q.full() {
			q.push(fn)
			wanted := b.wanted.Load()
			storeRelease(&b.lock, freeWork)
			if state.sleeping() {
				l.unpark()
			}
			if wanted != 0 {
				giveWay(0)
			}
			return nil
		}
		b.Unlock()
	}
	return l.enqueue(external, fn, false)
}

// SubmitInternal queues fn ahead of everything that Submit queues: no submitted function starts while one of these
// waits. It is meant for completions, which must get through under any load: it is not subject to the queue limit, and
// is accepted while the loop is ending, until everything has run; by then in bounded amounts, see [Loop.Shutdown]. A
// producer that is far ahead gives way as it does in Submit.
//
// It returns ErrNilCallback, or ErrLoopTerminated once the loop has ended, was closed, or is ending and has had enough.
func (l *Loop) SubmitInternal(fn func()) error { return l.enqueue(internal, fn, false) }

// OnLoop tells whether the caller runs on the loop, that is, within one of its callbacks. It is exact and costs a few
// nanoseconds.
//
// It compares goroutines: in the body of a coroutine that a callback resumes (iter.Pull) it is false, although nothing
// else of the loop runs meanwhile. There Await, and Shutdown, which would otherwise tell that they cannot wait, wait for
// the callback that waits for them, until their context ends.
func (l *Loop) OnLoop() bool { return l.owner.Load() == goroutine.ID() }

// State returns the loop's state at some moment during the call.
func (l *Loop) State() State { return l.state.load().state() }

// Run runs the loop on the calling goroutine and blocks until it has ended. A loop runs once.
//
// It returns nil after Shutdown or auto-exit, ErrLoopTerminated after Close, and ctx.Err() when the end of ctx, which
// is a graceful shutdown, was what ended the loop; and an error of the system that made the loop shut down by itself.
// At once it returns ErrReentrantRun from one of the loop's own callbacks, ErrLoopAlreadyRunning, or ErrLoopTerminated
// when the loop is ending or has ended. If a callback calls runtime.Goexit the calling goroutine ends without returning
// from Run, and the loop goes on without it; Done tells its end.
//
// In profiles the goroutine has the label "loop" with the loop's id, beside those of ctx, as have those that callbacks
// start; afterwards those of ctx. While a trace is written, the phases of each tick are regions.
func (l *Loop) Run(ctx context.Context) error {
	watched := ctx.Done() != nil // before the loop is claimed: a nil context panics here
	if l.done == nil {
		panic("eventloop: Run of a Loop that New has not made")
	}
	if l.OnLoop() {
		return ErrReentrantRun
	}
	if !l.state.start() {
		if l.state.load().ending() {
			return ErrLoopTerminated
		}
		return ErrLoopAlreadyRunning
	}
	if ctx.Err() != nil {
		l.terminate(causeContext)
	} else if watched {
		l.forget = sched.AfterContext(ctx, func() { l.terminate(causeContext) })
	}
	l.label(ctx)
	l.serve()
	pprof.SetGoroutineLabels(ctx)
	switch w := l.state.load(); {
	case w.closing():
		return ErrLoopTerminated
	case l.failure != nil:
		return l.failure
	case w&causeContext != 0:
		return ctx.Err()
	}
	return nil
}

// turns runs tick after tick until the loop is to end. When a callback panicked, it is entered again and finishes the
// tick behind that callback.
func (l *Loop) turns() {
	resumed := l.fault != nil
	l.draining = false // what did not return runs no more
	if l.probe != nil && resumed {
		l.probe.unwound()
	}
	for l.report(); l.tick(resumed); resumed = false {
	}
	l.guest.leave(l)
}

// tick is one turn of the loop; it returns false when there is to be no other. A resumed tick goes on where it was, with
// what is left of its bounds: a callback that always panics begins nothing anew, and keeps nothing from running.
func (l *Loop) tick(resumed bool) bool {
	if resumed {
		l.checkpoint()
	} else {
		l.beginTick()
	}
	l.regions.enter(inTimers)
	l.runTimers()
	l.regions.enter(inInternal)
	l.runInternal()
	l.regions.enter(inExternal)
	l.runExternal()
	l.runGuest()
	l.regions.enter(inMicrotasks)
	l.checkpoint()
	l.promises.Scavenge()
	l.regions.enter(inSleep)

	switch w := l.state.load(); {
	case w.closing():
		return false
	case l.polled && l.fds.called == len(l.fds.batch):
		return true // resumed behind the last of its callbacks
	case l.hasWork():
	case w.ending():
		return !l.finish()
	case l.fds.pending():
	case l.runBackground():
	case l.autoExit && l.exit():
		l.guest.stuck()
		return true // to the end, which pending promises hear of
	default:
		l.sleep()
	}
	l.regions.enter(inDescriptors)
	l.runIO()
	return true
}

// beginTick reads the clock and renews the budgets.
func (l *Loop) beginTick() {
	now := l.now()
	l.pauses.begin(now)
	l.tickTime.Store(now)
	l.polled = false
	l.regions.look(l)
	publish(&l.turned.ticks, l.turned.ticks.Load()+1)
	if l.probe != nil {
		l.probe.tick(now)
	}
	l.renewBounds(now)
	if !l.grace.counts && l.state.load().ending() {
		l.noticeEnd()
	}
}

// runInternal runs internal tasks until none is left, also those that come meanwhile.
func (l *Loop) runInternal() {
	t := &l.bounds
	for l.internalWaiting() {
		if l.priority.len() != 0 && l.microtasksDue() {
			l.checkpoint()
		}
		switch {
		case t.stopped || l.state.load().closing(): // the last look before a callback
			return
		case t.internal == 0:
			t.stopped, t.full = true, true
			l.runaway.report(l, errRunaway)
			return
		case l.priority.len() == 0:
			l.take(internal, &l.priority)
			continue
		case t.inner.n != 0 && t.crowded || t.inner.over(l):
			t.stopped, t.full = true, true
			return
		}
		t.internal--
		if l.grace.counts {
			l.runsInternal()
		}
		l.calling.kind = anInternal
		if l.probe != nil {
			l.probe.next(anInternal, &l.priority)
			continue
		}
		l.priority.pop()()
	}
	l.runaway.over()
}

func (l *Loop) internalWaiting() bool { return l.priority.len() != 0 || l.urgent.has(internal) }

// runExternal runs external tasks up to the tick's budget, or until they have taken too long. Internal tasks that come
// meanwhile go first.
func (l *Loop) runExternal() {
	t := &l.bounds
	for {
		if l.urgent.flags.Load() != 0 || l.micro.len()+l.ticks.len()+l.priority.len() != 0 {
			if l.runInternal(); l.internalWaiting() {
				return
			}
			if l.microtasksDue() {
				if l.checkpoint(); l.internalWaiting() {
					continue
				}
			}
		}
		if l.batch.len() == 0 {
			if l.refill() {
				continue
			}
			l.overload.over()
			return
		}
		if l.state.load().closing() {
			return
		}
		if t.tasks <= t.outer.at && l.tasksOver() {
			return
		}
		t.tasks--
		if l.grace.counts {
			l.runsExternal()
		}
		if l.queueLimit > 0 {
			l.waiting.Add(-1)
		}
		l.calling.kind = aTask
		if l.probe != nil {
			l.probe.next(aTask, &l.batch)
		} else {
			l.batch.pop()()
		}
		if t.crowded {
			return
		}
	}
}

// refill takes the external tasks from the inbox, when all that were taken before have run. It tells whether there are
// any, or something has come that goes before them.
func (l *Loop) refill() bool {
	if !l.mayHaveWork() && (l.fds.pending() || l.guest.ready() || !l.pause()) {
		return false
	}
	if l.inbox.mayHaveWork() && !l.pressed() && l.take(external, &l.batch) && l.batch.len() != 0 {
		return true
	}
	if l.urgent.mayHaveWork() && l.urgent.flags.Load() == 0 {
		l.lock(&l.urgent.spinLock) // somebody has it, and is about to say what for
		l.urgent.Unlock()
	}
	return l.pressed()
}

// pressed tells whether something has come that goes before external tasks, and may run in this tick.
func (l *Loop) pressed() bool {
	flags := l.urgent.flags.Load()
	return flags != 0 && (flags&(1<<internal) != 0 || !l.bounds.held)
}

// hasWork tells whether there may be something to run other than timers and what descriptors ask for.
func (l *Loop) hasWork() bool {
	return l.micro.len()+l.ticks.len()+l.batch.len()+l.priority.len() != 0 || l.bounds.held || l.mayHaveWork() || l.guest.ready()
}
