package rival

// Pending timers as a data structure, for rivals that do not bet on another one.

import (
	"container/heap"

	"github.com/turnloop/turnloop/internal/loopapi"
)

// Timer is a pending timer.
type Timer struct {
	ID       loopapi.TimerID // also its place among equal deadlines: IDs are given out in order
	Deadline int64           // in nanoseconds since Init
	Fn       func()
	At       int // its index in the heap
}

// Before reports whether t fires before u.
func (t *Timer) Before(u *Timer) bool {
	return t.Deadline < u.Deadline || t.Deadline == u.Deadline && t.ID < u.ID
}

// Timers are the pending timers of a loop, which guards them by a lock of its own: a heap for their order, and a map for their IDs.
// The loop may read the fields, to check them; it changes them by the methods only.
type Timers struct {
	Heap Heap
	ByID map[loopapi.TimerID]*Timer

	most  int      // the largest number of timers since none was pending
	spare []*Timer // free timers
}

// timersKeep is how many timers may have been pending at once without their memory being given back when none is.
const timersKeep = 1024

// Insert adds a timer. No pending one may have its ID.
func (ts *Timers) Insert(id loopapi.TimerID, deadline int64, fn func()) *Timer {
	var t *Timer
	if n := len(ts.spare); n > 0 {
		t, ts.spare = ts.spare[n-1], ts.spare[:n-1]
	} else {
		t = new(Timer)
	}
	*t = Timer{ID: id, Deadline: deadline, Fn: fn}
	if ts.ByID == nil {
		ts.ByID = map[loopapi.TimerID]*Timer{}
	}
	ts.ByID[id] = t
	heap.Push(&ts.Heap, t)
	ts.most = max(ts.most, len(ts.Heap))
	return t
}

// Remove ends a pending timer and returns its function.
func (ts *Timers) Remove(t *Timer) func() {
	fn := t.Fn
	heap.Remove(&ts.Heap, t.At)
	delete(ts.ByID, t.ID)
	*t = Timer{}
	ts.spare = append(ts.spare, t)
	if len(ts.Heap) == 0 {
		if ts.most > timersKeep {
			*ts = Timers{}
		}
		ts.most = 0
	}
	return fn
}

// Earliest returns the first deadline, or Never if no timer is pending.
func (ts *Timers) Earliest() int64 {
	if len(ts.Heap) == 0 {
		return Never
	}
	return ts.Heap[0].Deadline
}

// Heap implements heap.Interface. The first timer is the one that fires first.
type Heap []*Timer

func (h Heap) Len() int           { return len(h) }
func (h Heap) Less(i, k int) bool { return h[i].Before(h[k]) }
func (h Heap) Swap(i, k int)      { h[i], h[k] = h[k], h[i]; h[i].At, h[k].At = i, k }
func (h *Heap) Push(x any)        { t := x.(*Timer); t.At = len(*h); *h = append(*h, t) }
func (h *Heap) Pop() any {
	last := len(*h) - 1
	t := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	return t
}
