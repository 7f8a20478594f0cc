package alternatetwo

// The wheel: pending timers in eleven levels of 64 slots, down to single nanoseconds. No lock, no clock.

import (
	"math/bits"

	"github.com/turnloop/turnloop/internal/rival"
)

const (
	levelBits  = 6
	levelSlots = 1 << levelBits
	levels     = 11 // 66 bits hold every deadline, so none wraps
	indexBits  = 28 // the bits of a timer's ID for its node; the rest is a number that is used once
	arenaChunk = 256
)

// node is a timer in the arena. Free nodes are linked through next.
type node struct {
	fn         func()
	deadline   int64
	id         uint64 // 0 while the node is free
	next, prev uint32 // nodes of the same slot, in order; 0 ends the list
	place      uint16 // level and slot
}

// slot is a list of timers. min is no later than the first deadline among them.
type slot struct {
	first, last uint32
	min         int64
}

// wheel orders timers by deadline, and equal deadlines by insertion. A timer is in the level of the highest digit,
// base 64, in which its deadline differs from cursor, and there in the slot of that digit. So the lower of two levels
// is due first, a slot of level 0 has one deadline, and timers of equal deadlines are always in the same slot: when
// the cursor enters a slot, its timers move down in order before any other can be put there.
type wheel struct {
	cursor   int64 // every deadline in the wheel is at or after it
	pending  int
	issued   uint64 // the number of IDs given out
	occupied [levels]uint64
	slots    *[levels * levelSlots]slot // made with the first timer
	arena    []*[arenaChunk]node
	free     uint32 // first free node
	used     uint32 // nodes of the arena that were ever used; node 0 is none
}

func (w *wheel) node(i uint32) *node { return &w.arena[i/arenaChunk][i%arenaChunk] }

// insert adds a timer and returns its ID. now moves the cursor of an empty wheel.
func (w *wheel) insert(deadline, now int64, fn func()) uint64 {
	if w.slots == nil {
		w.slots = new([levels * levelSlots]slot)
	}
	if w.pending == 0 {
		w.cursor = max(w.cursor, now)
	}
	i := w.take()
	n := w.node(i)
	w.issued++
	n.fn, n.deadline, n.id = fn, deadline, w.issued<<indexBits|uint64(i)
	w.pending++
	w.link(i, n)
	return n.id
}

// take returns a node from the arena.
func (w *wheel) take() uint32 {
	if i := w.free; i != 0 {
		w.free = w.node(i).next
		return i
	}
	w.used++
	for int(w.used/arenaChunk) >= len(w.arena) {
		w.arena = append(w.arena, new([arenaChunk]node))
	}
	return w.used
}

// link puts a node behind all others of its slot. A node whose deadline is past goes to the slot of the cursor.
func (w *wheel) link(i uint32, n *node) {
	at := max(n.deadline, w.cursor)
	level := max(bits.Len64(uint64(at^w.cursor))-1, 0) / levelBits
	digit := uint64(at) >> (level * levelBits) % levelSlots
	n.place = uint16(level*levelSlots) + uint16(digit)
	s := &w.slots[n.place]
	n.next, n.prev = 0, s.last
	if s.last == 0 {
		s.first, s.min = i, at
		w.occupied[level] |= 1 << digit
	} else {
		w.node(s.last).next = i
		s.min = min(s.min, at)
	}
	s.last = i
}

// remove removes a timer, and reports whether it was pending.
func (w *wheel) remove(id uint64) bool {
	i := uint32(id & (1<<indexBits - 1))
	if i == 0 || i > w.used {
		return false
	}
	n := w.node(i)
	if n.id != id {
		return false
	}
	w.unlink(i, n)
	return true
}

// unlink removes a node from its slot and frees it. The arena of a burst is freed with its last timer.
func (w *wheel) unlink(i uint32, n *node) {
	s := &w.slots[n.place]
	if n.prev == 0 {
		s.first = n.next
	} else {
		w.node(n.prev).next = n.next
	}
	if n.next == 0 {
		s.last = n.prev
	} else {
		w.node(n.next).prev = n.prev
	}
	if s.first == 0 {
		w.occupied[n.place/levelSlots] &^= 1 << (n.place % levelSlots)
	}
	n.fn, n.id, n.next = nil, 0, w.free
	w.free = i
	if w.pending--; w.pending == 0 && len(w.arena) > 1 {
		clear(w.arena[1:])
		w.arena = w.arena[:1:1]
		*w.arena[0] = [arenaChunk]node{}
		w.free, w.used = 0, 0
	}
}

// earliest returns the first occupied slot and the time at which it begins.
func (w *wheel) earliest() (place int, begin int64) {
	for level, set := range w.occupied {
		if set != 0 {
			digit := bits.TrailingZeros64(set)
			shift := level * levelBits
			above := uint64(w.cursor) >> shift >> levelBits << levelBits << shift
			return level*levelSlots + digit, int64(above | uint64(digit)<<shift)
		}
	}
	return -1, rival.Never
}

// next returns a time before which no timer is due: the first deadline, unless timers were cancelled.
func (w *wheel) next() int64 {
	place, _ := w.earliest()
	if place < 0 {
		return rival.Never
	}
	return w.slots[place].min
}

// pop removes the first timer that is due at now and returns its function, or nil if there is none.
func (w *wheel) pop(now int64) func() {
	for {
		place, begin := w.earliest()
		if begin > now || begin == rival.Never {
			w.cursor = max(w.cursor, now)
			return nil
		}
		w.cursor = max(w.cursor, begin)
		s := &w.slots[place]
		if place < levelSlots {
			i := s.first
			n := w.node(i)
			fn := n.fn
			w.unlink(i, n)
			return fn
		}
		i := s.first
		*s = slot{}
		w.occupied[place/levelSlots] &^= 1 << (place % levelSlots)
		for i != 0 {
			n := w.node(i)
			following := n.next
			w.link(i, n)
			i = following
		}
	}
}
