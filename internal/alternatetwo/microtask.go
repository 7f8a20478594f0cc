package alternatetwo

// Microtasks: the ring, its overflow, and the checkpoint.

import "github.com/turnloop/turnloop/internal/loopapi"

const (
	ringSize  = 4096
	spillKeep = 4096 // longest overflow buffer that is kept when it is empty
)

// ring is a queue of functions that only the loop touches, so it needs neither lock nor atomic; other goroutines
// reach it through a lane. A function goes to the overflow if the ring is full or there already is an overflow. The
// overflow moves into the ring when that is empty, so functions are popped in the order of pushes.
type ring struct {
	buf        []func() // its length is a power of two
	head, tail uint32   // positions of the next pop and the next push, equal when the ring is empty; they grow and wrap
	stop       uint32   // the tail at which push overflows: a ring's length behind head, or tail while there is an overflow
	spill      []func() // the overflow
	spilled    int      // the number of functions of the overflow that have moved into the ring
}

func (r *ring) empty() bool { return r.head == r.tail }

func (r *ring) push(fn func()) {
	if r.tail == r.stop {
		r.overflow(fn)
		return
	}
	r.buf[int(r.tail)&(len(r.buf)-1)] = fn
	r.tail++
}

// overflow is not inlined, so that push is.
//
//go:noinline
func (r *ring) overflow(fn func()) {
	if r.buf == nil {
		r.buf = make([]func(), ringSize)
		r.stop = r.head + ringSize
		r.push(fn)
		return
	}
	r.spill = append(r.spill, fn)
	r.stop = r.tail
}

// pop takes the first function; there must be one.
func (r *ring) pop() func() {
	p := &r.buf[int(r.head)&(len(r.buf)-1)]
	fn := *p
	*p = nil
	r.head++
	if len(r.spill) == 0 {
		r.stop++
	} else if r.head == r.tail {
		r.refill()
	}
	return fn
}

// refill moves as much of the overflow into the empty ring as the ring can hold. When most of the overflow has moved, the
// rest goes to the front, so that an overflow that never becomes empty does not grow for ever.
func (r *ring) refill() {
	n := min(len(r.spill)-r.spilled, len(r.buf))
	moving := r.spill[r.spilled : r.spilled+n]
	for _, fn := range moving {
		r.buf[int(r.tail)&(len(r.buf)-1)] = fn
		r.tail++
	}
	clear(moving)
	r.stop = r.tail
	if r.spilled += n; r.spilled < len(r.spill)-r.spilled {
		return
	}
	left := copy(r.spill, r.spill[r.spilled:])
	clear(r.spill[max(left, r.spilled):])
	r.spill, r.spilled = r.spill[:left], 0
	if left != 0 {
		return
	}
	r.stop = r.head + uint32(len(r.buf))
	if cap(r.spill) > spillKeep {
		r.spill = nil
	}
}

// ScheduleMicrotask implements loopapi.MicrotaskScheduler. On the loop it takes no lock, no atomic read-modify-write and no
// allocation, unless microtasks of other goroutines must be taken in first. From another goroutine it is refused already when
// the loop is about to end.
func (l *Loop) ScheduleMicrotask(fn func()) error {
	if fn == nil {
		return loopapi.ErrNilCallback
	}
	if !l.OnLoop() {
		return l.enter(&l.foreign, fn)
	}
	if l.state.closing() {
		return loopapi.ErrLoopTerminated
	}
	if !l.foreign.empty() {
		l.adopt() // microtasks that were scheduled before fn
	}
	l.micro.push(fn)
	return nil
}

// adopt moves the microtasks that other goroutines have scheduled so far into the ring. It waits for a producer between
// claim and publication: calls behind that one may have returned, and later microtasks must not overtake theirs. It does
// not wait for later producers.
func (l *Loop) adopt() {
	q := &l.foreign
	end := q.tail.Load() // is not reused meanwhile: only the loop puts segments into the pool
	n := min(accepted(end.claim.Load()), segmentSize)
	for !q.empty() && (q.head != end || q.read < n) {
		if fn := q.pop(); fn != nil {
			l.micro.push(fn)
		}
	}
}

// afterCallback is the microtask checkpoint that follows each callback. It is cheap when there are no microtasks.
func (l *Loop) afterCallback() {
	if !l.micro.empty() || !l.foreign.empty() {
		l.checkpoint()
	}
}

// checkpoint runs microtasks until none is left or the budget is spent; then the rest waits for the next tick.
func (l *Loop) checkpoint() {
	for !l.microHeld {
		if !l.foreign.empty() {
			l.adopt()
		}
		if l.micro.empty() {
			l.microLeft = l.cfg.MicrotaskBudget
			l.breached = false
			return
		}
		for !l.micro.empty() {
			switch {
			case l.state.closing():
				return
			case l.microLeft == 0:
				l.microHeld = true
				l.faults.Overload(&l.breached, loopapi.ErrMicrotaskBudget)
				return
			}
			l.microLeft--
			l.micro.pop()()
		}
	}
}
