package flow

// Functions that run again and again: at a period, or at times that a function returns.

import (
	"fmt"
	"sync"
	"time"

	"github.com/turnloop/turnloop/eventloop"
)

// Every runs fn on the loop every period, until the ticker is stopped or the loop ends. The times are whole periods after the
// call, however long fn takes. Times that pass while fn runs are left out, so fn never runs twice in a row to catch up; a time
// that passes while the loop does something else is served late, once.
//
// Every is [Repeat] with these times. It returns the same errors, and one for a period that is not positive.
func Every(l *eventloop.Loop, period time.Duration, fn func()) (*Ticker, error) {
	if period <= 0 {
		return nil, fmt.Errorf("flow: Every(%v): the period must be positive", period)
	}
	start := time.Now()
	return Repeat(l, func(now time.Time) time.Time {
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
// forward is noticed only when the wait is over. That is not so for a time with a monotonic reading, like now.Add(time.Hour).
//
// The ticker keeps an auto-exit loop alive (see [Ticker.Unref]) until it is stopped or next returns the zero time; a panic of
// next on the loop ends it too. Repeat calls next first, and the loop from then on; next must be quick. Repeat costs a timer,
// and a run allocates only what next does. Repeat returns ErrNilCallback, or ErrLoopTerminated once the loop is ending. An
// error of a later timer, other than that one, is the value of a panic that the loop reports.
func Repeat(l *eventloop.Loop, next func(now time.Time) time.Time, fn func()) (*Ticker, error) {
	return repeat(l, next, fn)
}

// timers are what a ticker needs of a loop.
type timers interface {
	ScheduleTimer(delay time.Duration, fn func()) (eventloop.TimerID, error)
	CancelTimer(id eventloop.TimerID) error
	RefTimer(id eventloop.TimerID) error
	UnrefTimer(id eventloop.TimerID) error
}

func repeat(l timers, next func(time.Time) time.Time, fn func()) (*Ticker, error) {
	if next == nil || fn == nil {
		return nil, eventloop.ErrNilCallback
	}
	t := &Ticker{loop: l, next: next, fn: fn}
	t.fired = t.fire
	now := time.Now()
	if t.due = next(now); t.due.IsZero() {
		return t, nil
	}
	first, err := l.ScheduleTimer(t.due.Sub(now), t.fired)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.timer == 0 { // otherwise the first timer has fired, and fire has scheduled another
		t.timer = first
	}
	return t, nil
}

// Ticker is something that repeats: a call of Every or Repeat. Any goroutine may call its methods, any number of times.
type Ticker struct {
	loop  timers
	next  func(time.Time) time.Time
	fn    func()
	fired func()    // fire, bound once
	due   time.Time // when fn is to run; only the loop touches it once there is a timer

	// mu guards what follows. The loop holds it while it schedules a timer, so that the other methods find the new timer. The
	// loop does not hold it while it calls the functions next and fn, which may call these methods.
	mu      sync.Mutex
	timer   eventloop.TimerID
	stopped bool
	unref   bool
}

// fire is the timer's function: it runs fn, unless the wall clock was set back.
func (t *Ticker) fire() {
	t.mu.Lock()
	stopped := t.stopped
	t.mu.Unlock()
	if stopped {
		return
	}
	defer t.reschedule() // also when fn does not return
	if !time.Now().Before(t.due) {
		t.fn()
	}
}

// reschedule schedules the timer for the next time.
func (t *Ticker) reschedule() {
	now := time.Now()
	if t.due = t.next(now); t.due.IsZero() {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stopped {
		return
	}
	var err error
	switch t.timer, err = t.loop.ScheduleTimer(t.due.Sub(now), t.fired); {
	case err != nil && err != eventloop.ErrLoopTerminated: // an ending loop has no timers any more
		panic(err)
	case t.unref:
		_ = t.loop.UnrefTimer(t.timer)
	}
}

// Stop ends the ticker. After a call on the loop fn does not run again; after one elsewhere a run may just begin.
func (t *Ticker) Stop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.stopped {
		t.stopped = true
		_ = t.loop.CancelTimer(t.timer) // it may be firing
	}
}

// Ref has the ticker keep an auto-exit loop alive, as it does from the beginning.
func (t *Ticker) Ref() { t.setUnref(false, t.loop.RefTimer) }

// Unref lets an auto-exit loop end although the ticker goes on.
func (t *Ticker) Unref() { t.setUnref(true, t.loop.UnrefTimer) }

func (t *Ticker) setUnref(unref bool, change func(eventloop.TimerID) error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.unref = unref
	_ = change(t.timer) // it may be firing; then the next one follows unref
}
