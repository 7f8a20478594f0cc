package inbox

// The queue in which accepted functions wait.

import "sync"

// ChunkSize is how many functions a chunk has room for.
const ChunkSize = 128

// Chunk is a run of queued functions. Taking a function out clears its slot, so that a chunk that has been read
// to its end keeps nothing alive and is as good as new.
type Chunk struct {
	next  *Chunk
	end   int    // slots to be read before the next chunk: all, unless another queue was joined to this chunk before it was full
	marks *marks // of the functions, cleared with them; nil in chunks for loops without a probe
	fns   [ChunkSize]func()
}

// Clean chunks, without and with marks. Loops without a probe use none with marks.
var (
	Chunks       = sync.Pool{New: func() any { return &Chunk{end: ChunkSize} }}
	markedChunks = sync.Pool{New: func() any { return &Chunk{end: ChunkSize, marks: new(marks)} }}
)

// Recycle gives a clean chunk back to its pool.
func (c *Chunk) Recycle() {
	if c.marks != nil {
		markedChunks.Put(c)
	} else {
		Chunks.Put(c)
	}
}

// Queue is a FIFO of functions in linked chunks; the zero value is ready. Push, pop and join are O(1) and move nothing.
// A queue has no lock; its owner says what guards it. The positions are in the queue and not in the chunks, so that a
// producer writes to no cache lines but that of the slot and that of the lock, which it holds anyway.
type Queue struct {
	head, tail *Chunk
	read       int32 // slots of head that have been read
	stampAt    int32 // the slot of tail before which a producer does more than push: ChunkSize, or in a lane with marks the next one that is stamped
	written    int   // slots of tail that have been written
	before     int   // functions in the chunks before tail, less all that were read; may be negative; push leaves it alone
}

func (q *Queue) Len() int { return q.before + q.written }

// Full tells whether push needs another chunk.
func (q *Queue) Full() bool { return q.tail == nil || q.written == ChunkSize }

// grow appends an empty chunk; the queue must be full.
func (q *Queue) grow(c *Chunk) {
	if q.tail == nil {
		q.head = c
	} else {
		q.tail.next = c
	}
	q.tail = c
	q.before += q.written
	q.written, q.stampAt = 0, ChunkSize
}

// Push appends fn; the queue must not be full.
func (q *Queue) Push(fn func()) {
	q.tail.fns[q.written] = fn
	q.written++
}

// Add appends fn, and makes the room for it.
func (q *Queue) Add(fn func()) {
	if q.Full() {
		q.Extend()
	}
	q.Push(fn)
}

// Extend makes the room for add: in the chunk of a queue that is empty, or in another chunk.
func (q *Queue) Extend() {
	if q.Len() == 0 && q.tail != nil {
		q.rewind()
	} else {
		q.grow(Chunks.Get().(*Chunk))
	}
}

// Pop takes the first function out; there must be one.
func (q *Queue) Pop() func() {
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

// leave recycles the chunk that has been read, and makes the next one the head.
func (q *Queue) leave() {
	c := q.head
	q.head, q.read = c.next, 0
	c.next, c.end = nil, ChunkSize
	c.Recycle()
}

// rewind makes a queue that has been read to its end ready to be written again, in the chunk that it still has.
func (q *Queue) rewind() { q.read, q.written, q.before = 0, 0, 0 }

// Shrink gives the chunk of an empty queue back.
func (q *Queue) Shrink() {
	if q.Len() == 0 && q.tail != nil {
		q.rewind()
		q.tail.end = ChunkSize
		q.tail.Recycle()
		q.head, q.tail, q.stampAt = nil, nil, 0
	}
}

// few is the most functions that join moves one by one, if there is room, rather than keep a chunk for so few.
const few = 8

// Join moves all functions of other, of which none has been read, to the end of q.
func (q *Queue) Join(other *Queue) {
	switch {
	case other.Len() == 0:
	case q.Len() == 0:
		q.rewind()
		*q, *other = *other, *q
	case other.Len() <= few && q.written+other.Len() <= ChunkSize:
		for other.Len() != 0 {
			q.Push(other.Pop())
		}
		other.rewind()
	default:
		q.tail.end, q.tail.next = q.written, other.head
		q.before += q.written + other.before
		q.tail, q.written = other.tail, other.written
		*other = Queue{}
	}
}
