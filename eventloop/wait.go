package eventloop

// Sleep and wake: how the loop parks without missing work, and how work wakes it.
//
// The loop commits, then verifies, then sleeps: it moves its state from Running to Sleeping, looks once more at
// everything that could be work, and only then parks. A producer writes, then checks: it publishes that there is work, then
// reads the state, and wakes the loop if it reads Sleeping. All these accesses are sequentially consistent atomics, so of
// "the loop misses the work" and "the producer misses the sleep" at most one can happen:
//
//	work              published by                      verified by
//	any lane          taking inbox.lock                 inbox.mayHaveWork
//	an earlier timer  storing earliest                  loading earliest to arm the alarm
//	the alarm         storing alarm.rang                loading alarm.rang
//	the end           leaving Sleeping for Terminating  being the one who has to signal
//	its last reason   releasing a hold, or a ref'd      asking needed, in an auto-exit loop
//	to stay alive     timer, under its lock

import "runtime"

// yields is how often the loop lets other goroutines run, and looks again, before it parks. A producer that is about to
// submit then finds a loop that needs no wake-up. The number bounds what an idle loop costs: a few microseconds, once.
const yields = 4

// sleep parks the loop until there may be something to do.
func (l *Loop) sleep() {
	if e := l.earliest.Load(); e != never && e <= l.now() {
		return
	}
	for range yields {
		runtime.Gosched()
		if l.inbox.mayHaveWork() {
			return
		}
	}
	if !l.state.sleep() {
		return // ending
	}
	l.alarm.arm(l, l.earliest.Load())
	if l.inbox.mayHaveWork() || l.alarm.rang.Load() || l.autoExit && !l.needed() {
		// If a producer has claimed the wake-up already, its signal ends the next sleep early, which does no harm.
		l.state.wake()
		return
	}
	<-l.wake
	l.state.wake() // only after such a late signal is there anything to change
}

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
// only when a late signal is in it, which serves as well.
func (l *Loop) signal() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}
