// The reference's timers.
package looptest_test

import (
	"fmt"
	"slices"
	"time"

	"github.com/turnloop/turnloop/internal/loopapi"
)

type timer struct {
	deadline time.Time
	id       loopapi.TimerID
	fn       func()
	unref    bool
	again    bool // for a seeded bug
}

// pending are the timers of one tier, sorted by deadline and ID.
type pending []timer

// tiers are in the order of their urgency.
var tiers = [...]loopapi.TimerTier{loopapi.TimerCritical, loopapi.TimerNormal, loopapi.TimerBackground}

const (
	longestStint     = 10 * time.Millisecond // of the timers of a tier in a tick
	latestBackground = time.Second
)

func (l *reference) pending() int { return len(l.timers[0]) + len(l.timers[1]) + len(l.timers[2]) }

// kept tells whether a timer keeps the loop alive.
func (l *reference) kept() bool {
	return slices.ContainsFunc(l.timers[:], func(p pending) bool {
		return slices.ContainsFunc(p, func(t timer) bool { return !t.unref })
	})
}

// earliest is the first deadline of those that are pending.
func (l *reference) earliest() (first time.Time) {
	for _, p := range l.timers {
		if len(p) > 0 && (first.IsZero() || p[0].deadline.Before(first)) {
			first = p[0].deadline
		}
	}
	return first
}

// expired takes a due timer, if there is one that was scheduled before this tick.
func (l *reference) expired() func() {
	if l.state == loopapi.StateTerminating && !l.is("timers fire while terminating") {
		return nil
	}
	if l.is("due timers cannot be cancelled") && len(l.popped) > 0 {
		return l.pop(&l.popped)
	}
	now := l.now
	if l.is("re-armed timers in the same tick") {
		now = time.Now()
	}
	if l.is("fires early") {
		now = now.Add(300 * time.Microsecond)
	}
	for _, tier := range tiers {
		by := now
		if tier == loopapi.TimerBackground && !l.resting() && !l.is("background timers do not wait") {
			if by = now.Add(-latestBackground); l.is("background timers wait for ever") {
				continue
			}
		}
		if fn := l.due(tier, by); fn != nil {
			return fn
		}
	}
	return nil
}

// resting tells whether there is nothing to do but for background timers: the others that are due may have had their share.
func (l *reference) resting() bool {
	for _, tier := range tiers[:2] {
		p := l.timers[tier]
		if len(p) > 0 && !p[0].deadline.After(l.now) && !l.is("background timers run when the others have had their share") {
			return false
		}
	}
	return l.empty()
}

// due takes a timer of a tier whose deadline is not after now, unless that tier has had its share of the tick.
func (l *reference) due(tier loopapi.TimerTier, now time.Time) func() {
	endless := l.is("due timers have no bound") || l.is("re-armed timers in the same tick") ||
		l.is("critical timers have no bound") && tier == loopapi.TimerCritical
	if ran := l.ranTimers[tier]; ran == 0 {
		l.began[tier] = time.Now()
	} else if time.Since(l.began[tier]) >= longestStint && !endless {
		return nil
	}
	p := &l.timers[tier]
	for i, t := range *p {
		if t.deadline.After(now) {
			return nil
		}
		if uint64(t.id) > l.tickStart && !l.is("re-armed timers in the same tick") {
			continue
		}
		l.ranTimers[tier]++
		if l.is("calls timers on goroutines of their own") {
			own := t.fn
			t.fn = func() { elsewhere(own) }
		}
		if l.is("some timers fire twice") && t.id%64 == 0 && !t.again {
			(*p)[i].again = true
			return t.fn
		}
		l.take(tier, i)
		if l.is("due timers cannot be cancelled") {
			for len(*p) > i && !(*p)[i].deadline.After(now) {
				l.popped = append(l.popped, (*p)[i].fn)
				l.take(tier, i)
			}
		}
		return t.fn
	}
	return nil
}

// take takes a timer out, mostly the first.
func (l *reference) take(tier loopapi.TimerTier, i int) {
	p := &l.timers[tier]
	if i > 0 || len(*p) == 1 {
		*p = slices.Delete(*p, i, i+1)
		return
	}
	(*p)[0] = timer{}
	*p = (*p)[1:]
}

func (l *reference) ScheduleTimer(delay time.Duration, fn func()) (loopapi.TimerID, error) {
	return l.ScheduleTimerAs(loopapi.TimerNormal, delay, fn)
}

func (l *reference) ScheduleTimerAs(tier loopapi.TimerTier, delay time.Duration, fn func()) (loopapi.TimerID, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case fn == nil:
		return 0, loopapi.ErrNilCallback
	case int(tier) >= len(tiers) && !l.is("unknown tiers accepted"):
		return 0, fmt.Errorf("there is no timer tier %d", tier)
	case l.ending():
		return 0, loopapi.ErrLoopTerminated
	}
	if l.is("tiers make no difference") || l.is("unknown tiers accepted") && int(tier) >= len(tiers) {
		tier = loopapi.TimerNormal
	}
	if l.is("IDs are used again") && l.pending() == 0 {
		l.lastID = 0
	}
	if l.is("runs a timer without delay at once") && delay <= 0 && l.owner == goroutineID() {
		l.mu.Unlock()
		fn()
		l.mu.Lock()
		return l.lastID, nil
	}
	if l.is("allocates for every timer") {
		l.sink = make([]byte, 16)
	}
	if l.is("the clock wraps after two weeks") {
		delay %= 14 * 24 * time.Hour
	}
	l.lastID++
	base := time.Now()
	if l.is("timers count from the cached time") {
		base = l.now
	}
	t := timer{deadline: base.Add(max(0, delay)), id: l.lastID, fn: fn}
	if l.is("LIFO timers") || l.is("LIFO timers of other tiers") && tier != loopapi.TimerNormal {
		t.deadline = t.deadline.Add(-time.Duration(l.lastID))
	}
	if l.is("huge delays wrap") && delay > 1<<62 {
		t.deadline = base
	}
	p := &l.timers[tier]
	i, _ := slices.BinarySearchFunc(*p, t, func(a, b timer) int {
		if c := a.deadline.Compare(b.deadline); c != 0 {
			return c
		}
		return int(a.id) - int(b.id)
	})
	*p = slices.Insert(*p, i, t)
	if l.state == loopapi.StateSleeping && !l.is("earlier timers do not wake") {
		l.rouse()
	}
	return t.id, nil
}

// edit changes a pending timer, under the lock.
func (l *reference) edit(id loopapi.TimerID, change func(tier loopapi.TimerTier, i int)) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	known := tiers[:]
	if l.is("only normal timers have IDs") {
		known = []loopapi.TimerTier{loopapi.TimerNormal}
	}
	for _, tier := range known {
		if i := slices.IndexFunc(l.timers[tier], func(t timer) bool { return t.id == id }); i >= 0 {
			change(tier, i)
			if l.state == loopapi.StateSleeping && !l.is("unref does not wake") {
				l.rouse()
			}
			return nil
		}
	}
	if l.is("unknown timers cancelled") {
		return nil
	}
	return loopapi.ErrTimerNotFound
}

func (l *reference) CancelTimer(id loopapi.TimerID) error {
	return l.edit(id, func(tier loopapi.TimerTier, i int) {
		if l.is("cancelled timers keep their closure") {
			l.popped = append(l.popped, l.timers[tier][i].fn)
		}
		if !l.is("cancel is not effective") {
			l.take(tier, i)
		}
	})
}

func (l *reference) RefTimer(id loopapi.TimerID) error {
	return l.edit(id, func(tier loopapi.TimerTier, i int) { l.timers[tier][i].unref = false })
}

func (l *reference) UnrefTimer(id loopapi.TimerID) error {
	return l.edit(id, func(tier loopapi.TimerTier, i int) { l.timers[tier][i].unref = true })
}

// elsewhere is a seeded bug: it calls fn on another goroutine, and waits for it.
func elsewhere(fn func()) {
	done := make(chan struct{})
	go func() { defer close(done); fn() }()
	<-done
}
