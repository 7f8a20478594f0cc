package fdset

// The table: an event finds the registration of its descriptor without a search and without a lock.

import "github.com/turnloop/turnloop/internal/sched/atomic"

// table has each registration at its tag modulo the number of slots, which is a power of two. Tags count up, and skip those
// whose slots are taken: so no two tags in use have the same slot, also when there are twice as many slots. A tag is used
// again only when the counter has gone through all numbers, long after the last event that carried the tag.
//
// Slots come in pages. A page without a registration is dropped, unless its slots are the next to be given: so a table that many
// have left holds a page for each that stays, at most. Whoever changes the table holds the set's mu; any goroutine may search it.
type table struct {
	pages atomic.Pointer[pages] // nil before the first registration
	last  uint32                // the last tag that was given; under mu
}

type pages []atomic.Pointer[page] // nil: without a registration

const pageSlots = 16

type page struct {
	slots [pageSlots]atomic.Pointer[Registration]
	taken int // under mu
}

// of returns the entry of the page that has the tag's slot.
func (p pages) of(tag uint32) *atomic.Pointer[page] { return &p[tag/pageSlots&uint32(len(p)-1)] }

// slot returns the registration in a tag's slot, nil if it is free.
func (p pages) slot(tag uint32) *Registration {
	if page := p.of(tag).Load(); page != nil {
		return page.slots[tag%pageSlots].Load()
	}
	return nil
}

func (p pages) put(r *Registration) {
	entry := p.of(r.tag)
	if entry.Load() == nil {
		entry.Store(new(page))
	}
	page := entry.Load()
	page.taken++
	page.slots[r.tag%pageSlots].Store(r)
}

// find returns the registration that has the tag, or nil. A registration is found from put to remove, also while the table grows.
func (t *table) find(tag uint32) *Registration {
	for {
		p := t.pages.Load()
		if p == nil {
			return nil
		}
		r := p.slot(tag)
		if t.pages.Load() != p {
			continue // a larger table has replaced this one, and may have changed since
		}
		if r == nil || r.tag != tag {
			return nil
		}
		return r
	}
}

// put gives a registration its tag and its slot. taken is how many there are. At least a quarter of the slots is free, so it
// takes a few looks on average to find one.
func (t *table) put(r *Registration, taken int) {
	p := t.pages.Load()
	if p == nil {
		p = &pages{{}}
		t.pages.Store(p)
	} else if 4*(taken+1) > 3*len(*p)*pageSlots {
		p = t.grow(*p)
	}
	for {
		t.last++
		t.drop(t.last - 1) // which may have the page that the counter leaves
		if p.slot(t.last) == nil {
			break
		}
	}
	r.tag = t.last
	p.put(r)
}

// grow makes the table twice as large.
func (t *table) grow(from pages) *pages {
	to := make(pages, 2*len(from))
	for i := range from {
		if page := from[i].Load(); page != nil {
			for j := range page.slots {
				if r := page.slots[j].Load(); r != nil {
					to.put(r)
				}
			}
		}
	}
	t.pages.Store(&to)
	return &to
}

// remove frees the slot of a registration.
func (t *table) remove(r *Registration) {
	page := t.pages.Load().of(r.tag).Load()
	page.slots[r.tag%pageSlots].Store(nil)
	page.taken--
	t.drop(r.tag)
}

// drop drops the page that has the tag's slot if it has no registration, and is not the one whose slots come next.
func (t *table) drop(tag uint32) {
	p := t.pages.Load()
	entry := p.of(tag)
	if page := entry.Load(); page != nil && page.taken == 0 && entry != p.of(t.last) {
		entry.Store(nil)
	}
}
