package place

// The ledger: when and where things were created, beside the things.

import (
	"sync"

	"github.com/turnloop/turnloop/internal/slim"
)

// Ledger keeps when and where things were created whose own structures have no room for that. The methods of a nil Ledger do
// nothing. It may be called under any lock.
type Ledger struct {
	mu    sync.Mutex // guards the maps
	notes [shelves]slim.Map[any, Entry]
}

// Shelf is a kind of entries. Each kind has a map of its own, so that listing one kind takes no longer when there are many
// entries of another.
type Shelf int

// The shelves.
const (
	Timers Shelf = iota
	Registrations
	Workers
	Threadlets
	shelves
)

// Entry is what a Ledger knows of a key.
type Entry struct {
	Since int64  // when it was created; 0 if that is not known
	From  *Place // where
	Doing string // what a threadlet is doing
}

// Put notes when and where something was created.
func (g *Ledger) Put(at Shelf, key any, since int64, from *Place) {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.notes[at].Put(key, Entry{Since: max(since, 1), From: from})
}

// Tell notes what something is doing now. since counts only in the first call for a key, and from only if it is not nil.
func (g *Ledger) Tell(at Shelf, key any, since int64, from *Place, doing string) {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	e := g.notes[at].Of[key]
	if e.Doing = doing; e.Since == 0 {
		e.Since = max(since, 1)
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

// Each calls f for all entries of a shelf, or for none if there are more than most. f must not call the Ledger.
func (g *Ledger) Each(at Shelf, most int, f func(key any, e Entry)) {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.notes[at].Of) > most {
		return
	}
	for key, e := range g.notes[at].Of {
		f(key, e)
	}
}

// Len returns how many entries there are.
func (g *Ledger) Len() (n int) {
	if g == nil {
		return 0
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for i := range g.notes {
		n += len(g.notes[i].Of)
	}
	return n
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
