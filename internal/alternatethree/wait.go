package alternatethree

// Sleep and wake: how the loop waits without missing work, and how it is told.
//
// The loop commits to sleep by moving its state to Sleeping, then verifies, under the locks that producers hold to add
// work, that there is none, then waits. A producer adds work under the lock, then looks at the state, then wakes a loop
// that sleeps. Of the loop's look under the lock and the producer's addition one is first. If it is the addition, the
// loop sees it. If it is the look, the state was Sleeping before, and the producer sees that.
//
// Who moves the state from Sleeping to Running owes the one write to the eventfd. So a sleep ends by one write, however
// many producers come, until the loop commits again. A write that arrives when the loop is awake for another reason
// makes its next sleep end early, which is harmless.

import (
	"errors"
	"runtime"
	"time"

	"github.com/turnloop/turnloop/internal/loopapi"
)

// poll sleeps if there is nothing to do, or else asks without waiting, and notes the descriptors that are ready. No
// lock is held during the wait. A wait that a signal cut short leads to a tick that finds nothing, and to a new wait
// for what is left until the deadline.
func (l *Loop) poll() {
	if l.called < len(l.ready) {
		return // a callback took the goroutine away; the rest of its batch goes first
	}
	timeout := l.sleepTime()
	if timeout == 0 && l.table.size.Load() == 0 {
		l.state.wake()
		return
	}
	events, err := l.poller.Wait(timeout)
	l.state.wake() // unless someone else did, or the loop is to end
	if err != nil {
		l.fail(wrap(err, "wait for events"))
		return
	}
	if len(events) > 0 {
		l.updateTime()
		l.collectReady(events)
	}
}

// yields is how often the loop lets other goroutines run before it sleeps: for about as long as a sleep and a wake-up
// take. Who waited for the last task often submits the next one then, to a loop that needs no wake-up.
//
// When the processors are busy it takes longer, and timers and descriptors wait meanwhile: not for more than one turn
// of the others that exceeds lingerMost.
const (
	yields     = 16
	lingerMost = 100 * time.Microsecond
)

// sleepTime makes the decision. It returns zero when there is something to do, else how long to wait: for ever when it
// is negative. The state is Sleeping then.
func (l *Loop) sleepTime() time.Duration {
	if l.hasWork() {
		return 0
	}
	began := l.now()
	if l.timers.first.Load() <= began {
		return 0 // a timer is due
	}
	for range yields {
		runtime.Gosched()
		if l.collect(); l.hasWork() {
			return 0
		}
		if l.now()-began > int64(lingerMost) {
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
	return l.timers.timeout(l.now())
}

// wakeIfSleeping follows every addition of work.
func (l *Loop) wakeIfSleeping() {
	if l.state.load() == loopapi.StateSleeping && l.state.wake() {
		l.wake(firstRetry)
	}
}

// firstRetry is how long after a failed wake-up the next one is tried.
const firstRetry = time.Millisecond

// wake ends the wait of the loop. Nobody else will, so a failure is logged, and tried again until it succeeds or the
// loop has ended: first after the delay, then less and less often.
func (l *Loop) wake(delay time.Duration) {
	err := l.poller.Wake()
	if err == nil || errors.Is(err, loopapi.ErrPollerClosed) {
		return
	}
	time.AfterFunc(delay, func() { l.wake(min(2*delay, time.Second)) })
	defer func() { _ = recover() }() // this may be a producer's goroutine, which is not to suffer from the logger
	l.log().Error("the event loop could not be woken, which will be tried again", "error", wrap(err, "wake the poller"))
}

// fail ends, gracefully, a loop that the system does not let wait any more. A logger may fail as well, so it comes last.
func (l *Loop) fail(err error) {
	l.terminate(err)
	l.call(func() { l.log().Error("the event loop shuts down", "error", err) })
}
