package wheel

// Access to internals for tests in package wheel_test.

import (
	"fmt"
	"math/bits"
	"unsafe"
)

const (
	BlockNodes  = blockNodes
	SpareBlocks = spareBlocks
	NodeSize    = unsafe.Sizeof(node{})
	Tick        = 1 << tickShift
	KeptLevels  = keptLevels
	EntryNodes  = pieceEntries * blockNodes
	Lead        = 1 << leadShift
)

// SetAtOnce changes how many timers a step deals out, and returns what undoes that.
func SetAtOnce(n int) (undo func()) {
	before := atOnce
	atOnce = n
	return func() { atOnce = before }
}

// AtOnce returns how many timers a step deals out.
func AtOnce() int { return atOnce }

// Slots is the number of timers in each slot of a tier, and which have any.
type Slots struct {
	counts   [levelCount][slotCount]int
	occupied [levelCount]uint64
}

// Left brings s up to date, and returns how many timers have left the slots that they were in.
func (s *Slots) Left(w *Wheel, tier Tier) (left int) {
	o := &w.orders[tier]
	for l := range o.levels {
		for some := o.occupied[l] | s.occupied[l]; some != 0; some &= some - 1 {
			i, now := bits.TrailingZeros64(some), 0
			if o.occupied[l]&(1<<i) != 0 {
				now = int(o.levels[l][i].count)
			}
			left += max(0, s.counts[l][i]-now)
			s.counts[l][i] = now
		}
		s.occupied[l] = o.occupied[l]
	}
	return left
}

// entries returns the entries of the directory.
func (w *Wheel) entries() (all []entry) {
	for i := range w.slab.entries {
		all = append(all, *w.slab.entry(i))
	}
	return all
}

// Grow allocates blocks until n timers fit.
func (w *Wheel) Grow(n int) {
	for int(w.slab.entries)*blockNodes < n {
		w.slab.grow()
	}
}

// Age leaves the idle nodes that have memory with at most this many generations.
func (w *Wheel) Age(left uint64) {
	for _, e := range w.entries() {
		if e.block == nil {
			continue
		}
		for i := range e.block.nodes {
			n := &e.block.nodes[i]
			if n.where() == idle && n.id>>indexBits != 0 {
				n.id = max(n.id, n.id&indexMask|(1<<(64-indexBits)-left)<<indexBits)
			}
		}
	}
}

// Blocks returns how many blocks there ever were at the same time, and how many have memory now.
func (w *Wheel) Blocks() (ever, now int) {
	for _, e := range w.entries() {
		if e.block != nil {
			now++
		}
	}
	return int(w.slab.entries), now
}

// Levels returns how many levels of a tier have memory.
func (w *Wheel) Levels(tier Tier) (n int) {
	for _, l := range w.orders[tier].levels {
		if l != nil {
			n++
		}
	}
	return n
}

// InHeap returns how many timers of a tier are not in its run although they have come near.
func (w *Wheel) InHeap(tier Tier) int { return w.orders[tier].near.heaped }

// Check returns an error when the wheel violates an invariant in the comments of order, near, slot and slab.
func (w *Wheel) Check() error {
	found := 0
	for t := range w.orders {
		n, err := w.checkOrder(Tier(t))
		if err != nil {
			return fmt.Errorf("tier %d: %w", t, err)
		}
		found += n
	}
	if found != w.slab.live {
		return fmt.Errorf("%d timers in near and slots, %d live nodes", found, w.slab.live)
	}
	live, room, empty := 0, 0, 0
	for _, e := range w.entries() {
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

// checkOrder checks a tier and returns the number of timers in it.
func (w *Wheel) checkOrder(tier Tier) (found int, err error) {
	o := &w.orders[tier]
	if sorted := o.near.count - o.near.heaped; sorted != 0 {
		run, err := w.checkList(&o.near.run)
		if err != nil {
			return 0, fmt.Errorf("run: %w", err)
		}
		for i, n := range run {
			if n.where() != inRun || n.tier() != tier || n.deadline>>tickShift > o.tick {
				return 0, fmt.Errorf("run: where %d, tier %d, deadline %d, tick %d", n.where(), n.tier(), n.deadline, o.tick)
			}
			if i > 0 && !earlier(run[i-1], n) {
				return 0, fmt.Errorf("run: #%d due %d is behind #%d due %d", n.seq(), n.deadline, run[i-1].seq(), run[i-1].deadline)
			}
		}
		if len(run) != sorted {
			return 0, fmt.Errorf("run: %d timers, counted as %d", len(run), sorted)
		}
		found += len(run)
	}
	for pos := o.near.heaped; pos < len(o.near.heap)*heapNodes; pos++ {
		if o.near.at(pos) != nil {
			return 0, fmt.Errorf("heap[%d] of %d keeps a timer", pos, o.near.heaped)
		}
	}
	for pos := range o.near.heaped {
		n := o.near.at(pos)
		found++
		if n.where() != inHeap || n.tier() != tier || int(n.next) != pos || n.deadline>>tickShift > o.tick {
			return 0, fmt.Errorf("heap[%d]: where %d, tier %d, pos %d, deadline %d, tick %d", pos, n.where(), n.tier(), n.next, n.deadline, o.tick)
		}
		if pos > 0 && earlier(n, o.near.at((pos-1)/2)) {
			return 0, fmt.Errorf("heap[%d] is before its parent", pos)
		}
	}
	if l, i := slotOf(o.dealing); o.dealing != 0 && o.occupied[l]&(1<<i) == 0 {
		return 0, fmt.Errorf("level %d slot %d is dealt out and empty", l, i)
	}
	for l := range o.levels {
		if (o.occupied[l] != 0) != (o.used&(1<<l) != 0) {
			return 0, fmt.Errorf("level %d: occupied %#x, used %#x", l, o.occupied[l], o.used)
		}
		for i := range slotCount {
			if o.occupied[l]&(1<<i) == 0 {
				continue
			}
			sl := &o.levels[l][i]
			timers, err := w.checkList(&sl.list)
			if err != nil {
				return 0, fmt.Errorf("level %d slot %d: %w", l, i, err)
			}
			found += len(timers)
			if len(timers) != int(sl.count) {
				return 0, fmt.Errorf("level %d slot %d: %d timers, counted as %d", l, i, len(timers), sl.count)
			}
			dealing := o.dealing == whereOf(uint(l), uint(i))
			for _, n := range timers {
				differ := uint64(n.deadline>>tickShift ^ o.tick)
				switch {
				case n.where() != inSlots+uint16(l*slotCount+i) || n.tier() != tier:
					return 0, fmt.Errorf("level %d slot %d: where %d, tier %d", l, i, n.where(), n.tier())
				case n.deadline < sl.min:
					return 0, fmt.Errorf("level %d slot %d: deadline %d below min %d", l, i, n.deadline, sl.min)
				case dealing && differ>>(l*groupBits) == 0:
				case dealing || n.deadline>>tickShift <= o.tick || (bits.Len64(differ)-1)/groupBits != l:
					return 0, fmt.Errorf("level %d slot %d: deadline %d, order at tick %d", l, i, n.deadline, o.tick)
				}
			}
		}
	}
	return found, nil
}

// checkList checks a list that is not empty and returns its timers.
func (w *Wheel) checkList(l *list) (timers []*node, err error) {
	prev := uint32(none)
	for i := l.head; i != none; i = w.slab.at(i).next {
		n := w.slab.at(i)
		if n.prev != prev || n.index() != i {
			return nil, fmt.Errorf("broken list at %d: prev %d, want %d", i, n.prev, prev)
		}
		timers = append(timers, n)
		prev = i
	}
	if l.tail != prev {
		return nil, fmt.Errorf("tail %d, last %d", l.tail, prev)
	}
	return timers, nil
}
