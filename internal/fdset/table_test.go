package fdset

// Tests of the table of registrations.

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// used counts the pages of a table, and the slots in these that are taken.
func (t *table) used() (pages, slots int) {
	p := t.pages.Load()
	if p == nil {
		return 0, 0
	}
	for i := range *p {
		if page := (*p)[i].Load(); page != nil {
			pages++
			for j := range page.slots {
				if page.slots[j].Load() != nil {
					slots++
				}
			}
		}
	}
	return pages, slots
}

// fill gives n registrations their tags.
func (t *table) fill(n int) (all []*Registration) {
	for i := range n {
		r := new(Registration)
		t.put(r, i)
		all = append(all, r)
	}
	return all
}

// The table behaves as a map by tags does whose tags never come twice, wherever the counter of tags begins: also as it wraps,
// and passes over slots that long-lived registrations keep.
func TestTableAgainstModel(t *testing.T) {
	steps := 10_000
	if testing.Short() {
		steps = 2000
	}
	for _, begin := range []uint32{math.MaxUint32, 0, 1, math.MaxUint32 - 1, math.MaxUint32 - 300, math.MaxUint32 / 2} {
		t.Run(fmt.Sprint(begin), func(t *testing.T) {
			table := table{last: begin}
			model, used := map[uint32]*Registration{}, map[uint32]bool{}
			var live []*Registration
			var ended []uint32
			r := rand.New(rand.NewPCG(1, uint64(begin)))
			check := func(tag uint32) {
				t.Helper()
				require.Same(t, model[tag], table.find(tag), "tag %d", tag)
			}
			remove := func(e *Registration) {
				t.Helper()
				table.remove(e)
				delete(model, e.tag)
				ended = append(ended, e.tag)
				check(e.tag)
			}
			for step := range steps {
				if step%4000 == 3999 { // all go at once, and many come
					for _, e := range live[min(len(live), r.IntN(3)):] { // but for a few
						remove(e)
					}
					live = live[:len(model)]
				}
				if growing := step%400 < 200; len(live) == 0 || r.IntN(4) == 0 != growing {
					e := new(Registration)
					table.put(e, len(live))
					require.False(t, used[e.tag], "the tag %d comes again", e.tag)
					used[e.tag], model[e.tag] = true, e
					check(e.tag)
					if live = append(live, e); r.IntN(8) == 0 { // the poller has refused it
						live = live[:len(live)-1]
						remove(e)
					}
				} else {
					i := r.IntN(len(live))
					if r.IntN(2) == 0 {
						i = len(live) - 1 // the old ones live long
					}
					e := live[i]
					live[i] = live[len(live)-1]
					live = live[:len(live)-1]
					remove(e)
				}
				if step%16 == 0 {
					pages, slots := table.used()
					require.Equal(t, len(live), slots, "slots that are taken, or have not been cleared")
					require.LessOrEqual(t, pages, len(live)+1)
					require.LessOrEqual(t, 4*len(live), 3*pageSlots*len(*table.pages.Load()), "slots are free")
				}
				if len(live) > 0 {
					check(live[r.IntN(len(live))].tag)
				}
				if len(ended) > 0 {
					check(ended[r.IntN(len(ended))])
				}
				check(0)
				check(r.Uint32())
			}
			for _, e := range live {
				remove(e)
			}
			pages, _ := table.used()
			require.LessOrEqual(t, pages, 1, "the memory that many took is given back")
			require.Nil(t, table.find(0))
		})
	}
}

// Looking for a free slot takes a few looks on average, also where most of those that come next are taken for long.
func TestTablePassesOverFew(t *testing.T) {
	var table table
	const n, registrations = 3 << 12, 1 << 16 // three quarters of the slots
	last := table.fill(n)[n-1]
	first := last.tag
	for range registrations {
		table.remove(last)
		last = new(Registration)
		table.put(last, n-1)
	}
	require.Equal(t, 4<<12, pageSlots*len(*table.pages.Load()))
	require.LessOrEqual(t, last.tag-first, uint32(4*registrations))
}

// A table that many have left holds no more than those that stay need, whichever they are.
func TestTableShrinks(t *testing.T) {
	const n = 3 << 12
	for _, every := range []int{n, 1 << 12, 1 << 7, 1<<7 - 1} {
		var table table
		kept := 0
		for i, r := range table.fill(n) {
			if i%every != 0 {
				table.remove(r)
				continue
			}
			kept++
			defer func() { require.Same(t, r, table.find(r.tag)) }()
		}
		pages, _ := table.used()
		require.LessOrEqual(t, pages, kept+1, "%d of %d stay", kept, n)
	}
}

// A registration is found while others have the table grow, and is not once it has ended.
func TestTableGrowsBesideSearches(t *testing.T) {
	for range 20 {
		var table table
		r := table.fill(1)[0]
		over := make(chan struct{})
		go func() {
			defer close(over)
			table.fill(1 << 12)
			table.remove(r)
		}()
		for found := true; ; {
			select {
			case <-over:
				require.Nil(t, table.find(r.tag))
			default:
				is := table.find(r.tag) != nil
				require.True(t, found || !is, "an ended registration is found again")
				found = is
				continue
			}
			break
		}
	}
}
