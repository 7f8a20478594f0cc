package eventloop

// What white-box tests need of the package, and nothing else does.

import (
	"time"

	"github.com/turnloop/turnloop/internal/fdset"
	"github.com/turnloop/turnloop/internal/garbage"
	"github.com/turnloop/turnloop/internal/inbox"
	"github.com/turnloop/turnloop/internal/observe"
	"github.com/turnloop/turnloop/internal/quota"
)

// Word is the state word with its causes.
type Word = word

const (
	CauseClose   = causeClose
	CauseContext = causeContext
	Resting      = resting
)

// The pure transitions.
func (w word) Start() (next Word, ok bool)               { return w.start() }
func (w word) Sleep() (next Word, ok bool)               { return w.sleep() }
func (w word) Rest() (next Word, ok bool)                { return w.rest() }
func (w word) Wake() (next Word, ok bool)                { return w.wake() }
func (w word) Exit() (next Word, ok bool)                { return w.exit() }
func (w word) Terminate(cause Word) (next Word, ok bool) { return w.terminate(cause) }
func (w word) Terminated() (next Word)                   { return w.terminated() }

// Closing and StateOf read the word.
func (w word) Closing() bool  { return w.closing() }
func (w word) StateOf() State { return w.state() }
func (w word) Ending() bool   { return w.ending() }
func (w word) Sleeping() bool { return w.sleeping() }

// WhileAChunkIsMade calls f once, while somebody makes a chunk.
func WhileAChunkIsMade(f func()) {
	garbage.Collect() // twice, so that there are no used ones
	garbage.Collect()
	plain := inbox.Chunks.New
	inbox.Chunks.New = func() any {
		inbox.Chunks.New = plain
		f()
		return plain()
	}
}

const InternalBudget = internalBudget

// SystemPoller is the part of the system that the loop can do without.
type SystemPoller = fdset.Poller

// WithPoller replaces the system's poller.
func WithPoller(open func() (SystemPoller, error)) Option {
	return func(c *config) error {
		c.newPoller = open
		return nil
	}
}

// WorkWaiting is how many functions of Promisify wait for their turn, or are kept as if they did.
func (l *Loop) WorkWaiting() int {
	l.workers.mu.Lock()
	defer l.workers.mu.Unlock()
	return len(l.workers.waiting)
}

// ManyWorkers is how many workers that have not begun make callers of Promisify give way, or callbacks defer.
const ManyWorkers = manyWorkers

// MoveAfter is how many sleeps in a row must have been spent in the wrong place before the loop moves.
const MoveAfter = fdset.MoveAfter

// StopAlarm stops the alarm of a loop that has ended, and tells whether it was armed.
func (l *Loop) StopAlarm() bool { return l.alarm.timer.Stop() }

// Hurry has an ending loop accept no more than late functions from elsewhere, and credit from its own callbacks, until it
// rests. It is for loops that have not begun to end.
func (l *Loop) Hurry(late, credit int) {
	l.foreignCredit.Store(int64(late))
	l.Credit(credit)
}

// Credit sets the same for its own callbacks. On the loop.
func (l *Loop) Credit(credit int) { l.account = quota.Opened(credit) }

// Counts tells whether the loop has noticed its end, and counts what its callbacks bring. On the loop.
func (l *Loop) Counts() bool { return l.account.Open }

// LockInbox takes the lock that external work takes; UnlockInbox gives it back.
func (l *Loop) LockInbox()   { l.lock(&l.inbox.Lock) }
func (l *Loop) UnlockInbox() { l.inbox.Unlock() }

// InboxWanted tells whether the loop waits for that lock.
func (l *Loop) InboxWanted() bool { return l.inbox.Wanted() }

// LockTable takes the lock that registrations take; UnlockTable gives it back.
func (l *Loop) LockTable()   { l.fds.Lock() }
func (l *Loop) UnlockTable() { l.fds.Unlock() }

// Queued is how many functions wait in the inboxes.
func (l *Loop) Queued() (n int) {
	l.lockInboxes()
	defer l.unlockInboxes()
	for _, b := range l.inboxes() {
		n += b.Len()
	}
	return n
}

// Crew knows goroutines.
type Crew = crew

func (c *crew) Enter()    { c.enter() }
func (c *crew) Leave()    { c.leave() }
func (c *crew) Has() bool { return c.has() }

// MostPauses is how many pauses a tick has.
const MostPauses = mostPauses

// Pause has a loop that nobody runs pause, if it would, and tells whether it has, and whether that has brought work.
func (l *Loop) Pause() (paused, brought bool) {
	before := l.pauses.used
	brought = l.pause()
	return l.pauses.used != before, brought
}

// Idle has the loop use all pauses that it has before a sleep, and tells how many those were.
func (l *Loop) Idle() int {
	before := l.pauses.used
	if !l.pause() {
		l.pauseOn()
	}
	return l.pauses.used - before
}

// BeginPauses begins a tick, as far as pauses are concerned.
func (l *Loop) BeginPauses() {
	l.pauses.begin(l.now())
	_, _ = l.fds.Collect(0, false) // that the loop was made is no news
}

// PauseTakes is a tick that begins so long after the one before, and has pauses which take so long together.
func (l *Loop) PauseTakes(rest, took time.Duration) {
	p := &l.pauses
	p.begin(p.clock + int64(rest))
	l.measurePauses(p.clock + int64(took))
}

// SleepOf is a sleep of a loop that nobody runs, from which it is woken and gets on so late. It tells whether the waker is to
// read the clock, or to yield.
func (l *Loop) SleepOf(late time.Duration) (timed, yields bool) {
	l.prepareWake()
	way := l.handover.way.Load()
	if way == wakeTimed {
		l.handover.woken.Store(l.now() - int64(late))
	}
	l.learnFromWake()
	return way == wakeTimed, way == wakeAndYield
}

// SleepUnwoken is a sleep that nobody ends; it returns how many are left until one is measured.
func (l *Loop) SleepUnwoken() int {
	l.prepareWake()
	l.learnFromWake()
	return l.handover.left
}

// HandOver has the next waker of a loop that sleeps yield.
func (l *Loop) HandOver() { l.handover.way.Store(wakeAndYield) }

// SetCalm says whether the processors are calm, and has nobody ask until ForgetCalm. Who has asked before may still answer.
func SetCalm(sure bool) {
	calm.nextAsk.Store(never)
	calm.until.Store(0)
	if sure {
		calm.until.Store(never)
	}
}

// SetCalmFor says that the processors are calm from the loop's last look at the clock on, for so long.
func SetCalmFor(l *Loop, d time.Duration) {
	calm.nextAsk.Store(never)
	calm.until.Store(l.born + l.pauses.clock + int64(d))
}

// CalmAt tells whether they are known to be at that look.
func CalmAt(l *Loop) bool { return calm.is(l.born + l.pauses.clock) }

func Calm() bool { return calm.until.Load() != 0 }

// ForgetCalm is where a process begins.
func ForgetCalm() {
	calm.until.Store(0)
	calm.nextAsk.Store(0)
}

// Notes returns how many things the ledger of debug mode knows.
func (l *Loop) Notes() int {
	return l.notes.Len()
}

// Watched tells whether a timer looks for stalls.
func (l *Loop) Watched() bool { return l.probe.Watched() }

// ForgetRecorded has the loop count ticks that the flight recorder does not know.
func (l *Loop) ForgetRecorded() { l.counters.ticks.Add(10) }

// Tracing tells whether the loop takes it that a trace is being written.
func (l *Loop) Tracing() bool { return l.regions.On || l.regions.Within() }

// Call calls fn through a pointer as the loop does; CallObserved as it calls a task that has waited, when it has a probe. They
// are for loops that nobody runs.
//
//go:noinline
func (l *Loop) Call(fn func()) { fn() }

//go:noinline
func (l *Loop) CallObserved(fn func()) {
	accepted := int64(0)
	if l.probe.Every() == 1 {
		accepted = 1
	}
	l.probe.Call(observe.Task, accepted, nil, fn)
}

// Now reads the loop's clock.
func (l *Loop) Now() int64 { return l.now() }

// HandOver has the next waker of each loop that sleeps yield.
func (g *Group) HandOver() {
	for _, l := range g.loops {
		l.HandOver()
	}
}

// Unwatched has the group not shut the other loops down when one has ended: a schedule ends them itself.
func (g *Group) Unwatched() { g.first.Do(func() {}) }

// WithUrgentLock calls fn while it holds the lock of the urgent inbox.
func (l *Loop) WithUrgentLock(fn func()) {
	l.lock(&l.urgent.Lock)
	defer l.urgent.Unlock()
	fn()
}
