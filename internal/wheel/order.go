package wheel

import "math/bits"

// A tick is 2^tickShift ns. A level looks at groupBits bits of a tick's number, so that levelCount levels cover all of
// int64: nothing overflows to a list of its own and no distance is too far.
const (
	tickShift  = 20
	groupBits  = 6
	slotCount  = 1 << groupBits
	levelCount = (63 - tickShift + groupBits - 1) / groupBits

	// keptLevels is the number of levels that keep their memory while they are empty: those of the timers, up to a few
	// hours ahead, that come and go all the time.
	keptLevels = 4
)

// order keeps the timers of one tier in the order in which they fire; their memory is in the slab of the Wheel.
//
// A timer whose tick is o.tick or earlier is in near. Any other is in the level of the highest group in which its tick
// differs from o.tick, in the slot that this group of its tick names. Hence:
//   - near is before every level, a level is before all higher ones, a slot before all higher slots of its level, so
//     the earliest timer is found from two bit scans;
//   - o.tick may move to any tick that is not beyond the earliest timer and only the slot that it enters must be
//     dealt out again, so passing over empty time costs nothing, whatever its length;
//   - a timer that is dealt out again falls at least one level, so it moves at most levelCount times in its life.
type order struct {
	tick     int64                        // never goes back; follows the timers that come due, not the clock
	used     uint64                       // bit l: occupied[l] is not 0
	near     near                         // timers with tick <= o.tick
	levels   [levelCount]*[slotCount]slot // allocated when first used: most tiers need few of them
	occupied [levelCount]uint64           // bit s: levels[l][s] is not empty
}

// slot is a list of timers in order of arrival. Its contents mean nothing while its occupied bit is 0.
type slot struct {
	list
	min int64 // no timer in the slot is earlier; exact until one is removed
}

// list links timers by index. Whether it is empty is for its owner to know: the zero list says that it has a timer.
type list struct {
	head, tail uint32
}

func (o *order) empty() bool { return o.near.count == 0 && o.used == 0 }

// next returns a lower bound of the earliest deadline. There must be a timer.
func (o *order) next() int64 {
	if o.near.count > 0 {
		return o.near.earliest.deadline
	}
	level, i := o.first()
	return o.levels[level][i].min
}

// first finds the slot that holds the earliest timer outside near. There must be one.
func (o *order) first() (level, i uint) {
	level = uint(bits.TrailingZeros64(o.used)) % levelCount // the remainder only spares bounds checks
	return level, uint(bits.TrailingZeros64(o.occupied[level])) % slotCount
}

// cascade moves o.tick to the lower bound of the first occupied slot and deals the slot's timers out from there. It
// is the only step of o.tick: the bound is within the slot, so all timers elsewhere stay where they belong.
func (o *order) cascade(s *slab, level, i uint) {
	sl := &o.levels[level][i]
	o.tick = sl.min >> tickShift
	o.vacate(level, i)
	for next := sl.head; next != none; {
		n := s.at(next)
		next = n.next // before place overwrites it
		o.place(s, n)
	}
}

// place puts a timer that is nowhere to where it belongs as of o.tick.
func (o *order) place(s *slab, n *node) {
	tick := n.deadline >> tickShift
	if tick <= o.tick {
		o.near.push(s, n)
		return
	}
	level := uint(bits.Len64(uint64(tick^o.tick))-1) / groupBits
	i := uint(tick>>(level*groupBits)) % slotCount
	slots := o.levels[level]
	if slots == nil {
		slots = new([slotCount]slot)
		o.levels[level] = slots
	}
	sl := &slots[i]
	n.where = inSlots + uint16(level*slotCount+i)
	if o.occupied[level]&(1<<i) == 0 {
		o.occupied[level] |= 1 << i
		o.used |= 1 << level
		sl.start(n)
		sl.min = n.deadline
		return
	}
	sl.append(s, n)
	sl.min = min(sl.min, n.deadline)
}

// remove takes a timer out of near or its slot.
func (o *order) remove(s *slab, n *node) {
	if n.where < inSlots {
		o.near.remove(s, n)
		return
	}
	level, i := uint(n.where-inSlots)/slotCount, uint(n.where-inSlots)%slotCount
	if n.prev == none && n.next == none {
		o.vacate(level, i)
		return
	}
	o.levels[level][i].unlink(s, n)
}

// vacate marks a slot as empty.
func (o *order) vacate(level, i uint) {
	o.occupied[level] &^= 1 << i
	if o.occupied[level] == 0 {
		o.used &^= 1 << level
		if level >= keptLevels {
			o.levels[level] = nil
		}
	}
}

// start makes n the only timer of the list, whatever the list said before.
func (l *list) start(n *node) {
	n.next, n.prev = none, none
	l.head, l.tail = n.index(), n.index()
}

// append puts n at the end of a list that is not empty.
func (l *list) append(s *slab, n *node) {
	i := n.index()
	n.prev, n.next = l.tail, none
	s.at(l.tail).next = i
	l.tail = i
}

// insert puts n behind another timer of the list, or in front of all behind none. The list is not empty, or was emptied
// by unlink.
func (l *list) insert(s *slab, after uint32, n *node) {
	i := n.index()
	next := &l.head
	if after != none {
		next = &s.at(after).next
	}
	n.prev, n.next = after, *next
	*next = i
	if n.next == none {
		l.tail = i
	} else {
		s.at(n.next).prev = i
	}
}

// unlink takes n out of the list.
func (l *list) unlink(s *slab, n *node) {
	if n.prev == none {
		l.head = n.next
	} else {
		s.at(n.prev).next = n.next
	}
	if n.next == none {
		l.tail = n.prev
	} else {
		s.at(n.next).prev = n.prev
	}
}
