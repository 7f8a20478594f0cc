package alternateone

// The queues as data structures: chunks for tasks, a slice for microtasks. They have no lock and do not know the loop.
// Each operation checks its invariants in constant time, and returns an error if one does not hold.

import (
	"errors"
	"fmt"
	"sync"
)

// task is an accepted function with its number.
type task struct {
	fn func()
	id uint64
}

// ledger counts the accepted tasks of a queue, and those of them that were started or dropped. The others wait.
type ledger struct{ accepted, started, dropped uint64 }

// balance checks that no task was lost or doubled, given the number of waiting ones.
func (b *ledger) balance(waiting int) error {
	if waiting < 0 || b.accepted != b.started+b.dropped+uint64(waiting) {
		return fmt.Errorf("%d were accepted, but %d started, %d were dropped and %d wait",
			b.accepted, b.started, b.dropped, waiting)
	}
	return nil
}

// The errors of a queue that is out of order.
var (
	errSlotTaken = errors.New("the slot to write is taken")
	errSlotEmpty = errors.New("the slot to read is empty")
	errPositions = errors.New("positions, chunks and length of the queue disagree")
)

const chunkSize = 128

// chunk is a part of a queue. Tasks are in slots[read:write]; all other slots are empty.
type chunk struct {
	slots       [chunkSize]task
	read, write int
	next        *chunk
}

// chunks is the pool of free chunks. A chunk is cleared in full before it is put here.
var chunks = sync.Pool{New: func() any { return new(chunk) }}

// queue is a list of chunks. All chunks but the last are written to their end. An empty queue keeps its last chunk.
type queue struct {
	ledger
	head, tail *chunk
	length     int
}

func (q *queue) check() error {
	h, t := q.head, q.tail
	switch {
	case h == nil && t == nil:
		if q.length != 0 {
			return errPositions
		}
	case h == nil || t == nil || t.next != nil,
		h.read < 0 || h.write > chunkSize || t.write > chunkSize,
		h == t && h.write-h.read != q.length,
		h != t && (h.next == nil || h.write != chunkSize || h.read >= chunkSize || q.length <= chunkSize-h.read):
		return errPositions
	}
	return q.balance(q.length)
}

func (q *queue) push(t task) error {
	c := q.tail
	if c == nil || c.write == chunkSize {
		c = chunks.Get().(*chunk)
		if c.read != 0 || c.write != 0 || c.next != nil {
			return errPositions
		}
		if q.tail == nil {
			q.head = c
		} else {
			q.tail.next = c
		}
		q.tail = c
	}
	if c.slots[c.write].fn != nil {
		return errSlotTaken
	}
	c.slots[c.write] = t
	c.write++
	q.length++
	q.accepted++
	return q.check()
}

// pop takes the oldest task. The queue must not be empty.
func (q *queue) pop() (task, error) {
	c := q.head
	if c == nil || c.read < 0 || c.read >= min(c.write, chunkSize) {
		return task{}, errPositions
	}
	t := c.slots[c.read]
	if t.fn == nil {
		return t, errSlotEmpty
	}
	c.slots[c.read] = task{}
	c.read++
	q.length--
	q.started++
	if c.read == c.write {
		if c.next == nil {
			c.read, c.write = 0, 0
		} else {
			q.head = c.next
			*c = chunk{} // in full, whichever slots were used
			chunks.Put(c)
		}
	}
	return t, q.check()
}

func (q *queue) drop() {
	q.dropped += uint64(q.length)
	q.head, q.tail, q.length = nil, nil, 0
}

// line is the queue of microtasks: a slice, of which the part before head has been popped.
type line struct {
	ledger
	tasks []task
	head  int
}

// lineKeep is the longest slice that an empty line keeps.
const lineKeep = 4096

func (q *line) len() int { return len(q.tasks) - q.head }

func (q *line) check() error {
	if q.head < 0 || q.head > len(q.tasks) {
		return errPositions
	}
	return q.balance(q.len())
}

func (q *line) push(t task) error {
	if q.head < 0 || q.head > len(q.tasks) {
		return errPositions
	}
	if len(q.tasks) == cap(q.tasks) && q.head > len(q.tasks)/2 { // moving the rest costs less than the pops before it
		n := copy(q.tasks, q.tasks[q.head:])
		clear(q.tasks[n:])
		q.tasks, q.head = q.tasks[:n], 0
	}
	q.tasks = append(q.tasks, t)
	q.accepted++
	return q.check()
}

// pop takes the oldest microtask. The line must not be empty.
func (q *line) pop() (task, error) {
	if q.head < 0 || q.head >= len(q.tasks) {
		return task{}, errPositions
	}
	t := q.tasks[q.head]
	if t.fn == nil {
		return t, errSlotEmpty
	}
	q.tasks[q.head] = task{}
	q.head++
	q.started++
	if q.head == len(q.tasks) {
		if q.head = 0; cap(q.tasks) > lineKeep {
			q.tasks = nil
		}
		q.tasks = q.tasks[:0]
	}
	return t, q.check()
}

func (q *line) drop() {
	q.dropped += uint64(q.len())
	q.tasks, q.head = nil, 0
}
