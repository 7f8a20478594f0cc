package alternatetwo

// The ingress: how work from any goroutine reaches the loop without a lock.

import (
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"
)

const segmentSize = 128

// A segment's claim word counts the producers that came, in its low half. Closing a lane sets closedLane and freezes
// the count of accepted ones in the bits between, because producers that are refused go on counting.
const (
	closedLane  = 1 << 63
	frozenShift = 32
	countMask   = 1<<31 - 1
)

// segment is an array of slots. A producer that finds the claim word below segmentSize owns the slot of that number; the
// producer that finds exactly segmentSize must append the next segment. In the pool the word stays above segmentSize, so a
// late producer with a pointer to a segment that was read long ago finds no slot in it.
type segment struct {
	claim atomic.Uint64 // producers add; closing sets closedLane; append stores when it uses the segment again
	_     [56]byte      // keeps the slots, which the consumer writes, on other cache lines
	slots [segmentSize]unsafe.Pointer
	next  atomic.Pointer[segment] // stored once by the owner of the append, loaded by the consumer
}

// accepted returns the number of claimed slots of a segment with this claim word. A result above segmentSize means that
// there is another segment, or soon will be.
func accepted(word uint64) uint32 {
	if word&closedLane != 0 {
		return uint32(word >> frozenShift & countMask)
	}
	return uint32(word)
}

// lane is a queue of functions with many producers and one consumer. One atomic addition to the claim word accepts a
// function, determines its place in the order, and reads whether the lane is closed.
//
// Segments are pooled per lane and never shared with another lane. A late producer may claim a slot in a segment that has
// been reused since it looked: that is a valid place, but only in the same lane.
type lane struct {
	tail atomic.Pointer[segment] // where producers claim; stored by the owner of an append
	pool sync.Pool               // of segments; the consumer puts, the owner of an append gets
	_    [64]byte

	// Only the consumer touches these.
	head    *segment
	read    uint32 // the number of slots of head that have been read
	claimed uint32 // the number of slots of head that are known to be claimed
	_       [40]byte
}

func (q *lane) init() {
	q.head = new(segment)
	q.tail.Store(q.head)
}

// push accepts fn, or returns false when the lane is closed. fn must not be nil.
func (q *lane) push(fn func()) bool {
	p := *(*unsafe.Pointer)(unsafe.Pointer(&fn))
	for {
		s := q.tail.Load()
		word := s.claim.Add(1) - 1
		switch {
		case word < segmentSize:
			publish(&s.slots[word], p)
			return true
		case word&closedLane != 0:
			return false
		case word == segmentSize:
			q.append(s, p)
			return true
		}
		q.awaitTail(s)
	}
}

// append links a segment that already holds p behind the full segment s. Only one producer calls it for each s. The new
// segment has no free slot before it is the tail. Otherwise late producers could fill it up, and the tail would go back.
func (q *lane) append(s *segment, p unsafe.Pointer) {
	n, _ := q.pool.Get().(*segment)
	if n == nil {
		n = new(segment)
		n.claim.Store(segmentSize + 1)
	}
	n.slots[0] = p
	q.tail.Store(n)
	n.claim.Store(1)
	s.next.Store(n)
}

// awaitTail waits until there is a segment with room behind s. It also looks at the claim word, because s itself may become
// the tail again.
func (q *lane) awaitTail(s *segment) {
	for tries := 1; q.tail.Load() == s && s.claim.Load() > segmentSize && s.claim.Load()&closedLane == 0; tries++ {
		if tries%32 == 0 {
			runtime.Gosched()
		}
	}
}

// close makes the lane refuse all functions from now on. Any goroutine may call it, also repeatedly.
func (q *lane) close() {
	for {
		s := q.tail.Load()
		switch word := s.claim.Load(); {
		case word&closedLane != 0:
			return
		case word > segmentSize:
			q.awaitTail(s)
		case s.claim.CompareAndSwap(word, closedWord(word)):
			return
		}
	}
}

func closedWord(word uint64) uint64 { return closedLane | word<<frozenShift | word }

// seal closes the lane if all accepted functions have been popped, and reports whether it is closed and empty. Consumer
// only.
func (q *lane) seal() bool {
	word := q.head.claim.Load()
	if word&closedLane == 0 && word == uint64(q.read) {
		q.head.claim.CompareAndSwap(word, closedWord(word))
		word = q.head.claim.Load()
	}
	return word&closedLane != 0 && accepted(word) == q.read
}

// empty reports whether all accepted functions have been popped. Consumer only. A function whose producer is between claim
// and publication counts as accepted, so the loop does not sleep before it has run.
func (q *lane) empty() bool {
	return q.read == accepted(q.head.claim.Load())
}

// pop takes the first function. It returns nil when there is none, or when its producer has not published it yet. Consumer
// only. It clears only the slot that it reads.
func (q *lane) pop() func() {
	if q.read == q.claimed && !q.refresh() {
		return nil
	}
	slot := &q.head.slots[q.read]
	p := atomic.LoadPointer(slot)
	if p == nil {
		runtime.Gosched()
		return nil
	}
	*slot = nil
	q.read++
	return *(*func())(unsafe.Pointer(&p))
}

// refresh looks for newly claimed slots, in the next segment when this one has been read to its end.
func (q *lane) refresh() bool {
	s := q.head
	if q.read == segmentSize {
		next := s.next.Load()
		if next == nil {
			if !q.empty() { // a producer has not linked the next segment yet
				runtime.Gosched()
			}
			return false
		}
		s.next.Store(nil)
		q.pool.Put(s)
		q.head, q.read, s = next, 0, next
	}
	q.claimed = min(accepted(s.claim.Load()), segmentSize)
	return q.read < q.claimed
}

// drop closes the lane and drops its functions. Consumer only.
func (q *lane) drop() {
	q.close()
	for !q.empty() {
		q.pop()
	}
}
