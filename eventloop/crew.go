package eventloop

// Who works for the loop: an ending loop accepts from those what it refuses others.

import (
	"github.com/turnloop/turnloop/internal/goroutine"
	"github.com/turnloop/turnloop/internal/sched"
	"github.com/turnloop/turnloop/internal/sched/atomic"
)

// crew knows the goroutines on which functions of Promisify run, by identity. Each has its place; who finds that taken is
// in the crowd. A loop gets one with its first worker.
type crew struct {
	place [64]atomic.Uintptr
	mu    sched.Mutex
	crowd map[uintptr]struct{}

	count atomic.Int64  // of them
	gone  chan struct{} // closed when there are none; made by who waits for that, under mu
}

// enlist adds the calling goroutine to those that work for the loop.
func (l *Loop) enlist() *crew {
	c := l.crew.Load()
	if c == nil {
		l.crew.CompareAndSwap(nil, new(crew))
		c = l.crew.Load()
	}
	c.enter()
	return c
}

func (c *crew) enter() {
	c.count.Add(1)
	id := goroutine.ID()
	if !c.placeOf(id).CompareAndSwap(0, id) {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.crowd == nil {
			c.crowd = map[uintptr]struct{}{}
		}
		c.crowd[id] = struct{}{}
	}
}

func (c *crew) leave() {
	if c.count.Add(-1) == 0 {
		c.mu.Lock()
		if c.gone != nil && c.count.Load() == 0 {
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
	if delete(c.crowd, id); len(c.crowd) == 0 {
		c.crowd = nil
	}
}

// working returns how many there are.
func (c *crew) working() int64 {
	if c == nil {
		return 0
	}
	return c.count.Load()
}

// none returns a channel that is closed when there is nobody. Who leaves last looks for it under the lock under which it is
// made here, before the count is looked at again.
func (c *crew) none() <-chan struct{} {
	none := make(chan struct{})
	if c == nil {
		close(none)
		return none
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gone == nil {
		c.gone = none
	}
	if none = c.gone; c.count.Load() == 0 {
		close(none)
		c.gone = nil
	}
	return none
}

// has tells whether the calling goroutine works for the loop.
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
	_, is := c.crowd[id]
	return is
}

// placeOf spreads the addresses that identities are.
func (c *crew) placeOf(id uintptr) *atomic.Uintptr {
	return &c.place[uint32(uint64(id)*0x9E3779B97F4A7C15>>32)%uint32(len(c.place))]
}
