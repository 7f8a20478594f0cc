package eventloop

// Pauses: how a loop that has nothing to do spares its next producer a wake-up.

import (
	"math"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/turnloop/turnloop/internal/sched"
)

// pauses are moments in which the loop lets other goroutines run before it goes to sleep, in the hope that one of them
// submits something: one that waited for the task that has just run does. The loop then needs no wake-up, and the tick
// goes on.
//
// But a loop that lets others run is not woken by work; it gets on when its turn comes. Beside goroutines that compute
// that takes as long as the runtime lets each of them run, times their number. So there are pauses only while the
// processors are calm.
type pauses struct {
	used  int   // in this tick
	left  int   // before the loop sleeps, if they go on bringing nothing
	vain  int   // idle moments in a row whose first pause has brought nothing
	skip  int   // idle moments to be passed over for that
	lost  int64 // in long pauses, not yet forgiven
	began int64 // when the tick did
	since int64 // when the first one began of those that have come without a long time between two
	clock int64 // when the last one but a few ended, or the tick began
}

const (
	mostPauses = 16          // in a tick: bounds how old its time gets
	perMoment  = 4           // in a row that bring nothing: what the other processor works on takes a moment
	perClock   = 4           // between two looks at the clock, which costs a good part of what a pause saves
	longPause  = 100_000     // nanoseconds, which a few goroutines with a little to do each need not take
	mostLost   = 2_000_000   // nanoseconds, in long pauses, until the loop doubts that the processors are calm
	forgiven   = 20          // so many nanoseconds make up for a lost one
	steady     = 100_000_000 // nanoseconds, in which others that compute would have had their turn several times
	nearTimer  = 1_000_000   // nanoseconds, within which a timer is not kept waiting by pauses
	mostSkip   = 6           // of vain moments in a row, one in 2 to the power of this
)

func (p *pauses) begin(now int64) {
	if now-p.began > longPause {
		p.since = now
	}
	p.lost = max(0, p.lost-(now-p.began)/forgiven)
	p.used, p.left, p.began, p.clock = 0, 0, now, now
}

// worthwhile tells whether all pauses of the tick are used: nearly each has brought work, or it would have gone to sleep.
func (p *pauses) worthwhile() bool { return p.used == mostPauses }

// pause is for an idle moment: it lets other goroutines run, if that is likely to bring work soon, and tells whether it
// has.
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

// pauseOn goes on with the pauses of an idle moment, before a sleep.
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

// pauseOnce lets others run once, if there is to be a pause.
func (l *Loop) pauseOnce() bool {
	p := &l.pauses
	p.left--
	if p.used == mostPauses || l.earliest.Load()-p.clock < nearTimer || !sched.Exploring && !l.calm() {
		p.left = 0
		return false
	}
	p.used++
	publish(&l.turned.pauses, l.turned.pauses.Load()+1)
	sched.Yield()
	if l.probe != nil {
		l.probe.between()
	}
	news := l.hasNews()
	if !news || p.used%perClock == 0 {
		l.judge(l.now())
	}
	return news
}

// calm tells whether to count on calm. It is known, or the loop has found it out itself: for many turns of a
// goroutine that computes it was never kept waiting. Who is asked may not get to it then, as the runtime lets those go
// first that wake each other.
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

// judge looks how long the last few pauses have been, with the callbacks between them. The garbage collector makes a
// pause long now and then.
func (l *Loop) judge(now int64) {
	p := &l.pauses
	took := now - p.clock
	p.clock = now
	if took <= longPause {
		calm.confirm(l.born + now)
	} else if p.lost += took; p.lost > mostLost {
		calm.until.Store(0) // it may have been callbacks, as will soon be known
		p.lost, p.left, p.since = 0, 0, now
	}
}

// calm is what the loops of the process know of its processors: whether who lets others run gets on again at once. A
// loop that finds itself kept waiting has lost the time already; so whoever is in doubt does not try, but sends a
// goroutine that has nothing to lose. What it finds serves all loops, also those that are yet to come, for as long as
// one of them pauses again and again.
var calm calmness

// Both are in nanoseconds since epoch.
type calmness struct {
	until atomic.Int64 // known to be so
	again atomic.Int64 // not to be asked before
}

var epoch = time.Now()

// How long what is known counts; and while in doubt, for how long nobody asks again, and how long it takes until the
// question is asked: a goroutine that starts at once would push aside one that the loop has just answered.
const (
	lasting  = 10 * time.Millisecond
	askAgain = 5 * time.Millisecond
	askLater = time.Millisecond
)

func (c *calmness) is(now int64) bool {
	if now < c.until.Load() {
		return true
	}
	if again := c.again.Load(); now >= again && c.again.CompareAndSwap(again, now+int64(askAgain)) {
		time.AfterFunc(askLater, c.ask)
	}
	return false
}

// confirm says that it still is.
func (c *calmness) confirm(now int64) {
	if until := c.until.Load(); until != 0 && until-now < int64(lasting)/2 {
		c.until.CompareAndSwap(until, now+int64(lasting))
	}
}

// ask lets others run a few times, and looks how long that takes. Once it may take long by chance, because the system has
// taken the processor away.
func (c *calmness) ask() {
	began, long := time.Now(), 0
	for range 4 {
		before := time.Now()
		if runtime.Gosched(); time.Since(before) > longPause {
			long++
		}
		if long == 2 {
			now := time.Now()
			c.again.Store(int64(now.Sub(epoch) + max(askAgain, 2*now.Sub(began))))
			return
		}
	}
	c.again.Store(math.MinInt64) // who doubts it need not wait
	c.until.Store(int64(time.Since(epoch) + lasting))
}
