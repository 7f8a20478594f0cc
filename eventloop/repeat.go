package eventloop

// Functions that run again and again: at a period, or at times that a function returns.

import (
	"fmt"
	"sync"
	"time"
)

// Every runs fn on the loop every period, until stop is called or the loop ends. The times are whole periods after the
// call, however long fn takes. Times that pass while fn runs are left out, so fn never runs twice in a row to catch up;
// a time that passes while the loop does something else is served late, once.
//
// Every is [Loop.Repeat] with these times. It returns the same errors, and one for a period that is not positive.
func (l *Loop) Every(period time.Duration, fn func()) (stop func(), err error) {
	if period <= 0 {
		return nil, fmt.Errorf("eventloop: Every(%v): the period must be positive", period)
	}
	start := time.Now()
	return l.Repeat(func(now time.Time) time.Time {
		return start.Add((now.Sub(start)/period + 1) * period)
	}, fn)
}

// Repeat runs fn on the loop at the times that the function next returns. next gets the present time, and returns when fn
// is to run after it, or the zero time to end. It is called again when fn has returned, or panicked: so times that pass
// while fn runs are left out. A schedule for each day at three is
//
//	func(now time.Time) time.Time {
//		at := time.Date(now.Year(), now.Month(), now.Day(), 3, 0, 0, 0, now.Location())
//		if !at.After(now) {
//			at = at.AddDate(0, 0, 1)
//		}
//		return at
//	}
//
// fn never runs before the wall clock shows that time, even if the clock was set back meanwhile. A clock that was set
// forward is noticed only when the wait is over.
//
// Repeat keeps an auto-exit loop alive until stop is called or next returns the zero time; a panic of next on the loop
// ends it too. After a call of stop on the loop fn does not run again; after one elsewhere a run that has begun goes on.
// Any goroutine may call stop, any number of times. Repeat calls next first, and the loop from then on; next must be
// quick. Repeat costs a timer, and a run allocates only what next does. Repeat returns ErrNilCallback, or
// ErrLoopTerminated once the loop is ending.
func (l *Loop) Repeat(next func(now time.Time) time.Time, fn func()) (stop func(), err error) {
	if next == nil || fn == nil {
		return nil, ErrNilCallback
	}
	r := &repeated{loop: l, next: next, fn: fn}
	r.fired = r.fire
	now := time.Now()
	if r.due = next(now); r.due.IsZero() {
		return func() {}, nil
	}
	first, err := l.ScheduleTimer(r.due.Sub(now), r.fired)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.timer == 0 { // otherwise the first timer has fired, and fire has scheduled another
		r.timer = first
	}
	return r.stop, nil
}

// repeated is one call of Repeat.
type repeated struct {
	loop  *Loop
	next  func(time.Time) time.Time
	fn    func()
	fired func()    // fire, bound once
	due   time.Time // when fn is to run; only the loop touches it once there is a timer

	// mu guards what follows. The loop holds it while it schedules a timer, so that stop finds the new timer. The loop does
	// not hold it while it calls the functions next and fn, which may call stop.
	mu      sync.Mutex
	timer   TimerID
	stopped bool
}

// fire is the timer's function: it runs fn, unless the wall clock was set back.
func (r *repeated) fire() {
	r.mu.Lock()
	stopped := r.stopped
	r.mu.Unlock()
	if stopped {
		return
	}
	defer r.reschedule() // also when fn does not return
	if !time.Now().Before(r.due) {
		r.fn()
	}
}

// reschedule schedules the timer for the next time.
func (r *repeated) reschedule() {
	now := time.Now()
	if r.due = r.next(now); r.due.IsZero() {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.stopped {
		r.timer, _ = r.loop.ScheduleTimer(r.due.Sub(now), r.fired) // an ending loop has no timers any more
	}
}

func (r *repeated) stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.stopped {
		r.stopped = true
		_ = r.loop.CancelTimer(r.timer) // it may be firing
	}
}
