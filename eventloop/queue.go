package eventloop

// The queue of functions that everything accepted waits in.

import "sync"

const chunkSize = 128

// chunk is a run of queued functions. Whoever takes a function out clears its slot, so that a chunk that has been read
// to its end keeps nothing alive and is as good as new.
type chunk struct {
	next *chunk
	end  int // slots that are used, unless the chunk is the last: all, if no other queue was joined behind it
	fns  [chunkSize]func()

	marks *marks // of the functions, or nil; as clean as these
}

// Chunks with marks, of which loops that measure nothing know nothing, and chunks without.
var (
	chunks       = sync.Pool{New: func() any { return &chunk{end: chunkSize} }}
	markedChunks = sync.Pool{New: func() any { return &chunk{end: chunkSize, marks: new(marks)} }}
)

// recycle gives a chunk back that is as good as new.
func (c *chunk) recycle() {
	if c.marks != nil {
		markedChunks.Put(c)
	} else {
		chunks.Put(c)
	}
}

// queue is a FIFO of functions in linked chunks; the zero value is ready. Push, pop and join are O(1) and move nothing.
// It has no lock: whoever owns it says what guards it. Its positions are here and not in the chunks so that a producer
// dirties no more than the slot it writes and the line of the lock that it holds anyway.
type queue struct {
	head, tail *chunk
	read       int // slots of head that have been read
	written    int // slots of tail that have been written
	before     int // functions queued before those in tail, less those that have been read: a producer need not count
}

func (q *queue) len() int { return q.before + q.written }

// full tells whether push needs another chunk.
func (q *queue) full() bool { return q.tail == nil || q.written == chunkSize }

// grow appends an empty chunk; the queue must be full.
func (q *queue) grow(c *chunk) {
	if q.tail == nil {
		q.head = c
	} else {
		q.tail.next = c
	}
	q.tail = c
	q.before += q.written
	q.written = 0
}

// push appends fn; the queue must not be full.
func (q *queue) push(fn func()) {
	q.tail.fns[q.written] = fn
	q.written++
}

// add appends fn, and makes the room for it.
func (q *queue) add(fn func()) {
	if q.full() {
		q.extend()
	}
	q.push(fn)
}

func (q *queue) extend() {
	if q.len() == 0 && q.tail != nil {
		q.rewind()
	} else {
		q.grow(chunks.Get().(*chunk))
	}
}

// pop takes the first function out; there must be one.
func (q *queue) pop() func() {
	if q.read == q.head.end {
		c := q.head
		q.head, q.read = c.next, 0
		c.next, c.end = nil, chunkSize
		c.recycle()
	}
	p := &q.head.fns[q.read]
	fn := *p
	*p = nil
	q.read++
	q.before--
	return fn
}

// rewind makes a queue that has been read to its end ready to be written again, in the chunk that it still has.
func (q *queue) rewind() { q.read, q.written, q.before = 0, 0, 0 }

// shrink gives the chunk of an empty queue back.
func (q *queue) shrink() {
	if q.len() == 0 && q.tail != nil {
		q.rewind()
		q.tail.end = chunkSize
		q.tail.recycle()
		q.head, q.tail = nil, nil
	}
}

// few functions are moved one by one if there is room: each in a chunk of its own would take a hundred times the memory.
const few = 8

// join takes all functions of other, of which none has been read, behind its own.
func (q *queue) join(other *queue) {
	switch {
	case other.len() == 0:
	case q.len() == 0:
		q.rewind()
		*q, *other = *other, *q
	case other.len() <= few && q.written+other.len() <= chunkSize:
		for other.len() != 0 {
			q.push(other.pop())
		}
		other.rewind()
	default:
		q.tail.end, q.tail.next = q.written, other.head
		q.before += q.written + other.before
		q.tail, q.written = other.tail, other.written
		*other = queue{}
	}
}
