package js

// Timers: SetTimeout and SetInterval on the loop's timers.

import (
	"container/list"
	"time"

	"github.com/turnloop/turnloop/eventloop"
)

// timer is a timeout or an interval. It is in the map until it has run for the last time or is cleared. The fields that
// change are guarded by JS.mu; level is written by callbacks on the loop, under the lock, and read by them without.
type timer struct {
	js       *JS
	id       ID
	fn       func()
	fired    func()        // the method fire, made once
	delay    time.Duration // as coerced
	interval bool
	unref    bool
	level    int // nesting level of its callback
	due      time.Time
	pending  eventloop.TimerID // of the loop's timer; 0 when it has fired
	began    bool              // it has fired, for the first time at least
	late     *list.Element     // its place among those that wait for immediates; nil when it does not
	recalled int               // loop timers that were already firing when this one was rescheduled
}

// SetTimeout runs fn once, on the loop, when at least ms milliseconds have passed, and returns an id for ClearTimeout.
// Timers of equal delay run in the order of the calls, and one that is set by a timer runs in a later turn.
//
// Delays follow the HTML standard: fractions are cut off; negative ones, NaN and infinities are 0, and those beyond
// 2^31-1 (24.8 days) wrap as 32-bit integers do; timers that nest deeper than five levels wait at least 4 ms. (Node
// makes all of these, and 0, 1 ms, and clamps no nested timers.) A timer keeps an auto-exit loop alive unless Unref
// says otherwise.
//
// Any goroutine may call it; it costs a lock, three small allocations, and what the loop's ScheduleTimer costs. It
// returns ErrNilCallback, ErrLoopTerminated once the loop is ending, or ErrIDsExhausted.
func (j *JS) SetTimeout(fn func(), ms float64) (ID, error) { return j.setTimer(fn, ms, false) }

// SetInterval runs fn on the loop every ms milliseconds, until its id is cleared or the loop ends. Delays are what
// SetTimeout makes of them; each run counts as nested in the one before, so that a period of 0 becomes 4 ms at the
// seventh run.
//
// An interval keeps to its grid: a run is due whole periods after the first, however long callbacks take. (The standard
// and Node count from the run before, and drift.) Runs whose time passes while the loop is busy are left out; runs
// never overlap. An interval goes on when fn panics.
//
// Threading and errors are those of SetTimeout. A run after the first allocates nothing.
func (j *JS) SetInterval(fn func(), ms float64) (ID, error) { return j.setTimer(fn, ms, true) }

func (j *JS) setTimer(fn func(), ms float64, interval bool) (ID, error) {
	if fn == nil {
		return 0, eventloop.ErrNilCallback
	}
	t := &timer{js: j, fn: fn, delay: coerce(ms), interval: interval, level: 1}
	t.fired = t.fire
	if j.loop.OnLoop() {
		t.level = min(j.level, freeLevels) + 1
	}
	j.mu.Lock()
	id, err := j.newID()
	if err != nil {
		j.mu.Unlock()
		return 0, err
	}
	t.id = id
	now := time.Now()
	t.due = now.Add(clamp(t.delay, t.level))
	j.timers[id] = t
	j.mu.Unlock()

	// Without the lock: a loop that has more timers than it can fire lets others run in this call, and wants the lock.
	pending, err := j.loop.ScheduleTimer(t.due.Sub(now), t.fired)

	j.mu.Lock()
	defer j.mu.Unlock()
	switch {
	case err != nil:
		delete(j.timers, id)
		return 0, err
	case t.began: // already
	case t.recalled > 0: // somebody has guessed its id
		if j.loop.CancelTimer(pending) == nil {
			t.recalled--
		}
	default:
		if t.pending = pending; t.unref {
			t.applyRef()
		}
	}
	return id, nil
}

// ClearTimeout takes back a timeout or an interval, also from within its own callback. Its function does not start any
// more, unless the loop is just about to while another goroutine clears it, and is garbage at once. An id that names
// none does nothing. Any goroutine may call it.
func (j *JS) ClearTimeout(id ID) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if t := j.timers[id]; t != nil {
		delete(j.timers, id)
		t.unschedule()
	}
}

// ClearInterval is ClearTimeout: either takes the ids of both.
func (j *JS) ClearInterval(id ID) { j.ClearTimeout(id) }

// Ref makes a timer keep an auto-exit loop alive, as every timer does when it is set. An id that names none, or an
// immediate, which does so anyway, does nothing. Any goroutine may call it.
func (j *JS) Ref(id ID) { j.setRef(id, true) }

// Unref lets an auto-exit loop end although the timer is pending. An id that names none does nothing; nor does one of an
// immediate, for which the loop does not wait but only stays until it has run. (In Node, immediate.unref lets the process
// end without it.) Any goroutine may call it.
func (j *JS) Unref(id ID) { j.setRef(id, false) }

func (j *JS) setRef(id ID, ref bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if t := j.timers[id]; t != nil {
		t.unref = !ref
		t.applyRef()
	}
}

// HasRef tells whether id names a timer, or an immediate that has not started, that keeps an auto-exit loop alive: of
// immediates, each does. Any goroutine may call it.
func (j *JS) HasRef(id ID) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	if t := j.timers[id]; t != nil {
		return !t.unref
	}
	return j.findImmediate(id) != nil
}

// Refresh starts a timer's delay anew, as Node's timeout.refresh does, also from within its own callback; it moves an
// interval's grid. Any goroutine may call it. It returns ErrNoTimer if the timer has run for the last time, was cleared
// or never was, and ErrLoopTerminated once the loop is ending.
func (j *JS) Refresh(id ID) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	t := j.timers[id]
	if t == nil {
		return ErrNoTimer
	}
	t.unschedule()
	now := time.Now()
	t.due = now.Add(clamp(t.delay, t.level))
	return t.schedule(now)
}

// schedule hands the timer to the loop; mu is held.
func (t *timer) schedule(now time.Time) (err error) {
	t.pending, err = t.js.loop.ScheduleTimer(t.due.Sub(now), t.fired)
	if t.unref {
		t.applyRef()
	}
	return err
}

// unschedule takes the timer back from wherever it waits; mu is held.
func (t *timer) unschedule() {
	if t.pending != 0 {
		if t.js.loop.CancelTimer(t.pending) != nil {
			t.recalled++
		}
		t.pending = 0
	} else if t.late != nil {
		t.leaveLate()
	} else if !t.began { // it is just being handed to the loop
		t.recalled++
	}
}

// leaveLate takes the timer from among those that wait for immediates; mu is held.
func (t *timer) leaveLate() {
	t.js.late.Remove(t.late)
	t.late = nil
}

// applyRef tells the loop of unref; mu is held. A timer that is not pending now is told about when it next is.
func (t *timer) applyRef() {
	switch {
	case t.pending == 0:
	case t.unref:
		t.js.loop.UnrefTimer(t.pending)
	default:
		t.js.loop.RefTimer(t.pending)
	}
}

// fire is called by the loop when the timer is due.
func (t *timer) fire() {
	j := t.js
	j.mu.Lock()
	if t.recalled > 0 {
		t.recalled--
		j.mu.Unlock()
		return
	}
	t.pending, t.began = 0, true
	if j.owesImmediates(t) {
		t.late = j.late.PushBack(t)
		j.mu.Unlock()
		return
	}
	j.enterTimers()
	j.mu.Unlock()
	t.run()
}

// run calls the function.
func (t *timer) run() {
	t.js.level = t.level
	defer t.ran()
	t.fn()
}

// ran sees to what follows, however the function ended.
func (t *timer) ran() {
	j := t.js
	j.level = 0
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.timers[t.id] != t || t.pending != 0 {
		return // cleared, or refreshed
	}
	if t.interval {
		now := time.Now()
		t.level = min(t.level, freeLevels) + 1
		t.due = following(t.due, now, clamp(t.delay, t.level))
		if t.schedule(now) == nil {
			return
		}
	}
	delete(j.timers, t.id)
}
