package alternateone

// What the tests need from inside: the seam for the poller, the data structures, and ways to break each invariant.

import (
	"context"
	"errors"
	"time"

	"github.com/turnloop/turnloop/internal/loopapi"
	"github.com/turnloop/turnloop/internal/rival"
)

type (
	Queue = queue
	Task  = task
)

const ChunkSize = chunkSize

// UsePoller has a fresh loop wait with another poller.
func (l *Loop) UsePoller(p rival.Poller) error {
	err := l.poller.Close()
	l.poller = p
	return err
}

func NewTask(id uint64, fn func()) Task { return task{fn, id} }
func (t Task) ID() uint64               { return t.id }
func (t Task) Empty() bool              { return t.fn == nil && t.id == 0 }

func (q *queue) Push(t Task) error  { return q.push(t) }
func (q *queue) Pop() (Task, error) { return q.pop() }

// HeadSlots returns the slots of the first chunk, of which the queue may let go.
func (q *queue) HeadSlots() *[chunkSize]task { return &q.head.slots }

// Transition moves the loop's state, as the loop does.
func (l *Loop) Transition(to loopapi.State) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.transition("test", to)
}

// SetState sets the state behind the table's back, and RawState reads it without a check.
func (l *Loop) SetState(s loopapi.State) { l.state.w.Store(int32(s)) }
func (l *Loop) RawState() loopapi.State  { return l.state.load() }

// MoveStale takes a legal step whose start was read before somebody else changed the state.
func (l *Loop) MoveStale() {
	l.SetState(terminating)
	if err := l.state.move(awake, running); err != nil {
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

// TableLocked tells whether anybody holds the lock of the table.
func (l *Loop) TableLocked() bool {
	free := l.table.mu.TryLock()
	if free {
		l.table.mu.Unlock()
	}
	return !free
}

// Miscount adds to the number of external tasks that the loop believes to have accepted.
func (l *Loop) Miscount(n int) { l.external.accepted += uint64(n) }

// Breaks are ways to break an invariant of a loop that never ran and has two of each kind of work waiting, and more timers. Find
// makes the loop take the step, of the name Op, that finds the broken invariant.
var Breaks = []struct {
	Name        string
	Break, Find func(l *Loop)
	Op          string
}{
	{"queue: write position", func(l *Loop) { l.external.tail.write-- }, submit, "Submit"},
	{"queue: read position", func(l *Loop) { l.external.head.read++ }, run, "next"},
	{"queue: length", func(l *Loop) { l.external.length++ }, submit, "Submit"},
	{"queue: slot emptied", func(l *Loop) { l.external.head.slots[0] = task{} }, run, "next"},
	{"queue: slot not cleared", func(l *Loop) {
		l.external.tail.slots[l.external.tail.write] = task{fn: func() {}}
	}, submit, "Submit"},
	{"queue: chunk lost", func(l *Loop) { l.external.head, l.external.tail = nil, nil }, run, "next"},
	{"queue: second chunk", func(l *Loop) { l.external.tail.next = new(chunk) }, run, "next"},
	{"queue: work vanished", func(l *Loop) {
		l.external.head, l.external.tail, l.external.length = nil, nil, 0
	}, end, "shutdown audit"},
	{"books: accepted", func(l *Loop) { l.Miscount(1) }, run, "next"},
	{"books: started", func(l *Loop) { l.internal.started++ }, submitInternal, "SubmitInternal"},
	{"books: work dropped", func(l *Loop) { l.external.drop() }, end, "shutdown audit"},
	{"line: position", func(l *Loop) { l.micro.head++ }, run, "next"},
	{"line: beyond its end", func(l *Loop) { l.micro.head = len(l.micro.tasks) + 1 }, microtask, "ScheduleMicrotask"},
	{"line: slot emptied", func(l *Loop) { l.micro.tasks[l.micro.head] = task{} }, run, "next"},
	{"timers: order", func(l *Loop) { l.timers.Heap[0].Deadline = l.timers.Heap[1].Deadline + 1 }, run, "sleep"},
	{"timers: place", func(l *Loop) { l.timers.Heap[0].At = 1 }, run, "next"},
	{"timers: name lost", func(l *Loop) { delete(l.timers.ByID, l.timers.Heap[0].ID) }, run, "next"},
	{"timers: name of other", func(l *Loop) {
		a, b := l.timers.Heap[8], l.timers.Heap[9]
		l.timers.ByID[a.ID], l.timers.ByID[b.ID] = b, a
	}, end, "shutdown phase timers"},
	{"timers: books", func(l *Loop) { l.timers.dropped++ }, schedule, "ScheduleTimer"},
	{"timers: deep order", func(l *Loop) { o := l.timers.Heap; o.Swap(0, len(o)-1) }, end, "shutdown phase timers"},
	{"table: guests", func(l *Loop) { l.admitted = l.announced + 1 }, run, "poll"},
	{"phases: skipped", func(l *Loop) { l.phase = 3 }, end, "shutdown audit"},
	{"clock", func(l *Loop) { l.SetTickTime(rival.Never) }, run, "tick"},
	{"poller", func(l *Loop) { l.poller = brokenPoller{l.poller} }, end, "shutdown phase descriptors"},
}

func submit(l *Loop)         { _ = l.Submit(func() {}) }
func submitInternal(l *Loop) { _ = l.SubmitInternal(func() {}) }
func microtask(l *Loop)      { _ = l.ScheduleMicrotask(func() {}) }
func schedule(l *Loop)       { _, _ = l.ScheduleTimer(time.Hour, func() {}) }
func run(l *Loop)            { _ = l.Run(context.Background()) }

// end runs the loop to a graceful end on the calling goroutine.
func end(l *Loop) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_ = l.Run(ctx)
}

// RunHere and EndHere run a loop on the calling goroutine.
var RunHere, EndHere = run, end

// TableBreaks are ways to break an entry of the table of descriptors.
var TableBreaks = map[string]func(w *watch){
	"entry of other": func(w *watch) { w.fd++ },
	"tag":            func(w *watch) { w.id++ },
	"callback":       func(w *watch) { w.callback = nil },
}

// BreakTable breaks the entries of the table of descriptors.
func (l *Loop) BreakTable(how func(w *watch)) {
	for _, w := range l.table.watch {
		how(w)
	}
}

type brokenPoller struct{ rival.Poller }

func (p brokenPoller) Close() error {
	return errors.Join(p.Poller.Close(), errors.New("broken on purpose"))
}
