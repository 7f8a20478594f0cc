package wheel

// The order in which the timers of one tier fire: levels of slots, and what is near.

import "math/bits"

// A tick is 2^tickShift ns. A level is indexed by a group of groupBits bits of a tick's number, so that levelCount levels
// cover all of int64: no deadline is too far, and none needs an overflow list.
const (
	tickShift  = 20
	groupBits  = 6
	slotCount  = 1 << groupBits
	levelCount = (63 - tickShift + groupBits - 1) / groupBits

	// keptLevels is the number of levels that keep their memory while they are empty. Timers up to a few hours ahead, which
	// come and go all the time, are in these levels.
	keptLevels = 4
)

// order keeps the timers of one tier in the order in which they fire; their memory is in the slab of the Wheel.
//
// The number of a tick consists of groups of bits, one for each level. A timer whose tick is o.tick or earlier is in near.
// For any other timer take the highest group in which its tick differs from o.tick: the timer is in the level of this group,
// in the slot whose index is the value of this group in the timer's tick. Hence:
//   - the timers in near come before those in levels, those in a level before those in higher levels, and those in a slot
//     before those in higher slots of the level; so two bit scans find the earliest timer;
//   - o.tick may move to any tick that is not beyond the earliest timer, and only the timers of the slot that o.tick gets
//     into must then be placed again; so it costs nothing to pass over a time without timers, however long;
//   - a timer that is placed again falls at least one level, so it moves at most levelCount times in its life.
type order struct {
	tick     int64                        // never goes back; moves to the timers that become due, and does not follow the clock
	used     uint64                       // bit l: level l has timers, that is, occupied[l] is not 0
	near     near                         // timers with tick <= o.tick
	levels   [levelCount]*[slotCount]slot // allocated when first used: most tiers need few of them
	occupied [levelCount]uint64           // bit s: levels[l][s] is not empty
}

// slot is a list of timers in order of insertion. Its contents are invalid while its occupied bit is 0.
type slot struct {
	list
	min int64 // a lower bound of the deadlines in the slot; exact until a timer is removed
}

// list links timers by index. Its owner must know whether it is empty, since head and tail do not tell: in the zero list
// they are 0, which is the index of a timer.
type list struct {
	head, tail uint32
}

func (o *order) empty() bool { return o.near.count == 0 && o.used == 0 }

// next returns a lower bound of the earliest deadline. The order must not be empty.
func (o *order) next() int64 {
	if o.near.count > 0 {
		return o.near.earliest.deadline
	}
	level, i := o.first()
	return o.levels[level][i].min
}

// first returns the level and the index of the slot that holds the earliest timer outside near. There must be one.
func (o *order) first() (level, i uint) {
	level = uint(bits.TrailingZeros64(o.used)) % levelCount // the remainder only spares bounds checks
	return level, uint(bits.TrailingZeros64(o.occupied[level])) % slotCount
}

// cascade moves o.tick to the lower bound of the first occupied slot and places the slot's timers again. Only cascade
// moves o.tick. The bound is within the slot, so all timers in other slots stay in the right place.
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

// place puts a timer that is in no list into near or into its slot, as o.tick requires.
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

// remove removes a timer from near or from its slot.
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

// vacate marks a slot as empty, and drops the memory of an empty level beyond keptLevels.
func (o *order) vacate(level, i uint) {
	o.occupied[level] &^= 1 << i
	if o.occupied[level] == 0 {
		o.used &^= 1 << level
		if level >= keptLevels {
			o.levels[level] = nil
		}
	}
}

// start makes n the only timer of the list, whatever its contents before.
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

// insert puts n behind the timer with the index after, or at the front if after is none. It needs a head and a tail that
// are valid: those of a list that has timers, or of one from which unlink has removed the last timer.
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

// unlink removes n from the list.
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
