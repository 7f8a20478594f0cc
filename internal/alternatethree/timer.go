package alternatethree

// Timers: a binary heap under a mutex.

import (
	"container/heap"
	"sync"
	"sync/atomic"
	"time"

	"github.com/turnloop/turnloop/internal/loopapi"
	"github.com/turnloop/turnloop/internal/rival"
)

// timer is a pending timer. Its deadline is in nanoseconds since the loop's clock began. Its ID is also its place among equal
// deadlines: IDs are given out in order.
type timer struct {
	deadline int64
	id       loopapi.TimerID
	fn       func()
	index    int // in the heap
}

// spareTimers is the pool of free timers, all of them zero.
var spareTimers = sync.Pool{New: func() any { return new(timer) }}

// timers holds the pending timers. Any goroutine inserts and cancels; only the loop pops.
type timers struct {
	mu     sync.Mutex // guards all below; nothing else is locked and no user code is called under it
	heap   timerHeap
	byID   map[loopapi.TimerID]*timer
	lastID loopapi.TimerID

	// first is the heap's first deadline, or rival.Never if the heap is empty. It is written under mu after each change of the
	// heap. The loop reads it without mu to decide whether to yield before a sleep; before the sleep it looks under mu.
	first atomic.Int64
}

// heapKeep is the longest heap whose memory is kept when no timer is left.
const heapKeep = 1024

// ScheduleTimer implements loopapi.TimerScheduler. It costs the logarithm of the number of pending timers.
func (l *Loop) ScheduleTimer(delay time.Duration, fn func()) (loopapi.TimerID, error) {
	if fn == nil {
		return 0, loopapi.ErrNilCallback
	}
	id, first := l.insert(rival.Deadline(l.Now(), delay), fn)
	if id == 0 {
		return 0, loopapi.ErrLoopTerminated
	}
	if first {
		l.wakeIfSleeping() // its sleep must now end earlier
	}
	return id, nil
}

// insert adds a timer, and reports whether it is the first one. It returns the ID 0 when the loop is ending.
func (l *Loop) insert(deadline int64, fn func()) (id loopapi.TimerID, first bool) {
	t := &l.timers
	t.mu.Lock()
	defer t.mu.Unlock()
	if l.state.ending() {
		return 0, false
	}
	t.lastID++
	tm := spareTimers.Get().(*timer)
	tm.deadline, tm.id, tm.fn = deadline, t.lastID, fn
	t.byID[tm.id] = tm
	heap.Push(&t.heap, tm)
	t.noteFirst()
	return tm.id, tm.index == 0
}

// CancelTimer implements loopapi.TimerScheduler, at the cost of ScheduleTimer. The function is garbage at once.
func (l *Loop) CancelTimer(id loopapi.TimerID) error {
	t := &l.timers
	t.mu.Lock()
	defer t.mu.Unlock()
	tm := t.byID[id]
	if tm == nil {
		return loopapi.ErrTimerNotFound
	}
	t.remove(tm)
	return nil
}

// remove ends a pending timer and returns its function. The caller holds mu.
func (t *timers) remove(tm *timer) func() {
	fn := tm.fn
	heap.Remove(&t.heap, tm.index)
	delete(t.byID, tm.id)
	*tm = timer{}
	spareTimers.Put(tm)
	if len(t.heap) == 0 && cap(t.heap) > heapKeep {
		t.reset()
	}
	t.noteFirst()
	return fn
}

// reset forgets all timers, and the memory that many of them took. The caller holds mu.
func (t *timers) reset() {
	t.heap, t.byID = nil, make(map[loopapi.TimerID]*timer)
	t.noteFirst()
}

// noteFirst keeps first up to date. The caller holds mu.
func (t *timers) noteFirst() {
	if len(t.heap) == 0 {
		t.first.Store(rival.Never)
	} else {
		t.first.Store(t.heap[0].deadline)
	}
}

// popDue takes the first timer if its deadline is before now, and returns its function, or else nil.
func (t *timers) popDue(now int64) func() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.heap) == 0 || t.heap[0].deadline >= now {
		return nil
	}
	return t.remove(t.heap[0])
}

// timeout returns how long the loop may sleep from now on: not at all if it is zero, for ever if it is negative.
func (t *timers) timeout(now int64) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.heap) == 0 {
		return -1
	}
	return time.Duration(max(0, t.heap[0].deadline-now))
}

// runTimers fires the timers that were due before the tick's time. Timers that the callbacks schedule are not due before
// it, not even without delay, and so wait for a later tick: a timer that re-arms itself starves nothing.
func (l *Loop) runTimers() {
	for now := l.TickTime(); ; {
		fn := l.timers.popDue(now)
		if fn == nil || l.state.ending() { // the last look before a callback; an ending loop drops timers
			return
		}
		l.call(fn)
		l.checkpoint()
	}
}

// timerHeap implements heap.Interface.
type timerHeap []*timer

func (h timerHeap) Len() int { return len(h) }

func (h timerHeap) Less(i, j int) bool {
	if h[i].deadline != h[j].deadline {
		return h[i].deadline < h[j].deadline
	}
	return h[i].id < h[j].id
}

func (h timerHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

func (h *timerHeap) Push(x any) {
	tm := x.(*timer)
	tm.index = len(*h)
	*h = append(*h, tm)
}

func (h *timerHeap) Pop() any {
	last := len(*h) - 1
	tm := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	return tm
}
