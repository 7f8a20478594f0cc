package alternatetwo

// What tests of the parts reach: the ingress lane, the microtask ring, the wheel, the wake flag and the linger budget.

import (
	"time"
	"unsafe"
)

const (
	SegmentSize = segmentSize
	TableSize   = tableSize
)

type Lane struct{ lane }

func NewLane() *Lane {
	q := &Lane{}
	q.init()
	return q
}

func (q *Lane) Push(fn func()) bool { return q.push(fn) }
func (q *Lane) Pop() func()         { return q.pop() }
func (q *Lane) Empty() bool         { return q.empty() }
func (q *Lane) Close()              { q.close() }
func (q *Lane) Seal() bool          { return q.seal() }

// Tail returns a late producer: it looked at the segment that is the tail now, and claims when it is called. It tells
// whether it found a slot there.
func (q *Lane) Tail() (late func() bool) {
	s := q.tail.Load()
	return func() bool { return s.claim.Add(1)-1 < segmentSize }
}

// FreeBehindTail looks at the segment that is the tail now, whenever it is called, and tells whether it has a free slot
// without being the tail.
func (q *Lane) FreeBehindTail() func() bool {
	s := q.tail.Load()
	return func() bool {
		free := s.claim.Load() < segmentSize
		return free && q.tail.Load() != s
	}
}

// Stall claims the slot that owes the next segment; the tail must be full. finish appends that segment with fn in it.
func (q *Lane) Stall() (finish func(fn func())) {
	s := q.tail.Load()
	if s.claim.Add(1)-1 != segmentSize {
		panic("the tail is not just full")
	}
	return func(fn func()) { q.append(s, *(*unsafe.Pointer)(unsafe.Pointer(&fn))) }
}

// ClaimInternal and ClaimMicrotask submit what is published later: they are a producer stopped in between.
func (l *Loop) ClaimInternal() (publish func(fn func()))  { return l.internal.stop() }
func (l *Loop) ClaimMicrotask() (publish func(fn func())) { return l.foreign.stop() }

// Adopt takes in what other goroutines have scheduled, and returns how many functions that were.
func (l *Loop) Adopt() uint32 {
	l.adopt()
	return l.micro.tail - l.micro.head
}

func (q *lane) stop() (resume func(fn func())) {
	s := q.tail.Load()
	slot := &s.slots[s.claim.Add(1)-1]
	return func(fn func()) { publish(slot, *(*unsafe.Pointer)(unsafe.Pointer(&fn))) }
}

type Ring struct{ ring }

// NewRing makes a ring of a size, a power of two, whose positions begin at start.
func NewRing(size int, start uint32) *Ring {
	return &Ring{ring{buf: make([]func(), size), head: start, tail: start, stop: start + uint32(size)}}
}

func (r *Ring) Push(fn func()) { r.push(fn) }
func (r *Ring) Pop() func()    { return r.pop() }
func (r *Ring) Empty() bool    { return r.empty() }

type Wheel struct{ wheel }

func (w *Wheel) Insert(deadline, now int64, fn func()) uint64 { return w.insert(deadline, now, fn) }
func (w *Wheel) Remove(id uint64) bool                        { return w.remove(id) }
func (w *Wheel) Pop(now int64) func()                         { return w.pop(now) }
func (w *Wheel) Next() int64                                  { return w.wheel.next() }
func (w *Wheel) Nodes() int                                   { return len(w.arena) * arenaChunk }

// PretendAsleep puts a loop that does not run into the state in which producers wake it.
func (l *Loop) PretendAsleep() { l.state.swap(awake, sleeping) }

// Wait does what a sleeping loop does, and tells how long it took.
func (l *Loop) Wait(timeout time.Duration) time.Duration {
	begin := time.Now()
	l.poll(timeout)
	return time.Since(begin)
}

// PretendOver ends the pretence, so that the loop can be closed.
func (l *Loop) PretendOver() { l.state.swap(sleeping, awake) }
