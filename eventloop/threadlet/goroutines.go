package threadlet

// Which coroutine is this: a table from the identity of a goroutine to its coroutine.

import (
	"math/bits"
	"sync"
	"sync/atomic"

	"github.com/turnloop/turnloop/internal/goroutine"
)

// coroutines are those of the process.
var coroutines table

// current returns the coroutine on whose goroutine it is called, or nil.
func current() *coroutine { return coroutines.find(goroutine.ID()) }

// table is an open-addressed hash table that is read without a lock. A coroutine adds itself before it looks itself up,
// and removes itself before its identity can be another's. So whoever looks finds an entry of their own or none, and what
// others write meanwhile, to other slots, does not matter.
type table struct {
	slots atomic.Pointer[[]slot]

	mu   sync.Mutex // for those who write
	live int
	used int // slots that are not empty
}

// slot has no identity while it is empty, and a coroutine of nil when that was removed.
type slot struct {
	id atomic.Uintptr
	co atomic.Pointer[coroutine]
}

const smallest = 64 // slots

func (tab *table) find(id uintptr) *coroutine {
	p := tab.slots.Load()
	if p == nil {
		return nil
	}
	slots := *p
	for i := place(id, len(slots)); ; i = (i + 1) & (len(slots) - 1) {
		switch slots[i].id.Load() {
		case id:
			return slots[i].co.Load()
		case 0:
			return nil
		}
	}
}

// place spreads the addresses that identities are over a power of two.
func place(id uintptr, n int) int {
	return int(uint64(id) * 0x9E3779B97F4A7C15 >> (64 - bits.TrailingZeros(uint(n))))
}

func (tab *table) add(c *coroutine) {
	tab.mu.Lock()
	defer tab.mu.Unlock()
	if p := tab.slots.Load(); p == nil || 2*(tab.used+1) > len(*p) {
		tab.rebuild()
	}
	tab.insert(*tab.slots.Load(), c)
	tab.live++
}

// insert takes a slot of the same identity, or one that is empty: never another's.
func (tab *table) insert(slots []slot, c *coroutine) {
	for i := place(c.id, len(slots)); ; i = (i + 1) & (len(slots) - 1) {
		switch slots[i].id.Load() {
		case 0:
			tab.used++
			slots[i].co.Store(c)
			slots[i].id.Store(c.id)
			return
		case c.id:
			slots[i].co.Store(c)
			return
		}
	}
}

func (tab *table) remove(id uintptr) {
	tab.mu.Lock()
	defer tab.mu.Unlock()
	slots := *tab.slots.Load()
	for i := place(id, len(slots)); ; i = (i + 1) & (len(slots) - 1) {
		if slots[i].id.Load() == id {
			slots[i].co.Store(nil)
			tab.live--
			return
		}
	}
}

// rebuild makes a table of the right size for what lives.
func (tab *table) rebuild() {
	n := smallest
	for n < 4*(tab.live+1) {
		n *= 2
	}
	next := make([]slot, n)
	tab.used = 0
	if p := tab.slots.Load(); p != nil {
		for i := range *p {
			if c := (*p)[i].co.Load(); c != nil {
				tab.insert(next, c)
			}
		}
	}
	tab.slots.Store(&next)
}
