package threadlet

// The table from the identity of a goroutine to its coroutine, by which a threadlet knows itself.

import (
	"math/bits"
	"sync"
	"sync/atomic"

	"github.com/turnloop/turnloop/internal/goroutine"
)

// coroutines has all coroutines of the process.
var coroutines table

// current returns the coroutine on whose goroutine it is called, or nil.
func current() *coroutine { return coroutines.find(goroutine.ID()) }

// table is an open-addressed hash table that is read without a lock. A goroutine looks up no identity but its own. It adds
// itself before it first does so, and removes itself before its identity can become another goroutine's. So nobody writes to
// the slot that a goroutine looks up while it does so: concurrent writes are to other slots.
type table struct {
	slots atomic.Pointer[slots]

	mu   sync.Mutex // held by writers; guards what follows
	live int        // coroutines in the table
	used int        // slots that are not empty, also those of removed coroutines
}

// slots is nil where it is empty, and removed where a coroutine was: searches go on there.
type slots struct {
	shift uint                        // 64 minus the number of bits of an index
	of    []atomic.Pointer[coroutine] // their number is a power of two
}

const smallest = 64 // slots

// removed has the identity 0, which no goroutine has.
var removed = new(coroutine)

func (tab *table) find(id uintptr) *coroutine {
	in := tab.slots.Load()
	if in == nil {
		return nil
	}
	for i := in.place(id); ; i++ {
		if c := in.of[i&(len(in.of)-1)].Load(); c == nil || c.id == id {
			return c
		}
	}
}

// place returns the index at which the search for id begins. It hashes id: identities are addresses, with equal bits at the
// end.
func (in *slots) place(id uintptr) int {
	return int(uint64(id) * 0x9E3779B97F4A7C15 >> (in.shift & 63))
}

func (tab *table) add(c *coroutine) {
	tab.mu.Lock()
	defer tab.mu.Unlock()
	if in := tab.slots.Load(); in == nil || 4*(tab.used+1) > 3*len(in.of) {
		tab.rebuild()
	}
	tab.insert(tab.slots.Load(), c)
	tab.live++
}

// insert puts c into the first slot that has no coroutine.
func (tab *table) insert(in *slots, c *coroutine) {
	for i := in.place(c.id); ; i++ {
		at := &in.of[i&(len(in.of)-1)]
		switch at.Load() {
		case nil:
			tab.used++
		case removed:
		default:
			continue
		}
		at.Store(c)
		return
	}
}

// remove also replaces slots that are far more than the live coroutines need. That is cheap on average: about an eighth of
// these slots had coroutines that were removed since they were made.
func (tab *table) remove(c *coroutine) {
	tab.mu.Lock()
	defer tab.mu.Unlock()
	in := tab.slots.Load()
	i := in.place(c.id)
	for in.of[i&(len(in.of)-1)].Load() != c {
		i++
	}
	in.of[i&(len(in.of)-1)].Store(removed)
	tab.live--
	if len(in.of) > max(smallest, 8*(tab.live+1)) {
		tab.rebuild()
	}
}

// rebuild replaces the slots by as many as the live coroutines need, and leaves removed ones behind. mu is held.
func (tab *table) rebuild() {
	n := smallest
	for n < 2*(tab.live+1) {
		n *= 2
	}
	next := &slots{uint(64 - bits.TrailingZeros(uint(n))), make([]atomic.Pointer[coroutine], n)}
	tab.used = 0
	if in := tab.slots.Load(); in != nil {
		for i := range in.of {
			if c := in.of[i].Load(); c != nil && c != removed {
				tab.insert(next, c)
			}
		}
	}
	tab.slots.Store(next)
}
