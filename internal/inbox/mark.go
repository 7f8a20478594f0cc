package inbox

// Marks: when, and in debug mode where, a function was submitted, for a loop with a probe.

import (
	"math/rand/v2"

	"github.com/turnloop/turnloop/internal/place"
)

// Mark is what a producer notes beside a function.
type Mark struct {
	Accepted int64        // when, in nanoseconds since the loop's anchor; 0 if not noted
	Place    *place.Place // in debug mode, where it was submitted
}

// marks are the marks of a chunk's functions. A producer writes a mark only if it is not zero, and the loop clears it
// after reading it. Where nothing is noted, as for most functions of a flood, neither of them writes to these cache lines,
// so the lines do not move between processors.
type marks struct {
	places   *[ChunkSize]*place.Place // nil without debug mode
	accepted [ChunkSize]int64
	begun    int64 // when the chunk's first function was accepted; before that, the same of the chunk before it; 0: not known
	fast     bool  // begun is noted for all functions of the chunk
}

// filledFast is within how many nanoseconds a chunk is filled for the time to be noted once for the next chunk: that one will
// be filled as fast, and reading the clock costs more than a Submit.
const filledFast = 100_000

// stamp notes the time beside the function that is about to be pushed. It is called when a lane is filled up to
// Queue.stampAt, and its chunk is not full, and moves stampAt to the next function whose time is to be noted. The functions
// in between are pushed as on a loop without a probe. Of all functions one in every is noted. The caller holds the inbox's
// lock.
func (q *Queue) stamp(now int64, every uint32) {
	m := q.tail.marks
	m.accepted[q.written] = now
	next := q.written + 1 + gap(every)
	if q.written == 0 {
		m.begun, m.fast = now, every == 1 && m.begun != 0 && now-m.begun < filledFast
		if m.fast {
			next = ChunkSize
		}
	}
	q.stampAt = int32(min(next, ChunkSize))
}

// gap returns how many functions come before the next whose time is noted. Each has the same chance, whatever came before it: so
// the functions may have a pattern, and a gap that a chunk is too short for may end with the chunk.
func gap(every uint32) int {
	if every <= 1 {
		return 0
	}
	return int(min(rand.ExpFloat64()*(float64(every)-0.5), ChunkSize)) // every-1 on average
}

// growMarked is grow with a chunk that has marks. The caller holds the inbox's lock.
func (q *Queue) growMarked(c *Chunk, every uint32) {
	if q.tail != nil {
		c.marks.begun = q.tail.marks.begun
	}
	q.grow(c)
	q.stampAt = int32(gap(every))
}

// restamp goes on with the stamps in an empty lane, when the loop has taken what was in it.
func (q *Queue) restamp(taken *Queue, every uint32) {
	if q.tail == nil || q.tail.marks == nil {
		return
	}
	q.tail.marks.begun, q.tail.marks.fast = 0, false
	if q.stampAt = taken.stampAt - int32(taken.written); taken.stampAt == ChunkSize {
		q.stampAt = int32(gap(every))
	}
}

// MarkedChunk returns a chunk with room for marks, and for places if these are wanted.
func MarkedChunk(places bool) *Chunk {
	c := markedChunks.Get().(*Chunk)
	if c.marks.begun, c.marks.fast = 0, false; places && c.marks.places == nil {
		c.marks.places = new([ChunkSize]*place.Place)
	}
	return c
}

// PopMarked does what Pop does, for a queue to which no other was joined. It also takes out the function's mark.
func (q *Queue) PopMarked() (fn func(), m Mark) {
	if q.read == ChunkSize {
		q.leave()
	}
	c, i := q.head, q.read
	fn, c.fns[i] = c.fns[i], nil
	q.read++
	q.before--
	if c.marks != nil {
		m = c.marks.of(i)
		c.marks.clear(i)
	}
	return fn, m
}

func (k *marks) of(i int32) (m Mark) {
	if m.Accepted = k.accepted[i]; m.Accepted == 0 && k.fast {
		m.Accepted = k.begun
	}
	if k.places != nil {
		m.Place = k.places[i]
	}
	return m
}

func (k *marks) clear(i int32) {
	if k.accepted[i] != 0 {
		k.accepted[i] = 0
	}
	if k.places != nil {
		k.places[i] = nil
	}
}

// PeekMark returns the mark of the first function, which must be there. No other queue may have been joined to this one.
func (q *Queue) PeekMark() (m Mark) {
	c, i := q.head, q.read
	if i == ChunkSize {
		c, i = c.next, 0
	}
	if c.marks != nil {
		m = c.marks.of(i)
	}
	return m
}
