package alternateone

// Timers: checks that the heap of their order and the map of their IDs agree.

import (
	"errors"
	"time"

	"github.com/turnloop/turnloop/internal/loopapi"
	"github.com/turnloop/turnloop/internal/rival"
)

var (
	errTimerNames = errors.New("the heap of timers and the map of their names disagree")
	errTimerOrder = errors.New("the heap of timers is out of order")
)

// timers holds the pending timers. It has no lock and no clock. Cancelled timers count as dropped.
type timers struct {
	ledger
	rival.Timers
}

// check is the constant-time check after a change at index i of the heap.
func (ts *timers) check(i int) error {
	h := ts.Heap
	if len(h) != len(ts.ByID) {
		return errTimerNames
	}
	if i < len(h) {
		t := h[i]
		if t.At != i || t.Fn == nil || ts.ByID[t.ID] != t {
			return errTimerNames
		}
		if 2*i+1 < len(h) && h[2*i+1].Before(t) || 2*i+2 < len(h) && h[2*i+2].Before(t) {
			return errTimerOrder
		}
	}
	return ts.balance(len(h))
}

// audit checks all timers.
func (ts *timers) audit() error {
	for i := range ts.Heap {
		if err := ts.check(i); err != nil {
			return err
		}
	}
	return ts.check(0)
}

func (ts *timers) insert(id loopapi.TimerID, deadline int64, fn func()) error {
	if ts.ByID[id] != nil {
		return errTimerNames
	}
	t := ts.Insert(id, deadline, fn)
	ts.accepted++
	return ts.check(t.At)
}

// take removes a timer from heap and map, and returns its function and its number.
func (ts *timers) take(t *rival.Timer) (task, error) {
	if t.At < 0 || t.At >= len(ts.Heap) || ts.Heap[t.At] != t || ts.ByID[t.ID] != t {
		return task{}, errTimerNames
	}
	id := uint64(t.ID)
	return task{ts.Remove(t), id}, nil
}

// cancel drops a timer, and reports whether it was pending.
func (ts *timers) cancel(id loopapi.TimerID) (bool, error) {
	t := ts.ByID[id]
	if t == nil {
		return false, nil
	}
	at := t.At
	if _, err := ts.take(t); err != nil {
		return false, err
	}
	ts.dropped++
	return true, ts.check(at)
}

// due reports whether the first timer is due at now, and its ID is not above last.
func (ts *timers) due(now int64, last uint64) bool {
	return ts.Earliest() <= now && uint64(ts.Heap[0].ID) <= last
}

// pop takes the first timer out. At least one must be pending.
func (ts *timers) pop() (task, error) {
	first := *ts.Heap[0]
	t, err := ts.take(ts.Heap[0])
	if err != nil {
		return t, err
	}
	ts.started++
	if len(ts.Heap) > 0 && ts.Heap[0].Before(&first) {
		return t, errTimerOrder
	}
	return t, ts.check(0)
}

func (ts *timers) drop() {
	ts.dropped += uint64(len(ts.Heap))
	ts.Timers = rival.Timers{}
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
	earlier := deadline < l.timers.Earliest()
	if err := l.timers.insert(id, deadline, fn); err != nil {
		l.violated(op, err, "timer", id, "pending", len(l.timers.Heap))
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
		l.violated(op, err, "timer", id, "pending", len(l.timers.Heap))
	}
	if !found {
		return l.fail(op, loopapi.ErrTimerNotFound, "timer", id)
	}
	return nil
}
