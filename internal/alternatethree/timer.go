package alternatethree

// Timers: a binary heap, and the mutex that guards it.

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/turnloop/turnloop/internal/loopapi"
	"github.com/turnloop/turnloop/internal/rival"
)

// timers holds the pending timers. Any goroutine inserts and cancels; only the loop pops.
type timers struct {
	mu      sync.Mutex // guards all below; nothing else is locked and no user code is called under it
	pending rival.Timers
	lastID  loopapi.TimerID

	// first is the first deadline, or rival.Never if no timer is pending. It is written under mu after each change. The loop reads it without mu to decide whether to yield before a sleep; before the sleep it looks under mu.
	first atomic.Int64
}

// ScheduleTimer implements loopapi.TimerScheduler. It costs the logarithm of the number of pending timers.
func (l *Loop) ScheduleTimer(delay time.Duration, fn func()) (loopapi.TimerID, error) {
	if fn == nil {
		return 0, loopapi.ErrNilCallback
	}
	id, first := l.insert(rival.Deadline(l.Now(), delay), fn)
	if id == 0 {
		return 0, loopapi.ErrLoopTerminated
	}
	if first {
		l.wakeIfSleeping() // its sleep must now end earlier
	}
	return id, nil
}

// insert adds a timer, and reports whether it is the first one. It returns the ID 0 when the loop is ending.
func (l *Loop) insert(deadline int64, fn func()) (id loopapi.TimerID, first bool) {
	t := &l.timers
	t.mu.Lock()
	defer t.mu.Unlock()
	if l.state.ending() {
		return 0, false
	}
	t.lastID++
	tm := t.pending.Insert(t.lastID, deadline, fn)
	t.noteFirst()
	return t.lastID, tm.At == 0
}

// CancelTimer implements loopapi.TimerScheduler, at the cost of ScheduleTimer. The function is garbage at once.
func (l *Loop) CancelTimer(id loopapi.TimerID) error {
	t := &l.timers
	t.mu.Lock()
	defer t.mu.Unlock()
	tm := t.pending.ByID[id]
	if tm == nil {
		return loopapi.ErrTimerNotFound
	}
	t.remove(tm)
	return nil
}

// remove ends a pending timer and returns its function. The caller holds mu.
func (t *timers) remove(tm *rival.Timer) func() {
	fn := t.pending.Remove(tm)
	t.noteFirst()
	return fn
}

// drop forgets all timers.
func (t *timers) drop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pending = rival.Timers{}
	t.noteFirst()
}

// noteFirst keeps first up to date. The caller holds mu.
func (t *timers) noteFirst() { t.first.Store(t.pending.Earliest()) }

// popDue takes the first timer if its deadline is before now, and returns its function, or else nil.
func (t *timers) popDue(now int64) func() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.pending.Earliest() >= now {
		return nil
	}
	return t.remove(t.pending.Heap[0])
}

// timeout returns how long the loop may sleep from now on: not at all if it is zero, for ever if it is negative.
func (t *timers) timeout(now int64) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	first := t.pending.Earliest()
	if first == rival.Never {
		return -1
	}
	return time.Duration(max(0, first-now))
}

// runTimers fires the timers that were due before the tick's time. Timers that the callbacks schedule are not due before
// it, not even without delay, and so wait for a later tick: a timer that re-arms itself starves nothing.
func (l *Loop) runTimers() {
	for now := l.TickTime(); ; {
		fn := l.timers.popDue(now)
		if fn == nil || l.state.ending() { // the last look before a callback; an ending loop drops timers
			return
		}
		l.faults.Call(fn)
		l.checkpoint()
	}
}
