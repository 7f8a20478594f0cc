// Package wheel keeps timers in the order of their deadlines, as a pure data structure: no locks, no clock, no
// goroutines. Its owner inserts deadlines on a monotonic scale of its own and pops the timers that are due.
//
// Deadlines are exact nanoseconds, and the timers of a tier are popped strictly by (deadline, order of insertion). The
// wheel divides time into ticks of about a millisecond. Insert and Remove take constant time for timers beyond the current
// tick, however many are pending. Within the current tick they take constant time for timers that are inserted in about
// the order of their deadlines, and the logarithm of their number for the others. No call takes a time that grows with the
// number of timers otherwise: work that concerns many of them is done in steps, of which each PopDue makes one.
//
// This file has the exported methods; order.go is the wheel proper, near.go orders the current tick, slab.go holds the
// memory of the timers.
package wheel

import "math"

// Tier is a class of timers. Each tier has an order of its own and is popped separately; the owner decides when.
type Tier uint8

const (
	Normal Tier = iota
	Critical
	Background
)

// Tiers is the number of tiers.
const Tiers = 3

// Wheel is a set of pending timers. The zero value is empty and ready for use. It is not safe for concurrent use. Its
// methods panic if a tier is none of the above.
type Wheel struct {
	orders [Tiers]order
	slab   slab   // the memory of the timers of all tiers
	seq    uint64 // the sequence number of the next Insert, whatever its tier
	refs   int    // the number of pending timers with ref
	popped uint64 // the ID of the timer popped last
}

// PopDue removes the earliest timer of a tier, by (deadline, sequence), and returns its function, provided that its
// deadline is not after now and its sequence number is less than before. A caller that passes the Seq of the start of
// its phase thus never runs a timer inserted in that phase. A call without a due timer costs a few comparisons.
//
// PopDue returns true without a function when it has made a step, of a length that has nothing to do with the number of timers,
// and has more to do before it knows the earliest timer. The owner is to call it again: at once, or when it has done
// something else.
//
// After PopDue(tier, now, Seq()) has returned false for a now below math.MaxInt64, NextOf(tier) is after now. So an owner
// that has popped all due timers of all tiers, and sleeps until Next, does not spin.
func (w *Wheel) PopDue(tier Tier, now int64, before uint64) (fn func(), ok bool) {
	o := &w.orders[tier]
	for left := atOnce; ; left = o.deal(&w.slab, left) {
		n := o.near.earliest
		if n != nil && n.deadline <= now && n.seq() < before && o.leads(n) {
			fn, w.popped = n.fn, n.id
			o.near.remove(&w.slab, n)
			w.drop(w.slab.blockOf(n.index()), n)
			return fn, true
		}
		if o.dealing == 0 && (n != nil || !o.begin(now)) {
			return nil, false
		}
		if left == 0 {
			return nil, true
		}
	}
}

// Popped returns the ID of the timer that PopDue has popped last.
func (w *Wheel) Popped() uint64 { return w.popped }

// Earliest returns a lower bound of the earliest deadline of all tiers; it is exact as long as no timer was removed. It
// returns math.MaxInt64 when no timers are pending but those that never fire.
func (w *Wheel) Earliest() int64 {
	earliest := int64(math.MaxInt64)
	for i := range w.orders {
		if o := &w.orders[i]; !o.empty() {
			earliest = min(earliest, o.least())
		}
	}
	return earliest
}

// Next returns when PopDue is to be called: at Earliest, or before when so many timers have about this deadline that steps
// are to be made for them until then.
func (w *Wheel) Next() int64 {
	next := int64(math.MaxInt64)
	for i := range w.orders {
		if o := &w.orders[i]; !o.empty() {
			next = min(next, o.next())
		}
	}
	return next
}

// NextOf is Next for one tier.
func (w *Wheel) NextOf(tier Tier) int64 {
	if o := &w.orders[tier]; !o.empty() {
		return o.next()
	}
	return math.MaxInt64
}

// Full tells whether there is no room for another timer: Insert would panic.
func (w *Wheel) Full() bool { return w.slab.full() }

// Memory is a block of memory for timers.
type Memory = block

// Short reports whether the next Insert will allocate a Memory. An owner that inserts under a lock can allocate it outside
// of the lock and hand it over by Provide.
func (w *Wheel) Short() bool { return w.slab.room == nil && w.slab.spare == nil }

// Provide gives the wheel a fresh Memory for the next Insert that needs one.
func (w *Wheel) Provide(m *Memory) { w.slab.spare = m }

// Insert adds a timer that is due at deadline, in nanoseconds and at least 0. A timer with a deadline in the past is due
// at once, ordered by that deadline; math.MaxInt64 means never. The timer counts in Refs if ref is set. The id is not 0
// and is never used again in any tier. At most 2^28 timers may be pending; see Full.
func (w *Wheel) Insert(tier Tier, deadline int64, fn func(), ref bool) (id uint64) {
	o := &w.orders[tier]
	n := w.slab.alloc()
	n.deadline, n.fn = deadline, fn
	n.bits = w.seq<<seqShift | uint64(tier)<<tierShift
	w.seq++
	if ref {
		n.bits |= refBit
		w.refs++
	}
	o.place(&w.slab, n)
	return n.id
}

// Remove removes a pending timer and drops its function at once. It returns false when no pending timer has the id.
func (w *Wheel) Remove(id uint64) bool {
	b, n := w.slab.find(id)
	if n == nil {
		return false
	}
	w.orders[n.tier()].remove(&w.slab, n)
	w.drop(b, n)
	return true
}

// SetRef sets whether a pending timer counts in Refs. It returns false when no pending timer has the id.
func (w *Wheel) SetRef(id uint64, ref bool) bool {
	_, n := w.slab.find(id)
	if n == nil {
		return false
	}
	if ref != n.ref() {
		n.bits ^= refBit
		if ref {
			w.refs++
		} else {
			w.refs--
		}
	}
	return true
}

// Seq returns the sequence number of the next Insert, whatever its tier. It grows by one per Insert.
func (w *Wheel) Seq() uint64 { return w.seq }

// Len returns the number of pending timers.
func (w *Wheel) Len() int { return w.slab.live }

// Refs returns the number of pending timers that were inserted, or last set, with ref.
func (w *Wheel) Refs() int { return w.refs }

// Each calls f for each pending timer, in no particular order; seq is what Seq was before its Insert. It takes time in proportion to the largest number of timers
// that have been pending at once.
func (w *Wheel) Each(f func(id, seq uint64, deadline int64, ref bool)) {
	for i := range w.slab.entries {
		b := w.slab.entry(i).block
		if b == nil {
			continue
		}
		for j := range b.nodes {
			if n := &b.nodes[j]; n.where() != idle {
				f(n.id, n.seq(), n.deadline, n.ref())
			}
		}
	}
}

// drop releases a timer of the block that has been removed from its order.
func (w *Wheel) drop(b *block, n *node) {
	if n.ref() {
		w.refs--
	}
	w.slab.release(b, n)
}
