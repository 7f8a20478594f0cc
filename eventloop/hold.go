package eventloop

// Holds: named reasons that keep an auto-exit loop alive.

import (
	"fmt"

	"github.com/turnloop/turnloop/internal/place"
	"github.com/turnloop/turnloop/internal/sched/atomic"
)

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
	l.held.add(h)
	u.Unlock()
	u.YieldIfWanted()
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
	l.held.remove(h)
	u.Unlock()
	u.YieldIfWanted()
	if l.autoExit {
		l.park.Wake() // to decide anew whether to end
	}
}

func (l *Loop) activeHolds() (as []Activity) {
	type told struct {
		name  string
		since int64
		place *place.Place
	}
	oldest := make([]told, 0, mostListed)
	u := &l.urgent
	l.lock(&u.Lock)
	n := u.holds
	for h := l.held.first; h != nil && len(oldest) < mostListed; h = h.next {
		oldest = append(oldest, told{h.name, h.since, h.place})
	}
	u.Unlock()
	u.YieldIfWanted()
	for _, h := range oldest {
		as = append(as, Activity{Kind: "hold", Name: h.name, Detail: h.place.From(), Since: l.at(max(h.since, 1))})
	}
	if n > len(oldest) {
		as = append(as, Activity{Kind: "hold", Detail: fmt.Sprint(n-len(oldest), " more not released")})
	}
	return as
}
