// Package crew has the goroutines that run functions for a loop: which of them there are, and which functions wait for one. It
// knows no loop.
package crew

// The members: the goroutines by identity. An ending loop accepts work from them that it refuses others.

import (
	"github.com/turnloop/turnloop/internal/goroutine"
	"github.com/turnloop/turnloop/internal/sched"
	"github.com/turnloop/turnloop/internal/sched/atomic"
	"github.com/turnloop/turnloop/internal/slim"
)

// Crew is the goroutines that run functions for one loop, and the functions that wait for one. Any goroutine may call its methods.
type Crew struct {
	members atomic.Pointer[members] // nil until the first function comes, since most loops have none
	queue
}

// Init makes the crew ready. At most limit goroutines run functions at a time; any number, if limit is 0.
func (c *Crew) Init(limit int) { c.limit = limit }

// members knows the goroutines by identity. Each has a place; a goroutine that finds its place taken is in the map crowd instead.
type members struct {
	place [64]atomic.Uintptr // the identity of the goroutine that has the place, which alone may free it; 0: free
	mu    sched.Mutex        // guards crowd and gone
	crowd slim.Map[uintptr, struct{}]

	// count has in its low half how many goroutines there are, in places and in the crowd, and in its high half how many
	// functions wait for a goroutine, or a goroutine for its first step.
	count atomic.Int64
	gone  chan struct{} // closed when no goroutine is left; made by a call of WhenEmpty; nil when nobody waits for it
}

// oneWaits is one in the high half of members.count.
const oneWaits = 1 << 32

// made returns the members, and makes them if there are none.
func (c *Crew) made() *members {
	m := c.members.Load()
	if m == nil {
		c.members.CompareAndSwap(nil, new(members))
		m = c.members.Load()
	}
	return m
}

// Enter adds the calling goroutine, which begins with a function that has waited. It starts the next that waits, if there is no
// limit.
func (c *Crew) Enter() {
	c.made().enter()
	c.followUp()
}

// Leave takes the calling goroutine out.
func (c *Crew) Leave() { c.made().leave() }

func (m *members) enter() {
	m.count.Add(1 - oneWaits)
	id := goroutine.ID()
	if !m.placeOf(id).CompareAndSwap(0, id) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.crowd.Put(id, struct{}{})
	}
}

func (m *members) leave() {
	if int32(m.count.Add(-1)) == 0 {
		m.mu.Lock()
		if m.gone != nil && m.size() == 0 {
			close(m.gone)
			m.gone = nil
		}
		m.mu.Unlock()
	}
	id := goroutine.ID()
	if at := m.placeOf(id); at.Load() == id {
		at.Store(0)
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.crowd.Delete(id)
}

// Size returns how many goroutines run functions.
func (c *Crew) Size() int { return c.members.Load().size() }

// Waiting returns how many functions wait for a goroutine, or goroutines for their first step.
func (c *Crew) Waiting() int {
	m := c.members.Load()
	if m == nil {
		return 0
	}
	return int(m.count.Load() >> 32)
}

func (m *members) size() int {
	if m == nil {
		return 0
	}
	return int(int32(m.count.Load()))
}

// WhenEmpty returns a channel that is closed when no goroutine runs a function. It makes the channel before it reads the count.
// The last goroutine to leave lowers the count before it looks for the channel. mu guards the channel, so one of the two
// closes it.
func (c *Crew) WhenEmpty() <-chan struct{} {
	empty := make(chan struct{})
	m := c.members.Load()
	if m == nil {
		close(empty)
		return empty
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.gone == nil {
		m.gone = empty
	}
	if empty = m.gone; m.size() == 0 {
		close(empty)
		m.gone = nil
	}
	return empty
}

// Has tells whether the calling goroutine is in the crew.
func (c *Crew) Has() bool {
	m := c.members.Load()
	return m != nil && m.has()
}

func (m *members) has() bool {
	id := goroutine.ID()
	if m.placeOf(id).Load() == id {
		return true
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	_, is := m.crowd.Of[id]
	return is
}

// placeOf returns the place of a goroutine. It hashes the identity: identities are addresses, with equal bits at the end.
func (m *members) placeOf(id uintptr) *atomic.Uintptr {
	return &m.place[uint32(uint64(id)*0x9E3779B97F4A7C15>>32)%uint32(len(m.place))]
}
