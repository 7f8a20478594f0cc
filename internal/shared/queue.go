// Package shared has a queue from which several loops take tasks. It knows no loop.
package shared

import (
	"github.com/turnloop/turnloop/internal/loopapi"
	"github.com/turnloop/turnloop/internal/place"
	"github.com/turnloop/turnloop/internal/sched"
	"github.com/turnloop/turnloop/internal/sched/atomic"
)

// Task is a function, with what its producer notes for those who measure it.
type Task struct {
	Fn       func()
	Accepted int64        // when, on a clock that the loops share; 0 if that was not noted
	Place    *place.Place // from where, in debug mode
}

const chunkSize = 64

// chunk is a run of tasks. Producers fill it from the front, and loops empty it from the front. It is used once: a loop that
// comes late to a chunk must find it as it was left.
type chunk struct {
	before int64 // tasks that were put into earlier chunks; fixed
	// taken counts the tasks that loops have taken. A loop takes the next one by raising taken from a value below written, and
	// then owns that slot.
	taken atomic.Uint32
	_     [64]byte
	// written counts the tasks that were put in. A producer writes it after the slot, under the queue's lock; who has read it
	// may read the slots before it.
	written atomic.Uint32
	next    atomic.Pointer[chunk] // written once, under the queue's lock, when this chunk is full
	tasks   [chunkSize]Task
}

// Queue is a FIFO of tasks, which any goroutine fills and several loops empty. To put a task in takes a lock, to take one out
// takes none: a loop never waits for those who submit. The nil Queue is empty, and stays so.
//
// Each task is handed out by itself, never in a batch. So a task that blocks its loop keeps none behind it from other loops.
type Queue struct {
	limit int                 // the most tasks that wait; 0 for no limit; fixed
	wake  func(mayYield bool) // wakes a loop that sleeps, if there is one; fixed

	head atomic.Pointer[chunk] // the first chunk that has tasks, nil at first; a loop that has found it read to its end moves head on
	_    [64]byte
	mu   sched.Mutex // held to put tasks in; guards writes of what follows
	tail atomic.Pointer[chunk]
	// sealed is set for good when nothing is accepted any more.
	sealed atomic.Bool
}

// New returns a queue in which at most limit tasks wait, any number if limit is 0. wake wakes one of the loops if one sleeps;
// mayYield tells it that it may let others run.
func New(limit int, wake func(mayYield bool)) *Queue {
	return &Queue{limit: limit, wake: wake}
}

// Put appends a task, and wakes a loop if one sleeps. It returns how many tasks wait if the task began a chunk, and 0 for most. Put
// refuses the task with ErrLoopTerminated when the queue is sealed, without its lock, and with ErrLoopOverloaded at the limit.
//
// Put writes, and then looks for a loop that sleeps. A loop commits to sleep, and then looks into the queue. So no task waits
// while a loop sleeps.
func (q *Queue) Put(t Task) (backlog int, err error) {
	if q.sealed.Load() {
		return 0, loopapi.ErrLoopTerminated
	}
	if backlog, err = q.put(t); err == nil {
		q.wake(true)
	}
	return backlog, err
}

func (q *Queue) put(t Task) (backlog int, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.sealed.Load():
		return 0, loopapi.ErrLoopTerminated
	case q.limit > 0 && q.Len() >= q.limit:
		return 0, loopapi.ErrLoopOverloaded
	}
	c, n := q.tail.Load(), uint32(chunkSize)
	if c != nil {
		n = c.written.Load()
	}
	if n == chunkSize {
		backlog = q.Len() + 1
		c, n = q.grow(c), 0
	}
	c.tasks[n] = t
	c.written.Store(n + 1)
	return backlog, nil
}

// grow appends a chunk behind the last one, which is nil if there is none. The caller holds mu.
func (q *Queue) grow(last *chunk) *chunk {
	c := new(chunk)
	if last == nil {
		q.tail.Store(c)
		q.head.Store(c)
		return c
	}
	c.before = last.before + chunkSize
	q.tail.Store(c)
	last.next.Store(c)
	return c
}

// Take takes the first task out. It returns false if there is none.
func (q *Queue) Take() (t Task, ok bool) {
	for q != nil {
		c, n := q.first()
		if c == nil {
			break
		}
		if c.taken.CompareAndSwap(n, n+1) {
			t, c.tasks[n].Fn = c.tasks[n], nil
			return t, true
		}
	}
	return Task{}, false
}

// first returns the chunk and the slot of the first task, or nil if there is none.
func (q *Queue) first() (*chunk, uint32) {
	for {
		c := q.head.Load()
		if c == nil {
			return nil, 0
		}
		n := c.taken.Load()
		if n < c.written.Load() {
			return c, n
		}
		next := c.next.Load()
		if n < chunkSize || next == nil {
			return nil, 0
		}
		q.head.CompareAndSwap(c, next)
	}
}

// MayHaveWork tells whether a task waits.
func (q *Queue) MayHaveWork() bool { return q != nil && q.waits() }

func (q *Queue) waits() bool { c, _ := q.first(); return c != nil }

// PassOn has another loop look for the tasks that wait. A loop calls it before callbacks that go before them: it may have been
// woken for a task, and then has to wake another if it does not run the task at once.
func (q *Queue) PassOn() {
	if q.MayHaveWork() {
		q.wake(false)
	}
}

// Len returns how many tasks wait.
func (q *Queue) Len() int {
	if q == nil {
		return 0
	}
	first, last := q.head.Load(), q.tail.Load()
	if first == nil {
		return 0
	}
	return int(max(0, last.before+int64(last.written.Load())-first.before-int64(first.taken.Load())))
}

// Oldest returns how many tasks wait, and when and from where the first of them was accepted.
func (q *Queue) Oldest() (n int, accepted int64, from *place.Place) {
	if !q.MayHaveWork() {
		return 0, 0, nil
	}
	if c, i := q.first(); c != nil { // its Fn belongs to who takes it; the rest of a task does not change
		accepted, from = c.tasks[i].Accepted, c.tasks[i].Place
	}
	return q.Len(), accepted, from
}

// Seal has the queue accept nothing more, and tells whether it is empty, which it then stays.
func (q *Queue) Seal() (empty bool) {
	if q == nil {
		return true
	}
	if !q.sealed.Load() {
		q.mu.Lock()
		q.sealed.Store(true)
		q.mu.Unlock()
	}
	return !q.waits()
}

// Drop seals the queue and takes out what waits. A loop that is about to run a task may still do so.
func (q *Queue) Drop() {
	for more := !q.Seal(); more; {
		_, more = q.Take()
	}
}
