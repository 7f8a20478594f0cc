package alternatethree

// Microtasks: functions that run right after the current callback.

import "github.com/turnloop/turnloop/internal/loopapi"

// ring is the queue of microtasks. It belongs to the loop's goroutine alone and so needs no lock. The length of its
// buffer is a power of two.
type ring struct {
	fns  []func()
	head uint // index of the first function; it counts on, and may wrap
	n    uint // how many are queued
}

const (
	ringStart = 64
	ringKeep  = 1024 // an empty ring gives a longer buffer back
)

func (r *ring) empty() bool { return r.n == 0 }

func (r *ring) push(fn func()) {
	if r.n == uint(len(r.fns)) {
		r.grow()
	}
	r.fns[(r.head+r.n)&uint(len(r.fns)-1)] = fn
	r.n++
}

// pop takes the first function of a ring that is not empty, and clears its slot.
func (r *ring) pop() func() {
	slot := &r.fns[r.head&uint(len(r.fns)-1)]
	fn := *slot
	*slot = nil
	r.head++
	r.n--
	return fn
}

func (r *ring) grow() {
	fns := make([]func(), max(ringStart, 2*len(r.fns)))
	for i := range r.n {
		fns[i] = r.fns[(r.head+i)&uint(len(r.fns)-1)]
	}
	r.fns, r.head = fns, 0
}

func (r *ring) shrink() {
	if len(r.fns) > ringKeep {
		*r = ring{}
	}
}

// ScheduleMicrotask implements loopapi.MicrotaskScheduler. On the loop it takes no lock, unless there is work of other
// goroutines to take in first; those pay what SubmitInternal costs.
func (l *Loop) ScheduleMicrotask(fn func()) error {
	switch {
	case !l.OnLoop():
		return l.enqueue(&l.in.microtasks, fn)
	case fn == nil:
		return loopapi.ErrNilCallback
	case l.closing.Load():
		return loopapi.ErrLoopTerminated
	}
	if l.in.urgent.Load() {
		l.collect() // microtasks that were scheduled before
	}
	l.micro.push(fn)
	return nil
}

// checkpoint runs microtasks until none is left. When the budget is spent it holds the rest back until the next tick, so
// that tasks, timers and I/O progress under an endless chain.
func (l *Loop) checkpoint() {
	for !l.microHeld {
		if l.in.urgent.Load() {
			l.collect()
		}
		if l.closing.Load() {
			return
		}
		if l.micro.empty() {
			l.micro.shrink()
			l.microLeft = l.cfg.MicrotaskBudget
			l.microBreach = false
			return
		}
		if l.microLeft == 0 {
			l.microHeld = true
			l.faults.Overload(&l.microBreach, loopapi.ErrMicrotaskBudget)
			return
		}
		l.microLeft--
		l.faults.Call(l.micro.pop())
	}
}
