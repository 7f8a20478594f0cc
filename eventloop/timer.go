package eventloop

// Timers: the wheel under its lock, and the clock it runs on.

import (
	"math"
	"time"

	"github.com/turnloop/turnloop/internal/sched"
	"github.com/turnloop/turnloop/internal/sched/atomic"
	"github.com/turnloop/turnloop/internal/wheel"
)

// never is the deadline that is not reached.
const never = math.MaxInt64

// timers is the wheel shared by the loop, which fires, and everyone who schedules or cancels. Deadlines are nanoseconds
// since the loop's anchor.
type timers struct {
	mu     sched.Mutex // guards wheel and closed, and the writing of earliest
	wheel  wheel.Wheel
	closed bool // the loop has ended; nothing is inserted any more
}

// ScheduleTimer runs fn once on the loop, when at least delay has passed. A delay of zero or less means now, but in a
// later turn; one beyond the range of the clock never fires. Timers fire in order of their deadlines, and equal
// deadlines in order of scheduling. A pending timer keeps an auto-exit loop alive unless [Loop.UnrefTimer] says
// otherwise, and is dropped when the loop ends.
//
// Any goroutine may call it; it costs the same however many timers are pending, but for those due within about a
// millisecond, which cost the logarithm of their number. It returns ErrNilCallback, or ErrLoopTerminated once the loop
// is ending.
func (l *Loop) ScheduleTimer(delay time.Duration, fn func()) (TimerID, error) {
	if fn == nil {
		return 0, ErrNilCallback
	}
	deadline := l.now()
	if delay > 0 {
		deadline += int64(delay)
		if deadline < 0 {
			deadline = never
		}
	}
	t := &l.timers
	t.mu.Lock()
	if t.closed || l.state.load().ending() {
		t.mu.Unlock()
		return 0, ErrLoopTerminated
	}
	id := t.wheel.Insert(wheel.Normal, deadline, fn, true)
	sooner := deadline < l.earliest.Load()
	if sooner {
		l.earliest.Store(deadline)
	}
	t.mu.Unlock()
	if sooner {
		l.wakeIfSleeping()
	}
	return TimerID(id), nil
}

// CancelTimer takes back a timer that has not fired. Its function is garbage at once. Any goroutine may call it; it
// costs what ScheduleTimer costs. It returns ErrTimerNotFound if the timer has fired, is firing, was cancelled, was
// dropped at the loop's end, or never was.
func (l *Loop) CancelTimer(id TimerID) error {
	return l.changeTimer(id, (*wheel.Wheel).Remove)
}

// RefTimer makes a pending timer keep an auto-exit loop alive, as every timer does when it is scheduled. Any goroutine
// may call it. It returns ErrTimerNotFound as CancelTimer does.
func (l *Loop) RefTimer(id TimerID) error {
	return l.changeTimer(id, func(w *wheel.Wheel, id uint64) bool { return w.SetRef(id, true) })
}

// UnrefTimer lets an auto-exit loop end although the timer is pending. Any goroutine may call it. It returns
// ErrTimerNotFound as CancelTimer does.
func (l *Loop) UnrefTimer(id TimerID) error {
	return l.changeTimer(id, func(w *wheel.Wheel, id uint64) bool { return w.SetRef(id, false) })
}

func (l *Loop) changeTimer(id TimerID, change func(*wheel.Wheel, uint64) bool) error {
	t := &l.timers
	t.mu.Lock()
	found := change(&t.wheel, uint64(id))
	unneeded := t.wheel.Refs() == 0
	t.mu.Unlock()
	if !found {
		return ErrTimerNotFound
	}
	if l.autoExit && unneeded {
		l.wakeIfSleeping() // to see whether it should end
	}
	return nil
}

// runTimers fires what is due at the tick's time, but nothing that is scheduled meanwhile.
func (l *Loop) runTimers() {
	now := l.tickTime.Load()
	if now < l.earliest.Load() {
		return
	}
	t := &l.timers
	t.mu.Lock()
	limit := t.wheel.Seq()
	t.mu.Unlock()
	for {
		t.mu.Lock()
		if l.state.load().ending() {
			t.mu.Unlock()
			return // what is due stays, and keeps alive what must hear that pending promises are rejected
		}
		fn, ok := t.wheel.PopDue(wheel.Normal, now, limit)
		if !ok {
			l.earliest.Store(t.wheel.Next())
		}
		t.mu.Unlock()
		if !ok || l.state.load().closing() { // the last look before a callback: the locks may have been long in coming
			return
		}
		fn()
		l.afterCallback()
	}
}

// drop forgets all pending timers, for good.
func (t *timers) drop() {
	t.mu.Lock()
	t.closed = true
	t.wheel = wheel.Wheel{}
	t.mu.Unlock()
}

// now reads the clock: nanoseconds since the anchor, monotonic.
func (l *Loop) now() int64 { return int64(sched.Since(l.anchor)) }

// CurrentTickTime returns the time that the current tick works with: the moment it began, or, off the loop, the
// beginning of the latest tick. It never goes back. Any goroutine may call it; it reads no clock and allocates nothing.
func (l *Loop) CurrentTickTime() time.Time {
	return l.anchor.Add(time.Duration(l.tickTime.Load()))
}

// alarm wakes the loop at a deadline. Only the loop arms it; it rings on a goroutine of the runtime.
type alarm struct {
	timer *sched.Timer
	at    int64       // deadline that it was armed for; never, when it is not armed
	rang  atomic.Bool // set before the ringing looks at the loop's state; see wait.go
}

// arm sees to it that the alarm rings at the deadline. An alarm that would ring earlier is left alone: one idle turn
// then costs less than moving it each time that a timer is cancelled.
func (a *alarm) arm(l *Loop, deadline int64) {
	if a.rang.Load() {
		a.rang.Store(false)
		a.at = never
	}
	if deadline >= a.at {
		return
	}
	a.at = deadline
	delay := time.Duration(deadline - l.now())
	if a.timer == nil {
		a.timer = sched.AfterFunc(delay, func() {
			a.rang.Store(true)
			l.wakeIfSleeping()
		})
		return
	}
	a.timer.Reset(delay)
}

func (a *alarm) stop() {
	if a.timer != nil {
		a.timer.Stop()
	}
}
