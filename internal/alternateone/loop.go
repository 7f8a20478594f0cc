package alternateone

// The loop: its fields, its tick, and the one function that decides what runs next.

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/turnloop/turnloop/internal/loopapi"
	"github.com/turnloop/turnloop/internal/poller"
	"github.com/turnloop/turnloop/internal/rival"
)

// Loop is an event loop that checks itself. Create one with [New]. All methods may be called from any goroutine, also
// from the loop's own callbacks.
//
// There are two locks. A goroutine that holds table.mu may take mu, never the other way round.
type Loop struct {
	// Fixed by New. Producers read them with mu held, and find them on its cache lines.
	poller rival.Poller
	loopapi.Config
	id uint64 // the number of the loop in this process

	// mu is the lock of the whole ingress. Producers hold it to hand in work, the loop to decide what runs next and whether
	// to sleep, and callers of Shutdown and Close to end the loop. It is never held during a callback. It is held during a
	// system call in two cases only: the close of the poller, and the wake-up after a violated invariant. It guards:
	mu        sync.Mutex
	external  queue
	internal  queue
	micro     line
	timers    timers
	ids       uint64 // the number of the last accepted task or timer
	cause     cause  // why the loop ends; if it is Close, nothing may start any more
	sealed    bool   // the end has found all queues empty: nothing is accepted any more
	announced uint64 // the number of goroutines that have come to change the table
	admitted  uint64 // the number of these that have left it again

	// gone is signalled whenever admitted grows. The loop waits for it, with mu.
	gone sync.Cond

	state  stateWord                 // written under mu, read by any goroutine
	broken atomic.Pointer[LoopError] // the first violated invariant; written by the goroutine that finds it, read by all
	rival.Base

	table table // the registered descriptors, under a lock of their own

	// Only the owner touches these.
	holding   bool   // the owner holds table.mu
	midTick   bool   // the tick's callbacks are not done; a goroutine that replaces the owner goes on with them
	drained   bool   // the tick has left no work behind
	timerEnd  uint64 // timers with a greater id were scheduled after the begin of the tick
	microLeft int    // the rest of the microtask budget, renewed when no microtask is left
	taskLeft  int    // the rest of the tick's budget of external tasks
	innerLeft int    // the rest of the tick's budget of internal tasks
	overload  episode
	breach    episode
	runaway   episode
	fault     *fault // a callback that did not return, not yet reported
	phase     int    // the index of the current phase of the shutdown
	logged    int    // the number of phases that were logged
}

var loopIDs atomic.Uint64

// New creates a loop, which holds descriptors of the system's poller until it has ended: a loop that is never run must
// be closed or shut down.
//
// It supports QueueLimit, TickBudget (1024 by default), MicrotaskBudget (1024), OnOverload and OnPanic. For AutoExit it
// returns an error that wraps errors.ErrUnsupported; for a value out of range, an error that names the field.
func New(cfg loopapi.Config) (*Loop, error) {
	cfg, err := rival.Checked(cfg)
	var p *poller.Poller
	if err == nil {
		p, err = poller.New()
	}
	if err != nil {
		return nil, &LoopError{Op: "New", Phase: "configuring", Cause: err}
	}
	l := &Loop{table: table{watch: map[int]*watch{}}, microLeft: cfg.MicrotaskBudget, poller: p, Config: cfg, id: loopIDs.Add(1)}
	l.Init()
	l.gone.L = &l.mu
	return l, nil
}

// Submit implements loopapi.EventLoop. It takes the loop's lock.
func (l *Loop) Submit(fn func()) error { return l.enqueue("Submit", KindTask, fn) }

// SubmitInternal implements loopapi.EventLoop. It costs as much as Submit.
func (l *Loop) SubmitInternal(fn func()) error { return l.enqueue("SubmitInternal", KindInternal, fn) }

// ScheduleMicrotask implements loopapi.MicrotaskScheduler. It costs as much as Submit, also on the loop.
func (l *Loop) ScheduleMicrotask(fn func()) error {
	return l.enqueue("ScheduleMicrotask", KindMicrotask, fn)
}

func (l *Loop) enqueue(op string, kind Kind, fn func()) error {
	if fn == nil {
		return l.fail(op, loopapi.ErrNilCallback)
	}
	asleep, refused := l.accept(op, kind, fn)
	if refused != nil {
		return l.fail(op, refused)
	}
	if asleep {
		l.wake(op)
	}
	return nil
}

// accept decides and enqueues under one lock, so that the loop finds all accepted work. It reports whether the loop is
// asleep. The loop counts as asleep until it has woken up by itself: each caller until then wakes it.
func (l *Loop) accept(op string, kind Kind, fn func()) (asleep bool, refused error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.broken.Load() != nil, l.sealed, l.cause == causeClose, kind == KindTask && l.ending():
		return false, loopapi.ErrLoopTerminated
	case kind == KindTask && l.QueueLimit > 0 && l.external.length >= l.QueueLimit:
		return false, loopapi.ErrLoopOverloaded
	}
	l.ids++
	t := task{fn, l.ids}
	var err error
	switch kind {
	case KindTask:
		err = l.external.push(t)
	case KindInternal:
		err = l.internal.push(t)
	case KindMicrotask:
		err = l.micro.push(t)
	}
	if err != nil {
		l.violated(op, err, "queue", kind)
	}
	return l.state.load() == sleeping, nil
}

// waiting returns the number of queued functions, without timers. The caller holds mu.
func (l *Loop) waiting() int { return l.external.length + l.internal.length + l.micro.len() }

// ending reports whether external work and timers are refused. The caller holds mu.
func (l *Loop) ending() bool {
	state := l.state.load()
	return state == terminating || state == terminated || l.broken.Load() != nil
}

// State returns the loop's state at some moment during the call.
func (l *Loop) State() loopapi.State {
	s := l.state.load()
	if s != terminated && (s < 0 || int(s) >= len(legal) || legal[s] == 0) {
		l.violated("State", fmt.Errorf("there is no state %d", s))
	}
	return s
}

// tick is one iteration of the loop.
func (l *Loop) tick() {
	if l.work() && l.drained {
		runtime.Gosched() // a goroutine that has waited for a callback may submit again before the loop decides to sleep
	}
	l.poll()
	l.checkpoint()
}

// work runs the timers that are due, the internal tasks, and the external ones up to the budget, each with its
// microtasks. It reports whether it ran any.
func (l *Loop) work() (some bool) {
	if !l.midTick {
		l.beginTick()
		l.midTick = true
	}
	for {
		j, ok := l.next(false)
		if !ok {
			l.midTick = false
			return some
		}
		l.call(j)
		some = true
	}
}

// checkpoint runs microtasks until none is left or their budget is spent.
func (l *Loop) checkpoint() {
	for {
		j, ok := l.next(true)
		if !ok {
			return
		}
		l.call(j)
	}
}

// beginTick reads the clock and renews the budgets.
func (l *Loop) beginTick() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.readClock("tick")
	l.timerEnd = l.ids
	l.taskLeft, l.innerLeft = l.TickBudget, rival.InternalBudget
	if l.microLeft == 0 {
		l.microLeft = l.MicrotaskBudget
	}
}

func (l *Loop) readClock(op string) {
	before, now := l.TickTime(), l.Now()
	if now < before {
		l.violated(op, fmt.Errorf("the clock went back from %d to %d", before, now))
	}
	l.SetTickTime(now)
}

// job is a callback with its kind.
type job struct {
	kind Kind
	task
}

// next decides what runs next: microtasks first, then the timers that were due when the tick began, then internal
// tasks, then external ones. It decides under the lock, so that no other order is possible, and takes the callback out of
// its queue: a later Close finds it running. ok is false if there is nothing to run.
func (l *Loop) next(onlyMicrotasks bool) (j job, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.check("next")
	if l.cause == causeClose {
		return j, false
	}
	var err error
	switch report := l.watchBudgets(onlyMicrotasks); {
	case report != nil:
		return l.overloadJob(report)
	case l.micro.len() > 0 && l.microLeft > 0:
		l.microLeft--
		j.kind = KindMicrotask
		j.task, err = l.micro.pop()
	case onlyMicrotasks:
		return j, false
	case l.state.load() == running && l.timers.due(l.TickTime(), l.timerEnd):
		j.kind = KindTimer
		j.task, err = l.timers.pop()
	case l.internal.length > 0:
		if l.innerLeft == 0 {
			l.drained = false
			return j, false
		}
		l.innerLeft--
		j.kind = KindInternal
		j.task, err = l.internal.pop()
	case l.external.length > 0 && l.taskLeft > 0:
		l.taskLeft--
		j.kind = KindTask
		j.task, err = l.external.pop()
	default:
		l.drained = l.waiting() == 0
		return j, false
	}
	if err != nil {
		l.violated("next", err, "queue", j.kind)
	}
	return j, true
}

var errOwner = errors.New("a goroutine runs the loop that does not own it")

// check checks at each step that the loop is not broken and that the caller is its owner. The caller holds mu.
func (l *Loop) check(op string) {
	if broken := l.broken.Load(); broken != nil {
		panic(broken) // found on another goroutine, or recovered from in a callback
	}
	if !l.OnLoop() {
		l.violated(op, errOwner)
	}
}

// watchBudgets returns the error to report when a budget has just been spent, or nil. The caller holds mu.
func (l *Loop) watchBudgets(onlyMicrotasks bool) error {
	if l.micro.len() == 0 {
		l.microLeft = l.MicrotaskBudget
	}
	switch {
	case l.breach.begins(l.micro.len(), l.microLeft):
		return loopapi.ErrMicrotaskBudget
	case onlyMicrotasks:
	case l.runaway.begins(l.internal.length, l.innerLeft):
		return rival.ErrRunaway
	case l.overload.begins(l.external.length, l.taskLeft):
		return loopapi.ErrLoopOverloaded
	}
	return nil
}

// episode is the time from the moment at which a budget is spent until the queue is empty. It is true in that time.
type episode bool

// begins notes whether the episode lasts, and reports whether it has begun now.
func (e *episode) begins(waiting, budgetLeft int) bool {
	begins := !bool(*e) && waiting > 0 && budgetLeft == 0
	*e = episode(waiting > 0 && (bool(*e) || begins))
	return begins
}
