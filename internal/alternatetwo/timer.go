package alternatetwo

// Timers: the wheel behind its lock.

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/turnloop/turnloop/internal/loopapi"
	"github.com/turnloop/turnloop/internal/rival"
)

// timers is shared by the loop, which fires timers, and the goroutines that schedule or cancel them.
type timers struct {
	earliest atomic.Int64 // no timer is due before it; written under mu, read by each tick and by the sleep decision
	mu       sync.Mutex   // guards wheel; never held over a callback
	wheel    wheel
}

// ScheduleTimer implements loopapi.TimerScheduler. It costs a lock held for some nanoseconds, whatever is pending.
func (l *Loop) ScheduleTimer(delay time.Duration, fn func()) (loopapi.TimerID, error) {
	if fn == nil {
		return 0, loopapi.ErrNilCallback
	}
	now := max(l.Now(), l.TickTime()+1) // so that it is not due in the current tick
	deadline := rival.Deadline(now, delay)
	t := &l.timers
	t.mu.Lock()
	if l.state.ending() {
		t.mu.Unlock()
		return 0, loopapi.ErrLoopTerminated
	}
	id := t.wheel.insert(deadline, now, fn)
	sooner := deadline < t.earliest.Load()
	if sooner {
		t.earliest.Store(deadline)
	}
	t.mu.Unlock()
	if sooner && l.state.load() == sleeping {
		l.wake()
	}
	return loopapi.TimerID(id), nil
}

// CancelTimer implements loopapi.TimerScheduler, at the cost of ScheduleTimer. The function is garbage at once.
func (l *Loop) CancelTimer(id loopapi.TimerID) error {
	l.timers.mu.Lock()
	found := l.timers.wheel.remove(uint64(id))
	l.timers.mu.Unlock()
	if !found {
		return loopapi.ErrTimerNotFound
	}
	return nil
}

// runTimers fires the timers that are due at the tick's time.
func (l *Loop) runTimers() {
	now := l.TickTime()
	t := &l.timers
	for t.earliest.Load() <= now && !l.state.ending() {
		t.mu.Lock()
		fn := t.wheel.pop(now)
		if fn == nil {
			t.earliest.Store(t.wheel.next())
		}
		t.mu.Unlock()
		if fn == nil {
			return
		}
		fn()
		l.afterCallback()
	}
}

// drop drops all timers. The loop is ending, so no timer can be scheduled any more.
func (t *timers) drop() {
	t.mu.Lock()
	t.wheel = wheel{}
	t.mu.Unlock()
}
