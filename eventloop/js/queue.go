package js

// A queue of functions: the order in which ticks and microtasks run.

// keep is how long a buffer an empty queue keeps.
const keep = 1024

// queue is first in, first out. Nothing that was popped stays reachable from it.
type queue struct {
	buf  []func()
	head int // of the first function
}

func (q *queue) empty() bool { return q.head == len(q.buf) }

func (q *queue) push(fn func()) {
	if len(q.buf) == cap(q.buf) && q.head > len(q.buf)/2 {
		n := copy(q.buf, q.buf[q.head:])
		clear(q.buf[n:])
		q.buf, q.head = q.buf[:n], 0
	}
	q.buf = append(q.buf, fn)
}

// pop takes the first function; there must be one.
func (q *queue) pop() func() {
	fn := q.buf[q.head]
	q.buf[q.head] = nil
	q.head++
	if q.empty() {
		q.buf, q.head = q.buf[:0], 0
		if cap(q.buf) > keep {
			q.buf = nil
		}
	}
	return fn
}
