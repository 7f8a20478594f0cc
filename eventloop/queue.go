package eventloop

// The queue of functions that everything accepted waits in.

import "sync"

const chunkSize = 128

// chunk is a run of queued functions. Whoever takes a function out clears its slot, so that a chunk that has been read
// to its end keeps nothing alive and is as good as new.
type chunk struct {
	next *chunk
	n    int // functions written
	fns  [chunkSize]func()
}

var chunks = sync.Pool{New: func() any { return new(chunk) }}

func (c *chunk) recycle() {
	c.n, c.next = 0, nil
	chunks.Put(c)
}

// queue is a FIFO of functions in linked chunks; the zero value is ready. Push and pop are O(1) and move nothing. It has
// no lock: whoever owns it says what guards it.
type queue struct {
	head, tail *chunk
	read       int // functions taken out of head
}

func (q *queue) empty() bool {
	return q.head == q.tail && (q.head == nil || q.read == q.head.n)
}

// full tells whether push needs a new chunk.
func (q *queue) full() bool { return q.tail == nil || q.tail.n == chunkSize }

// grow appends an empty chunk.
func (q *queue) grow(c *chunk) {
	if q.tail == nil {
		q.head = c
	} else {
		q.tail.next = c
	}
	q.tail = c
}

// push appends fn; the queue must not be full.
func (q *queue) push(fn func()) {
	q.tail.fns[q.tail.n] = fn
	q.tail.n++
}

// pop takes the first function out; there must be one.
func (q *queue) pop() func() {
	if q.read == q.head.n {
		c := q.head
		q.head, q.read = c.next, 0
		c.recycle()
	}
	p := &q.head.fns[q.read]
	fn := *p
	*p = nil
	q.read++
	return fn
}

// rewind makes a queue that has been read to its end ready to be written again, in the chunk that it still has.
func (q *queue) rewind() {
	if q.head != nil {
		q.head.n, q.read = 0, 0
	}
}
