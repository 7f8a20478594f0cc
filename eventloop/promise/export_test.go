package promise

// Access to the package's inside, for white-box tests only.

import (
	"maps"
	"weak"

	"github.com/turnloop/turnloop/internal/slim"
)

// Registered returns the length and the capacity of the registry, newcomers included.
func (r *Owner) Registered() (length, capacity int) {
	g := &r.registry
	length = len(g.entries) - g.vacant + len(g.decided)
	for _, p := range g.young {
		if p.slot == youngSlot {
			length++
		}
	}
	return length, cap(g.entries) + cap(g.decided) + cap(g.young)
}

// Strong returns how many promises the registry holds strongly, and how many of these the next Scavenge looks at.
func (r *Owner) Strong() (all, looked int) {
	return len(r.registry.decided) + len(r.registry.young), len(r.registry.young)
}

// Intact tells whether every live promise of the registry knows its place.
func (r *Owner) Intact() bool {
	vacant := 0
	for i, e := range r.registry.entries {
		if p := e.Value(); p != nil && p.slot != uint32(i+1) {
			return false
		}
		if e == (weak.Pointer[Promise]{}) {
			vacant++
		}
	}
	for i, p := range r.registry.decided {
		if p.slot != decidedSlot|uint32(i) {
			return false
		}
	}
	return vacant == r.registry.vacant
}

// Unseen returns how many entries of the registry the scavenger has yet to look at.
func (r *Owner) Unseen() int { return r.registry.left }

// Listeners returns how many listeners there are, of how many promises, and the room of their map or of their longest
// list, whichever is more.
func (r *Owner) Listeners() (listeners, promises, room int) {
	ws := &r.waiters
	ws.mu.Lock()
	defer ws.mu.Unlock()
	room = ws.lists.Room()
	for list := range maps.Values(ws.lists.Of) {
		listeners += len(list)
		room = max(room, cap(list))
	}
	return listeners, len(ws.lists.Of), room
}

// Held returns how many promises the loop has refused to settle and are held for that.
func (r *Owner) Held() int {
	r.waiters.mu.Lock()
	defer r.waiters.mu.Unlock()
	return len(r.waiters.held)
}

// WithWaitersLock calls fn while it holds the lock of the waiters.
func (r *Owner) WithWaitersLock(fn func()) {
	r.waiters.mu.Lock()
	defer r.waiters.mu.Unlock()
	fn()
}

// Reactions returns how many reactions wait for p.
func (p *Promise) Reactions() (n int) {
	if p.last == nil {
		return 0
	}
	for e := p.last.next; ; e = e.next {
		if n++; e == p.last {
			return n
		}
	}
}

// OnHear adds n listeners to p, each of which calls fn. They handle its rejection.
func (p *Promise) OnHear(n int, fn func()) {
	for range n {
		p.realm.waiters.add(p, hearer(fn))
	}
}

type hearer func()

func (h hearer) notify(p *Promise) {
	_, _ = p.outcome()
	h()
}

const (
	NotifyAtOnce = notifyAtOnce
	RegistryKeep = slim.Keep
	ScavengeStep = scavengeStep
	FillMost     = fillMost
	PromoteMost  = promoteMost
)
