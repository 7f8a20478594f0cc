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
// other goroutines is in waiters, and held strongly. Beside the roots there are those that follow another promise and
// may thereby wait for themselves, for all that is known: no root settles these.
//
// When the loop ends, RejectAll sets end and then rejects the roots that are registered or waited for. From then on every
// root counts as rejected: conclude lets it be, attach rejects it, and who wants to wait is answered at once. add looks
// for the end under the lock under which RejectAll asks who waits, so who comes before is found, and who comes after
// knows. Whether a promise is a root is in its state, and only the loop changes that, after the end by rejecting it alone;
// so who sees the end sees that too. A decision that the loop refuses leaves the promise claimed, which is a root like any
// other: however refusal, end and waiting follow each other, nothing has to be taken back. What is derived hears through
// jobs, and what a job would have settled that the loop refuses is rejected instead (enqueue). So nobody is left waiting
// but for promises of Begin.

import (
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"weak"

	"github.com/turnloop/turnloop/internal/loopapi"
)

// registry is a table of weak pointers. A promise's ID in it is its place, from 1, which the promise knows; so that a
// promise that settles leaves at once, and only those that were collected wait for the scavenger. A weak pointer costs
// more than the promise, and most promises settle in the tick that makes them; so newcomers are held as they are until
// the next Scavenge. It is the loop's alone.
//
// To ask a weak pointer for its promise may take long: when a collection is about to come to its end, which with a long
// list of handlers may be its longer half, the runtime has who asks wait until it has. So nobody asks but the scavenger,
// and it only when a collection has ended: then the next is far away, and without one there is nothing to find.
type registry struct {
	young   []*Promise // newcomers; those whose slot is youngSlot are still pending
	entries []weak.Pointer[Promise]
	vacant  int    // entries that are zero: their promises have settled
	cursor  int    // where the scavenger goes on; it goes around
	left    int    // entries that it has yet to look at
	seen    uint32 // collections that had ended when it last began to
	known   int    // what pending says

	pending atomic.Int64 // entries that were not vacant after the last Scavenge; for other goroutines
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
		g.entries[p.slot-1] = weak.Pointer[Promise]{}
		g.vacant++
		g.trim()
	}
	p.slot = 0
}

// trim shortens the table by what is vacant at its end.
func (g *registry) trim() {
	n := len(g.entries)
	for ; n > 0 && g.entries[n-1] == (weak.Pointer[Promise]{}); n-- {
		g.vacant--
	}
	g.entries = shrunk(g.entries[:n])
}

// shrunk returns a table, or a shorter copy when it has more room than it will soon need.
func shrunk[E any](table []E) []E {
	if n := len(table); cap(table) > registryKeep && n < cap(table)/4 {
		return append(make([]E, 0, max(2*n, registryKeep)), table...)
	}
	return table
}

// scavenge looks at the next n entries that no look has been taken at since the last collection. It drops those that were
// collected, and fills what is vacant with the last entries.
func (g *registry) scavenge(n int) {
	if n := ended(); n != g.seen {
		g.seen, g.left = n, len(g.entries)
	}
	for n = min(n, g.left, len(g.entries)); n > 0 && len(g.entries) > 0; n-- {
		g.left--
		if g.cursor >= len(g.entries) {
			g.cursor = 0
		}
		switch e := &g.entries[g.cursor]; {
		case *e == (weak.Pointer[Promise]{}):
			g.fill()
		case e.Value() == nil:
			*e = weak.Pointer[Promise]{}
			g.vacant++
			g.fill() // the place has another entry now, which is looked at the next time round
		}
		g.cursor++
	}
}

// fill moves the last entry that is alive to the place of the cursor, which is vacant.
func (g *registry) fill() {
	for g.trim(); g.cursor < len(g.entries); g.trim() {
		last := &g.entries[len(g.entries)-1]
		moved := *last
		*last = weak.Pointer[Promise]{}
		g.vacant++
		if q := moved.Value(); q != nil {
			g.entries[g.cursor] = moved
			g.vacant--
			q.slot = uint32(g.cursor + 1)
			g.trim()
			return
		}
	}
}

// collections counts the garbage collections that have ended since somebody first asked.
var collections struct {
	n     atomic.Uint32
	begin sync.Once
}

func ended() uint32 {
	collections.begin.Do(func() { found(new(sentinel)) })
	return collections.n.Load()
}

// sentinel is something that each collection finds to be garbage, since nobody has it but its finalizer.
type sentinel struct{ _ *sentinel }

func found(s *sentinel) {
	collections.n.Add(1)
	runtime.SetFinalizer(s, found)
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
	g.young, g.entries, g.vacant, g.cursor, g.left, g.known = nil, nil, 0, 0, 0, 0
	g.pending.Store(0)
	return ps
}

// register makes a root known to RejectAll. Once that has been called it rejects the promise instead.
func (r *Realm) register(p *Promise) {
	switch end := r.end.Load(); {
	case end != nil:
		p.over(*end)
	case p.slot == 0:
		r.registry.add(p)
	}
}

// Scavenge lets go of the promises that have become pending since the last call, and looks at about twenty entries of
// the registry of pending promises, and two more for each that it has got meanwhile, to drop those of promises that the
// garbage collector has taken; each once after a collection. The loop calls it once a tick, on the loop, and always before it
// sleeps.
func (r *Realm) Scavenge() {
	g := &r.registry
	if len(g.young)+len(g.entries) != 0 {
		g.scavenge(scavengeStep + scavengeRate*g.promote())
	}
	if n := len(g.entries) - g.vacant; n != g.known {
		g.known = n
		g.pending.Store(int64(n))
	}
}

// Pending returns how many promises the registry had when Scavenge was called last. Any goroutine may call it.
func (r *Realm) Pending() int { return int(r.registry.pending.Load()) }

// RejectAll rejects everything pending with err, and what is created from then on. It tells whether there was
// anything: then reactions may have become microtasks, and the loop runs them. A loop that shuts down calls it, on
// the loop, whenever it has run everything that was accepted, until it returns false. These rejections are not
// reported as unhandled.
//
// A promise that waits for another one hears through that: a Catch on the way may turn the rejection into a value. When
// it has returned false, and nothing is queued, all that is pending waits for promises of Begin.
func (r *Realm) RejectAll(err error) (more bool) {
	first := r.end.CompareAndSwap(nil, &err)
	end := *r.end.Load()
	var followers []*Promise
	reject := func(p *Promise) {
		if !p.settled() { // with another, by a job that the loop refused
			p.over(end)
			more = true
		}
	}
	for _, p := range r.registry.take() {
		if p.source != nil {
			followers = append(followers, p)
		} else {
			reject(p)
		}
	}
	if first {
		for _, p := range r.waiters.all() {
			if p.isRoot() {
				reject(p)
			}
		}
	}
	if more { // what it brings may settle the others
		for _, p := range followers {
			r.registry.add(p)
		}
		return true
	}
	for _, p := range circles(followers) {
		reject(p)
	}
	return more
}

// circles searches what ps wait for, and returns one promise of each circle: one that follows another, so that its
// rejection is told to all handlers of the circle.
func circles(ps []*Promise) (found []*Promise) {
	above := map[*Promise]bool{}    // what was seen, and whether the search is still below it
	from := map[*Promise]*Promise{} // from where the search came to it
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

// follows tells whether p is pending and will have the outcome of its source.
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
