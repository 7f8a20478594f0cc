package promise

// What white-box tests need of the package, and nothing else does.

import (
	"maps"
	"weak"
)

// Registered returns the length and the capacity of the registry, newcomers included.
func (r *Realm) Registered() (length, capacity int) {
	g := &r.registry
	length = len(g.entries) - g.vacant
	for _, p := range g.young {
		if p.slot == youngSlot {
			length++
		}
	}
	return length, cap(g.entries) + cap(g.young)
}

// Intact tells whether every live promise of the registry knows its place.
func (r *Realm) Intact() bool {
	vacant := 0
	for i, e := range r.registry.entries {
		if p := e.Value(); p != nil && p.slot != uint32(i+1) {
			return false
		}
		if e == (weak.Pointer[Promise]{}) {
			vacant++
		}
	}
	return vacant == r.registry.vacant
}

// Unseen is how many entries of the registry the scavenger has yet to look at.
func (r *Realm) Unseen() int { return r.registry.left }

// Listeners returns how many listeners there are, of how many promises, and what their map has room for, or the longest
// of their lists.
func (r *Realm) Listeners() (listeners, promises, room int) {
	ws := &r.waiters
	ws.mu.Lock()
	defer ws.mu.Unlock()
	room = ws.peak
	for list := range maps.Values(ws.of) {
		listeners += len(list)
		room = max(room, cap(list))
	}
	return listeners, len(ws.of), room
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

const (
	RegistryKeep = registryKeep
	ScavengeStep = scavengeStep
)
