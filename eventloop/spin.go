package eventloop

// The lock under which producers and the loop meet.

import (
	"runtime"

	"github.com/turnloop/turnloop/internal/sched"
	"github.com/turnloop/turnloop/internal/sched/atomic"
)

// The values of a spin lock.
const (
	freeEmpty = 0 // free; and what it guards is empty, if it says anything of that
	locked    = 1
	freeWork  = 2 // free, and not empty
)

// spinLock is held for a handful of instructions. It has no queue, so it is never handed to somebody who is not running;
// and the loop, which has the most to lose, goes first.
type spinLock struct {
	lock atomic.Uint32

	// wanted is set while the loop waits for the lock. Who gives it back then lets others run; who waits for it lets the
	// loop have it. Otherwise, with one processor, the loop would get on only between two turns of a producer that spends
	// most of its time with the lock.
	wanted atomic.Uint32
}

// tryAcquire takes the lock if it is free. An exchange does that whatever the lock said before, and changes nothing if
// it was taken.
func (s *spinLock) tryAcquire() bool { return s.lock.Swap(locked) != locked }

// Unlock is for locks that say nothing of what they guard.
func (s *spinLock) Unlock() { storeRelease(&s.lock, freeEmpty) }

// courtesy is for whoever has given the lock back, and holds no other.
func (s *spinLock) courtesy() {
	if s.wanted.Load() != 0 {
		runtime.Gosched()
	}
}

// lock takes a lock for the loop or for anybody else.
func (l *Loop) lock(s *spinLock) {
	if !s.tryAcquire() {
		l.lockSlow(s, patience, wait)
	}
}

// lockSlow looks at a lock for as long as a holder that is running needs, then lets other goroutines run, of which it may
// be one, then other threads: a holder whose thread the system has preempted gets on only when this one stops burning its
// time. It returns false if it has given up.
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

// wait is for who does not give up.
func wait() bool { return false }

// External work comes in streams: the sooner one of their producers gives way, the less it disturbs another, that has
// the lock in its cache; and the longer they keep the loop away, the more it takes at once. Everything else is urgent,
// also what the loop submits to itself: while it gives way, nothing runs.
const (
	patience   = 512 // looks at a taken lock between two yields
	brief      = 64  // the same, of a stream
	yieldLimit = 16  // yields before the holder is taken to be preempted by the system
)
