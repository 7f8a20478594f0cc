package eventloop

// Marks: what producers leave with the functions that a loop with a probe is to run.

import "math/rand/v2"

// mark is what a producer leaves with a function.
type mark struct {
	accepted int64  // when, in nanoseconds since the loop's anchor; 0 if nobody has looked
	place    *place // in debug mode, where it was submitted
}

// marks are those of the functions of a chunk. A producer writes what is not zero, and the loop takes it back when it has read
// it: where nothing is noted, as of most functions of a flood, the two do not move these lines between their processors.
type marks struct {
	accepted [chunkSize]int64
	places   *[chunkSize]*place // nil if nobody was in debug mode
}

// In a flood a chunk is filled within floodTime; it is over when the loop sees that for so long none was. Meanwhile one
// function in floodShare, and the first of each chunk, says when it was accepted. Nanoseconds.
const (
	floodTime  = 100_000
	floodOver  = 1_000_000
	floodShare = 16
)

// mark is for a function that is about to be enqueued. What leave decides costs nothing here.
func (p *probe) mark(at lane) (m mark) {
	if at == microtask {
		return m
	}
	if p.loop.debug {
		m.place = p.loop.here()
	}
	switch {
	case !p.stamps || p.every > 1 || p.flood[at>>1].Load():
	case p.loop.OnLoop() && p.now.kind != noCallback && p.now.timed:
		m.accepted = max(p.now.start, 1) // one reading of the clock for each callback is enough
	default:
		m.accepted = max(p.loop.now(), 1)
	}
	return m
}

// markedChunk returns a chunk with room for marks.
func (p *probe) markedChunk() *chunk {
	c := markedChunks.Get().(*chunk)
	if p.loop.debug && c.marks.places == nil {
		c.marks.places = new([chunkSize]*place)
	}
	return c
}

// markChunk is for the first function of a chunk that is not the first of its queue.
func (p *probe) markChunk(at lane, m *mark) {
	if p.stamps && p.every == 1 {
		m.accepted = max(p.loop.now(), 1)
		p.flood[at>>1].Store(m.accepted-p.grown[at>>1].Swap(m.accepted) < floodTime)
	}
}

// leave puts m beside the function that was pushed last. With sampling one in every looks at the clock, and of a flood one in
// floodShare: here, under the lock, where it is known which it is.
func (p *probe) leave(at lane, q *queue, m mark) {
	if m.accepted == 0 && p.stamps && at != microtask && p.isNext(at, q) {
		m.accepted = max(p.loop.now(), 1)
	}
	q.mark(m)
}

func (p *probe) isNext(at lane, q *queue) bool {
	if p.every == 1 {
		return q.written%floodShare == 1
	}
	until := &p.until[at>>1]
	if *until > 0 {
		*until--
		return false
	}
	*until = rand.Uint32N(2*p.every - 1) // about every, and no pattern of the functions' own
	return true
}

// mark leaves m with the function that was pushed last.
func (q *queue) mark(m mark) {
	marks := q.tail.marks
	if marks == nil {
		return
	}
	if m.accepted != 0 {
		marks.accepted[q.written-1] = m.accepted
	}
	if m.place != nil && marks.places != nil {
		marks.places[q.written-1] = m.place
	}
}

// nextMark takes what was left with the first function; there must be one, and no other queue was joined to this one.
func (q *queue) nextMark() mark {
	c, i := q.next()
	m := c.markAt(i)
	if m.accepted != 0 {
		c.marks.accepted[i] = 0
	}
	if m.place != nil {
		c.marks.places[i] = nil
	}
	return m
}

// peekMark is nextMark, but leaves it there.
func (q *queue) peekMark() mark {
	c, i := q.next()
	return c.markAt(i)
}

// next returns where the first function is.
func (q *queue) next() (c *chunk, i int) {
	if q.read == chunkSize {
		return q.head.next, 0
	}
	return q.head, q.read
}

func (c *chunk) markAt(i int) (m mark) {
	if c.marks != nil {
		m.accepted = c.marks.accepted[i]
		if c.marks.places != nil {
			m.place = c.marks.places[i]
		}
	}
	return m
}
