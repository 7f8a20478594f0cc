package alternateone

// What the tests need from inside: the seam for the poller, the data structures, and ways to break each invariant.

import (
	"errors"

	"github.com/turnloop/turnloop/internal/loopapi"
)

type (
	Readiness = readiness
	Queue     = queue
	Line      = line
	Timers    = timers
	Task      = task
)

const ChunkSize = chunkSize

// UsePoller has a fresh loop wait with another poller.
func (l *Loop) UsePoller(p Readiness) error {
	err := l.poller.Close()
	l.poller = p
	return err
}

func NewTask(id uint64, fn func()) Task { return task{fn, id} }
func (t Task) ID() uint64               { return t.id }
func (t Task) Empty() bool              { return t.fn == nil && t.id == 0 }

func (q *queue) Push(t Task) error  { return q.push(t) }
func (q *queue) Pop() (Task, error) { return q.pop() }
func (q *queue) Len() int           { return q.length }

// HeadSlots returns the slots of the first chunk, of which the queue may let go.
func (q *queue) HeadSlots() *[chunkSize]task { return &q.head.slots }

func (q *line) Push(t Task) error  { return q.push(t) }
func (q *line) Pop() (Task, error) { return q.pop() }
func (q *line) Len() int           { return q.len() }
func (q *line) Cap() int           { return cap(q.tasks) }

func (ts *timers) Insert(id loopapi.TimerID, at int64, fn func()) error { return ts.insert(id, at, fn) }
func (ts *timers) Cancel(id loopapi.TimerID) (bool, error)              { return ts.cancel(id) }
func (ts *timers) Due(now int64, limit uint64) bool                     { return ts.due(now, limit) }
func (ts *timers) Pop() (Task, error)                                   { return ts.pop() }
func (ts *timers) Audit() error                                         { return ts.audit() }
func (ts *timers) Len() int                                             { return len(ts.order) }

// Transition moves the loop's state, as the loop does.
func (l *Loop) Transition(to loopapi.State) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.transition("test", to)
}

// SetState sets the state behind the table's back.
func (l *Loop) SetState(s loopapi.State) { l.state.w.Store(int32(s)) }

// RawState reads the state without a check.
func (l *Loop) RawState() loopapi.State { return l.state.load() }

// MoveStale takes a legal step whose start was read before somebody else changed the state.
func (l *Loop) MoveStale() {
	l.SetState(awake)
	from := l.state.load()
	l.SetState(terminating)
	if err := l.state.move(from, running); err != nil {
		l.violated("test", err)
	}
}

// Next decides what runs next, on the caller's goroutine.
func (l *Loop) Next() { l.next(false) }

// Callback starts a callback.
func (l *Loop) Callback() { l.invoke(job{KindTask, task{fn: func() {}}}) }

// Announced tells how many goroutines want to get into the table of descriptors.
func (l *Loop) Announced() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return int(l.announced - l.admitted)
}

// TableLocked and IngressLocked tell whether anybody holds the lock.
func (l *Loop) TableLocked() bool {
	if l.table.mu.TryLock() {
		l.table.mu.Unlock()
		return false
	}
	return true
}

func (l *Loop) IngressLocked() bool {
	if l.mu.TryLock() {
		l.mu.Unlock()
		return false
	}
	return true
}

// Breaks are ways to break an invariant of a loop that has at least two of each kind of work waiting, or nothing.
var Breaks = map[string]func(l *Loop){
	"queue: write position": func(l *Loop) { l.external.tail.write-- },
	"queue: read position":  func(l *Loop) { l.external.head.read++ },
	"queue: length":         func(l *Loop) { l.external.length++ },
	"queue: slot emptied":   func(l *Loop) { l.external.head.slots[0] = task{} },
	"queue: slot not cleared": func(l *Loop) {
		l.external.tail.slots[l.external.tail.write] = task{fn: func() {}}
	},
	"queue: chunk lost":    func(l *Loop) { l.external.head, l.external.tail = nil, nil },
	"queue: second chunk":  func(l *Loop) { l.external.tail.next = new(chunk) },
	"books: accepted":      func(l *Loop) { l.external.accepted++ },
	"books: started":       func(l *Loop) { l.internal.started++ },
	"queue: work vanished": func(l *Loop) { l.external.head, l.external.tail, l.external.length = nil, nil, 0 },
	"books: work dropped":  func(l *Loop) { l.external.drop() },
	"line: position":       func(l *Loop) { l.micro.head++ },
	"line: beyond its end": func(l *Loop) { l.micro.head = len(l.micro.tasks) + 1 },
	"line: slot emptied":   func(l *Loop) { l.micro.tasks[l.micro.head] = task{} },
	"timers: order":        func(l *Loop) { l.timers.order[0].deadline = l.timers.order[1].deadline + 1 },
	"timers: place":        func(l *Loop) { l.timers.order[0].at = 1 },
	"timers: name lost":    func(l *Loop) { delete(l.timers.byID, l.timers.order[0].id) },
	"timers: name of other": func(l *Loop) {
		a, b := l.timers.order[8], l.timers.order[9]
		l.timers.byID[a.id], l.timers.byID[b.id] = b, a
	},
	"timers: books":      func(l *Loop) { l.timers.dropped++ },
	"timers: deep order": func(l *Loop) { o := l.timers.order; o.Swap(0, len(o)-1) },
	"table: entry of other": func(l *Loop) {
		for _, w := range l.table.watch {
			w.fd++
		}
	},
	"table: tag": func(l *Loop) {
		for _, w := range l.table.watch {
			w.id++
		}
	},
	"table: callback": func(l *Loop) {
		for _, w := range l.table.watch {
			w.callback = nil
		}
	},
	"table: guests":           func(l *Loop) { l.admitted = l.announced + 1 },
	"books: accepted, undone": func(l *Loop) { l.external.accepted-- },
	"phases: skipped":         func(l *Loop) { l.phase = 3 },
	"clock":                   func(l *Loop) { l.tickTime.Store(never) },
	"owner":                   func(l *Loop) { l.owner.Store(1) },
	"poller":                  func(l *Loop) { l.poller = brokenPoller{l.poller} },
}

type brokenPoller struct{ readiness }

func (p brokenPoller) Close() error {
	return errors.Join(p.readiness.Close(), errors.New("broken on purpose"))
}
