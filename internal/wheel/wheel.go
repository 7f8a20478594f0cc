// Package wheel keeps timers in the order of their deadlines, as a pure data structure: no locks, no clock, no
// goroutines. Its owner inserts deadlines on a monotonic scale of its own and asks what is due.
//
// Deadlines are exact nanoseconds and the timers of a tier come out strictly by (deadline, order of insertion). Insert
// and Remove take constant time for timers beyond the current tick of about a millisecond, however many are pending.
// Within it they do too for timers that come in about the order of their deadlines; others cost the logarithm of the
// number of such timers there.
//
// This file is what the owner sees; order.go is the wheel proper, near.go orders the current tick, slab.go holds the
// memory of the timers.
package wheel

import "math"

// Tier says which of the timers a timer competes with: each tier has an order of its own and is popped by itself. When
// to pop which is up to the owner.
type Tier uint8

const (
	Normal Tier = iota
	Critical
	Background
)

// Tiers is the number of tiers.
const Tiers = 3

// Wheel is a set of pending timers. The zero value is empty and ready. It is not safe for concurrent use. Its methods
// take the tiers above and panic at any other.
type Wheel struct {
	orders [Tiers]order
	slab   slab // of all tiers, as is the sequence
	seq    uint64
	refs   int
	popped uint64
}

// PopDue removes the earliest timer of a tier, by (deadline, sequence), and returns its function, provided that its
// deadline is not after now and its sequence number is less than before. A caller that passes the Seq of the start of
// its phase thus never runs what the phase itself inserted. When nothing is due the call costs a few comparisons.
//
// After PopDue(tier, now, Seq()) returned false for a now below math.MaxInt64, NextOf(tier) is after now: an owner that
// has popped what is due of all tiers, and sleeps until Next, does not spin.
func (w *Wheel) PopDue(tier Tier, now int64, before uint64) (fn func(), ok bool) {
	o := &w.orders[tier]
	for o.near.count == 0 {
		if o.used == 0 {
			return nil, false
		}
		level, i := o.first()
		if o.levels[level][i].min > now {
			return nil, false
		}
		o.cascade(&w.slab, level, i)
	}
	n := o.near.earliest
	if n.deadline > now || n.seq >= before {
		return nil, false
	}
	fn, w.popped = n.fn, n.id
	o.near.remove(&w.slab, n)
	w.drop(n)
	return fn, true
}

// Popped returns the ID of the timer that PopDue has removed last.
func (w *Wheel) Popped() uint64 { return w.popped }

// Next returns a lower bound of the earliest deadline of all tiers, which is exact as long as nothing was removed, and
// math.MaxInt64 when nothing is pending but timers that never fire.
func (w *Wheel) Next() int64 {
	next := int64(math.MaxInt64)
	for i := range w.orders {
		if o := &w.orders[i]; !o.empty() {
			next = min(next, o.next())
		}
	}
	return next
}

// NextOf returns for one tier what Next returns for all.
func (w *Wheel) NextOf(tier Tier) int64 {
	if o := &w.orders[tier]; !o.empty() {
		return o.next()
	}
	return math.MaxInt64
}

// Memory is what a wheel needs now and then to insert another timer.
type Memory = block

// Short tells whether the next Insert will allocate, unless Provide comes before: an owner that inserts under a lock
// need not do that there.
func (w *Wheel) Short() bool { return w.slab.room == nil && w.slab.spare == nil }

// Provide gives the wheel memory of its own for the next time that it is short.
func (w *Wheel) Provide(m *Memory) { w.slab.spare = m }

// Insert adds a timer that is due at deadline, in nanoseconds and at least 0. A deadline in the past is due at once,
// in its place by deadline; math.MaxInt64 means never. The timer counts in Refs if ref is set. The id is not 0 and is
// never used again, in whatever tier. Insert panics when 2^28 timers are pending.
func (w *Wheel) Insert(tier Tier, deadline int64, fn func(), ref bool) (id uint64) {
	o := &w.orders[tier]
	n := w.slab.alloc()
	n.deadline, n.fn, n.tier, n.ref = deadline, fn, tier, ref
	n.seq = w.seq
	w.seq++
	if ref {
		w.refs++
	}
	o.place(&w.slab, n)
	return n.id
}

// Remove takes a pending timer out and lets go of its function at once. It returns false when the timer has been
// popped or removed, or never was.
func (w *Wheel) Remove(id uint64) bool {
	n := w.slab.find(id)
	if n == nil {
		return false
	}
	w.orders[n.tier].remove(&w.slab, n)
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

// Seq returns the sequence number that the next Insert will get, whatever its tier. It grows by one per Insert and does
// not wrap within five centuries of an insertion per nanosecond.
func (w *Wheel) Seq() uint64 { return w.seq }

// Len returns the number of pending timers.
func (w *Wheel) Len() int { return w.slab.live }

// Refs returns the number of pending timers that were inserted, or last set, with ref.
func (w *Wheel) Refs() int { return w.refs }

// Each calls f for each pending timer, in no order. It takes time in proportion to the most that have been pending.
func (w *Wheel) Each(f func(id uint64, deadline int64, ref bool)) {
	for i := range w.slab.directory {
		b := w.slab.directory[i].block
		if b == nil {
			continue
		}
		for j := range b.nodes {
			if n := &b.nodes[j]; n.where != idle {
				f(n.id, n.deadline, n.ref)
			}
		}
	}
}

// drop ends a timer that has been taken out of its order.
func (w *Wheel) drop(n *node) {
	if n.ref {
		w.refs--
	}
	w.slab.release(n)
}
