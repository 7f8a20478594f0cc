package eventloop

// What keeps a loop alive, and how one that has nothing left to do ends by itself.

import (
	"runtime"
	"slices"

	"github.com/turnloop/turnloop/internal/sched"
)

// Hold keeps an auto-exit loop alive until release is called: for work that is under way elsewhere and will be
// submitted. Calling release again does nothing. Both may be called from any goroutine. On a loop without WithAutoExit
// it only counts for Alive.
func (l *Loop) Hold() (release func()) { return l.HoldNamed("") }

// Alive tells whether anything can still happen: work that is queued, a ref'd timer, a descriptor, a hold, a function
// of Promisify that has not returned. It is what WithAutoExit goes by, but may be asked of any loop. On the loop the
// answer does not count the callback that asks; from another goroutine a loop that is running something is alive.
func (l *Loop) Alive() bool {
	if l.OnLoop() {
		return l.hasWork() || l.needed(l.guest.unneeded())
	}
	l.lockLiveness() // before the look at the state: what a loop that still sleeps lives by stays where it is
	defer l.unlockLiveness()
	switch l.State() {
	case StateTerminated:
		return false
	case StateRunning, StateTerminating:
		return true
	}
	return l.neededLocked(0)
}

// needed tells whether a hold, a worker, a ref'd timer, a descriptor or work in the inbox keeps the loop alive. Of the
// descriptors so many do not.
func (l *Loop) needed(unneeded int) bool {
	if l.watches(unneeded) {
		return true
	}
	l.lockLiveness()
	defer l.unlockLiveness()
	return l.neededLocked(unneeded)
}

// watches tells whether descriptors keep the loop alive, without the lock of their table, which may be long in coming
// beside many who register. When the last of them goes, that is news, and wakes a loop that sleeps.
func (l *Loop) watches(unneeded int) bool { return int(l.fds.size.Load()) > unneeded }

// exit ends an auto-exit loop that nothing keeps alive. Deciding and ending are one step to all who could give it a
// reason to go on: what they bring is either found here or refused.
func (l *Loop) exit() bool {
	unneeded := l.guest.unneeded()
	if l.watches(unneeded) {
		return false
	}
	l.lockLiveness()
	defer l.unlockLiveness()
	return !l.neededLocked(unneeded) && l.state.exit()
}

func (l *Loop) neededLocked(unneeded int) bool {
	return l.urgent.holds != 0 || l.urgent.workers() || !l.urgent.empty() || !l.inbox.empty() || len(l.fds.table) > unneeded ||
		l.timers.wheel.Refs() != 0
}

// lockLiveness takes all locks at once, or none: who waits for one should not keep others from theirs.
func (l *Loop) lockLiveness() {
	locks := [...]*spinLock{&l.timers.mu, &l.inbox.spinLock, &l.urgent.spinLock}
	free := func() bool {
		return !slices.ContainsFunc(locks[:], func(s *spinLock) bool { return s.lock.Load() == locked })
	}
	for {
		l.fds.mu.Lock() // first: it is no spin lock
		switch {
		case !l.timers.mu.tryAcquire():
		case !l.inbox.tryAcquire():
			l.timers.mu.Unlock()
		case !l.urgent.tryAcquire():
			l.inbox.Unlock()
			l.timers.mu.Unlock()
		default:
			return
		}
		l.fds.mu.Unlock()
		sched.Until(free)
		runtime.Gosched()
	}
}

func (l *Loop) unlockLiveness() {
	l.unlockBoth()
	l.timers.mu.Unlock()
	l.fds.mu.Unlock()
	for _, s := range [...]*spinLock{&l.timers.mu, &l.inbox.spinLock, &l.urgent.spinLock} {
		s.courtesy()
	}
}
