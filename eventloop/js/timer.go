package js

// Timers: SetTimeout and SetInterval on the loop's timers.

import (
	"container/list"
	"time"

	"github.com/turnloop/turnloop/eventloop"
)

// timer is a timeout or an interval. It is in JS.timers until it has run for the last time or is cleared. JS.mu guards the
// fields that change. Only callbacks on the loop write level, under JS.mu, so they may read it without.
type timer struct {
	js       *JS
	id       ID
	fn       func()
	fired    func()        // calls fire with the current round
	delay    time.Duration // as coerced
	interval bool
	unref    bool
	level    int               // nesting level of its callback
	due      time.Time         // when it is to run next
	round    int               // goes up with each refresh; when the loop's timer of an earlier round fires, it does nothing
	pending  eventloop.TimerID // the loop's timer; 0 when that has fired, or is being made
	began    bool              // the loop's timer has fired in this round
	late     *list.Element     // its place among the timers that wait for immediates; nil when it does not wait
}

// SetTimeout runs fn once, on the loop, when at least ms milliseconds have passed, and returns an id for ClearTimeout.
// Timers of equal delay run in the order of the calls, and one that is set by a timer runs in a later tick.
//
// Delays follow the HTML standard: fractions are cut off; negative ones, NaN and infinities are 0, and those beyond
// 2^31-1 (24.8 days) wrap as 32-bit integers do; timers that nest deeper than five levels wait at least 4 ms. (In Node a
// delay that is out of range, or less than 1 ms, becomes 1 ms, and nested timers need not wait longer; see
// [WithNodeTimers].) A timer keeps an auto-exit loop alive unless Unref says otherwise.
//
// Any goroutine may call it; it costs a lock, two small allocations, and what the loop's ScheduleTimer costs. It
// returns ErrNilCallback, ErrLoopTerminated once the loop is ending, or ErrIDsExhausted.
func (j *JS) SetTimeout(fn func(), ms float64) (ID, error) { return j.setTimer(fn, ms, false) }

// SetInterval runs fn on the loop every ms milliseconds, until its id is cleared or the loop ends. Delays are what
// SetTimeout makes of them; each run counts as nested in the one before, so that a period of 0 becomes 4 ms at the
// seventh run. If the loop refuses the timer of a later run, the interval ends, and the loop reports the error as a panic.
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
	if j.ending() {
		return 0, j.refuse()
	}
	t := &timer{js: j, fn: fn, delay: j.coerce(ms), interval: interval, level: 1}
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
	j.timers.Put(id, t)
	if err := t.begin(); err != nil {
		return 0, err
	}
	return id, nil
}

// begin begins a round of the timer. mu is held when begin is called. begin releases it before it calls ScheduleTimer, which
// may yield to the loop, and the loop may want mu.
func (t *timer) begin() error {
	j := t.js
	now := time.Now()
	t.due = now.Add(j.clamp(t.delay, t.level))
	t.round++
	round, before := t.round, t.pending
	fired := func() { t.fire(round) }
	t.fired, t.pending, t.began = fired, 0, false
	delay := t.due.Sub(now)
	j.mu.Unlock()

	pending, err := j.loop.ScheduleTimer(delay, fired)
	if before != 0 { // only now, or an auto-exit loop might end between the two timers
		_ = j.loop.CancelTimer(before)
	}
	j.mu.Lock()
	changed := j.timers.Of[t.id] != t || t.round != round // by another goroutine that has the id, or has guessed it
	switch {
	case changed:
	case err != nil:
		j.timers.Delete(t.id)
	case !t.began:
		t.pending = pending
	}
	unref := t.unref
	j.mu.Unlock()
	switch {
	case err != nil:
	case changed:
		_ = j.loop.CancelTimer(pending)
	case unref:
		t.applyRef()
	}
	return err
}

// ClearTimeout takes back a timeout or an interval, also from within its own callback. The function is garbage at once, and
// does not start any more. (If another goroutine calls ClearTimeout while the loop is about to start the function, it may still
// start.) An id that names none does nothing. Any goroutine may call it.
func (j *JS) ClearTimeout(id ID) {
	j.mu.Lock()
	t := j.timers.Of[id]
	if t == nil {
		j.mu.Unlock()
		return
	}
	j.timers.Delete(id)
	t.leaveLate()
	pending := t.pending
	t.pending = 0
	j.mu.Unlock()
	if pending != 0 {
		_ = j.loop.CancelTimer(pending)
	}
}

// ClearInterval is ClearTimeout: either takes the ids of both.
func (j *JS) ClearInterval(id ID) { j.ClearTimeout(id) }

// Ref makes a timer keep an auto-exit loop alive, as every timer does when it is set. An id that names
// no timer does nothing. That of an immediate does nothing either, because every immediate keeps the loop alive. Any
// goroutine may call Ref.
func (j *JS) Ref(id ID) { j.setRef(id, true) }

// Unref lets an auto-exit loop end although the timer is pending. An id that names no timer does nothing. That of an
// immediate does nothing either: the loop stays until the immediate has run, which is soon. (In Node, immediate.unref lets
// the process end without running the immediate.) Any goroutine may call Unref.
func (j *JS) Unref(id ID) { j.setRef(id, false) }

func (j *JS) setRef(id ID, ref bool) {
	j.mu.Lock()
	t := j.timers.Of[id]
	if t != nil {
		t.unref = !ref
	}
	j.mu.Unlock()
	if t != nil {
		t.applyRef()
	}
}

// HasRef tells whether id names a timer that keeps an auto-exit loop alive, or an immediate that has not started: each of
// these does. Any goroutine may call it.
func (j *JS) HasRef(id ID) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	if t := j.timers.Of[id]; t != nil {
		return !t.unref
	}
	return j.findImmediate(id) != nil
}

// Refresh starts a timer's delay anew, as Node's timeout.refresh does, also from within its own callback; it moves an
// interval's grid. Any goroutine may call it. It returns ErrNoTimer if the timer has run for the last time, was cleared
// or never was, and ErrLoopTerminated once the loop is ending.
func (j *JS) Refresh(id ID) error {
	j.mu.Lock()
	t := j.timers.Of[id]
	if t == nil {
		j.mu.Unlock()
		return ErrNoTimer
	}
	t.leaveLate()
	return t.begin()
}

// leaveLate takes the timer out of the list of timers that wait for immediates, if it is there; mu is held.
func (t *timer) leaveLate() {
	if t.late != nil {
		t.js.late.Remove(t.late)
		t.late = nil
	}
}

// applyRef passes t.unref on to the loop's timer. mu is not held, so several goroutines may do this at once: each repeats it
// until the value that it has passed on is the current one. If the loop's timer is not pending, ran passes the value on when
// it makes the next one.
func (t *timer) applyRef() {
	j := t.js
	wanted := func() (unref bool, pending eventloop.TimerID) {
		j.mu.Lock()
		defer j.mu.Unlock()
		return t.unref, t.pending
	}
	for unref, pending := wanted(); pending != 0; {
		j.setLoopRef(unref, pending)
		passed, of := unref, pending
		if unref, pending = wanted(); unref == passed && pending == of {
			return
		}
	}
}

func (j *JS) setLoopRef(unref bool, pending eventloop.TimerID) {
	if unref {
		_ = j.loop.UnrefTimer(pending)
	} else {
		_ = j.loop.RefTimer(pending)
	}
}

// fire is called by the loop when the timer is due.
func (t *timer) fire(round int) {
	j := t.js
	j.mu.Lock()
	if j.timers.Of[t.id] != t || t.round != round {
		j.mu.Unlock()
		return
	}
	t.pending, t.began = 0, true
	if j.mustWaitForImmediates(t) {
		t.late = j.late.PushBack(t)
		j.mu.Unlock()
		return
	}
	j.enterTimers()
	j.mu.Unlock()
	t.run(round)
}

// run calls the function.
func (t *timer) run(round int) {
	t.js.level = t.level
	defer t.ran(round)
	t.fn()
}

// ran schedules the next run of an interval, or forgets the timer, however the function has ended.
func (t *timer) ran(round int) {
	j := t.js
	j.level = 0
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.timers.Of[t.id] != t || t.round != round {
		return // cleared, or refreshed
	}
	var err error
	if t.interval {
		now := time.Now()
		t.level = min(t.level, freeLevels) + 1
		t.due = following(t.due, now, j.clamp(t.delay, t.level))
		t.pending, err = j.loop.ScheduleTimer(t.due.Sub(now), t.fired) // on the loop ScheduleTimer does not yield, so mu may be held
		if err == nil && t.unref {
			j.setLoopRef(true, t.pending)
		}
	}
	if err != nil || !t.interval {
		j.timers.Delete(t.id)
	}
	if err != nil && err != eventloop.ErrLoopTerminated { // an ending loop has no timers any more
		panic(err)
	}
}
