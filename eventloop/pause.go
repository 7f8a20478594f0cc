package eventloop

// Pauses: how a loop that has nothing to do spares its next producer a wake-up.

import (
	"math"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/turnloop/turnloop/internal/release"
	"github.com/turnloop/turnloop/internal/sched"
)

// pauses are moments in which the loop lets other goroutines run before it goes to sleep. A goroutine that waited for the
// task that has just run may then submit the next: the loop needs no wake-up, and the tick goes on.
//
// But work does not wake a loop that has yielded: the loop runs again when it comes to the head of the scheduler's queue. Beside
// goroutines that compute, that takes a time slice for each of them. So there are pauses only while the processors are calm.
//
// Only the loop's goroutine touches them. Times are in nanoseconds since the loop's anchor.
type pauses struct {
	used  int   // pauses of this tick
	left  int   // pauses that the idle moment may still have; the first that brings work ends it
	vain  int   // idle moments in a row whose first pause has brought nothing
	skip  int   // idle moments to come that get no pause because of that
	lost  int64 // nanoseconds in long pauses, less those forgiven
	began int64 // when the tick began
	since int64 // since then ticks have begun at most longPause apart, and no more than mostLost was lost
	clock int64 // when the loop last read the clock: after one of the last few pauses, or when the tick began
}

const (
	mostPauses = 16          // in a tick: bounds the age of tickTime
	perMoment  = 4           // in an idle moment: work that another processor is about to submit takes a while
	perClock   = 4           // pauses between two looks at the clock, which cost a good part of what a pause saves
	longPause  = 100_000     // nanoseconds: more than a few goroutines take that have little to do
	mostLost   = 2_000_000   // nanoseconds in long pauses; beyond that the loop takes the processors for busy until it has asked
	forgiven   = 20          // for so many nanoseconds of ticks one nanosecond less counts as lost
	steady     = 100_000_000 // nanoseconds: several time slices, so goroutines that compute would have had turns
	nearTimer  = 1_000_000   // nanoseconds before a timer in which there are no pauses
	mostSkip   = 6           // the most that vain gets; then about one idle moment in 2^6 gets a pause
)

// begin renews the pauses for a tick that begins now.
func (p *pauses) begin(now int64) {
	if now-p.began > longPause {
		p.since = now
	}
	p.lost = max(0, p.lost-(now-p.began)/forgiven)
	p.used, p.left, p.began, p.clock = 0, 0, now, now
}

// exhausted tells whether all pauses of the tick are used. Nearly every pause has then brought work, or the loop would have
// gone to sleep before.
func (p *pauses) exhausted() bool { return p.used == mostPauses }

// pause begins an idle moment: it lets other goroutines run, if that is likely to bring work, and tells whether work has come.
func (l *Loop) pause() bool {
	p := &l.pauses
	if p.left = 0; p.skip > 0 {
		p.skip--
		return false
	}
	if p.used == mostPauses {
		return false
	}
	p.left = perMoment
	if l.pauseOnce() {
		p.vain = 0
		return true
	}
	p.vain = min(p.vain+1, mostSkip)
	p.skip = 1<<p.vain - 2
	return false
}

// pauseOn goes on with the pauses of an idle moment, before a sleep, and tells whether work has come.
func (l *Loop) pauseOn() bool {
	p := &l.pauses
	for p.left > 0 {
		if l.pauseOnce() {
			p.vain, p.skip = 0, 0
			return true
		}
	}
	return false
}

// pauseOnce lets other goroutines run once, if there may be a pause now, and tells whether work has come.
func (l *Loop) pauseOnce() bool {
	p := &l.pauses
	p.left--
	if p.used == mostPauses || l.earliest.Load()-p.clock < nearTimer || !sched.Exploring && !l.calm() {
		p.left = 0
		return false
	}
	p.used++
	release.Publish(&l.counters.pauses, l.counters.pauses.Load()+1)
	sched.Yield()
	l.probe.Gap()
	news := l.hasNews()
	if !news || p.used%perClock == 0 {
		l.measurePauses(l.now())
	}
	return news
}

// calm tells whether the processors count as calm: because some loop, or ask, has found them so, or because nothing has
// kept this loop waiting for the time steady. Without the second reason a loop could stay in doubt for long: ask may get
// no chance to run, since the runtime prefers goroutines that wake each other.
func (l *Loop) calm() bool {
	p := &l.pauses
	now := l.born + p.clock
	if calm.is(now) {
		return true
	}
	if p.clock-p.since < steady {
		return false
	}
	calm.until.Store(now + int64(lasting))
	return true
}

// measurePauses takes the time of the last few pauses, with the callbacks between them. One long pause proves nothing,
// since the garbage collector causes some; long pauses of mostLost in all do.
func (l *Loop) measurePauses(now int64) {
	p := &l.pauses
	took := now - p.clock
	p.clock = now
	if took > longPause {
		p.lost += took
	}
	if calm.learn(took, p.lost, l.born+now) {
		p.lost, p.left, p.since = 0, 0, now
	}
}

// calm says whether the processors are calm, that is, whether a goroutine that yields runs again at once. All loops of
// the process share it. A loop that yielded on busy processors to find out would lose time; so a loop in doubt has another
// goroutine try (calmness.ask). What is found holds for as long as some loop confirms it again and again.
var calm calmness

// calmness has times in nanoseconds since epoch. Every loop, and ask, reads and writes both; a stale value costs a
// pause too many or too few.
type calmness struct {
	until   atomic.Int64 // the processors count as calm until then; 0 if a loop has found that they are not
	nextAsk atomic.Int64 // no loop has ask called before then; a compare-and-swap chooses the loop that does
}

var epoch = time.Now()

const (
	lasting  = 10 * time.Millisecond // how long the processors count as calm once that was found
	askAgain = 5 * time.Millisecond  // the least time between two calls of ask
	// askLater is the delay of a call of ask: its goroutine, if it started at once, would take the place (runnext) of one
	// that the loop has just readied.
	askLater = time.Millisecond
)

// is tells whether the processors count as calm at now. If not, it has ask called soon, at most once in askAgain.
func (c *calmness) is(now int64) bool {
	if now < c.until.Load() {
		return true
	}
	if again := c.nextAsk.Load(); now >= again && c.nextAsk.CompareAndSwap(again, now+int64(askAgain)) {
		time.AfterFunc(askLater, c.ask)
	}
	return false
}

// learn takes account of yields, of a loop or of one of its wakers, that took the given time and ended at now; lost is the
// time that long yields have taken so far. Short yields confirm the calm. When lost is more than mostLost, learn ends the
// calm and returns true: the loop is in doubt.
func (c *calmness) learn(took, lost, now int64) (doubt bool) {
	switch {
	case took <= longPause:
		c.confirm(now)
	case lost > mostLost:
		c.until.Store(0) // callbacks may have taken the time; ask will soon find out
		return true
	}
	return false
}

// confirm prolongs the calm, if there is one. It does not end a doubt.
func (c *calmness) confirm(now int64) {
	if until := c.until.Load(); until != 0 && until-now < int64(lasting)/2 {
		c.until.CompareAndSwap(until, now+int64(lasting))
	}
}

// ask yields a few times, and looks how long that takes. One long yield may be chance, since the system may take the
// processor away; two are an answer.
func (c *calmness) ask() {
	began, long := time.Now(), 0
	for range 4 {
		before := time.Now()
		if runtime.Gosched(); time.Since(before) > longPause {
			long++
		}
		if long == 2 {
			now := time.Now()
			c.nextAsk.Store(int64(now.Sub(epoch) + max(askAgain, 2*now.Sub(began))))
			return
		}
	}
	c.nextAsk.Store(math.MinInt64) // the next doubt may ask at once
	c.until.Store(int64(time.Since(epoch) + lasting))
}
