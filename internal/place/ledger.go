package place

// The ledger: when and where things were created, beside the things.

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	"github.com/turnloop/turnloop/internal/slim"
)

// Ledger keeps when and where things were created whose own structures have no room for that. The methods of a nil Ledger do
// nothing. It may be called under any lock.
type Ledger struct {
	mu    sync.Mutex // guards the others
	notes [shelves]slim.Map[any, Entry]
	put   uint64 // how many entries there have been
}

// Shelf is a kind of entries. Each kind has a map of its own, so that listing one kind takes no longer when there are many
// entries of another.
type Shelf int

// The shelves.
const (
	Timers Shelf = iota
	Workers
	Threadlets
	shelves
)

// Entry is what a Ledger knows of a key.
type Entry struct {
	Since int64  // when it was created; 0 if that is not known
	From  *Place // where
	Doing string // what a threadlet is doing
	turn  uint64 // which entry it is of all that there have been
}

// Put notes when and where something was created.
func (g *Ledger) Put(at Shelf, key any, since int64, from *Place) { g.Tell(at, key, since, from, "") }

// Tell notes what something is doing now. since counts only in the first call for a key, and from only if it is not nil.
func (g *Ledger) Tell(at Shelf, key any, since int64, from *Place, doing string) {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	e := g.notes[at].Of[key]
	if e.Doing = doing; e.Since == 0 {
		g.put++
		e.Since, e.turn = max(since, 1), g.put
	}
	if from != nil {
		e.From = from
	}
	g.notes[at].Put(key, e)
}

// Get returns the entry of a key, or the zero one.
func (g *Ledger) Get(at Shelf, key any) Entry {
	if g == nil {
		return Entry{}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.notes[at].Of[key]
}

// Drop forgets a key.
func (g *Ledger) Drop(at Shelf, key any) {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.notes[at].Delete(key)
}

// Each calls f for all entries of a shelf, the oldest first, or for none if there are more than most. f must not call the Ledger.
func (g *Ledger) Each(at Shelf, most int, f func(key any, e Entry)) {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	of := g.notes[at].Of
	if len(of) > most {
		return
	}
	for _, key := range slices.SortedFunc(maps.Keys(of), func(a, b any) int { return cmp.Compare(of[a].turn, of[b].turn) }) {
		f(key, of[key])
	}
}

// End forgets everything but the workers, which may go on when their loop has ended.
func (g *Ledger) End() {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for at := range g.notes {
		if Shelf(at) != Workers {
			g.notes[at] = slim.Map[any, Entry]{}
		}
	}
}
