package eventloop

// The goroutines that run functions of Promisify. An ending loop accepts work from them that it refuses others.

import (
	"github.com/turnloop/turnloop/internal/goroutine"
	"github.com/turnloop/turnloop/internal/sched"
	"github.com/turnloop/turnloop/internal/sched/atomic"
	"github.com/turnloop/turnloop/internal/slim"
)

// crew knows the goroutines on which functions of Promisify run, by identity. Each has a place; a goroutine that finds its
// place taken is in the map crowd instead. A loop gets a crew with its first worker.
type crew struct {
	place [64]atomic.Uintptr // the identity of the goroutine that has the place, which alone may free it; 0: free
	mu    sched.Mutex        // guards crowd and gone
	crowd slim.Map[uintptr, struct{}]

	// count has in its low half how many goroutines there are, in places and in the crowd, and in its high half how many
	// functions wait for a goroutine, or a goroutine for its first step.
	count atomic.Int64
	gone  chan struct{} // closed when no goroutine is left; made by a call of whenEmpty; nil when nobody waits for it
}

// oneWaits is one in the high half of crew.count.
const oneWaits = 1 << 32

// ofCrew returns the loop's crew, and makes it if there is none.
func (l *Loop) ofCrew() *crew {
	c := l.crew.Load()
	if c == nil {
		l.crew.CompareAndSwap(nil, new(crew))
		c = l.crew.Load()
	}
	return c
}

// enter adds the calling goroutine, which begins with a function that has waited.
func (c *crew) enter() {
	c.count.Add(1 - oneWaits)
	id := goroutine.ID()
	if !c.placeOf(id).CompareAndSwap(0, id) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.crowd.Put(id, struct{}{})
	}
}

func (c *crew) leave() {
	if int32(c.count.Add(-1)) == 0 {
		c.mu.Lock()
		if c.gone != nil && c.size() == 0 {
			close(c.gone)
			c.gone = nil
		}
		c.mu.Unlock()
	}
	id := goroutine.ID()
	if at := c.placeOf(id); at.Load() == id {
		at.Store(0)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.crowd.Delete(id)
}

// size returns how many goroutines are in the crew.
func (c *crew) size() int {
	if c == nil {
		return 0
	}
	return int(int32(c.count.Load()))
}

// waiting returns how many functions wait for a goroutine, or goroutines for their first step.
func (c *crew) waiting() int {
	if c == nil {
		return 0
	}
	return int(c.count.Load() >> 32)
}

// whenEmpty returns a channel that is closed when no goroutine is in the crew. It makes the channel before it reads the count.
// The last goroutine to leave lowers the count before it looks for the channel. mu guards the channel, so one of the two
// closes it.
func (c *crew) whenEmpty() <-chan struct{} {
	empty := make(chan struct{})
	if c == nil {
		close(empty)
		return empty
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gone == nil {
		c.gone = empty
	}
	if empty = c.gone; c.size() == 0 {
		close(empty)
		c.gone = nil
	}
	return empty
}

// has tells whether the calling goroutine is in the crew.
func (c *crew) has() bool {
	if c == nil {
		return false
	}
	id := goroutine.ID()
	if c.placeOf(id).Load() == id {
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	_, is := c.crowd.Of[id]
	return is
}

// placeOf returns the place of a goroutine. It hashes the identity: identities are addresses, with equal bits at the end.
func (c *crew) placeOf(id uintptr) *atomic.Uintptr {
	return &c.place[uint32(uint64(id)*0x9E3779B97F4A7C15>>32)%uint32(len(c.place))]
}
