package eventloop

// Timers: the wheel under its lock, and the clock it runs on.

import (
	"fmt"
	"math"
	"time"

	"github.com/turnloop/turnloop/internal/loopapi"
	"github.com/turnloop/turnloop/internal/sched"
	"github.com/turnloop/turnloop/internal/sched/atomic"
	"github.com/turnloop/turnloop/internal/wheel"
)

// never is the deadline that is not reached.
const never = math.MaxInt64

// timers is the wheel shared by the loop, which fires, and everyone who schedules or cancels. Deadlines are nanoseconds
// since the loop's anchor.
type timers struct {
	mu     spinLock // guards wheel and closed, and the writing of earliest and background
	wheel  wheel.Wheel
	closed bool // the loop has ended; nothing is inserted any more
	fresh  int  // timers for the next second, less those cancelled, since the loop last had due ones; guarded by mu

	background atomic.Int64 // no background timer is due before it
}

// TimerTier says which timers go first when several are due, and which wait when there is much to do.
//
//	func (t TimerTier) String() string // normal, critical or background
type TimerTier = loopapi.TimerTier

const (
	// TimerNormal is the tier of ScheduleTimer. Normal timers that are due run until about 10 ms of a turn have passed; the
	// rest waits, in order, for the next turn, so that a storm of them keeps nothing else from running.
	TimerNormal TimerTier = TimerTier(wheel.Normal)
	// TimerCritical is for timers that are few, short, and must not wait for others: heartbeats, deadlines. Those that are
	// due run before all normal ones, bounded likewise.
	TimerCritical TimerTier = TimerTier(wheel.Critical)
	// TimerBackground is for what can wait: sweeping, statistics. These run when the loop has nothing else to do; or, up
	// to about 10 ms of a turn, when they are a second late.
	TimerBackground TimerTier = TimerTier(wheel.Background)
)

// ScheduleTimer runs fn once on the loop, when at least delay has passed. A delay of zero or less means now, but in a
// later turn; one beyond the range of the clock never fires. Timers fire in order of their deadlines, and equal
// deadlines in order of scheduling. A pending timer keeps an auto-exit loop alive unless [Loop.UnrefTimer] says
// otherwise, and is dropped when the loop ends.
//
// Any goroutine may call it; it costs the same however many timers are pending, but for those due within about a
// millisecond and far from the order of their deadlines, which cost the logarithm of their number. Who schedules
// thousands of short ones lets other goroutines run now and then. It returns ErrNilCallback, or ErrLoopTerminated once the
// loop is ending.
func (l *Loop) ScheduleTimer(delay time.Duration, fn func()) (TimerID, error) {
	return l.ScheduleTimerAs(TimerNormal, delay, fn)
}

// ScheduleTimerAs is ScheduleTimer for a timer of any tier. The order of deadlines holds within each tier. Costs,
// threading and errors are the same, but for an error that says so if there is no such tier.
func (l *Loop) ScheduleTimerAs(tier TimerTier, delay time.Duration, fn func()) (TimerID, error) {
	switch {
	case fn == nil:
		return 0, ErrNilCallback
	case tier >= wheel.Tiers:
		return 0, fmt.Errorf("eventloop: there is no timer tier %d", tier)
	}
	var known func(TimerID)
	if l.notes != nil {
		fn, known = l.noted(fn)
	}
	deadline := l.now()
	if delay > 0 {
		deadline += int64(delay)
		if deadline < 0 {
			deadline = never
		}
	}
	t := &l.timers
	l.lock(&t.mu)
	for t.wheel.Short() && !t.closed { // memory is made without the lock
		t.mu.Unlock()
		m := new(wheel.Memory)
		l.lock(&t.mu)
		if t.wheel.Short() {
			t.wheel.Provide(m)
		}
	}
	if t.closed || l.state.load().ending() {
		t.mu.Unlock()
		l.turnAway()
		return 0, ErrLoopTerminated
	}
	id := t.wheel.Insert(wheel.Tier(tier), deadline, fn, true)
	if known != nil {
		known(TimerID(id))
	}
	sooner := deadline < l.earliest.Load()
	if sooner {
		l.earliest.Store(deadline)
	}
	if tier == TimerBackground && deadline < t.background.Load() {
		t.background.Store(deadline)
	}
	if delay < time.Second {
		t.fresh++
	}
	backlog, wanted := 0, t.mu.wanted.Load()
	if t.wheel.Seq()%chunkSize == 0 {
		backlog = t.fresh
	}
	t.mu.Unlock()
	if sooner {
		l.wakeIfSleeping()
	}
	if wanted != 0 || backlog >= crowd && !l.OnLoop() {
		giveWay(backlog)
	}
	return TimerID(id), nil
}

// CancelTimer takes back a timer that has not fired. Its function is garbage at once. Any goroutine may call it; it
// costs what ScheduleTimer costs. It returns ErrTimerNotFound if the timer has fired, is firing, was cancelled, was
// dropped at the loop's end, or never was.
func (l *Loop) CancelTimer(id TimerID) error {
	err := l.changeTimer(id, (*wheel.Wheel).Remove)
	if err == nil && l.notes != nil {
		l.notes.drop(id)
	}
	return err
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
	l.lock(&t.mu)
	before, refs := t.wheel.Len(), t.wheel.Refs()
	found := change(&t.wheel, uint64(id))
	t.fresh = max(0, t.fresh+t.wheel.Len()-before)
	unneeded := refs != 0 && t.wheel.Refs() == 0
	t.mu.Unlock()
	t.mu.courtesy()
	if !found {
		return ErrTimerNotFound
	}
	if l.autoExit && unneeded {
		l.wakeIfSleeping() // to see whether it should end
	}
	return nil
}

// runTimers fires what is due at the tick's time, but nothing that is scheduled meanwhile: critical timers, then normal
// ones, then background ones that have waited for too long; of each as many as there is time for. Behind one that did not
// return it goes on.
func (l *Loop) runTimers() {
	d := &l.bounds.due
	for !d.over {
		if d.spent.n != 0 && l.bounds.crowded || d.spent.over(l) {
			l.bounds.full = true
			d.leave()
		}
		d.over = !l.fire(d)
	}
}

// due is what a turn may fire: of each tier the timers that were scheduled before the turn, with a deadline that is past.
type due struct {
	by     [wheel.Tiers]int64
	limit  uint64
	firing int   // tier, in the order of their urgency
	spent  stint // on it
	over   bool  // there is nothing more
	idle   bool  // nothing, while timers of the other tiers are due
}

// leave goes on to the next tier.
func (d *due) leave() { d.firing, d.spent = d.firing+1, stint{} }

// dueAt is for a turn that begins now.
func (l *Loop) dueAt(now int64) due {
	return due{by: [...]int64{now, now, now - latestBackground}, spent: stint{began: now}, over: now < l.earliest.Load()}
}

var urgency = [wheel.Tiers]wheel.Tier{wheel.Critical, wheel.Normal, wheel.Background}

// fire runs the next timer that is due, or notes that there is none, and when there will be.
func (l *Loop) fire(d *due) (ok bool) {
	t := &l.timers
	l.lock(&t.mu)
	if d.limit == 0 {
		d.limit, t.fresh = t.wheel.Seq(), 0
	}
	for more := l.microtasksDue(); more; more = l.foreignDue() {
		t.mu.Unlock()
		l.checkpoint()
		l.lock(&t.mu)
	}
	if d.idle && l.isDue(min(t.wheel.NextOf(wheel.Critical), t.wheel.NextOf(wheel.Normal))) {
		t.mu.Unlock()
		return false // the turn had no time for them, or it is their time by now; the next one begins with them
	}
	if l.state.load().ending() {
		t.mu.Unlock()
		return false // what is due stays, and keeps alive what must hear that pending promises are rejected
	}
	var fn func()
	var id uint64
	for ; d.firing < wheel.Tiers; d.leave() {
		if fn, ok = t.wheel.PopDue(urgency[d.firing], d.by[d.firing], d.limit); ok {
			id = t.wheel.Popped()
			break
		}
	}
	if !ok {
		t.background.Store(t.wheel.NextOf(wheel.Background))
		l.earliest.Store(t.wheel.Next())
	}
	t.mu.Unlock()
	if !ok || l.state.load().closing() { // the last look before a callback: the locks may have been long in coming
		return false
	}
	if l.calling = (calling{aTimer, id}); l.probe != nil {
		l.probe.call(aTimer, mark{}, fn)
		return true
	}
	fn()
	return true
}

// isDue tells whether a deadline is past. It looks at the clock only for one that may be past before the turn ends.
func (l *Loop) isDue(deadline int64) bool {
	tick := l.tickTime.Load()
	return deadline <= tick || deadline-tick < longestStint && deadline <= l.now()
}

// runBackground runs background timers that are due until there is something else to do, and tells whether there were
// any. There is nothing else now.
func (l *Loop) runBackground() (ran bool) {
	now := l.tickTime.Load()
	if now < l.timers.background.Load() {
		return false
	}
	d := due{by: [...]int64{0, 0, now}, firing: wheel.Tiers - 1, idle: true}
	for l.fire(&d) {
		if ran = true; l.hasNews() || l.hasWork() || d.spent.over(l) {
			break
		}
	}
	return ran
}

// latestBackground is how late, in nanoseconds, background timers may become before they wait no longer.
const latestBackground = int64(time.Second)

// dropTimers forgets all pending timers, for good.
func (l *Loop) dropTimers() {
	t := &l.timers
	l.lock(&t.mu)
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
