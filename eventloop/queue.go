package eventloop

// The queue in which accepted functions wait.

import "sync"

const chunkSize = 128

// chunk is a run of queued functions. Taking a function out clears its slot, so that a chunk that has been read
// to its end keeps nothing alive and is as good as new.
type chunk struct {
	next  *chunk
	end   int    // slots to be read before the next chunk: all, unless another queue was joined to this chunk before it was full
	marks *marks // of the functions, cleared with them; nil in chunks for loops without a probe
	fns   [chunkSize]func()
}

// Clean chunks, without and with marks. Loops without a probe use none with marks.
var (
	chunks       = sync.Pool{New: func() any { return &chunk{end: chunkSize} }}
	markedChunks = sync.Pool{New: func() any { return &chunk{end: chunkSize, marks: new(marks)} }}
)

// recycle gives a clean chunk back to its pool.
func (c *chunk) recycle() {
	if c.marks != nil {
		markedChunks.Put(c)
	} else {
		chunks.Put(c)
	}
}

// queue is a FIFO of functions in linked chunks; the zero value is ready. Push, pop and join are O(1) and move nothing.
// A queue has no lock; its owner says what guards it. The positions are in the queue and not in the chunks, so that a
// producer writes to no cache lines but that of the slot and that of the lock, which it holds anyway.
type queue struct {
	head, tail *chunk
	read       int32 // slots of head that have been read
	stampAt    int32 // the slot of tail before which a producer does more than push: chunkSize, or in a lane with marks the next one that is stamped
	written    int   // slots of tail that have been written
	before     int   // functions in the chunks before tail, less all that were read; may be negative; push leaves it alone
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
	q.written, q.stampAt = 0, chunkSize
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

// extend makes the room for add: in the chunk of a queue that is empty, or in another chunk.
func (q *queue) extend() {
	if q.len() == 0 && q.tail != nil {
		q.rewind()
	} else {
		q.grow(chunks.Get().(*chunk))
	}
}

// pop takes the first function out; there must be one.
func (q *queue) pop() func() {
	if int(q.read) == q.head.end {
		q.leave()
	}
	p := &q.head.fns[q.read]
	fn := *p
	*p = nil
	q.read++
	q.before--
	return fn
}

// unpop puts fn back, as the first function. It must follow a pop, with nothing done to the queue in between.
func (q *queue) unpop(fn func()) {
	q.read--
	q.head.fns[q.read] = fn
	q.before++
}

// leave recycles the chunk that has been read, and makes the next one the head.
func (q *queue) leave() {
	c := q.head
	q.head, q.read = c.next, 0
	c.next, c.end = nil, chunkSize
	c.recycle()
}

// rewind makes a queue that has been read to its end ready to be written again, in the chunk that it still has.
func (q *queue) rewind() { q.read, q.written, q.before = 0, 0, 0 }

// shrink gives the chunk of an empty queue back.
func (q *queue) shrink() {
	if q.len() == 0 && q.tail != nil {
		q.rewind()
		q.tail.end = chunkSize
		q.tail.recycle()
		q.head, q.tail, q.stampAt = nil, nil, 0
	}
}

// few is the most functions that join moves one by one, if there is room, rather than keep a chunk for so few.
const few = 8

// join moves all functions of other, of which none has been read, to the end of q.
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
