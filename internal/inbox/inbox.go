// Package inbox is where functions wait for a loop: a queue of chunks, the spin lock under which producers and the loop meet,
// and an inbox of the two. It knows no loop: who is the loop, and what it accepts, are its callers' business.
package inbox

import (
	"math"

	"github.com/turnloop/turnloop/internal/place"
	"github.com/turnloop/turnloop/internal/release"
	"github.com/turnloop/turnloop/internal/sched/atomic"
)

// Inbox holds functions that were accepted and that the loop has not taken. Its lock guards all of it. The lock is held for
// a handful of instructions, never over an allocation or a callback: producers append under it, and the loop exchanges the
// whole lane for an empty one. The methods need the lock unless they say otherwise.
type Inbox struct {
	// The value of the lock tells the loop, without taking it, whether there may be work. By taking it a producer publishes
	// its work: this is the "write" of write-then-check of a loop's sleep.
	Lock

	// raised is 1 while an inbox whose functions go before others is not empty. It is written under the lock, and the loop reads
	// it before each callback.
	raised atomic.Uint32

	sealed bool // nothing is accepted any more, for good
	lane   Queue
	// taken is the length of the loop's own queue when the loop last took functions. Only the loop writes it, under the lock;
	// producers add it to the lane's length to get the backlog.
	taken int32
}

// MayHaveWork looks at an inbox without its lock. Only while a producer holds the lock can it be wrong, and then it
// errs towards yes.
func (b *Inbox) MayHaveWork() bool { return b.value.Load() != FreeEmpty }

// Raised tells, without the lock, whether a function waits in an inbox that goes before others. It may miss only functions
// whose submitting calls have not returned.
func (b *Inbox) Raised() bool { return b.raised.Load() != 0 }

// Raise has the loop see what was pushed before it begins another callback: it is a full fence.
func (b *Inbox) Raise() { b.raised.Store(1) }

// Unlock releases the lock; its value then says whether there is work.
func (b *Inbox) Unlock() {
	if b.Len() == 0 {
		release.Store(&b.value, FreeEmpty)
	} else {
		release.Store(&b.value, FreeWork)
	}
}

// UnlockFull releases the lock behind a Push.
func (b *Inbox) UnlockFull() { release.Store(&b.value, FreeWork) }

// UnlockAndYield is Unlock, and yields if the loop waits for the lock. The caller holds no other.
func (b *Inbox) UnlockAndYield() {
	b.Unlock()
	b.YieldIfWanted()
}

// Len returns how many functions wait.
func (b *Inbox) Len() int { return b.lane.Len() }

// Backlog returns how many functions wait here or have been taken and not run.
func (b *Inbox) Backlog() int { return b.lane.Len() + int(b.taken) }

// Full tells whether Push needs another chunk.
func (b *Inbox) Full() bool { return b.lane.Full() }

// Due tells whether a producer has more to do than to push: the time of the next function is to be noted, or there is no room
// for it.
func (b *Inbox) Due() bool { return b.lane.written == int(b.lane.stampAt) }

// Grow makes room in a full inbox. Of the functions in a chunk with marks, the time of one in every is noted.
func (b *Inbox) Grow(c *Chunk, every uint32) {
	if c.marks != nil {
		b.lane.growMarked(c, every)
	} else {
		b.lane.grow(c)
	}
}

// Stamp notes the time beside the function that is pushed next. It is called if Due, and if there is room.
func (b *Inbox) Stamp(now int64, every uint32) { b.lane.stamp(now, every) }

// Push appends fn; there must be room.
func (b *Inbox) Push(fn func()) { b.lane.Push(fn) }

// From notes, in debug mode, where the function was submitted that was pushed last.
func (b *Inbox) From(p *place.Place) { b.lane.tail.marks.places[b.lane.written-1] = p }

// First returns the mark of the first function that waits, if any does.
func (b *Inbox) First() (m Mark) {
	if b.Len() != 0 {
		m = b.lane.PeekMark()
	}
	return m
}

// Take exchanges what waits for the queue into, which is the loop's own and has been read to its end. every is 0 for an inbox
// without marks.
func (b *Inbox) Take(into *Queue, every uint32) {
	into.rewind()
	*into, b.lane = b.lane, *into
	b.took(into)
	if every != 0 {
		b.lane.restamp(into, every)
	}
}

// Join appends what waits to a queue of the loop's own, in constant time, and returns how many functions that were.
func (b *Inbox) Join(to *Queue) (n int) {
	n = b.Len()
	to.Join(&b.lane)
	b.took(to)
	return n
}

func (b *Inbox) took(into *Queue) {
	b.taken = int32(min(into.Len(), math.MaxInt32))
	if b.raised.Load() != 0 {
		release.Store(&b.raised, 0)
	}
}

// CaughtUp tells producers that the loop has run all that it has taken. Only the loop calls it, without the lock: it takes the
// lock only after a burst.
func (b *Inbox) CaughtUp() {
	if b.taken >= Far { // read without the lock: only the loop writes it
		if !b.TryAcquire() {
			b.Wait(true, Patience, Never)
		}
		b.taken = 0
		b.Unlock()
	}
}

// Sealed tells whether nothing is accepted any more.
func (b *Inbox) Sealed() bool { return b.sealed }

// Seal has nothing accepted any more.
func (b *Inbox) Seal() { b.sealed = true }

// Discard seals the inbox, and drops what is in it.
func (b *Inbox) Discard() {
	b.sealed = true
	b.lane = Queue{}
}
