package alternatethree

// The chunk list: a first-in-first-out queue of functions without shifting, copying, or one allocation per function.

import "sync"

// chunkSize is how many functions a chunk holds: enough to make the cost of a chunk small, few enough to keep it so.
const chunkSize = 128

// chunk is a piece of a list. fns[begin:end] are queued.
type chunk struct {
	fns        [chunkSize]func()
	begin, end int
	next       *chunk
}

// chunks are the chunks that nobody uses, all of them zero.
var chunks = sync.Pool{New: func() any { return new(chunk) }}

// list is a queue. It has no lock: whoever owns the list guards it. No chunk of a list is empty.
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

// pop takes the first function of a list that is not empty. Its slot is cleared at once, so that what it captures is
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

// recycle gives a chunk back, cleared in full: every slot, whatever the indices say. So a chunk from the pool is as
// good as new, and nothing is kept alive by a slot that was forgotten.
func recycle(c *chunk) {
	*c = chunk{}
	chunks.Put(c)
}
