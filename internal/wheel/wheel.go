// Package wheel keeps timers in the order of their deadlines, as a pure data structure: no locks, no clock, no
// goroutines. Its owner inserts deadlines on a monotonic scale of its own and asks what is due.
//
// Deadlines are exact nanoseconds and timers come out strictly by (deadline, order of insertion). Insert and Remove
// take constant time for timers beyond the current tick of about a millisecond, however many are pending; within it
// they cost the logarithm of the number of timers there.
//
// This file is the wheel proper; near.go orders the current tick, slab.go holds the memory of the timers.
package wheel

import (
	"math"
	"math/bits"
)

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

// Wheel is a set of pending timers. The zero value is empty and ready. It is not safe for concurrent use.
//
// A timer whose tick is w.tick or earlier is in near. Any other is in the level of the highest group in which its tick
// differs from w.tick, in the slot that this group of its tick names. Hence:
//   - near is before every level, a level is before all higher ones, a slot before all higher slots of its level, so
//     the earliest timer is found from two bit scans;
//   - w.tick may move to any tick that is not beyond the earliest timer and only the slot that it enters must be
//     dealt out again, so passing over empty time costs nothing, whatever its length;
//   - a timer that is dealt out again falls at least one level, so it moves at most levelCount times in its life.
type Wheel struct {
	tick     int64                        // never goes back; follows the timers that come due, not the clock
	near     near                         // timers with tick <= w.tick
	levels   [levelCount]*[slotCount]slot // allocated when first used: most wheels need few of them
	occupied [levelCount]uint64           // bit s: levels[l][s] is not empty
	used     uint64                       // bit l: occupied[l] is not 0
	slab     slab
	seq      uint64
	refs     int
}

// slot is a list of timers in order of arrival, linked by index. Its contents mean nothing while its occupied bit is 0.
type slot struct {
	head, tail uint32
	min        int64 // no timer in the slot is earlier; exact until one is removed
}

// PopDue removes the earliest timer, by (deadline, sequence), and returns its function, provided that its deadline is
// not after now and its sequence number is less than before. A caller that passes the Seq of the start of its phase
// thus never runs what the phase itself inserted. When nothing is due the call costs a few comparisons.
//
// After PopDue(now, Seq()) returned false for a now below math.MaxInt64, Next is after now: an owner that sleeps until
// Next does not spin.
func (w *Wheel) PopDue(now int64, before uint64) (fn func(), ok bool) {
	for len(w.near) == 0 {
		if w.used == 0 {
			return nil, false
		}
		level, s := w.first()
		if w.levels[level][s].min > now {
			return nil, false
		}
		w.cascade(level, s)
	}
	n := w.near[0]
	if n.deadline > now || n.seq >= before {
		return nil, false
	}
	w.near.remove(0)
	fn = n.fn
	w.drop(n)
	return fn, true
}

// Next returns a lower bound of the earliest deadline, which is exact as long as nothing was removed, and
// math.MaxInt64 when nothing is pending but timers that never fire.
func (w *Wheel) Next() int64 {
	if len(w.near) > 0 {
		return w.near[0].deadline
	}
	if w.used == 0 {
		return math.MaxInt64
	}
	level, s := w.first()
	return w.levels[level][s].min
}

// Insert adds a timer that is due at deadline, in nanoseconds and at least 0. A deadline in the past is due at once,
// in its place by deadline; math.MaxInt64 means never. The timer counts in Refs if ref is set. The id is not 0 and is
// never used again. Insert panics when 2^28 timers are pending.
func (w *Wheel) Insert(deadline int64, fn func(), ref bool) (id uint64) {
	n := w.slab.alloc()
	n.deadline, n.fn, n.ref = deadline, fn, ref
	n.seq = w.seq
	w.seq++
	if ref {
		w.refs++
	}
	w.place(n)
	return n.id
}

// Remove takes a pending timer out and lets go of its function at once. It returns false when the timer has been
// popped or removed, or never was.
func (w *Wheel) Remove(id uint64) bool {
	n := w.slab.find(id)
	if n == nil {
		return false
	}
	if n.where == inNear {
		w.near.remove(int(n.pos))
	} else {
		w.unlink(n)
	}
	w.drop(n)
	return true
}

// SetRef says whether a pending timer counts in Refs. It returns false when there is no such timer.
func (w *Wheel) SetRef(id uint64, ref bool) bool {
	n := w.slab.find(id)
	if n == nil {
		return false
	}
	if ref && !n.ref {
		w.refs++
	} else if !ref && n.ref {
		w.refs--
	}
	n.ref = ref
	return true
}

// Seq returns the sequence number that the next Insert will get. It grows by one per Insert and does not wrap within
// five centuries of an insertion per nanosecond.
func (w *Wheel) Seq() uint64 { return w.seq }

// Len returns the number of pending timers.
func (w *Wheel) Len() int { return w.slab.live }

// Refs returns the number of pending timers that were inserted, or last set, with ref.
func (w *Wheel) Refs() int { return w.refs }

// first finds the slot that holds the earliest timer outside near. There must be one.
func (w *Wheel) first() (level, s int) {
	level = bits.TrailingZeros64(w.used) % levelCount // the remainder only spares bounds checks
	return level, bits.TrailingZeros64(w.occupied[level]) % slotCount
}

// cascade moves w.tick to the lower bound of the first occupied slot and deals the slot's timers out from there. It
// is the only step of w.tick: the bound is within the slot, so all timers elsewhere stay where they belong.
func (w *Wheel) cascade(level, s int) {
	sl := &w.levels[level][s]
	w.tick = sl.min >> tickShift
	w.vacate(level, s)
	for i := sl.head; i != none; {
		n := w.slab.at(i)
		i = n.next // before place overwrites it
		w.place(n)
	}
}

// place puts a timer that is nowhere to where it belongs as of w.tick.
func (w *Wheel) place(n *node) {
	tick := n.deadline >> tickShift
	if tick <= w.tick {
		n.where = inNear
		w.near.push(n)
		return
	}
	level := (bits.Len64(uint64(tick^w.tick)) - 1) / groupBits
	s := int(tick>>(level*groupBits)) & (slotCount - 1)
	if w.levels[level] == nil {
		w.levels[level] = new([slotCount]slot)
	}
	sl := &w.levels[level][s]
	i := n.index()
	n.where = inSlots + uint16(level*slotCount+s)
	n.next = none
	if w.occupied[level]&(1<<s) == 0 {
		w.occupied[level] |= 1 << s
		w.used |= 1 << level
		n.prev = none
		*sl = slot{head: i, tail: i, min: n.deadline}
		return
	}
	n.prev = sl.tail
	w.slab.at(sl.tail).next = i
	sl.tail = i
	sl.min = min(sl.min, n.deadline)
}

// unlink takes a timer out of its slot.
func (w *Wheel) unlink(n *node) {
	level, s := int(n.where-inSlots)/slotCount, int(n.where-inSlots)%slotCount
	if n.prev == none && n.next == none {
		w.vacate(level, s)
		return
	}
	sl := &w.levels[level][s]
	if n.prev == none {
		sl.head = n.next
	} else {
		w.slab.at(n.prev).next = n.next
	}
	if n.next == none {
		sl.tail = n.prev
	} else {
		w.slab.at(n.next).prev = n.prev
	}
}

// vacate marks a slot as empty.
func (w *Wheel) vacate(level, s int) {
	w.occupied[level] &^= 1 << s
	if w.occupied[level] == 0 {
		w.used &^= 1 << level
		if level >= keptLevels {
			w.levels[level] = nil
		}
	}
}

// drop ends a timer that has been taken out of near or its slot.
func (w *Wheel) drop(n *node) {
	if n.ref {
		w.refs--
	}
	w.slab.release(n)
}
