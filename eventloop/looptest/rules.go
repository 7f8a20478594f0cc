package looptest

// The rules: the sequential reference for the random operations of a program.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/turnloop/turnloop/internal/loopapi"
)

// rules models one loop: the functions that it has accepted, and those that may run next. The player records each
// operation with its result, and each function that begins. All these entries have one order, because the player issues
// operations only from a callback, or while a callback holds the loop, or while the loop rests. positions.go decides which
// function may run next.
type rules struct {
	t         *trial
	cfg       Config
	functions int       // the number of functions so far; a function's number is below it
	last      time.Time // the time of the latest entry
	now       time.Time // the begin of the function whose entry is being made

	queue     [3][]int  // the waiting functions by lane, in order of submission
	scheduled []clocked // all timers ever accepted, in order of scheduling
	watches   [slots]watched
	mode      int
	positions []position // the positions in a tick at which the loop may be; never empty

	ending, closed bool
	asked          time.Time // when the end was asked for, at the latest
}

// lenience is the time from which an end may refuse what callbacks go on to submit: it is bounded, and machines are busy.
const lenience = 100 * time.Millisecond

// clocked is a timer. Its deadline lies between before and after, plus its delay.
type clocked struct {
	fn            int
	id            loopapi.TimerID
	delay         time.Duration
	before, after time.Time
	gone          bool // fired or cancelled
}

// due returns the deadline of the timer if it was scheduled at from.
func (c *clocked) due(from time.Time) time.Time { return from.Add(max(0, c.delay)) }

// precedes reports whether c must fire before other when both are due. scheduledEarlier says whether c was scheduled first.
func (c *clocked) precedes(other *clocked, scheduledEarlier bool) bool {
	return scheduledEarlier && max(0, c.delay) <= max(0, other.delay) || c.due(c.after).Before(other.due(other.before))
}

// watched is the state of one descriptor.
type watched struct {
	registered, reading bool
	generation          int // the number of registrations so far
	unread              int // bytes that wait to be read
}

func newRules(t *trial, cfg Config) *rules {
	if cfg.TickBudget == 0 {
		cfg.TickBudget, cfg.MicrotaskBudget = 1024, 1024
	}
	now := time.Now()
	return &rules{t: t, cfg: cfg, last: now, positions: []position{{since: now}}}
}

// exempt reports whether one of the checks is a declared divergence, which programs are not to stumble over that are not about it.
func (t *trial) exempt(checks ...string) bool {
	return !t.strict && slices.ContainsFunc(checks, func(name string) bool { _, ok := t.suite.diverges[name]; return ok })
}

// newFunction returns the number of a new function.
func (r *rules) newFunction() int {
	r.functions++
	return r.functions - 1
}

// submitted records a submission and checks its result.
func (r *rules) submitted(lane, id int, err error) {
	r.last = time.Now()
	r.t.steps.Add(1)
	what := fmt.Sprintf("submission of function %d as %s", id, lanes[lane].name)
	refuse := r.closed || r.ending && lane == external
	late := !r.asked.IsZero() && time.Since(r.asked) > lenience && errors.Is(err, loopapi.ErrLoopTerminated)
	if !late && !(r.ending && r.t.exempt("D16_ShutdownRefuses")) {
		r.answer(what, err, refuse, loopapi.ErrLoopTerminated)
	}
	if lane == internal && r.t.exempt("D09_InternalFirst") {
		lane = external
	}
	if err == nil {
		r.queue[lane] = append(r.queue[lane], id)
	}
}

// answer checks the result of a call: refusal if refuse is set, else nil.
func (r *rules) answer(what string, err error, refuse bool, refusal error) {
	switch {
	case refuse && !errors.Is(err, refusal):
		r.t.Errorf("%s returned %v, want %v", what, err, refusal)
	case !refuse && err != nil:
		r.t.Errorf("%s returned %v, want nil", what, err)
	}
}

func (r *rules) timed(c clocked, err error) {
	r.last = c.after
	r.t.steps.Add(1)
	if !(r.ending && r.t.exempt("D16_ShutdownRefuses")) {
		r.answer(fmt.Sprintf("ScheduleTimer(%v) of function %d", c.delay, c.fn), err, r.ending, loopapi.ErrLoopTerminated)
	}
	if err == nil {
		r.scheduled = append(r.scheduled, c)
	}
}

func (r *rules) cancelled(i int, err error) {
	r.last = time.Now()
	c := &r.scheduled[i]
	what := fmt.Sprintf("CancelTimer of function %d, scheduled with %v", c.fn, c.delay)
	if r.ending && !c.gone { // the end drops pending timers at a moment that is not known
		r.t.want(what, err, nil, loopapi.ErrTimerNotFound)
	} else {
		r.answer(what, err, c.gone, loopapi.ErrTimerNotFound)
	}
	c.gone = c.gone || err == nil
}

func (r *rules) shutdown(err error, onLoop bool) {
	switch {
	case onLoop && r.ending:
		r.t.want("Shutdown from a callback of a loop that is ending", err, nil, loopapi.ErrLoopTerminated)
	case onLoop || !r.ending && err == nil:
		r.answer("Shutdown", err, false, nil)
	case r.ending: // the context has ended, so Shutdown does not wait
		r.t.want("Shutdown", err, context.Canceled, loopapi.ErrLoopTerminated)
	default:
		r.t.want("Shutdown", err, context.Canceled)
	}
	r.ending, r.asked = true, cmp.Or(r.asked, time.Now())
}

func (r *rules) close(err error) {
	r.answer("Close", err, r.closed, loopapi.ErrLoopTerminated)
	r.ending, r.closed = true, true
}

func (r *rules) moded(mode int, err error) {
	const forced = 1
	registered := slices.ContainsFunc(r.watches[:], func(w watched) bool { return w.registered })
	switch {
	case r.ending:
		r.answer(fmt.Sprintf("setting mode %d", mode), err, true, loopapi.ErrLoopTerminated)
	default:
		r.answer(fmt.Sprintf("setting mode %d", mode), err, mode == forced && registered, loopapi.ErrFastPathIncompatible)
	}
	if err == nil {
		r.mode = mode
	}
}

func (r *rules) registered(n int, err error) {
	w, what := &r.watches[n], fmt.Sprintf("RegisterFD of descriptor %d", n)
	switch {
	case r.ending:
		r.answer(what, err, true, loopapi.ErrLoopTerminated)
	case r.mode == 1:
		r.answer(what, err, true, loopapi.ErrFastPathIncompatible)
	default:
		r.answer(what, err, w.registered, loopapi.ErrFDAlreadyRegistered)
	}
	if err == nil {
		*w = watched{registered: true, reading: true, generation: w.generation + 1, unread: w.unread}
	}
}

// answerKnown does what answer does, for the calls that need a registration. The end drops registrations at a moment that is
// not known.
func (r *rules) answerKnown(what string, n int, err error) {
	if r.ending {
		r.t.want(what, err, nil, loopapi.ErrFDNotRegistered, loopapi.ErrLoopTerminated)
	} else {
		r.answer(what, err, !r.watches[n].registered, loopapi.ErrFDNotRegistered)
	}
}

func (r *rules) unregistered(n int, err error) {
	r.answerKnown(fmt.Sprintf("UnregisterFD of descriptor %d", n), n, err)
	if err == nil {
		r.watches[n].registered = false
	}
}

func (r *rules) modified(n int, err error) {
	r.answerKnown(fmt.Sprintf("ModifyFD of descriptor %d", n), n, err)
	if w := &r.watches[n]; err == nil {
		w.reading = !w.reading
	}
}

// idle reports whether the loop has nothing left to run by itself.
func (r *rules) idle() bool {
	if r.closed {
		return true
	}
	if r.queued() > 0 {
		return false
	}
	return r.ending || r.pending() < 0 && r.expected() < 0
}

// pending returns the index of a timer that will fire while the player waits, or -1.
func (r *rules) pending() int {
	return slices.IndexFunc(r.scheduled, func(c clocked) bool { return !c.gone && r.awaited(&c) })
}

func (r *rules) awaited(c *clocked) bool {
	return c.delay < farAway || r.t.virtual && c.delay != longDelays[9]
}

// expected returns the number of a descriptor whose callback must be called, or -1.
func (r *rules) expected() int {
	return slices.IndexFunc(r.watches[:], func(w watched) bool { return w.registered && w.reading && w.unread > 0 })
}

// longest returns the longest delay of the timers that the player waits for.
func (r *rules) longest() (d time.Duration) {
	for i := range r.scheduled {
		if c := &r.scheduled[i]; !c.gone && r.awaited(c) {
			d = max(d, c.delay)
		}
	}
	return d
}

// waiting describes the functions, the timer and the descriptor that have not run yet.
func (r *rules) waiting() string {
	timer := r.pending()
	if timer >= 0 {
		timer = r.scheduled[timer].fn
	}
	return fmt.Sprintf("microtasks %s, internal tasks %s, tasks %s, timer %d, descriptor %d are waiting",
		brief(r.queue[microtask]), brief(r.queue[internal]), brief(r.queue[external]), timer, r.expected())
}

// brief tells the first functions of a queue, and how many more there are.
func brief(queue []int) string {
	const most = 8
	if len(queue) <= most {
		return fmt.Sprint(queue)
	}
	return fmt.Sprintf("%v and %d more", queue[:most], len(queue)-most)
}

// queued returns the number of functions that wait in the lanes.
func (r *rules) queued() (n int) {
	for _, q := range r.queue {
		n += len(q)
	}
	return n
}

// finish checks that a loop which ended without Close has left no function in its lanes.
func (r *rules) finish() {
	if r.queued() > 0 && !r.closed {
		r.t.Errorf("the loop ended although %s", r.waiting())
	}
}
