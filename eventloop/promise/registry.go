package promise

// The registry: how the end of the loop finds the promises that are pending, without keeping them alive.
//
// What is in it, and why that is enough: a pending promise matters if a handler or a waiter would see it settle. It
// is either a root, which only its resolve and reject can settle (or another loop, whose promise it follows), or waits
// for others of its realm, and is settled through them.
// So the registry holds roots, from the moment a first reaction is attached to them (a root without one shows its end
// when it is asked); deriving a promise costs it nothing. Rejecting the roots reaches every promise that waits for
// one, in the order and through the handlers that any rejection would take. And since a promise holds what it waits
// for (reaction.source), a root cannot be collected while somebody holds a promise that waits for it. What waits on
// other goroutines is in waiters, and held strongly.

import (
	"math"
	"weak"

	"github.com/turnloop/turnloop/internal/loopapi"
)

// registry is a dense table of weak pointers. A promise's ID in it is its place, from 1, which the promise knows; so
// that a promise that settles leaves at once, and only those that were collected wait for the scavenger. A weak
// pointer costs more than the promise, and most promises settle in the tick that makes them; so newcomers are held as
// they are until the next Scavenge. It is the loop's alone.
type registry struct {
	young   []*Promise // newcomers; those whose slot is youngSlot are still pending roots
	entries []weak.Pointer[Promise]
	cursor  int // where the scavenger goes on; it goes around
}

const (
	scavengeStep = 20 // entries that every Scavenge looks at
	scavengeRate = 2  // and how many more for each newcomer; with one, those that were collected could pile up
	registryKeep = 64 // a table no longer than this is never replaced by a smaller one

	youngSlot = math.MaxUint32
)

func (g *registry) add(p *Promise) {
	p.slot = youngSlot
	g.young = append(g.young, p)
}

// promote gives the newcomers that are still pending their places in the table, and tells how many these are.
func (g *registry) promote() int {
	before := len(g.entries)
	for _, p := range g.young {
		if p.slot == youngSlot {
			g.entries = append(g.entries, weak.Make(p))
			p.slot = uint32(len(g.entries))
		}
	}
	if cap(g.young) > registryKeep {
		g.young = nil
	} else {
		clear(g.young)
		g.young = g.young[:0]
	}
	return len(g.entries) - before
}

// remove takes p out.
func (g *registry) remove(p *Promise) {
	if p.slot != youngSlot {
		g.vacate(int(p.slot) - 1)
	}
	p.slot = 0
}

// vacate fills place i with the last entry that is alive.
func (g *registry) vacate(i int) {
	for last := len(g.entries) - 1; ; last-- {
		moved := g.entries[last]
		g.entries[last] = weak.Pointer[Promise]{}
		g.entries = g.entries[:last]
		if last == i {
			break
		}
		if q := moved.Value(); q != nil {
			g.entries[i] = moved
			q.slot = uint32(i + 1)
			break
		}
	}
	g.entries = shrunk(g.entries)
}

// shrunk returns a table, or a shorter copy when it has more room than it will soon need.
func shrunk[E any](table []E) []E {
	if n := len(table); cap(table) > registryKeep && n < cap(table)/4 {
		return append(make([]E, 0, max(2*n, registryKeep)), table...)
	}
	return table
}

// scavenge drops what was collected among the next n entries.
func (g *registry) scavenge(n int) {
	for range min(n, len(g.entries)) {
		if g.cursor >= len(g.entries) {
			if g.cursor = 0; len(g.entries) == 0 {
				return
			}
		}
		if g.entries[g.cursor].Value() == nil {
			g.vacate(g.cursor) // the place has another entry now, which is looked at the next time round
		}
		g.cursor++
	}
}

// take empties the registry, and returns what was in it. These promises wait at no other loop any more.
func (g *registry) take() (ps []*Promise) {
	g.promote()
	for _, e := range g.entries {
		if p := e.Value(); p != nil {
			p.slot = 0
			if f, ok := p.value.(*foreign); ok {
				f.leave()
			}
			ps = append(ps, p)
		}
	}
	*g = registry{}
	return ps
}

// register makes a pending promise known to RejectAll. Once that has been called it rejects the promise instead.
func (r *Realm) register(p *Promise) {
	switch end := r.end.Load(); {
	case end != nil:
		p.settle(rejected, *end)
	case p.slot == 0:
		r.registry.add(p)
	}
}

// isRoot tells whether p is pending, and only resolve and reject can settle it.
func (p *Promise) isRoot() bool { return p.source == nil && p.value == nil && !p.settled() }

// Scavenge lets go of the promises that have become pending since the last call, and looks at about twenty entries of
// the registry of pending promises, and two more for each that it has got meanwhile, to drop those of promises that the
// garbage collector has taken. The loop calls it once a tick, on the loop, and always before it sleeps.
func (r *Realm) Scavenge() {
	if g := &r.registry; len(g.young)+len(g.entries) != 0 {
		g.scavenge(scavengeStep + scavengeRate*g.promote())
	}
}

// RejectAll rejects everything pending with err, and what is created from then on. It tells whether there was
// anything: then reactions may have become microtasks, and the loop runs them. A loop that shuts down calls it, on
// the loop, whenever it has run everything that was accepted, until it returns false. These rejections are not
// reported as unhandled.
//
// A promise that waits for another one hears through that: a Catch on the way may turn the rejection into a value.
func (r *Realm) RejectAll(err error) (more bool) {
	r.end.CompareAndSwap(nil, &err)
	end := *r.end.Load()
	for _, p := range r.registry.take() {
		more = true
		p.settle(rejected, end)
	}
	for _, p := range r.waiters.promises() {
		if p.isRoot() {
			more = true
			p.settle(rejected, end)
		}
	}
	return more
}

// End answers every waiter and drops the jobs: nothing runs on the loop any more. What is still pending counts as
// rejected, with the error of RejectAll or else with ErrLoopTerminated. The loop's owner calls it last; it runs no
// handler.
func (r *Realm) End() {
	err := loopapi.ErrLoopTerminated
	r.end.CompareAndSwap(nil, &err)
	r.registry.take()
	r.jobs, r.unhandled, r.reports = jobs{}, nil, nil
	r.waiters.end()
}
