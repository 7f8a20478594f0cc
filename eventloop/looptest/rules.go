// The rules: the sequential reference that the random operations of a program are held to.
package looptest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/turnloop/turnloop/internal/loopapi"
)

// rules keeps the books of one loop: what it has accepted, and what may run next. It is told of each operation with
// its result, and of each function that begins, in their order, which is one because the player issues operations only
// from a callback, or while one holds the loop, or while the loop rests. It follows the loop through its ticks: timers,
// internal tasks, tasks up to the budget, microtasks; descriptors, microtasks; with microtasks after each callback.
//
// What the specification leaves open it leaves open: whether microtasks that wait when a tick begins run before or
// after its first callback, what a panic does to the timers that are due behind it, and when exactly a deadline is
// noticed in real time.
type rules struct {
	t         *trial
	cfg       Config
	functions int
	last      time.Time // when the latest entry was made
	steps     int       // entries that may keep the loop going

	micro              [2][]int // of the loop's own callbacks, and of other goroutines
	internal, external []int
	scheduled          []clocked // all timers ever accepted, in order of scheduling
	watches            [slots]watched
	mode               int

	phase     phase
	known     int       // timers that were scheduled when the tick began
	began     time.Time // the tick began no earlier; zero if that is not known
	unsure    bool      // the next tick may have begun already
	stale     bool      // the tick may be that of an earlier round still, and its budget of tasks half spent
	draining  bool      // microtasks run before anything else
	held      bool      // the microtask budget is spent, the rest waits for the next tick
	microLeft int
	taskLeft  int
	sinceRun  int // callbacks of descriptors since the last checkpoint

	ending, closed bool
}

type phase int

const (
	resting phase = iota // the next tick has not begun
	timing
	tasking
	polling
)

// clocked is a timer. Its deadline lies between before and after, plus its delay.
type clocked struct {
	fn            int
	id            loopapi.TimerID
	delay         time.Duration
	before, after time.Time
	gone          bool // fired or cancelled
}

// due is when a timer is due if it was scheduled at a time.
func (c *clocked) due(from time.Time) time.Time { return from.Add(max(0, c.delay)) }

// precedes tells whether a timer, scheduled earlier or not, has to fire before another one if both are due.
func (c *clocked) precedes(other *clocked, scheduledEarlier bool) bool {
	return scheduledEarlier && max(0, c.delay) <= max(0, other.delay) || c.due(c.after).Before(other.due(other.before))
}

// watched is a descriptor.
type watched struct {
	registered, reading bool
	generation          int // counts registrations
	unread              int // bytes
}

func newRules(t *trial, cfg Config) *rules {
	if cfg.TickBudget == 0 {
		cfg.TickBudget, cfg.MicrotaskBudget = 1024, 1024
	}
	return &rules{t: t, cfg: cfg, last: time.Now()}
}

// exempt tells whether one of the checks is a declared divergence.
func (s *suite) exempt(checks ...string) bool {
	return slices.ContainsFunc(checks, func(name string) bool { _, ok := s.diverges[name]; return ok })
}

// book numbers a function.
func (r *rules) book() int {
	r.functions++
	return r.functions - 1
}

var laneNames = [3]string{"task", "internal task", "microtask"}

// submitted books what became of a submission.
func (r *rules) submitted(lane, id int, onLoop bool, err error) {
	r.last = time.Now()
	r.steps++
	what := fmt.Sprintf("submission of function %d as %s", id, laneNames[lane])
	refuse := r.closed || r.ending && lane == 0
	if !(r.ending && r.t.suite.exempt("D16_ShutdownRefuses")) {
		r.answer(what, err, refuse, loopapi.ErrLoopTerminated)
	}
	switch {
	case err != nil:
	case lane == 2 && onLoop:
		r.micro[0] = append(r.micro[0], id)
	case lane == 2:
		r.micro[1] = append(r.micro[1], id)
	case lane == 1 && !r.t.suite.exempt("D09_InternalFirst"):
		r.internal = append(r.internal, id)
	default:
		r.external = append(r.external, id)
	}
}

// answer holds an error to what it has to be.
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
	r.steps++
	if !(r.ending && r.t.suite.exempt("D16_ShutdownRefuses")) {
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
	if r.ending && !c.gone { // dropped at some moment of the end
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
	case r.ending: // its context is over: it only asks
		r.t.want("Shutdown", err, context.Canceled, loopapi.ErrLoopTerminated)
	default:
		r.t.want("Shutdown", err, context.Canceled)
	}
	r.ending = true
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

// answerKnown is answer for the calls that need a registration. At the end registrations are dropped at some moment.
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

// ran books the begin of a function and says whether it was its turn.
func (r *rules) ran(id int, now time.Time) {
	if r.closed && !r.t.suite.exempt("D16_CloseDrops") {
		r.t.Errorf("function %d began after Close", id)
		return
	}
	if err := r.turn(id, now); err != nil {
		r.t.Errorf("function %d began: %v", id, err)
	}
	r.last = now
	r.steps++
}

// turn goes on to the moment at which a function runs.
func (r *rules) turn(id int, now time.Time) error {
	if i := r.timerOf(id); i >= 0 && r.t.suite.exempt("Timers_Order") {
		return r.fire(i, now)
	}
	for turns := 0; ; {
		if r.draining && r.microtasks() > 0 && r.microLeft > 0 {
			r.microLeft--
			return r.microtask(id)
		}
		r.stopped()
		switch r.phase {
		case resting:
			r.newTick()
			r.stale = true
		case timing:
			if r.microtaskNext(id) && !r.held {
				if r.checkpoint(); len(r.internal)+len(r.external) == 0 {
					r.phase, r.unsure = polling, true // or still before the tasks of this tick: it looks the same
				}
				continue
			}
			if i := r.timerOf(id); i >= 0 && i < r.known && r.first(i) {
				return r.fire(i, now)
			}
			if i := r.overdue(); i >= 0 {
				return fmt.Errorf("function %d, a timer that was due when the tick began, comes before it", r.scheduled[i].fn)
			}
			r.phase = tasking
		case tasking:
			if len(r.internal) > 0 && (r.internalFirst() || r.internal[0] == id) {
				return r.pop(&r.internal, id, "internal task")
			}
			if len(r.external) > 0 && r.taskLeft > 0 && !(r.stale && r.external[0] != id) {
				r.taskLeft--
				return r.pop(&r.external, id, "task")
			}
			r.phase = polling
		case polling:
			if r.microtasks() > 0 && !r.held {
				r.checkpoint()
				continue
			}
			if turns++; turns > 2 {
				return errors.New("nothing of the sort was waiting: it was refused, has run, was cancelled, or is not due")
			}
			r.newTick()
		}
	}
}

func (r *rules) newTick() {
	r.phase, r.held, r.taskLeft, r.stale = timing, false, r.cfg.TickBudget, false
	r.known, r.began = len(r.scheduled), r.last
	if r.unsure {
		r.began, r.unsure = time.Time{}, false
	}
	r.sinceRun = 0
}

// checkpoint is where microtasks get their turn, behind a callback for one.
func (r *rules) checkpoint() {
	if r.sinceRun = 0; !r.held {
		r.draining, r.microLeft = true, r.cfg.MicrotaskBudget
	}
}

// stopped ends a checkpoint whose microtasks have run, or whose budget is spent.
func (r *rules) stopped() {
	r.held = r.held || r.draining && r.microtasks() > 0
	r.draining = false
}

// internalFirst tells whether internal tasks come next if there are some, and cannot wait for the next tick: nothing
// external starts before them.
func (r *rules) internalFirst() bool {
	return r.taskLeft == r.cfg.TickBudget || len(r.external) > 0 && r.taskLeft > 0
}

func (r *rules) microtasks() int { return len(r.micro[0]) + len(r.micro[1]) }

// microtaskNext tells whether a function is the next microtask of its source. How those of several sources mix is open.
func (r *rules) microtaskNext(id int) bool {
	return slices.ContainsFunc(r.micro[:], func(q []int) bool { return len(q) > 0 && q[0] == id })
}

func (r *rules) microtask(id int) error {
	for i := range r.micro {
		if q := &r.micro[i]; len(*q) > 0 && (*q)[0] == id {
			*q = (*q)[1:]
			return nil
		}
	}
	return fmt.Errorf("microtasks come before it: %v of callbacks, %v of other goroutines", r.micro[0], r.micro[1])
}

// aborted says that a callback panics or exits: the timers that are due behind it may have to wait for the next tick.
func (r *rules) aborted() { r.began = time.Time{} }

// pop takes a function from the head of its queue.
func (r *rules) pop(queue *[]int, id int, what string) error {
	err := r.head(queue, id, what)
	r.checkpoint()
	return err
}

func (r *rules) head(queue *[]int, id int, what string) error {
	first := (*queue)[0]
	if *queue = (*queue)[1:]; first != id {
		return fmt.Errorf("function %d, the first %s, comes before it", first, what)
	}
	return nil
}

func (r *rules) timerOf(id int) int {
	return slices.IndexFunc(r.scheduled, func(c clocked) bool { return c.fn == id && !c.gone })
}

// first tells whether no other timer has to fire before that one.
func (r *rules) first(i int) bool {
	for j := range r.scheduled[:r.known] {
		if c := &r.scheduled[j]; j != i && !c.gone && c.precedes(&r.scheduled[i], j < i) {
			return false
		}
	}
	return true
}

// clockStep is how much later a clock that moves in steps may show a timer to be due than the loop has seen it.
var clockStep = func() time.Duration {
	if runtime.GOOS == "windows" {
		return 16 * time.Millisecond
	}
	return 0
}()

// overdue finds a timer that has to fire in this tick.
func (r *rules) overdue() int {
	if r.ending || r.t.suite.exempt("Timers_Order") {
		return -1
	}
	return slices.IndexFunc(r.scheduled[:r.known], func(c clocked) bool {
		return !c.gone && !c.due(c.after).Add(clockStep).After(r.began)
	})
}

func (r *rules) fire(i int, now time.Time) error {
	c := &r.scheduled[i]
	c.gone = true
	r.checkpoint()
	switch late := now.Sub(c.due(c.after)); {
	case r.ending && !r.t.suite.exempt("D16_ShutdownDropsTimers"):
		return errors.New("it is a timer, and the loop is ending")
	case now.Before(c.due(c.before)):
		return fmt.Errorf("it is a timer of %v, %v early", c.delay, c.due(c.before).Sub(now))
	case r.t.virtual && late > time.Millisecond:
		return fmt.Errorf("it is a timer of %v, %v late", c.delay, late)
	}
	return nil
}

// ready books the call of a descriptor's callback.
func (r *rules) ready(n, generation int, events loopapi.IOEvents) {
	w := &r.watches[n]
	switch {
	case r.ending:
		r.t.Errorf("descriptor %d was called although the loop is ending", n)
	case !w.registered || w.generation != generation:
		r.t.Errorf("descriptor %d was called for a registration that had ended", n)
	case !w.reading || w.unread == 0 || events&loopapi.EventRead == 0:
		r.t.Errorf("descriptor %d was called with events %b, with %d bytes to read, watched for reading: %v", n, events, w.unread, w.reading)
	}
	if err := r.poll(); err != nil {
		r.t.Errorf("descriptor %d was called: %v", n, err)
	}
	w.unread--
	r.last = time.Now()
	r.steps++
}

// poll goes on to the place of descriptors in a tick.
func (r *rules) poll() error {
	const batch = 64
	if r.draining && r.microLeft == 0 {
		r.stopped()
	}
	if r.phase == resting {
		r.newTick()
		r.stale = true
	}
	if r.phase == timing && r.overdue() >= 0 {
		return errors.New("a timer that was due when the tick began comes before it")
	}
	inBatch := r.phase == polling && !r.draining // then microtasks wait for its end
	switch r.sinceRun++; {
	case r.microtasks() > 0 && !r.held && (!inBatch || r.sinceRun > batch):
		return fmt.Errorf("microtasks come before it: %v", r.micro)
	case len(r.internal) > 0 && r.phase != polling && r.internalFirst():
		return fmt.Errorf("it is the turn of function %d, an internal task", r.internal[0])
	case len(r.external) > 0 && r.phase != polling && r.taskLeft > 0 && !r.stale:
		return fmt.Errorf("it is the turn of function %d, a task", r.external[0])
	}
	r.phase, r.draining = polling, false
	r.unsure = true // descriptors may as well be called when the next tick has read the clock
	return nil
}

// idle tells whether nothing is left to happen by itself.
func (r *rules) idle() bool {
	if r.closed {
		return true
	}
	if r.microtasks()+len(r.internal)+len(r.external) > 0 {
		return false
	}
	return r.ending || r.pending() < 0 && r.expected() < 0
}

// pending finds a timer that will fire by itself within the time that the player waits.
func (r *rules) pending() int {
	return slices.IndexFunc(r.scheduled, func(c clocked) bool { return !c.gone && r.awaited(&c) })
}

func (r *rules) awaited(c *clocked) bool {
	return c.delay < farAway || r.t.virtual && c.delay != longDelays[9]
}

// expected finds a descriptor that is to be called.
func (r *rules) expected() int {
	return slices.IndexFunc(r.watches[:], func(w watched) bool { return w.registered && w.reading && w.unread > 0 })
}

// longest is how long the timers that are awaited may take.
func (r *rules) longest() (d time.Duration) {
	for i := range r.scheduled {
		if c := &r.scheduled[i]; !c.gone && r.awaited(c) {
			d = max(d, c.delay)
		}
	}
	return d
}

// waiting says what has not happened.
func (r *rules) waiting() string {
	timer := r.pending()
	if timer >= 0 {
		timer = r.scheduled[timer].fn
	}
	return fmt.Sprintf("microtasks %v, internal tasks %v, tasks %v, timer %d, descriptor %d are waiting",
		r.micro, r.internal, r.external, timer, r.expected())
}

// rest says that the loop rests: whatever it does next is in another tick.
func (r *rules) rest() { r.phase, r.draining = resting, false }

// finish looks at what is left when the loop has ended.
func (r *rules) finish() {
	if r.microtasks()+len(r.internal)+len(r.external) > 0 && !r.closed {
		r.t.Errorf("the loop ended although %s", r.waiting())
	}
}
