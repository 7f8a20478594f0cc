package alternatethree

// The chunk list: a first-in-first-out queue of functions without shifting, copying, or one allocation per function.

import "sync"

// chunkSize is the number of functions of a chunk: enough to make the cost of a chunk per function small, few enough to
// keep chunks small.
const chunkSize = 128

// chunk is a part of a list. fns[begin:end] are queued.
type chunk struct {
	fns        [chunkSize]func()
	begin, end int
	next       *chunk
}

// chunks is the pool of free chunks, all of them zero.
var chunks = sync.Pool{New: func() any { return new(chunk) }}

// list is a queue. It has no lock: the owner of the list guards it. No chunk of a list is empty.
type list struct{ head, tail *chunk }

func (q *list) empty() bool { return q.head == nil }

func (q *list) push(fn func()) {
	c := q.tail
	if c == nil || c.end == chunkSize {
		c = chunks.Get().(*chunk)
		q.splice(list{c, c})
	}
	c.fns[c.end] = fn
	c.end++
}

// pop takes the first function of a list that is not empty. It clears the slot at once, so that the function's captures are
// garbage when it has run, however long the rest of the chunk takes.
func (q *list) pop() func() {
	c := q.head
	fn := c.fns[c.begin]
	c.fns[c.begin] = nil
	c.begin++
	if c.begin == c.end {
		if q.head = c.next; q.head == nil {
			q.tail = nil
		}
		recycle(c)
	}
	return fn
}

// splice moves all of other behind the end of q, in constant time.
func (q *list) splice(other list) {
	switch {
	case other.head == nil:
		return
	case q.tail == nil:
		q.head = other.head
	default:
		q.tail.next = other.head
	}
	q.tail = other.tail
}

// recycle puts a chunk into the pool, with all its slots cleared, whatever the indices say. So a chunk from the pool is as
// good as new, and no forgotten slot keeps anything alive.
func recycle(c *chunk) {
	*c = chunk{}
	chunks.Put(c)
}
