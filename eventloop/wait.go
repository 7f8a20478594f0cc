package eventloop

// Sleep and wake: how the loop parks without missing work, and how work wakes it.
//
// The loop commits, then verifies, then sleeps: it moves its state from Running to Sleeping, looks once more at
// everything that could be work, and only then parks. A producer writes, then checks: it publishes that there is work,
// then reads the state, and wakes the loop if it reads Sleeping. All these accesses are sequentially consistent
// atomics, so of "the loop misses the work" and "the producer misses the sleep" at most one can happen:
//
//	work              published by                      verified by
//	any lane          taking inbox.lock                 inbox.mayHaveWork
//	an earlier timer  storing earliest                  loading earliest to arm the alarm
//	the alarm         storing alarm.rang                loading alarm.rang to arm it anew
//	a descriptor      storing fds.ready, by the watch   loading fds.ready
//	a mode, a poller  storing fds.changed               loading fds.changed
//	the end           leaving Sleeping for Terminating  being the one who has to signal
//	                  or, at rest, taking Close on top
//	its last reason   releasing a hold, or a ref'd      asking needed, in an auto-exit loop
//	to stay alive     timer or descriptor, under its lock

import (
	"time"

	"github.com/turnloop/turnloop/internal/sched"
)

// sleep parks the loop until there may be something to do.
func (l *Loop) sleep() {
	if l.pauses.worthwhile() {
		return // to another tick, which has pauses left
	}
	for range 4 {
		if l.pause() {
			return
		}
	}
	if at := l.earliest.Load(); at != never || l.pauses.used() {
		now := l.now()
		l.pauses.judge(now) // here, so that the time asleep does not count for how long they took
		if at <= now {
			return
		}
	}
	if !l.state.sleep() {
		return // ending
	}
	l.park()
	l.state.wake() // if it was not somebody's signal that ended the park
	event := l.fds.pending()
	if event {
		l.tickTime.Store(l.now()) // what is called next was not ready before
	}
	l.fds.settle(event)
}

// park waits until there may be something to do. The loop has committed to sleep.
func (l *Loop) park() {
	d := &l.fds
	blocked := d.blocked.Load() != nil && !d.parking
	timeout := time.Duration(-1)
	if at := l.earliest.Load(); !blocked {
		l.alarm.arm(l, at)
	} else if at != never {
		timeout = time.Duration(max(0, at-l.now()))
	}
	if l.hasNews() || l.autoExit && !l.needed() {
		return // if a producer has claimed the wake-up already, its signal ends the next park early, which does no harm
	}
	switch {
	case blocked:
		l.wait(timeout)
	case d.parking:
		l.got(d.parker.Park())
	default:
		sched.Await(l.wake)
		<-l.wake
	}
}

// rest parks a loop that is ending, and waits for workers, until there is something to run. Descriptors are not served
// any more, so it parks on its channel.
func (l *Loop) rest() {
	l.fds.endWatch()
	l.fds.blocked.Store(nil)
	if !l.state.rest() {
		return
	}
	if !l.inbox.mayHaveWork() {
		sched.Await(l.wake)
		<-l.wake
	}
	l.state.wake()
}

// hasNews tells whether others may have left something to do, besides an alarm.
func (l *Loop) hasNews() bool { return l.inbox.mayHaveWork() || l.fds.news() }

// wakeIfSleeping wakes the loop if it sleeps. Its caller has published what there is to see before.
func (l *Loop) wakeIfSleeping() {
	if l.state.load().sleeping() {
		l.unpark()
	}
}

func (l *Loop) unpark() {
	if l.state.wake() {
		l.signal()
	}
}

// signal ends the loop's park. Only who took the state from Sleeping to something else calls it. The channel is full
// only when a late signal is in it, which serves as well. A late signal may go to a place that the loop has left
// meanwhile: then it ends the next park there early.
func (l *Loop) signal() {
	if p := l.fds.blocked.Load(); p != nil {
		l.wakePoller(*p, firstRetry)
		return
	}
	sched.Point()
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// pauses is the budget for letting other goroutines run while there is nothing to do, in the hope that one of them
// submits something: one that waited for a task that has just run does. The loop then needs no wake-up, and the tick
// goes on. But a loop that lets others run is not woken by work; it gets on when its turn comes, which takes long where
// goroutines are busy computing. So pauses are given up for a while when they bring nothing, and for longer when they
// are long; but not at once, for the system may have taken the processor away, as it does anywhere.
type pauses struct {
	left    int   // of this tick's
	hits    int   // of this tick's that brought work
	perTick int   // grows while pauses are good; 0 while there are none
	banned  int64 // nanoseconds until there are some again
	lost    int64 // nanoseconds that long ones took, less one in longBan of those in between
	judged  int64 // when the budget was last renewed
}

const (
	mostPauses = 16        // in a tick: bounds how old its time gets, and what is lost until long pauses are noticed
	longPause  = 100_000   // nanoseconds
	longBan    = 100       // times what long pauses took, so that trying again costs one part in a hundred
	forgiven   = 5_000_000 // nanoseconds that long pauses may take without a ban
	vainBan    = 1_000_000 // nanoseconds
	nearTimer  = 1_000_000 // nanoseconds, within which a timer is not kept waiting by pauses
)

// worthwhile tells whether all pauses of the tick are used and each has brought work.
func (p *pauses) worthwhile() bool { return p.hits > 0 && p.hits == p.perTick }

// used tells whether there have been any in this tick.
func (p *pauses) used() bool { return p.left != p.perTick }

// judge renews the budget at the end of a tick, and of the sleep behind it.
func (p *pauses) judge(now int64) {
	used, elapsed := p.perTick-p.left, now-p.judged
	p.judged = now
	switch {
	case used > 0 && elapsed > int64(used)*longPause:
		p.perTick = 0
		p.lost += elapsed
		if over := p.lost - forgiven; over > 0 {
			p.lost, p.banned = forgiven, over*longBan
		}
	case used > 2*p.hits:
		p.perTick, p.banned = 0, vainBan
	case p.banned > 0:
		p.banned -= elapsed
	default:
		p.perTick = min(2*p.perTick+1, mostPauses)
		p.lost = max(0, p.lost-elapsed/longBan)
	}
	p.left, p.hits = p.perTick, 0
}

// pause lets other goroutines run, unless the budget is spent or a timer is near, and tells whether there is work then.
// After a few it looks at the clock for the timer: each may have been long.
func (l *Loop) pause() bool {
	p := &l.pauses
	if p.left == 0 {
		return false
	}
	if at := l.earliest.Load(); at != never {
		now := l.tickTime.Load()
		if used := p.perTick - p.left; used%4 == 3 {
			now = l.now()
		}
		if at-now < nearTimer {
			return false
		}
	}
	p.left--
	sched.Yield()
	if !l.hasNews() {
		return false
	}
	p.hits++
	return true
}
