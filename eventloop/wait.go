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
//	a descriptor      storing fds.ready, by the watch   fds.News
//	a mode, a poller  storing fds.changed               fds.News
//	the end           leaving Sleeping for Terminating  the park: this step claims the wake-up,
//	                  or, at rest, adding Close         and its signal ends the park
//	a shared task     storing it                        looking into the queue; a producer looks for a
//	                                                    loop that sleeps, of all that share the queue
//	its last reason   releasing a hold, or a ref'd      asking needed, in an auto-exit loop
//	to stay alive     timer or descriptor, under its lock

import (
	"time"

	"github.com/turnloop/turnloop/internal/sched"
)

// sleep parks the loop until there may be something to do.
func (l *Loop) sleep() {
	if l.pauses.exhausted() {
		return // the next tick has new pauses
	}
	if l.pauseOn() {
		return
	}
	if at := l.earliest.Load(); at <= l.tickTime.Load() || at != never && at <= l.now() {
		return
	}
	l.micro.Shrink()
	l.ticks.Shrink()
	for _, b := range l.inboxes() {
		b.CaughtUp()
	}
	l.prepareWake()
	l.guest.sleeps()
	if !l.state.sleep() {
		return // ending
	}
	l.noteSleep()
	l.park()
	l.noteWake(!l.state.wake()) // if it was no waker, the loop itself leaves Sleeping
	l.learnFromWake()
	event := l.fds.Pending()
	if event {
		l.tickTime.Store(l.now()) // the events that are served next were not ready before
	}
	l.fds.Slept(event)
}

// park waits until there may be something to do. The loop has committed to sleep.
func (l *Loop) park() {
	blocks, timed := l.fds.Blocks()
	timeout := time.Duration(-1)
	if at := l.earliest.Load(); !timed {
		l.alarm.arm(l, at)
	} else if at != never {
		timeout = time.Duration(max(0, at-l.now()))
	}
	if l.hasNews() || l.autoExit && !l.needed(l.guest.unneeded(true)) {
		return // the signal of a producer that has claimed the wake-up already ends the next park early, which is harmless
	}
	if blocks {
		l.collected(l.fds.Park(l.tickTime.Load(), timeout))
		return
	}
	sched.Await(l.wake)
	<-l.wake
}

// rest parks a loop that is ending and waits for workers, until there is something to run. Descriptors are not served any
// more, so it parks on its channel.
func (l *Loop) rest() {
	l.fds.Leave()
	if !l.state.rest() {
		return
	}
	parked := !l.mayHaveWork()
	if parked {
		l.noteSleep()
		sched.Await(l.wake)
		<-l.wake
	}
	if woken := !l.state.wake(); parked {
		l.noteWake(woken)
	}
}

// hasNews tells whether other goroutines may have left something to do. It does not count the alarm.
func (l *Loop) hasNews() bool { return l.mayHaveWork() || l.fds.News() }

// wakeIfSleeping wakes the loop if it sleeps. The caller has published before what the loop is to see.
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

// signal ends the loop's park. Only the goroutine that has taken the state out of sleep calls it: so once for each
// sleep. If the channel is full, it has the late signal of another sleep, which ends this park as well. A late signal
// may reach a place that the loop has left: then it ends the next park there early.
func (l *Loop) signal() {
	if l.fds.Signal() {
		return
	}
	sched.Point()
	select {
	case l.wake <- struct{}{}:
	default:
	}
}
