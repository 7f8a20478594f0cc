package park

// Calm: what the loops of a process know of its processors.

import (
	"math"
	"runtime"
	"sync/atomic"
	"time"
)

// Calm says whether the processors are calm, that is, whether a goroutine that yields runs again at once. All loops of
// the process share it. A loop that yielded on busy processors to find out would lose time; so a loop in doubt has another
// goroutine try (Calmness.ask). What is found holds for as long as some loop confirms it again and again.
var Calm Calmness

// Calmness has times in nanoseconds since epoch. Every loop, and ask, reads and writes both; a stale value costs a
// pause too many or too few.
type Calmness struct {
	Until   atomic.Int64 // the processors count as calm until then; 0 if a loop has found that they are not
	NextAsk atomic.Int64 // no loop has ask called before then; a compare-and-swap chooses the loop that does
}

var epoch = time.Now()

const (
	lasting  = 10 * time.Millisecond // how long the processors count as calm once that was found
	askAgain = 5 * time.Millisecond  // the least time between two calls of ask
	// askLater is the delay of a call of ask: its goroutine, if it started at once, would take the place (runnext) of one
	// that the loop has just readied.
	askLater = time.Millisecond
)

// Is tells whether the processors count as calm at now. If not, it has ask called soon, at most once in askAgain.
func (c *Calmness) Is(now int64) bool {
	if now < c.Until.Load() {
		return true
	}
	if again := c.NextAsk.Load(); now >= again && c.NextAsk.CompareAndSwap(again, now+int64(askAgain)) {
		time.AfterFunc(askLater, c.ask)
	}
	return false
}

// learn takes account of yields, of a loop or of one of its wakers, that took the given time and ended at now; lost is the
// time that long yields have taken so far. Short yields confirm the calm. When lost is more than mostLost, learn ends the
// calm and returns true: the loop is in doubt.
func (c *Calmness) learn(took, lost, now int64) (doubt bool) {
	switch {
	case took <= longPause:
		c.confirm(now)
	case lost > mostLost:
		c.Until.Store(0) // callbacks may have taken the time; ask will soon find out
		return true
	}
	return false
}

// confirm prolongs the calm, if there is one. It does not end a doubt.
func (c *Calmness) confirm(now int64) {
	if until := c.Until.Load(); until != 0 && until-now < int64(lasting)/2 {
		c.Until.CompareAndSwap(until, now+int64(lasting))
	}
}

// ask yields a few times, and looks how long that takes. One long yield may be chance, since the system may take the
// processor away; two are an answer.
func (c *Calmness) ask() {
	began, long := time.Now(), 0
	for range 4 {
		before := time.Now()
		if runtime.Gosched(); time.Since(before) > longPause {
			long++
		}
		if long == 2 {
			now := time.Now()
			c.NextAsk.Store(int64(now.Sub(epoch) + max(askAgain, 2*now.Sub(began))))
			return
		}
	}
	c.NextAsk.Store(math.MinInt64) // the next doubt may ask at once
	c.Until.Store(int64(time.Since(epoch) + lasting))
}
