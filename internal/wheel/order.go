package wheel

// The order in which the timers of one tier fire: levels of slots, and what is near.

import (
	"math"
	"math/bits"
)

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
//
// The slot that o.tick gets into is dealt out: step by step, because a slot may have any number of timers. Meanwhile timers
// come and go as ever. None comes into this slot, since o.tick is in it; and only what is due before all of its timers, by
// deadline alone, is popped.
type order struct {
	tick     int64                        // never goes back; moves to the timers that become due, and does not follow the clock
	used     uint64                       // bit l: level l has timers, that is, occupied[l] is not 0
	near     near                         // timers with tick <= o.tick
	levels   [levelCount]*[slotCount]slot // allocated when first used: most tiers need few of them
	occupied [levelCount]uint64           // bit s: levels[l][s] is not empty
	dealing  uint16                       // the slot that is dealt out, as node.where has it; 0 if there is none
	since    int64                        // the time from which that slot was to be dealt out
}

// slot is a list of timers in order of insertion. Its contents are invalid while its occupied bit is 0.
type slot struct {
	list
	min   int64  // a lower bound of the deadlines in the slot; exact until a timer is removed
	count uint32 // the number of timers
}

// atOnce is the number of timers that one step deals out. A step stays far below a millisecond also if each timer is cold in
// memory, and sinks into a heap. Tests have it smaller.
var atOnce = 128

// leadShift has a slot of more than atOnce timers dealt out before it is due, by at least 2^leadShift ns for each timer. That is
// about twice as long as dealing takes.
const leadShift = 8

// due returns the time from which the slot is to be dealt out. While timers come, it changes only when their number has doubled,
// so that an owner that sleeps is woken few times for them.
func (sl *slot) due() int64 {
	if int(sl.count) <= atOnce || sl.min == math.MaxInt64 {
		return sl.min
	}
	return sl.min - 1<<(bits.Len32(sl.count)+leadShift)
}

// list links timers by index. Its owner must know whether it is empty, since head and tail do not tell: in the zero list
// they are 0, which is the index of a timer.
type list struct {
	head, tail uint32
}

func (o *order) empty() bool { return o.near.count == 0 && o.used == 0 }

// next returns the time at which there is something to do: a lower bound of the earliest deadline. The order must not be empty.
func (o *order) next() int64 {
	if n := o.near.earliest; n != nil && (o.dealing == 0 || n.deadline < o.since) {
		return n.deadline
	}
	if o.dealing != 0 {
		return o.since
	}
	level, i := o.first()
	return o.levels[level][i].due()
}

// least returns a lower bound of the earliest deadline; exact until a timer is removed. The order must not be empty.
func (o *order) least() int64 {
	least := int64(math.MaxInt64)
	if o.near.count != 0 {
		least = o.near.earliest.deadline
	}
	switch {
	case o.dealing != 0:
		level, i := slotOf(o.dealing)
		return min(least, o.levels[level][i].min)
	case o.near.count == 0:
		level, i := o.first()
		return o.levels[level][i].min
	}
	return least
}

// first returns the level and the index of the slot that holds the earliest timer outside near. There must be one.
func (o *order) first() (level, i uint) {
	level = uint(bits.TrailingZeros64(o.used)) % levelCount // the remainder only spares bounds checks
	return level, uint(bits.TrailingZeros64(o.occupied[level])) % slotCount
}

// begin moves o.tick to the lower bound of the first occupied slot, which is to be dealt out then, provided that it is time.
// No slot must be dealt out yet, and near must be empty. Only begin moves o.tick. The bound is within the slot, so all timers in
// other slots stay in the right place.
func (o *order) begin(now int64) bool {
	if o.used == 0 {
		return false
	}
	level, i := o.first()
	sl := &o.levels[level][i]
	since := sl.due()
	if since > now {
		return false
	}
	o.tick = sl.min >> tickShift
	o.dealing, o.since = whereOf(level, i), since
	return true
}

// leads tells whether n, which is near, comes before all timers of the slot that is dealt out, if there is one.
func (o *order) leads(n *node) bool {
	if o.dealing == 0 {
		return true
	}
	level, i := slotOf(o.dealing)
	return n.deadline < o.levels[level][i].min
}

// deal places again, as o.tick requires, the timers of the slot that is dealt out, but at most so many. It returns how many more
// there might have been.
func (o *order) deal(s *slab, most int) (left int) {
	level, i := slotOf(o.dealing)
	sl := &o.levels[level][i]
	next := sl.head
	for ; next != none && most > 0; most-- {
		n := s.at(next)
		next = n.next // before place overwrites it
		o.place(s, n)
		sl.count--
	}
	if sl.head = next; next == none {
		o.vacate(level, i)
	} else {
		s.at(next).prev = none
	}
	return most
}

// whereOf returns the value of node.where of the timers in a slot.
func whereOf(level, i uint) uint16 { return inSlots + uint16(level*slotCount+i) }

// slotOf is the inverse of whereOf.
func slotOf(where uint16) (level, i uint) {
	return uint(where-inSlots) / slotCount % levelCount, uint(where-inSlots) % slotCount
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
	n.setWhere(whereOf(level, i))
	if o.occupied[level]&(1<<i) == 0 {
		o.occupied[level] |= 1 << i
		o.used |= 1 << level
		sl.start(n)
		sl.min, sl.count = n.deadline, 1
		return
	}
	sl.append(s, n)
	sl.min = min(sl.min, n.deadline)
	sl.count++
}

// remove removes a timer from near or from its slot.
func (o *order) remove(s *slab, n *node) {
	where := n.where()
	if where < inSlots {
		o.near.remove(s, n)
		return
	}
	level, i := slotOf(where)
	if n.prev == none && n.next == none {
		o.vacate(level, i)
		return
	}
	sl := &o.levels[level][i]
	sl.unlink(s, n)
	sl.count--
}

// vacate marks a slot as empty, and drops the memory of an empty level beyond keptLevels. If it was dealt out, that is done.
func (o *order) vacate(level, i uint) {
	if o.dealing == whereOf(level, i) {
		o.dealing = 0
	}
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
