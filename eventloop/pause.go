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
	vain  int   // in a row that have brought nothing
	skip  int   // chances to be passed over for that
	clock int64 // when the last one but one ended, or the tick began
}

const (
	mostPauses = 16        // in a tick: bounds how old its time gets
	longPause  = 100_000   // nanoseconds, which a few goroutines with a little to do each need not take
	nearTimer  = 1_000_000 // nanoseconds, within which a timer is not kept waiting by pauses
	mostSkip   = 6         // of vain pauses in a row, one in 2 to the power of this
)

func (p *pauses) begin(now int64) { p.used, p.clock = 0, now }

// worthwhile tells whether all pauses of the tick are used: each has brought work, or it would have gone to sleep.
func (p *pauses) worthwhile() bool { return p.used == mostPauses }

// pause lets other goroutines run, if that is likely to bring work soon, and tells whether it has.
func (l *Loop) pause() bool {
	p := &l.pauses
	switch {
	case p.used == mostPauses || l.earliest.Load()-p.clock < nearTimer:
		return false
	case p.skip > 0:
		p.skip--
		return false
	case !sched.Exploring && !calm.is(l):
		return false
	}
	p.used++
	idle := p.vain != 0 // where the last one has saved nothing, the clock need not be spared
	if idle {
		p.clock = l.now()
	}
	sched.Yield()
	if idle || p.used%2 == 0 { // the clock costs a good part of what a pause saves
		before := p.clock
		if p.clock = l.now(); p.clock-before > longPause {
			calm.sure.Store(false) // it may have been a callback, as will soon be known
		}
	}
	if l.hasNews() {
		p.vain = 0
		return true
	}
	p.vain = min(p.vain+1, mostSkip)
	p.skip = 1<<p.vain - 2
	return false
}

// calm is what the loops of the process know of its processors: whether who lets others run gets on again at once. A
// loop that finds itself kept waiting has lost the time already; so whoever is in doubt does not try, but sends a
// goroutine that has nothing to lose. What it finds serves all loops, also those that are yet to come.
var calm calmness

type calmness struct {
	sure  atomic.Bool
	again atomic.Int64 // not to be asked before, in nanoseconds since epoch
}

var epoch = time.Now()

// While in doubt, for how long nobody asks again, and how long it takes until the question is asked: a goroutine that
// starts at once would push aside one that the loop has just answered.
const (
	askAgain = 20 * time.Millisecond
	askLater = time.Millisecond
)

func (c *calmness) is(l *Loop) bool {
	if c.sure.Load() {
		return true
	}
	now, again := l.born+l.pauses.clock, c.again.Load()
	if now >= again && c.again.CompareAndSwap(again, now+int64(askAgain)) {
		time.AfterFunc(askLater, c.ask)
	}
	return false
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
	c.sure.Store(true)
}
