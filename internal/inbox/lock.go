package inbox

// The lock under which producers and the loop meet.

import (
	"runtime"

	"github.com/turnloop/turnloop/internal/goroutine"
	"github.com/turnloop/turnloop/internal/release"
	"github.com/turnloop/turnloop/internal/sched"
	"github.com/turnloop/turnloop/internal/sched/atomic"
)

// The values of a lock.
const (
	FreeEmpty = 0 // free; the queues that it guards, if any, are empty
	Locked    = 1
	FreeWork  = 2 // free; they are not empty
)

// Lock is a spin lock. It is held for a handful of instructions. It has no queue, so it is never handed to a goroutine that is
// not running. The loop, which has the most to lose, goes first.
type Lock struct {
	// value is one of those above. An exchange takes it, its holder releases it, and the loop may read it without taking it.
	value atomic.Uint32

	// wanted is 1 while the loop waits for the lock; only the loop writes it. A goroutine that releases the lock then yields, and
	// one that waits for it gives way to the loop. Otherwise, on one processor, each time that the loop runs it would find the
	// lock held by a producer that holds it most of the time. A stale value costs a yield too many or too few.
	wanted atomic.Uint32
}

// TryAcquire takes the lock if it is free. An exchange does that whatever the lock said before, and changes nothing if
// it was taken.
func (s *Lock) TryAcquire() bool { return s.value.Swap(Locked) != Locked }

// Unlock releases a lock that guards no queues; that of an inbox has a method of its own.
func (s *Lock) Unlock() { release.Store(&s.value, FreeEmpty) }

// YieldIfWanted yields if the loop waits for the lock. The caller has released it, and holds no other.
func (s *Lock) YieldIfWanted() {
	if s.Wanted() {
		runtime.Gosched()
	}
}

// UnlockAndYield releases the lock, and yields if the loop waits for it. The caller holds no other.
func (s *Lock) UnlockAndYield() {
	s.Unlock()
	s.YieldIfWanted()
}

// Held tells whether somebody has the lock.
func (s *Lock) Held() bool { return s.value.Load() == Locked }

// Wanted tells whether the loop waits for the lock. A holder asks before it releases the lock, while its processor has the
// cache line.
func (s *Lock) Wanted() bool { return s.wanted.Load() != 0 }

// Wait takes a lock that was found taken; first says that the caller is the loop. It reads the lock as often as looks says,
// which takes about as long as a running holder needs. Then it yields to other goroutines, one of which may be the holder, and
// begins again. After many yields it yields to other threads, since the system may have preempted the holder's. Before each
// yield it calls quit; if quit returns true, Wait gives up and returns false, without the lock.
func (s *Lock) Wait(first bool, looks int, quit func() bool) bool {
	if first {
		s.wanted.Store(1)
		defer s.wanted.Store(0)
	}
	sched.Until(func() bool { return !s.Held() || quit() })
	for spins := 1; s.Held() || !s.TryAcquire(); spins++ {
		switch {
		case spins%looks != 0 && (first || !s.Wanted()):
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

// Never is the function quit of a caller of Wait that does not give up.
func Never() bool { return false }

// Who waits for the lock of external work yields after few looks, since such work comes in streams: a producer that yields
// soon disturbs the holder's cache less, and the longer the loop waits, the more tasks it takes at once. All other locks
// are urgent, even for what the loop submits to itself: while the loop waits, no callback runs.
const (
	Patience   = 512 // looks at a taken lock between two yields
	Brief      = 64  // looks between two yields, for external work
	yieldLimit = 16  // yields before Wait takes the holder to be preempted by the system
)

// GiveWay lets other goroutines run, more often the larger the backlog is.
func GiveWay(backlog int) { goroutine.GiveWay(backlog / backlogPerYield) }

const (
	Far             = 1 << 12 // functions that wait when producers begin to give way, once for each chunk
	backlogPerYield = 1 << 16 // functions that wait for each further yield
)
