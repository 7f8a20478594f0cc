package eventloop

// The lock under which producers and the loop meet.

import (
	"runtime"

	"github.com/turnloop/turnloop/internal/release"
	"github.com/turnloop/turnloop/internal/sched"
	"github.com/turnloop/turnloop/internal/sched/atomic"
)

// The values of a spin lock.
const (
	freeEmpty = 0 // free; the queues that it guards, if any, are empty
	locked    = 1
	freeWork  = 2 // free; they are not empty
)

// spinLock is held for a handful of instructions. It has no queue, so it is never handed to a goroutine that is not
// running. The loop, which has the most to lose, goes first.
type spinLock struct {
	// lock has one of the values above. An exchange takes it, its holder releases it, and the loop may read it without taking it.
	lock atomic.Uint32

	// wanted is 1 while the loop waits for the lock; only the loop writes it. A goroutine that releases the lock then yields, and
	// one that waits for it gives way to the loop. Otherwise, on one processor, each time that the loop runs it would find the
	// lock held by a producer that holds it most of the time. A stale value costs a yield too many or too few.
	wanted atomic.Uint32
}

// tryAcquire takes the lock if it is free. An exchange does that whatever the lock said before, and changes nothing if
// it was taken.
func (s *spinLock) tryAcquire() bool { return s.lock.Swap(locked) != locked }

// Unlock releases a lock that guards no queues; that of an inbox has a method of its own.
func (s *spinLock) Unlock() { release.Store(&s.lock, freeEmpty) }

// yieldIfWanted yields if the loop waits for the lock. The caller has released it, and holds no other.
func (s *spinLock) yieldIfWanted() {
	if s.wanted.Load() != 0 {
		runtime.Gosched()
	}
}

// lock takes a lock. Any goroutine may call it, the loop's too.
func (l *Loop) lock(s *spinLock) {
	if !s.tryAcquire() {
		l.lockSlow(s, patience, neverQuit)
	}
}

// lockSlow takes a lock that was found taken. It reads the lock as often as looks says, which takes about as long as a
// running holder needs. Then it yields to other goroutines, one of which may be the holder, and begins again. After many
// yields it yields to other threads, since the system may have preempted the holder's. Before each yield it calls quit;
// if quit returns true, lockSlow gives up and returns false, without the lock.
func (l *Loop) lockSlow(s *spinLock, looks int, quit func() bool) bool {
	first := l.OnLoop()
	if first {
		s.wanted.Store(1)
		defer s.wanted.Store(0)
	}
	sched.Until(func() bool { return s.lock.Load() != locked || quit() })
	for spins := 1; s.lock.Load() == locked || !s.tryAcquire(); spins++ {
		switch {
		case spins%looks != 0 && (first || s.wanted.Load() == 0):
		case quit():
			return false
		default:
			if spins >= yieldLimit*looks {
				nap()
			}
			runtime.Gosched()
		}
	}
	return true
}

// neverQuit is the function quit of a caller of lockSlow that does not give up.
func neverQuit() bool { return false }

// Who waits for the lock of external work yields after few looks, since such work comes in streams: a producer that yields
// soon disturbs the holder's cache less, and the longer the loop waits, the more tasks it takes at once. All other locks
// are urgent, even for what the loop submits to itself: while the loop waits, no callback runs.
const (
	patience   = 512 // looks at a taken lock between two yields
	brief      = 64  // looks between two yields, for external work
	yieldLimit = 16  // yields before lockSlow takes the holder to be preempted by the system
)
