package eventloop

// What keeps a loop alive, and how one that has nothing left to do ends by itself.

import (
	"fmt"
	"runtime"
	"slices"

	"github.com/turnloop/turnloop/internal/place"
	"github.com/turnloop/turnloop/internal/sched"
	"github.com/turnloop/turnloop/internal/sched/atomic"
)

// Hold keeps an auto-exit loop alive until release is called: for work that is under way elsewhere and will be
// submitted. Any goroutine may call release; calling it again does nothing. On a loop without WithAutoExit a hold only
// counts for Alive and Metrics, and on one that has ended for nothing.
func (l *Loop) Hold() (release func()) { return l.HoldNamed("") }

// Alive tells whether anything can still happen: work that is queued, a ref'd timer, a descriptor, a hold, a function
// of Promisify that has not returned. WithAutoExit ends a loop when Alive would return false, but any loop has the method. A
// callback of the loop that calls Alive does not count itself; for other goroutines a loop that runs a callback is alive, and
// one that is ending is for all. [Loop.Active] tells why.
func (l *Loop) Alive() bool {
	if l.OnLoop() {
		return l.state.Load().Ending() || l.hasWork() || l.needed(l.guest.unneeded(true))
	}
	l.lockLiveness() // before the state is read: while the locks are held, a sleeping loop keeps its reasons to stay alive
	defer l.unlockLiveness()
	switch l.State() {
	case StateTerminated:
		return false
	case StateRunning, StateTerminating:
		return true
	}
	return l.neededLocked(l.guest.unneeded(false))
}

// needed tells whether a hold, a worker, a ref'd timer, a descriptor or work in an inbox keeps the loop alive. unneeded is
// how many of the descriptors do not count.
func (l *Loop) needed(unneeded int) bool {
	if l.watches(unneeded) {
		return true
	}
	l.lockLiveness()
	defer l.unlockLiveness()
	return l.neededLocked(unneeded)
}

// watches tells whether descriptors keep the loop alive. It does without the lock of their table, for which the loop
// might wait long where many goroutines register. When the last registration ends, a sleeping loop is woken to ask again.
func (l *Loop) watches(unneeded int) bool { return l.fds.Len() > unneeded }

// exit ends an auto-exit loop that nothing keeps alive. Deciding and ending are one step for every goroutine that could
// give the loop a reason to go on: its work is either found here or refused.
func (l *Loop) exit() bool {
	unneeded := l.guest.unneeded(true)
	if l.watches(unneeded) {
		return false
	}
	l.lockLiveness()
	defer l.unlockLiveness()
	return !l.neededLocked(unneeded) && l.state.Exit()
}

// neededLocked does what needed does, for a caller that already holds the locks of lockLiveness.
func (l *Loop) neededLocked(unneeded int) bool {
	return l.urgent.holds != 0 || l.urgent.workers() || l.urgent.Len()+l.inbox.Len()+l.foreign.Len() != 0 || l.fds.Len() > unneeded ||
		l.timers.wheel.Refs() != 0
}

// guard is a lock of something that can keep a loop alive.
type guard interface {
	TryAcquire() bool
	Held() bool
	Unlock()
	YieldIfWanted()
}

// guards returns these locks, except that of the descriptors, in the order in which who takes several of them does.
func (l *Loop) guards() [4]guard { return [...]guard{&l.timers.mu, &l.inbox, &l.urgent, &l.foreign} }

// lockLiveness takes the locks of everything that can keep a loop alive. When it finds one of them taken, it releases those
// that it has and begins again later: if it waited while it held them, all who use them would wait, too.
func (l *Loop) lockLiveness() {
	all := l.guards()
	for {
		l.fds.Lock() // first: it is no spin lock
		taken := 0
		for taken < len(all) && all[taken].TryAcquire() {
			taken++
		}
		if taken == len(all) {
			return
		}
		unlock(all[:taken])
		l.fds.Unlock()
		sched.Until(func() bool { return !slices.ContainsFunc(all[:], guard.Held) })
		runtime.Gosched()
	}
}

func (l *Loop) unlockLiveness() {
	all := l.guards()
	unlock(all[:])
	l.fds.Unlock()
	for _, g := range all {
		g.YieldIfWanted()
	}
}

func unlock(held []guard) {
	for _, g := range slices.Backward(held) {
		g.Unlock()
	}
}

// holds lists the holds that are not released, oldest first. The urgent inbox's lock guards it.
type holds = list[hold, *hold]

// hold is one call of Hold or HoldNamed.
type hold struct {
	links[hold] // in holds
	loop        *Loop
	name        string
	since       int64        // in nanoseconds since the anchor
	place       *place.Place // in debug mode, where it was made
	released    atomic.Bool
}

// HoldNamed is [Loop.Hold] with a name, which [Loop.Active] shows until it is released.
func (l *Loop) HoldNamed(name string) (release func()) {
	h := &hold{loop: l, name: name, since: l.now(), place: l.here()}
	u := &l.urgent
	l.lock(&u.Lock)
	u.holds++
	l.urgent.held.add(h)
	u.UnlockAndYield()
	return h.release
}

func (h *hold) release() {
	if h.released.Swap(true) {
		return
	}
	l := h.loop
	u := &l.urgent
	l.lock(&u.Lock)
	u.holds--
	l.urgent.held.remove(h)
	u.UnlockAndYield()
	if l.autoExit {
		l.park.Wake() // to decide anew whether to end
	}
}

func (l *Loop) activeHolds() (as []Activity) {
	oldest := make([]*hold, 0, mostListed) // what is shown of one does not change
	u := &l.urgent
	l.lock(&u.Lock)
	n := u.holds
	for h := l.urgent.held.first; h != nil && len(oldest) < mostListed; h = h.next {
		oldest = append(oldest, h)
	}
	u.UnlockAndYield()
	for _, h := range oldest {
		as = append(as, Activity{Kind: "hold", Name: h.name, Detail: h.place.From(), Since: l.at(max(h.since, 1))})
	}
	if n > len(oldest) {
		as = append(as, Activity{Kind: "hold", Detail: fmt.Sprint(n-len(oldest), " more not released")})
	}
	return as
}
