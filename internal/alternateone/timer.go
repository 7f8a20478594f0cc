package alternateone

// Timers: a binary heap for their order, a map for their IDs, and checks that the two agree.

import (
	"container/heap"
	"errors"
	"time"

	"github.com/turnloop/turnloop/internal/loopapi"
	"github.com/turnloop/turnloop/internal/rival"
)

// timer is a pending timer. Deadlines are nanoseconds since the loop's anchor.
type timer struct {
	id       loopapi.TimerID // IDs are in the order of scheduling
	deadline int64
	at       int // the index in the heap
	fn       func()
}

func (t *timer) before(u *timer) bool {
	return t.deadline < u.deadline || t.deadline == u.deadline && t.id < u.id
}

// order is the heap, for container/heap.
type order []*timer

func (o order) Len() int           { return len(o) }
func (o order) Less(i, j int) bool { return o[i].before(o[j]) }
func (o order) Swap(i, j int)      { o[i], o[j] = o[j], o[i]; o[i].at, o[j].at = i, j }
func (o *order) Push(x any)        { t := x.(*timer); t.at = len(*o); *o = append(*o, t) }
func (o *order) Pop() any {
	last := len(*o) - 1
	t := (*o)[last]
	(*o)[last] = nil
	*o = (*o)[:last]
	return t
}

var (
	errTimerNames = errors.New("the heap of timers and the map of their names disagree")
	errTimerOrder = errors.New("the heap of timers is out of order")
)

// timersKeep is the number of free timers that are kept for reuse. An empty map that has held more timers is dropped.
const timersKeep = 1024

// timers holds the pending timers. It has no lock and no clock.
type timers struct {
	ledger // cancelled timers count as dropped
	order  order
	byID   map[loopapi.TimerID]*timer
	most   int      // the largest length of byID since it was made
	spare  []*timer // free timers
}

// check is the constant-time check after a change at index i of the heap.
func (ts *timers) check(i int) error {
	o := ts.order
	if len(o) != len(ts.byID) {
		return errTimerNames
	}
	if i < len(o) {
		t := o[i]
		if t.at != i || t.fn == nil || ts.byID[t.id] != t {
			return errTimerNames
		}
		if 2*i+1 < len(o) && o[2*i+1].before(t) || 2*i+2 < len(o) && o[2*i+2].before(t) {
			return errTimerOrder
		}
	}
	return ts.balance(len(o))
}

// audit checks all timers.
func (ts *timers) audit() error {
	for i := range ts.order {
		if err := ts.check(i); err != nil {
			return err
		}
	}
	return ts.check(0)
}

func (ts *timers) insert(id loopapi.TimerID, deadline int64, fn func()) error {
	var t *timer
	if n := len(ts.spare); n > 0 {
		t, ts.spare = ts.spare[n-1], ts.spare[:n-1]
	} else {
		t = new(timer)
	}
	*t = timer{id: id, deadline: deadline, fn: fn}
	if ts.byID == nil {
		ts.byID = map[loopapi.TimerID]*timer{}
	}
	if ts.byID[id] != nil {
		return errTimerNames
	}
	ts.byID[id] = t
	ts.most = max(ts.most, len(ts.byID))
	heap.Push(&ts.order, t)
	ts.accepted++
	return ts.check(t.at)
}

// take removes a timer from heap and map, and returns its function and its number.
func (ts *timers) take(t *timer) (task, error) {
	at := t.at
	if at < 0 || at >= len(ts.order) || ts.order[at] != t || ts.byID[t.id] != t {
		return task{}, errTimerNames
	}
	heap.Remove(&ts.order, at)
	delete(ts.byID, t.id)
	taken := task{t.fn, uint64(t.id)}
	*t = timer{}
	if len(ts.spare) < timersKeep {
		ts.spare = append(ts.spare, t)
	}
	if len(ts.byID) == 0 && ts.most > timersKeep { // after a burst
		ts.byID, ts.order, ts.most = nil, nil, 0
	}
	return taken, nil
}

// cancel drops a timer, and reports whether it was pending.
func (ts *timers) cancel(id loopapi.TimerID) (bool, error) {
	t := ts.byID[id]
	if t == nil {
		return false, nil
	}
	at := t.at
	if _, err := ts.take(t); err != nil {
		return false, err
	}
	ts.dropped++
	return true, ts.check(at)
}

// earliest returns the first deadline, or rival.Never if no timer is pending.
func (ts *timers) earliest() int64 {
	if len(ts.order) == 0 {
		return rival.Never
	}
	return ts.order[0].deadline
}

// due reports whether the first timer is due at now, and its ID is not above last.
func (ts *timers) due(now int64, last uint64) bool {
	return ts.earliest() <= now && uint64(ts.order[0].id) <= last
}

// pop takes the first timer out. At least one must be pending.
func (ts *timers) pop() (task, error) {
	first := *ts.order[0]
	t, err := ts.take(ts.order[0])
	if err != nil {
		return t, err
	}
	ts.started++
	if len(ts.order) > 0 && ts.order[0].before(&first) {
		return t, errTimerOrder
	}
	return t, ts.check(0)
}

func (ts *timers) drop() {
	ts.dropped += uint64(len(ts.order))
	ts.order, ts.byID, ts.spare = nil, nil, nil
}

// ScheduleTimer implements loopapi.TimerScheduler. It takes the loop's lock, and time in proportion to the logarithm of the
// number of pending timers.
func (l *Loop) ScheduleTimer(delay time.Duration, fn func()) (loopapi.TimerID, error) {
	const op = "ScheduleTimer"
	if fn == nil {
		return 0, l.fail(op, loopapi.ErrNilCallback)
	}
	id, asleep := l.insertTimer(op, delay, fn)
	if id == 0 {
		return 0, l.fail(op, loopapi.ErrLoopTerminated)
	}
	if asleep {
		l.wake(op)
	}
	return id, nil
}

// insertTimer reads the clock under the lock, so that the order of scheduling and that of deadlines agree.
func (l *Loop) insertTimer(op string, delay time.Duration, fn func()) (id loopapi.TimerID, asleep bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ending() {
		return 0, false
	}
	deadline := rival.Deadline(l.Now(), delay)
	l.ids++
	id = loopapi.TimerID(l.ids)
	earlier := deadline < l.timers.earliest()
	if err := l.timers.insert(id, deadline, fn); err != nil {
		l.violated(op, err, "timer", id, "pending", len(l.timers.order))
	}
	return id, earlier && l.state.load() == sleeping
}

// CancelTimer implements loopapi.TimerScheduler, at the cost of ScheduleTimer.
func (l *Loop) CancelTimer(id loopapi.TimerID) error {
	const op = "CancelTimer"
	l.mu.Lock()
	defer l.mu.Unlock()
	found, err := l.timers.cancel(id)
	if err != nil {
		l.violated(op, err, "timer", id, "pending", len(l.timers.order))
	}
	if !found {
		return l.fail(op, loopapi.ErrTimerNotFound, "timer", id)
	}
	return nil
}
