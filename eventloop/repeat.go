package eventloop

// What runs again and again: at a period, or at times that somebody tells.

import (
	"fmt"
	"sync"
	"time"
)

// Every runs fn on the loop every period, until stop is called or the loop ends. It keeps to its grid, whole periods
// after the call, however long fn takes. Times that pass while fn runs are left out, so it never runs twice in a row to
// catch up; one that passes while the loop does something else comes late, once.
//
// It is [Loop.Repeat] with such a grid, and returns the same errors, and one for a period that is not positive.
func (l *Loop) Every(period time.Duration, fn func()) (stop func(), err error) {
	if period <= 0 {
		return nil, fmt.Errorf("eventloop: Every(%v): the period must be positive", period)
	}
	start := time.Now()
	return l.Repeat(func(now time.Time) time.Time {
		return start.Add((now.Sub(start)/period + 1) * period)
	}, fn)
}

// Repeat runs fn on the loop at each time that next tells, which is given the present and returns the next time after it;
// the zero time ends it. When fn has returned, however it did, next is asked again: what has passed meanwhile is left
// out. So a schedule is a function, and one for each day at three is
//
//	func(now time.Time) time.Time {
//		at := time.Date(now.Year(), now.Month(), now.Day(), 3, 0, 0, 0, now.Location())
//		if !at.After(now) {
//			at = at.AddDate(0, 0, 1)
//		}
//		return at
//	}
//
// fn never runs before the time of the wall clock that next has told, also if the clock was set back meanwhile; that it
// was set forward is noticed only when the wait is over.
//
// Until stop is called it keeps an auto-exit loop alive. After a stop on the loop fn does not begin again; elsewhere a
// run that has begun goes on. Any goroutine may call Repeat and stop, stop as often as it likes. next is called by the
// caller first and then on the loop, one call at a time, and must be quick. It costs a timer, and allocates nothing for each
// run but what next does. Repeat returns ErrNilCallback, or ErrLoopTerminated once the loop is ending.
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
	if r.timer == 0 { // otherwise it has fired, and there is another
		r.timer = first
	}
	return r.stop, nil
}

// repeated is something that runs again and again.
type repeated struct {
	loop  *Loop
	next  func(time.Time) time.Time
	fn    func()
	fired func()    // fire, bound once
	due   time.Time // the loop's, once there is a timer

	// mu is held on the loop over the scheduling of a timer: so a stop finds the timer there is. next and fn run without it,
	// since they may call stop.
	mu      sync.Mutex
	timer   TimerID
	stopped bool
}

// fire is called on the loop.
func (r *repeated) fire() {
	r.mu.Lock()
	stopped := r.stopped
	r.mu.Unlock()
	if stopped {
		return
	}
	defer r.again() // also when fn does not return
	if !time.Now().Before(r.due) {
		r.fn()
	}
}

// again waits for the next time.
func (r *repeated) again() {
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
