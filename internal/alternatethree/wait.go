package alternatethree

// Sleep and wake: how the loop waits without missing work, and how producers wake it.
//
// The loop commits to sleep by moving its state to Sleeping, then verifies, under the locks that producers hold to add
// work, that there is none, then waits. A producer adds work under the lock, then looks at the state, then wakes a loop
// that sleeps. Of the loop's look under the lock and the producer's addition one is first. If it is the addition, the
// loop sees it. If it is the look, the state was Sleeping before, and the producer sees that.
//
// The goroutine that moves the state from Sleeping to Running must write to the eventfd. So one write ends a sleep, however
// many producers come. A write that arrives when the loop is awake for another reason ends its next sleep early, which is
// harmless.

import (
	"log/slog"
	"runtime"
	"time"

	"github.com/turnloop/turnloop/internal/loopapi"
)

// poll sleeps if there is nothing to do, otherwise it polls without waiting. It collects the ready descriptors. No lock is
// held during the wait. After a wait that a signal has ended early, the next tick finds nothing and waits for the rest of
// the time until the deadline.
func (l *Loop) poll() {
	if l.called < len(l.ready) {
		return // a callback has ended its goroutine by Goexit: the rest of its batch runs first
	}
	timeout := l.sleepTime()
	if timeout == 0 && l.table.size.Load() == 0 {
		l.state.wake()
		return
	}
	events, err := l.poller.Wait(timeout)
	l.state.wake() // no effect if a producer has woken the loop, or the loop is ending
	if err != nil {
		l.fail(wrap(err, "wait for events"))
		return
	}
	if timeout != 0 || len(events) > 0 {
		l.SetTickTime(l.Now()) // microtasks and callbacks of descriptors come before the next tick
	}
	if len(events) > 0 {
		l.collectReady(events)
	}
}

// yields is the number of times that the loop yields before it sleeps, which takes about as long as a sleep and a wake-up.
// A goroutine that has waited for the last task often submits the next one then, and the loop needs no wake-up.
//
// On busy processors yields take longer, and timers and descriptors wait meanwhile. The loop stops after the yield that
// exceeds lingerMost.
const (
	yields     = 16
	lingerMost = 100 * time.Microsecond
)

// sleepTime makes the sleep decision. It returns zero when there is something to do. Otherwise it commits the state to
// Sleeping and returns the time to wait; a negative one means for ever.
func (l *Loop) sleepTime() time.Duration {
	if l.hasWork() {
		return 0
	}
	began := l.Now()
	if l.timers.first.Load() <= began {
		return 0 // a timer is due
	}
	for range yields {
		runtime.Gosched()
		if l.collect(); l.hasWork() {
			return 0
		}
		if l.Now()-began > int64(lingerMost) {
			break
		}
	}
	if !l.state.sleep() {
		return 0
	}
	return l.verify()
}

// verify is the second look, by a loop that has committed to sleep.
func (l *Loop) verify() time.Duration {
	l.in.mu.Lock()
	quiet := l.in.empty()
	l.in.mu.Unlock()
	if !quiet {
		return 0
	}
	return l.timers.timeout(l.Now())
}

// wakeIfSleeping wakes the loop if it sleeps. It must follow every addition of work.
func (l *Loop) wakeIfSleeping() {
	if l.state.load() == loopapi.StateSleeping && l.state.wake() {
		l.wake()
	}
}

// wake ends the wait of the loop. No other goroutine will do so.
func (l *Loop) wake() {
	l.Wake(l.poller, func(err error) {
		slog.Default().Error("the event loop could not be woken, which will be tried again", "error", wrap(err, "wake the poller"))
	})
}

// fail shuts down a loop whose poller has failed. The logger may panic, so it is called last.
func (l *Loop) fail(err error) {
	l.terminate(err)
	l.faults.Call(func() { slog.Default().Error("the event loop shuts down", "error", err) })
}
