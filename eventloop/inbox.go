package eventloop

// The inbox: where work from any goroutine enters the loop.

import (
	"runtime"

	"github.com/turnloop/turnloop/internal/sched"
	"github.com/turnloop/turnloop/internal/sched/atomic"
)

// The lanes of the inbox. Everything in the internal lane runs before anything in the external one; the microtask lane
// takes what other goroutines schedule, and joins the loop's own microtasks at the next checkpoint.
const (
	external = iota
	internal
	microtask
	lanes
)

// The values of inbox.lock.
const (
	freeEmpty = 0 // free, and every lane is empty
	locked    = 1
	freeWork  = 2 // free, and some lane is not empty
)

// inbox holds what was accepted and has not been taken by the loop. One spin lock guards all of it. It is held for a
// handful of instructions, never over an allocation or a callback: producers append under it, and the loop exchanges a
// whole lane for an empty one.
type inbox struct {
	// lock tells the loop, without taking it, whether there may be work. Taking it is the "write" of a producer's
	// write-then-check; wait.go says what that pairs with.
	lock atomic.Uint32

	sealed bool // nothing is accepted any more
	holds  int  // see Hold
	lane   [lanes]queue

	// begun counts the calls of Promisify from elsewhere than the loop, under the lock. heard is how many outcomes the loop
	// has heard of, less the calls that it made itself; nobody else writes it.
	begun uint32
	heard atomic.Uint32
}

func (b *inbox) acquire() {
	if !b.tryAcquire() {
		b.acquireSlow(patience)
	}
}

// tryAcquire takes the lock if it is free. An exchange does that whatever the lock said before, and changes nothing if
// it was taken.
func (b *inbox) tryAcquire() bool { return b.lock.Swap(locked) != locked }

// acquireSlow looks at the lock for as long as a holder that is running needs, then lets other goroutines run, of which
// it may be one, then other threads: a holder whose thread the system has preempted gets on only when this one stops
// burning its time.
func (b *inbox) acquireSlow(looks int) {
	sched.Until(func() bool { return b.lock.Load() != locked })
	for spins := 1; b.lock.Load() == locked || !b.tryAcquire(); spins++ {
		switch {
		case spins%looks != 0:
		case spins < yieldLimit*looks:
			runtime.Gosched()
		default:
			nap()
		}
	}
}

// External work comes in streams: the sooner one of their producers gives way, the less it disturbs another, that has
// the lock in its cache; and the longer they keep the loop away, the more it takes at once. Everything else is urgent,
// also what the loop submits to itself: while it gives way, nothing runs.
const (
	patience   = 512 // looks at a taken lock between two yields
	brief      = 64  // the same, of a stream
	yieldLimit = 16  // yields before the holder is taken to be preempted by the system
)

func (b *inbox) release() {
	if b.empty() {
		storeRelease(&b.lock, freeEmpty)
	} else {
		storeRelease(&b.lock, freeWork)
	}
}

func (b *inbox) empty() bool {
	return b.lane[external].empty() && b.lane[internal].empty() && b.lane[microtask].empty()
}

// mayHaveWork looks at the inbox without its lock. Only while a producer holds the lock can it be wrong, and then it
// errs towards yes.
func (b *inbox) mayHaveWork() bool { return b.lock.Load() != freeEmpty }

// enqueue accepts fn into a lane or says why not. Acceptance is decided under the lock that the loop takes to seal the
// inbox, so what was accepted is found by the loop.
func (l *Loop) enqueue(lane int, fn func()) error {
	if fn == nil {
		return ErrNilCallback
	}
	b := &l.inbox
	q := &b.lane[lane]
	if !b.tryAcquire() {
		l.acquireFor(lane)
	}
	state := l.state.load() // after taking the lock: the "check" of write-then-check
	err := l.admit(lane, state)
	for err == nil && q.full() {
		b.release()
		c := chunks.Get().(*chunk)
		if !b.tryAcquire() {
			l.acquireFor(lane)
		}
		state = l.state.load()
		if err = l.admit(lane, state); err == nil && q.full() {
			q.grow(c)
		} else {
			chunks.Put(c)
		}
	}
	if err != nil {
		b.release()
		return err
	}
	q.push(fn)
	if lane != external {
		l.urgent.Store(l.urgent.Load() | 1<<lane) // a fence: once this call has returned, no external task starts
	} else if l.queueLimit > 0 {
		l.waiting.Add(1)
	}
	storeRelease(&b.lock, freeWork)
	if state.sleeping() {
		l.unpark()
	}
	return nil
}

// acquireFor takes the inbox's lock from whoever has it, for work of a lane.
func (l *Loop) acquireFor(lane int) {
	looks := patience
	if lane == external && !l.OnLoop() {
		looks = brief
	}
	l.inbox.acquireSlow(looks)
}

// admit tells whether the lane accepts work in a state that was read under the lock, which the caller holds.
func (l *Loop) admit(lane int, state word) error {
	if l.inbox.sealed || lane == external && state.ending() {
		return ErrLoopTerminated
	}
	if lane == external && l.queueLimit > 0 && l.waiting.Load() >= int64(l.queueLimit) {
		return ErrLoopOverloaded
	}
	return nil
}

// take exchanges a lane for into, a queue of the loop's own that has been read to its end.
func (l *Loop) take(lane int, into *queue) {
	into.rewind()
	b := &l.inbox
	if !b.tryAcquire() {
		b.acquireSlow(brief)
	}
	*into, b.lane[lane] = b.lane[lane], *into
	if lane != external {
		storeRelease(&l.urgent, l.urgent.Load()&^(1<<lane))
	}
	b.release()
}

// seal closes the inbox for good if it is empty and nobody works for it, and tells whether it is closed.
func (b *inbox) seal() bool {
	b.acquire()
	b.sealed = b.sealed || b.empty() && !b.workers()
	sealed := b.sealed
	b.release()
	return sealed
}

// discard closes the inbox for good and drops what is in it.
func (b *inbox) discard() {
	b.acquire()
	b.sealed = true
	b.lane = [lanes]queue{}
	storeRelease(&b.lock, freeEmpty)
}
