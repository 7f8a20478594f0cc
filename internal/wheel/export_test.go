package wheel

import (
	"fmt"
	"math/bits"
	"unsafe"
)

// What the tests of the package's outside need of its inside.
const (
	BlockNodes  = blockNodes
	SpareBlocks = spareBlocks
	NodeSize    = unsafe.Sizeof(node{})
	Tick        = 1 << tickShift
)

// Grow allocates blocks until n timers fit.
func (w *Wheel) Grow(n int) {
	for len(w.slab.directory)*blockNodes < n {
		w.slab.grow()
	}
}

// Age leaves the idle nodes that have memory with at most this many generations.
func (w *Wheel) Age(left uint64) {
	for _, e := range w.slab.directory {
		if e.block == nil {
			continue
		}
		for i := range e.block.nodes {
			n := &e.block.nodes[i]
			if n.where == idle && n.id>>indexBits != 0 {
				n.id = max(n.id, n.id&indexMask|(1<<(64-indexBits)-left)<<indexBits)
			}
		}
	}
}

// Blocks returns how many blocks there ever were at the same time, and how many have memory now.
func (w *Wheel) Blocks() (ever, now int) {
	for _, e := range w.slab.directory {
		if e.block != nil {
			now++
		}
	}
	return len(w.slab.directory), now
}

// Check returns an error when the wheel is not as the comments at Wheel, slot and slab say.
func (w *Wheel) Check() error {
	found := 0
	for pos, n := range w.near {
		found++
		if n.where != inNear || int(n.pos) != pos || n.deadline>>tickShift > w.tick {
			return fmt.Errorf("near[%d]: where %d, pos %d, deadline %d, wheel at tick %d", pos, n.where, n.pos, n.deadline, w.tick)
		}
		if pos > 0 && earlier(n, w.near[(pos-1)/2]) {
			return fmt.Errorf("near[%d] is before its parent", pos)
		}
	}
	for l := range w.levels {
		if (w.occupied[l] != 0) != (w.used&(1<<l) != 0) {
			return fmt.Errorf("level %d: occupied %#x, used %#x", l, w.occupied[l], w.used)
		}
		for s := range slotCount {
			if w.occupied[l]&(1<<s) == 0 {
				continue
			}
			sl := w.levels[l][s]
			prev := uint32(none)
			for i := sl.head; i != none; i = w.slab.at(i).next {
				n := w.slab.at(i)
				found++
				differ := uint64(n.deadline>>tickShift ^ w.tick)
				switch {
				case n.prev != prev || n.index() != i:
					return fmt.Errorf("level %d slot %d: broken list", l, s)
				case n.where != inSlots+uint16(l*slotCount+s):
					return fmt.Errorf("level %d slot %d: where %d", l, s, n.where)
				case n.deadline < sl.min:
					return fmt.Errorf("level %d slot %d: deadline %d below min %d", l, s, n.deadline, sl.min)
				case n.deadline>>tickShift <= w.tick || (bits.Len64(differ)-1)/groupBits != l:
					return fmt.Errorf("level %d slot %d: deadline %d, wheel at tick %d", l, s, n.deadline, w.tick)
				}
				prev = i
			}
			if sl.tail != prev {
				return fmt.Errorf("level %d slot %d: tail %d, last %d", l, s, sl.tail, prev)
			}
		}
	}
	if found != w.slab.live {
		return fmt.Errorf("%d timers in near and slots, %d live nodes", found, w.slab.live)
	}
	live, room, empty := 0, 0, 0
	for _, e := range w.slab.directory {
		if e.block == nil {
			continue
		}
		live += e.block.live
		if e.block.free != 0 {
			room++
		}
		if e.block.live == 0 {
			empty++
		}
	}
	for b := w.slab.room; b != nil; b = b.next {
		room--
	}
	if live != w.slab.live || room != 0 || empty != w.slab.empty {
		return fmt.Errorf("slab counts %d live and %d empty, blocks say %d and %d; room list off by %d", w.slab.live, w.slab.empty, live, empty, room)
	}
	return nil
}
