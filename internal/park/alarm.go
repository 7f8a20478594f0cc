package park

// The alarm: how a loop that parks on its channel wakes for a timer.

import (
	"time"

	"github.com/turnloop/turnloop/internal/sched"
	"github.com/turnloop/turnloop/internal/sched/atomic"
)

// alarm wakes the loop at a deadline. Only the loop arms it; it rings on a goroutine of the runtime's.
type alarm struct {
	timer *sched.Timer
	at    int64       // deadline that it was armed for; never, when it is not armed
	rang  atomic.Bool // set by the ringing before it looks at the loop's state, cleared by the loop before it arms
}

// arm has the alarm ring at the deadline, or earlier. An alarm that is set for an earlier time stays so: an idle tick costs
// less than setting the alarm anew whenever a timer is cancelled.
func (p *Park) arm(deadline int64) {
	a := &p.alarm
	if a.rang.Load() {
		a.rang.Store(false)
		a.at = never
	}
	if deadline >= a.at {
		return
	}
	a.at = deadline
	delay := time.Duration(deadline - p.Now())
	if a.timer == nil {
		a.timer = sched.AfterFunc(delay, func() {
			a.rang.Store(true)
			p.Wake()
		})
		return
	}
	a.timer.Reset(delay)
}

// ByTimer tells whether a timer may have ended the last sleep.
func (p *Park) ByTimer() bool {
	return p.alarm.rang.Load() || p.earliest.Load() < max(p.alarm.at, p.Now()+1)
}

// Stop stops the alarm, at the end, and tells whether it was armed.
func (p *Park) Stop() bool { return p.alarm.timer != nil && p.alarm.timer.Stop() }
