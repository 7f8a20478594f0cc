package promise

// The registry: how the end of the loop finds the pending promises, without keeping them alive.
//
// What is in it, and why that is enough. A pending promise matters if a handler or a waiter would see it settle. There are
// two kinds. A root is settled by its resolve and reject, or by the promise of another loop that it follows. Any other
// promise waits for promises of its realm, and is settled through them. So the registry holds roots. It holds a root from
// the moment at which a first reaction is attached to it; code that asks for the state of a root without reactions looks at
// Realm.end instead. Deriving a promise costs the registry nothing. Rejecting the roots reaches every promise that waits for
// one, in the order and through the handlers that any rejection would take. A promise holds the one that it waits for
// (reaction.source), so a root cannot be collected while a promise that waits for it is held. Promises that other goroutines
// wait for are in waiters, which holds them strongly. Besides roots, the registry holds promises that follow another one and
// may thereby wait for themselves: no root settles these.
//
// The end. RejectAll sets Realm.end, and then rejects the roots that are registered or waited for. From then on every root
// counts as rejected: conclude leaves it alone, attach rejects it, and a goroutine that wants to wait is answered at once.
// waiters.add reads Realm.end under the lock under which RejectAll collects the roots that are waited for: RejectAll finds a
// listener that was added before, and add sees the end after that. Whether a promise is a root is in its state; only the
// loop changes that, and after the end only by rejecting the promise. So a goroutine that sees the end also sees whether the
// promise is a root.
//
// Refused decisions. When the loop refuses a decision, the promise stays claimed, and remains a root like any other. So the
// refusal, the end, and a goroutine that begins to wait may come in any order, and nothing has to be undone. But the maker
// of the promise may then drop the last reference to it. So the registry goes on holding a claimed newcomer strongly, and
// waiters holds a promise that was listed when it was claimed.
//
// Derived promises are rejected through jobs; if the loop refuses a job, the promise that it would have settled is rejected
// (enqueue). So all that stays pending waits for promises of Begin.

import (
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"weak"

	"github.com/turnloop/turnloop/internal/loopapi"
	"github.com/turnloop/turnloop/internal/slim"
)

// registry is a table of weak pointers. A promise knows its place in it (slot): so a promise that settles leaves at once,
// and only entries of collected promises wait for the scavenger. A weak pointer costs more than the promise, and most
// promises settle in the tick that makes them; so newcomers are held strongly until the next Scavenge. The loop alone
// touches it, except pending.
//
// weak.Pointer.Value may take long: in the last part of a garbage collection, which a long list of handlers prolongs, the
// runtime blocks the caller of Value until the collection has ended. So until the end of the loop only the scavenger calls
// it, and only when a collection has just ended and the next is far away. Before that there is nothing to find anyway.
type registry struct {
	young     []*Promise // promises held strongly, as they are new; one whose slot is not youngSlot has left
	decided   []*Promise // promises held strongly, as their decision is claimed; each has the index in its slot
	entries   []weak.Pointer[Promise]
	vacant    int    // entries that are zero: their promises have settled or were collected
	cursor    int    // index at which the scavenger goes on; it goes around
	left      int    // entries that the scavenger has yet to look at
	seen      uint32 // collections that had ended when left was set last
	published int    // the last figure stored in pending

	pending atomic.Int64 // how many promises it had after the last Scavenge; any goroutine reads it
}

const (
	scavengeStep = 20 // entries that every Scavenge looks at
	scavengeRate = 2  // entries that it looks at besides, for each newcomer; with 1, entries of collected promises could pile up

	promoteMost = 8192 // newcomers that become weak in one Scavenge
	fillMost    = 1024 // entries at the end at which one Scavenge looks, to fill vacant places: most of a burst may be garbage

	youngSlot   = math.MaxUint32
	decidedSlot = 1 << 31 // this bit and the index in decided
)

func (g *registry) add(p *Promise) {
	p.slot = youngSlot
	g.young = append(g.young, p)
}

// addFollower adds p, which follows another promise and so is not claimed any more. If p was in decided, it leaves that.
func (g *registry) addFollower(p *Promise) {
	if p.slot != youngSlot && p.slot&decidedSlot != 0 {
		g.remove(p)
	}
	if p.slot == 0 {
		g.add(p)
	}
}

// promote moves the newcomers that are still pending from young to the table, and returns their number. A promise whose
// decision is claimed goes to decided instead, which holds it strongly. Most of these settle soon. But if the loop has refused
// the decision, perhaps nothing else holds the promise, and the end of the loop has to find it. A promise goes through young
// once, so that promises whose decisions wait behind others cost no tick anything. When it has moved most promises to the
// table, it leaves the rest for the next call.
func (g *registry) promote(most int) int {
	before := len(g.entries)
	for i, p := range g.young {
		if len(g.entries)-before == most {
			clear(g.young[:i])
			g.young = g.young[i:]
			return most
		}
		switch {
		case p.slot != youngSlot: // it has settled
		case p.state.Load()&claimed != 0:
			p.slot = decidedSlot | uint32(len(g.decided))
			g.decided = append(g.decided, p)
		default:
			g.entries = append(g.entries, weak.Make(p))
			p.slot = uint32(len(g.entries))
		}
	}
	clear(g.young)
	if g.young = g.young[:0]; cap(g.young) > slim.Keep {
		g.young = nil
	}
	return len(g.entries) - before
}

// remove takes p out of the registry.
func (g *registry) remove(p *Promise) {
	switch {
	case p.slot == youngSlot:
	case p.slot&decidedSlot != 0:
		last := len(g.decided) - 1
		q := g.decided[last]
		g.decided[p.slot&^decidedSlot], q.slot = q, p.slot
		g.decided[last] = nil
		g.decided = slim.Slice(g.decided[:last])
	default:
		g.entries[p.slot-1] = weak.Pointer[Promise]{}
		g.vacant++
		g.trim()
	}
	p.slot = 0
}

// trim cuts off the vacant entries at the end of the table.
func (g *registry) trim() {
	n := len(g.entries)
	for ; n > 0 && g.entries[n-1] == (weak.Pointer[Promise]{}); n-- {
		g.vacant--
	}
	g.entries = slim.Slice(g.entries[:n])
}

// scavenge looks at the next n entries, as long as there are some that it has not looked at since the last collection. It
// drops entries of collected promises, and fills vacant places with the last entries.
func (g *registry) scavenge(n int) {
	if n := ended(); n != g.seen {
		g.seen, g.left = n, len(g.entries)
	}
	most := fillMost
	for n = min(n, g.left, len(g.entries)); n > 0 && len(g.entries) > 0; n-- {
		g.left--
		if g.cursor >= len(g.entries) {
			g.cursor = 0
		}
		switch e := &g.entries[g.cursor]; {
		case *e == (weak.Pointer[Promise]{}):
			most = g.fill(most)
		case e.Value() == nil:
			*e = weak.Pointer[Promise]{}
			g.vacant++
			most = g.fill(most) // the entry that is moved here is looked at the next time round
		}
		if most == 0 {
			return // the next call goes on with this place, which may still be vacant
		}
		g.cursor++
	}
}

// fill moves the last entry whose promise is alive to the place of the cursor, which is vacant. It looks at so many entries at
// most, and returns how many of these looks are left.
func (g *registry) fill(most int) int {
	for g.trim(); g.cursor < len(g.entries) && most > 0; g.trim() {
		most--
		last := &g.entries[len(g.entries)-1]
		moved := *last
		*last = weak.Pointer[Promise]{}
		g.vacant++
		if q := moved.Value(); q != nil {
			g.entries[g.cursor] = moved
			g.vacant--
			q.slot = uint32(g.cursor + 1)
			g.trim()
			return most
		}
	}
	return most
}

// collections counts the garbage collections that have ended. It begins to count with the first call of the function ended.
var collections struct {
	n     atomic.Uint32
	begin sync.Once
}

func ended() uint32 {
	collections.begin.Do(func() { found(new(sentinel)) })
	return collections.n.Load()
}

// sentinel is an object to which only its finalizer refers. So each collection finds it to be garbage, and the finalizer runs.
// The finalizer sets itself again for the next collection.
type sentinel struct{ _ *sentinel }

func found(s *sentinel) {
	collections.n.Add(1)
	runtime.SetFinalizer(s, found)
}

// take empties the registry, and returns the promises that were in it. Those that waited for promises of other loops stop
// waiting.
func (g *registry) take() (ps []*Promise) {
	g.promote(math.MaxInt)
	add := func(p *Promise) {
		p.slot = 0
		if f, ok := p.value.(*foreign); ok {
			f.leave()
		}
		ps = append(ps, p)
	}
	for _, e := range g.entries {
		if p := e.Value(); p != nil {
			add(p)
		}
	}
	for _, p := range g.decided {
		add(p)
	}
	g.decided, g.entries, g.vacant, g.cursor, g.left, g.published = nil, nil, 0, 0, 0, 0
	g.pending.Store(0)
	return ps
}

// register makes a root known to RejectAll. Once RejectAll has been called, register rejects the root instead. On the loop.
func (r *Realm) register(p *Promise) {
	switch end := r.end.Load(); {
	case end != nil:
		p.rejectAtEnd(*end)
	case p.slot == 0:
		p.set(listed, 0)
		r.registry.add(p)
	}
}

// Scavenge keeps the registry of pending promises small. From now on it holds newcomers only weakly; of thousands, some stay
// for the next call. It drops entries of promises that were collected: each call looks at about twenty entries, and at two
// more for each newcomer, and after a garbage collection each entry is looked at once. The loop calls it once a tick, and
// sleeps only after a call that has left no newcomers.
func (o *Owner) Scavenge() {
	g := &o.registry
	if len(g.young)+len(g.entries) != 0 {
		g.scavenge(scavengeStep + scavengeRate*g.promote(promoteMost))
	}
	if n := len(g.young) + len(g.decided) + len(g.entries) - g.vacant; n != g.published {
		g.published = n
		g.pending.Store(int64(n))
	}
}

// Behind tells whether the last Scavenge has left newcomers, or some came since. On the loop.
func (o *Owner) Behind() bool { return len(o.registry.young) != 0 }

// Pending returns how many promises the registry had at the last Scavenge. Any goroutine may call it.
func (o *Owner) Pending() int { return int(o.registry.pending.Load()) }

// RejectAll rejects pending promises with err; promises that are made later count as rejected. It tells whether it has
// rejected any: then reactions may have become microtasks, which the loop has to run. A loop that shuts down calls RejectAll
// whenever it has run everything that was accepted, until RejectAll returns false. These rejections are not reported as
// unhandled.
//
// RejectAll does not reject a promise that waits for another one: it gets the other one's rejection, which a Catch in between
// may turn into a value. When RejectAll has returned false, and nothing is queued, every promise that is still pending waits
// for one that Begin has returned.
func (o *Owner) RejectAll(err error) (more bool) {
	first := o.end.CompareAndSwap(nil, &err)
	end := *o.end.Load()
	var followers []*Promise
	reject := func(p *Promise) {
		if !p.settled() { // an earlier rejection, and a job that the loop refused, may have settled p
			p.rejectAtEnd(end)
			more = true
		}
	}
	for _, p := range o.registry.take() {
		if p.source != nil {
			followers = append(followers, p)
		} else {
			reject(p)
		}
	}
	if first {
		for _, p := range o.waiters.all(&o.Realm) {
			if p.isRoot() {
				reject(p)
			}
		}
	}
	if more { // the reactions to these rejections may settle the followers
		for _, p := range followers {
			o.registry.add(p)
		}
		return true
	}
	for _, p := range findCycles(followers) {
		reject(p)
	}
	return more
}

// findCycles follows ps to the promises that they wait for, and returns one promise of each cycle. It chooses one that follows
// another, so that rejecting it reaches all handlers of the cycle.
func findCycles(ps []*Promise) (found []*Promise) {
	above := map[*Promise]bool{}    // promises that were seen: true while the search is below them
	from := map[*Promise]*Promise{} // the promise from which the search came to this one
	for len(ps) > 0 {
		p := ps[len(ps)-1]
		if _, seen := above[p]; seen {
			above[p] = false
			ps = ps[:len(ps)-1]
			continue
		}
		above[p] = true
		for q := range p.sources {
			switch isAbove, seen := above[q]; {
			case !seen:
				from[q] = p
				ps = append(ps, q)
			case isAbove:
				c := p
				for c != q && !c.follows() {
					c = from[c]
				}
				found = append(found, c)
			}
		}
	}
	return found
}

// follows tells whether p is pending and will take over the outcome of its source as it is.
func (p *Promise) follows() bool {
	return p.source != nil && p.onRejected == nil && (p.value == nil || p.value == any(follow{}))
}

// sources yields the promises of the realm that p waits for.
func (p *Promise) sources(yield func(*Promise) bool) {
	if p.source != nil && !yield(p.source) {
		return
	}
	if g, ok := p.value.(*group); ok {
		for i := range g.elements {
			if q := g.elements[i].source; q != nil && !yield(q) {
				return
			}
		}
	}
}

// End answers every waiter, and drops the jobs: nothing runs on the loop any more. If there are thousands of waiters, most
// are notified on another goroutine, and all of them are if others are about to become waiters. What is still pending counts as rejected, with the error of RejectAll or else with
// ErrLoopTerminated. The loop's owner calls it last; it runs no handler.
func (o *Owner) End() {
	err := loopapi.ErrLoopTerminated
	o.end.CompareAndSwap(nil, &err)
	o.registry.take()
	o.jobs, o.unhandled, o.reports = jobs{}, nil, nil
	o.waiters.end()
}
