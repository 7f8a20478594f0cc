package eventloop

// What white-box tests need of the package, and nothing else does.

import (
	"math"

	"github.com/turnloop/turnloop/internal/crew"
	"github.com/turnloop/turnloop/internal/fdset"
	"github.com/turnloop/turnloop/internal/garbage"
	"github.com/turnloop/turnloop/internal/inbox"
	"github.com/turnloop/turnloop/internal/observe"
	"github.com/turnloop/turnloop/internal/park"
	"github.com/turnloop/turnloop/internal/place"
	"github.com/turnloop/turnloop/internal/quota"
)

// Park is the loop's sleep.
func (l *Loop) Park() *park.Park { return &l.park }

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

// SystemPoller is the part of the system that the loop can do without.
type SystemPoller = fdset.Poller

// WithPoller replaces the system's poller.
func WithPoller(open func() (SystemPoller, error)) Option {
	return func(c *config) error {
		c.newPoller = open
		return nil
	}
}

// Crew runs the functions of Promisify.
func (l *Loop) Crew() *crew.Crew { return &l.crew }

// MoveAfter is how many sleeps in a row must have been spent in the wrong place before the loop moves.
const MoveAfter = fdset.MoveAfter

// Hurry has an ending loop accept no more than late functions from elsewhere, and credit from its own callbacks, until it
// rests. It is for loops that have not begun to end.
func (l *Loop) Hurry(late, credit int) {
	l.foreign.credit.Store(int64(late))
	l.Credit(credit)
}

// Credit sets the same for its own callbacks. On the loop.
func (l *Loop) Credit(credit int) { l.bounds.account = quota.Opened(credit) }

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

// Notes returns how many things the ledger of debug mode knows.
func (l *Loop) Notes() (n int) {
	for _, at := range []place.Shelf{place.Timers, place.Workers, place.Threadlets} {
		l.notes.Each(at, math.MaxInt, func(any, place.Entry) { n++ })
	}
	return n
}

// Watched tells whether a timer looks for stalls.
func (l *Loop) Watched() bool { return l.probe.Watched() }

// ForgetRecorded has the loop count ticks that the flight recorder does not know.
func (l *Loop) ForgetRecorded() { l.park.Ticks.Add(10) }

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

// OwnFirst has a loop that sleeps begin its next tick with its own tasks, as when its inbox was locked as its last tick ended.
func (l *Loop) OwnFirst() { l.ownFirst = true }

// Unwatched has the group not shut the other loops down when one has ended: a schedule ends them itself.
func (g *Group) Unwatched() { g.first.Do(func() {}) }

// WithUrgentLock calls fn while it holds the lock of the urgent inbox.
func (l *Loop) WithUrgentLock(fn func()) {
	l.lock(&l.urgent.Lock)
	defer l.urgent.Unlock()
	fn()
}
