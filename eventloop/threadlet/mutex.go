package threadlet

// Locks and conditions that suspend the threadlet and not the loop.

import (
	"sync/atomic"

	"github.com/turnloop/turnloop/eventloop"
)

// home is the loop that something belongs to: that of the first threadlet that uses it. Anybody may look, and only the
// loop touches the rest then.
type home struct{ s atomic.Pointer[scheduler] }

// caller returns the calling threadlet, if it is one of the loop.
func (h *home) caller() (*Threadlet, error) {
	t := Current()
	if t == nil || h.s.Load() != t.s && !h.s.CompareAndSwap(nil, t.s) {
		return nil, ErrNotThreadlet
	}
	return t, nil
}

// onLoop tells whether the caller runs on the loop.
func (h *home) onLoop() bool {
	s := h.s.Load()
	return s != nil && s.loop.OnLoop()
}

// Mutex is a lock for what threadlets of one loop do together and must not interleave although they wait meanwhile;
// without a wait in between no lock is needed. Waiters get it in their order. The zero Mutex is unlocked, and belongs to the
// loop of the first threadlet that uses it. It must not be copied after that.
type Mutex struct {
	home   home
	holder *Threadlet
	queue  waitlist[struct{}]
}

// Lock waits until the lock is the caller's. With an error it is not: ErrSignaled, eventloop.ErrLoopTerminated, or
// ErrNotThreadlet.
func (m *Mutex) Lock() error {
	t, err := m.home.caller()
	if err != nil {
		return err
	}
	if err := t.enter(); err != nil {
		return err
	}
	return m.lock(t)
}

func (m *Mutex) lock(t *Threadlet) error {
	if m.holder == nil {
		m.holder = t
		return nil
	}
	w := &waiter[struct{}]{t: t}
	m.queue.push(w)
	err := t.wait(locking)
	if err != nil {
		w.leave()
	}
	return err // or Unlock has made it the holder
}

// TryLock takes the lock if it is free, and tells whether it has. Nobody but threadlets of the loop gets it.
func (m *Mutex) TryLock() bool {
	t, err := m.home.caller()
	if err != nil || m.holder != nil {
		return false
	}
	m.holder = t
	return true
}

// Unlock gives the lock to the first who waits for it. Any threadlet of the loop may call it, and any callback. It panics
// if the lock is free, or the caller is elsewhere. When the loop ends, locks are not waited for any more, and an Unlock of
// somebody who does not hold it does nothing.
func (m *Mutex) Unlock() {
	switch {
	case !m.home.onLoop():
		panic("threadlet: Unlock of a Mutex from outside of its loop, or of one that was never locked")
	case m.home.s.Load().over && m.holder != Current():
		return
	case m.holder == nil:
		panic("threadlet: Unlock of a Mutex that is not locked")
	}
	m.holder = nil
	if w := m.queue.wakeFirst(nil); w != nil {
		m.holder = w.t
	}
}

// Cond is a condition that threadlets wait for while another makes it true. It must not be copied after its first use.
type Cond struct {
	L     *Mutex // held while the condition is looked at or changed
	queue waitlist[struct{}]
}

// NewCond returns a condition whose lock is m.
func NewCond(m *Mutex) *Cond { return &Cond{L: m} }

// Wait gives the lock back, waits for Signal or Broadcast, and takes the lock again. As that may be taken by others
// first, the caller looks again whether the condition holds. The caller holds the lock, and holds it again with
// any result but two: ErrNotThreadlet, if it does not hold it, and eventloop.ErrLoopTerminated, when Unlock does nothing
// for it.
func (c *Cond) Wait() error {
	t, err := c.L.home.caller()
	if err != nil || c.L.holder != t && !t.s.over {
		return ErrNotThreadlet
	}
	if err := t.enter(); err != nil {
		if t.s.over {
			c.L.Unlock()
		}
		return err
	}
	w := &waiter[struct{}]{t: t}
	c.queue.push(w)
	c.L.Unlock()
	err = t.wait(conditional)
	w.leave()
	for again := true; again; { // a signal meanwhile is for the next wait
		if t.s.over {
			return eventloop.ErrLoopTerminated
		}
		if again = c.L.lock(t) == ErrSignaled; again {
			err = ErrSignaled
		}
	}
	if t.s.over && c.L.holder != t {
		return eventloop.ErrLoopTerminated
	}
	return err
}

// Signal ends the wait of the first who is in Wait. Callbacks and threadlets of the loop may call it, with the lock or
// without; from elsewhere it does nothing.
func (c *Cond) Signal() {
	if c.L.home.onLoop() {
		c.queue.wakeFirst(nil)
	}
}

// Broadcast ends all waits; otherwise it is Signal.
func (c *Cond) Broadcast() {
	for c.L.home.onLoop() && c.queue.wakeFirst(nil) != nil {
	}
}
