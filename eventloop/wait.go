package eventloop

// Sleep and wake: how the loop parks without missing work, and how work wakes it.
//
// The loop commits, then verifies, then sleeps: it moves its state from Running to Sleeping, looks once more at
// everything that could be work, and only then parks. A producer writes, then checks: it publishes that there is work,
// then reads the state, and wakes the loop if it reads Sleeping. All these accesses are sequentially consistent
// atomics, so of "the loop misses the work" and "the producer misses the sleep" at most one can happen:
//
//	work              published by                      verified by
//	any lane          taking its inbox's lock           mayHaveWork
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
	if l.pauseOn() {
		return
	}
	if at := l.earliest.Load(); at != never && at <= l.now() {
		return
	}
	l.micro.shrink()
	l.ticks.shrink()
	l.caughtUp()
	if !l.state.sleep() {
		return // ending
	}
	l.noteSleep()
	l.park()
	l.noteWake(!l.state.wake()) // if it was not somebody's signal that ended the park
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
	if l.hasNews() || l.autoExit && !l.needed(l.guest.unneeded()) {
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
func (l *Loop) rest() (parked bool) {
	l.fds.endWatch()
	l.fds.blocked.Store(nil)
	if !l.state.rest() {
		return false
	}
	if parked = !l.mayHaveWork(); parked {
		l.noteSleep()
		sched.Await(l.wake)
		<-l.wake
	}
	if woken := !l.state.wake(); parked {
		l.noteWake(woken)
	}
	return parked
}

// hasNews tells whether others may have left something to do, besides an alarm.
func (l *Loop) hasNews() bool { return l.mayHaveWork() || l.fds.news() }

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
