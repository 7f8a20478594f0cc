package eventloop

// Timers: the wheel under its lock, and the clock it runs on.

import (
	"fmt"
	"math"
	"time"

	"github.com/turnloop/turnloop/internal/inbox"
	"github.com/turnloop/turnloop/internal/loopapi"
	"github.com/turnloop/turnloop/internal/observe"
	"github.com/turnloop/turnloop/internal/place"
	"github.com/turnloop/turnloop/internal/quota"
	"github.com/turnloop/turnloop/internal/sched/atomic"
	"github.com/turnloop/turnloop/internal/wheel"
)

// never is a deadline that is not reached.
const never = math.MaxInt64

// timers is the wheel: any goroutine schedules and cancels, only the loop fires. Deadlines are nanoseconds since the
// loop's anchor.
type timers struct {
	mu     inbox.Lock // guards wheel, closed and fresh, and the writing of Loop.earliest and background
	wheel  wheel.Wheel
	closed bool // the loop has ended; nothing is inserted any more
	fresh  int  // timers of less than a second that were scheduled since the loop last began to fire, less cancelled ones

	background atomic.Int64 // no background timer is due before it; the loop reads it without mu
}

// TimerTier says which timers go first when several are due, and which wait when the loop is busy.
//
//	func (t TimerTier) String() string // normal, critical or background
type TimerTier = loopapi.TimerTier

const (
	// TimerNormal is the tier of ScheduleTimer. Normal timers that are due run for up to about 2 ms of a tick; the rest
	// waits, in order, for the next tick, so that a storm of them keeps nothing else from running.
	TimerNormal TimerTier = TimerTier(wheel.Normal)
	// TimerCritical is for timers that are few, short, and must not wait for others: heartbeats, deadlines. Those that are
	// due run before all normal ones, bounded likewise.
	TimerCritical TimerTier = TimerTier(wheel.Critical)
	// TimerBackground is for work that can wait: sweeping, statistics. These run when the loop has nothing else to do; or,
	// for up to about 2 ms of a tick, when they are a second late.
	TimerBackground TimerTier = TimerTier(wheel.Background)
)

// ScheduleTimer runs fn once on the loop, when at least delay has passed. A delay of zero or less means now, but in a
// later tick; one beyond the range of the clock never fires. Timers fire in order of their deadlines, and equal
// deadlines in order of scheduling. A pending timer keeps an auto-exit loop alive unless [Loop.UnrefTimer] says
// otherwise, and is dropped when the loop ends.
//
// It costs the same however many timers are pending; only timers that are due within about a millisecond, and scheduled
// far from the order of their deadlines, cost the logarithm of their number. A goroutine that schedules thousands of
// short timers lets others run now and then. It returns ErrNilCallback, ErrLoopTerminated once the loop is ending, or
// ErrLoopOverloaded if 2^28 timers are pending.
func (l *Loop) ScheduleTimer(delay time.Duration, fn func()) (TimerID, error) {
	return l.ScheduleTimerAs(TimerNormal, delay, fn)
}

// ScheduleTimerAs is ScheduleTimer for a timer of any tier. The order of deadlines holds within each tier. Costs,
// threading and errors are the same; there is one error more, for a tier that does not exist.
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
	for t.wheel.Short() && !t.closed { // memory is allocated without the lock
		t.mu.Unlock()
		m := new(wheel.Memory)
		l.lock(&t.mu)
		if t.wheel.Short() {
			t.wheel.Provide(m)
		}
	}
	if t.closed || l.state.Load().Ending() {
		t.mu.Unlock()
		l.yieldOffLoop()
		return 0, ErrLoopTerminated
	}
	if t.wheel.Full() {
		t.mu.Unlock()
		return 0, ErrLoopOverloaded
	}
	id := t.wheel.Insert(wheel.Tier(tier), deadline, fn, true)
	if known != nil {
		known(TimerID(id))
	}
	soonest := t.wheel.NextOf(wheel.Tier(tier)) // before the deadline when there are many of about this one
	if tier == TimerBackground && soonest < t.background.Load() {
		t.background.Store(soonest)
	}
	sooner := soonest < l.earliest.Load()
	if delay <= 0 {
		soonest = 0 // in the past by any clock, so that the loop need not read the clock to know that the timer is due
	}
	if sooner {
		l.earliest.Store(soonest)
	}
	if delay < time.Second {
		t.fresh++
	}
	backlog, wanted := 0, t.mu.Wanted()
	if t.wheel.Seq()%inbox.ChunkSize == 0 {
		backlog = t.fresh
	}
	t.mu.Unlock()
	if sooner {
		l.park.Wake()
	}
	if wanted || backlog >= inbox.Far && !l.OnLoop() {
		inbox.GiveWay(backlog)
	}
	return TimerID(id), nil
}

// CancelTimer takes back a timer that has not fired. Its function is garbage at once. It costs what ScheduleTimer
// costs. It returns ErrTimerNotFound if the timer has fired, is firing, was cancelled, was dropped at the loop's end,
// or never was.
func (l *Loop) CancelTimer(id TimerID) error {
	err := l.changeTimer(id, (*wheel.Wheel).Remove)
	if err == nil && l.notes != nil {
		l.notes.Drop(place.Timers, id)
	}
	return err
}

// RefTimer makes a pending timer keep an auto-exit loop alive, as every timer does when it is scheduled. It returns
// CancelTimer's error.
func (l *Loop) RefTimer(id TimerID) error {
	return l.changeTimer(id, func(w *wheel.Wheel, id uint64) bool { return w.SetRef(id, true) })
}

// UnrefTimer lets an auto-exit loop end although the timer is pending. It returns CancelTimer's error.
func (l *Loop) UnrefTimer(id TimerID) error {
	return l.changeTimer(id, func(w *wheel.Wheel, id uint64) bool { return w.SetRef(id, false) })
}

// changeTimer calls change, which tells whether the timer is pending, under the lock.
func (l *Loop) changeTimer(id TimerID, change func(*wheel.Wheel, uint64) bool) error {
	t := &l.timers
	l.lock(&t.mu)
	before, refs := t.wheel.Len(), t.wheel.Refs()
	found := change(&t.wheel, uint64(id))
	t.fresh = max(0, t.fresh+t.wheel.Len()-before)
	unneeded := refs != 0 && t.wheel.Refs() == 0
	t.mu.UnlockAndYield()
	if !found {
		return ErrTimerNotFound
	}
	if l.autoExit && unneeded {
		l.park.Wake() // to decide anew whether to end
	}
	return nil
}

// runTimers fires the timers that are due at the tick's time: critical ones, then normal ones, then background ones
// that are too late to wait any longer; of each tier as many as there is time for. Timers that are scheduled meanwhile
// wait for the next tick. A resumed tick goes on after the timer that did not return.
func (l *Loop) runTimers() {
	d := &l.bounds.due
	if !d.done {
		l.shared.PassOn()
	}
	for !d.done {
		if d.spent.Used() && l.bounds.crowded || d.spent.Due() && d.spent.Spent(l.now()) {
			l.bounds.full = true
			d.nextTier()
		}
		d.spent.Count()
		d.done = !l.fire(d) || d.done
	}
}

// due says what a tick may fire: of each tier the timers that were scheduled before the tick, with a deadline that is past.
type due struct {
	by     [wheel.Tiers]int64 // latest deadline of each tier, as the wheel numbers them
	before uint64             // timers with this sequence number or a larger one wait for the next tick; 0 until the first look
	firing int                // index in urgency of the tier that fires now
	spent  quota.Allowance    // what that tier may still do
	done   bool               // no timer is left to fire
	idle   bool               // only background timers fire, and only while no timer of another tier is due
}

// nextTier goes on to the next tier.
func (d *due) nextTier() { d.firing++; d.spent.Renew(quota.Unlimited) }

// begin sets what a tick that begins now may fire.
func (d *due) begin(now int64) {
	d.by = [...]int64{now, now, now - latestBackground}
	d.spent.Renew(quota.Unlimited)
}

// urgency has the tiers in the order in which they fire.
var urgency = [wheel.Tiers]wheel.Tier{wheel.Critical, wheel.Normal, wheel.Background}

// fire runs the next due timer, or has the wheel make a step towards it, or returns false. When nothing else is due, it sets
// d.done, and stores the next deadline in earliest.
func (l *Loop) fire(d *due) (ok bool) {
	t := &l.timers
	l.lock(&t.mu)
	if d.before == 0 {
		d.before, t.fresh = t.wheel.Seq(), 0
	}
	for more := l.microtasksDue(); more; more = l.foreignDue() {
		t.mu.Unlock()
		l.checkpoint()
		l.lock(&t.mu)
	}
	if d.idle && l.isDue(min(t.wheel.NextOf(wheel.Critical), t.wheel.NextOf(wheel.Normal))) {
		t.mu.Unlock()
		return false // timers of another tier are due by now: the next tick begins with them
	}
	if l.state.Load().Ending() {
		t.mu.Unlock()
		return false // due timers stay until the end: their functions keep promises reachable that finish is to reject
	}
	var fn func()
	for ; d.firing < wheel.Tiers; d.nextTier() {
		if fn, ok = t.wheel.PopDue(urgency[d.firing], d.by[d.firing], d.before); ok {
			break
		}
	}
	next := t.wheel.Next()
	if !ok || next > d.by[wheel.Normal] { // so this is the tick's last timer
		t.background.Store(t.wheel.NextOf(wheel.Background))
		l.earliest.Store(next)
		d.done = true
	}
	t.mu.Unlock()
	if !ok || fn == nil || l.state.Load().Closing() { // the last look before a callback: the locks may have taken long
		return ok && fn == nil
	}
	l.current = call{observe.Timer, t.wheel.Popped()} // only the loop pops
	l.probe.Began(observe.Timer, 0, nil)
	fn()
	l.probe.Ended()
	return true
}

// isDue tells whether a deadline is past. It reads the clock only if the deadline is less than quota.Tick after the
// tick's time.
func (l *Loop) isDue(deadline int64) bool {
	tick := l.park.Tick.Load()
	return deadline <= tick || deadline-tick < quota.Tick && deadline <= l.now()
}

// runBackground runs background timers that are due until there is something else to do, and tells whether there were
// any. Its caller has found nothing else to do.
func (l *Loop) runBackground() (ran bool) {
	now := l.park.Tick.Load()
	if now < l.timers.background.Load() {
		return false
	}
	d := due{by: [...]int64{0, 0, now}, firing: wheel.Tiers - 1, idle: true}
	d.spent.Renew(quota.Unlimited)
	for l.fire(&d) {
		d.spent.Count()
		if ran = true; l.fds.News() || l.hasWork() || d.spent.Due() && d.spent.Spent(l.now()) {
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
func (l *Loop) now() int64 { return l.park.Now() }

// CurrentTickTime returns the time that the current tick works with: the moment it began, or, off the loop, the
// beginning of the latest tick. It never goes back. The call reads no clock and allocates nothing.
func (l *Loop) CurrentTickTime() time.Time {
	return l.park.Anchor.Add(time.Duration(l.park.Tick.Load()))
}
