package eventloop

// Marks: when, and in debug mode where, a function was submitted, for a loop with a probe.

import (
	"math/rand/v2"

	"github.com/turnloop/turnloop/internal/place"
)

// mark is what a producer notes beside a function.
type mark struct {
	accepted int64        // when, in nanoseconds since the loop's anchor; 0 if not noted
	place    *place.Place // in debug mode, where it was submitted
}

// marks are the marks of a chunk's functions. A producer writes a mark only if it is not zero, and the loop clears it
// after reading it. Where nothing is noted, as for most functions of a flood, neither of them writes to these cache lines,
// so the lines do not move between processors.
type marks struct {
	places   *[chunkSize]*place.Place // nil without debug mode
	accepted [chunkSize]int64
}

// A flood begins when a chunk is filled within floodTime nanoseconds. It ends, at the latest, when no chunk was begun for
// floodOver nanoseconds. During a flood the time is noted for one function in floodShare, and for the first of each chunk.
const (
	floodTime  = 100_000
	floodOver  = 1_000_000
	floodShare = 16
)

// stamp is called when a lane is filled up to queue.stampAt, and its chunk is not full. It notes the time beside the
// function that is about to be pushed, and moves stampAt to the next function whose time is to be noted. The functions
// in between are pushed as on a loop without a probe. The caller holds the inbox's lock.
func (p *probe) stamp(at lane, q *queue) {
	i := at >> 1
	now := p.acceptance()
	q.tail.marks.accepted[q.written] = now
	if p.every == 1 && q.written == 0 && q.before != 0 { // a further chunk
		p.flood[i].Store(now-p.grown[i].Load() < floodTime)
		p.grown[i].Store(now)
	}
	switch {
	case p.every > 1:
		p.until[i] = int(rand.Uint32N(2*p.every - 1)) // every on average, and at random: the functions may have a pattern
	case p.flood[i].Load():
		p.until[i] = floodShare - 1
	}
	p.scheduleStamp(i, q, q.written+1)
}

// scheduleStamp sets queue.stampAt to the next slot whose function's time is to be noted, which is p.until slots after the given
// one. If the chunk ends before that, p.until keeps what is left of the distance. The caller holds the inbox's lock.
func (p *probe) scheduleStamp(i lane, q *queue, slot int) {
	n := min(p.until[i], chunkSize-slot)
	q.stampAt = int32(slot + n)
	p.until[i] -= n
}

// acceptance returns the time to note for a function that is accepted now. For the functions that a callback submits, the
// start of the callback is exact enough, and saves a reading of the clock.
func (p *probe) acceptance() int64 {
	if p.loop.OnLoop() && p.now.kind != noCallback && p.now.timed {
		return max(p.now.start, 1)
	}
	return max(p.loop.now(), 1)
}

// extended sets stampAt of a lane that was given another chunk. The caller holds the inbox's lock.
func (p *probe) extended(at lane, q *queue) {
	if p.stamps && at != microtask {
		p.scheduleStamp(at>>1, q, 0)
	}
}

// exchanged notes that the loop has taken the functions of a lane, and put an empty queue in their place. The caller
// holds the inbox's lock: so Metrics finds each function in exactly one place.
func (p *probe) exchanged(at lane, taken, given *queue) {
	i := at >> 1
	publish(&p.left[i], int64(taken.len()))
	if !p.stamps {
		return
	}
	if taken.len() <= chunkSize && p.flood[i].Load() {
		p.flood[i].Store(false)
	}
	if p.until[i] += int(taken.stampAt) - taken.written; p.every == 1 {
		p.until[i] = 0 // the first of each batch is noted
	}
	if given.tail != nil {
		p.scheduleStamp(i, given, 0)
	}
}

// endFloods ends the floods in which no chunk was begun for floodOver.
func (p *probe) endFloods() {
	for i := range p.flood {
		if !p.flood[i].Load() || p.last-p.grown[i].Load() <= floodOver {
			continue
		}
		at := lane(i << 1)
		b := p.loop.inboxOf(at)
		p.loop.lock(&b.spinLock)
		p.flood[i].Store(false)
		p.until[i] = 0
		b.lane[at&1].stampAt = int32(b.lane[at&1].written)
		b.Unlock()
	}
}

// markedChunk returns a chunk with room for marks.
func (p *probe) markedChunk() *chunk {
	c := markedChunks.Get().(*chunk)
	if p.loop.debug && c.marks.places == nil {
		c.marks.places = new([chunkSize]*place.Place)
	}
	return c
}

// mark puts m beside the function that was pushed last.
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

// popMarked does what pop does, for a queue to which no other was joined. It also takes out the function's mark.
func (q *queue) popMarked() (fn func(), m mark) {
	if q.read == chunkSize {
		q.leave()
	}
	c, i := q.head, q.read
	fn, c.fns[i] = c.fns[i], nil
	q.read++
	q.before--
	marks := c.marks
	if marks == nil {
		return fn, m
	}
	if m.accepted = marks.accepted[i]; m.accepted != 0 {
		marks.accepted[i] = 0
	}
	if marks.places != nil {
		m.place, marks.places[i] = marks.places[i], nil
	}
	return fn, m
}

// peekMark returns the mark of the first function, which must be there. No other queue may have been joined to this one.
func (q *queue) peekMark() (m mark) {
	c, i := q.next()
	if c.marks != nil {
		m.accepted = c.marks.accepted[i]
		if c.marks.places != nil {
			m.place = c.marks.places[i]
		}
	}
	return m
}

// next returns the chunk and the slot of the first function.
func (q *queue) next() (c *chunk, i int) {
	if q.read == chunkSize {
		return q.head.next, 0
	}
	return q.head, int(q.read)
}
