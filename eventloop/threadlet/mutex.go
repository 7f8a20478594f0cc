package threadlet

// Locks and conditions that suspend the threadlet and not the loop.

import (
	"sync/atomic"

	"github.com/turnloop/turnloop/eventloop"
)

// home is the loop that a Chan or a Mutex belongs to: that of NewChan, or of the first threadlet that uses the Mutex. Any
// goroutine may read it; everything else of the Chan or Mutex is touched on that loop alone.
type home struct{ s atomic.Pointer[scheduler] }

// caller returns the calling threadlet, or ErrNotThreadlet if it is none of the loop.
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

// Mutex is a lock between threadlets of one loop. It is for a threadlet that waits between steps with which those of others
// must not interleave; steps without a wait need no lock. Waiters get the lock in their order. The zero Mutex is unlocked,
// and belongs to the loop of the first threadlet that uses it. It must not be copied after that.
type Mutex struct {
	home   home
	holder *Threadlet
	queue  waitlist[struct{}]
}

// Lock waits until the caller holds the lock. With an error the caller does not hold it: ErrSignaled,
// eventloop.ErrLoopTerminated, or ErrNotThreadlet.
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
	w.leave()
	return err // if err is nil, Unlock has made t the holder
}

// TryLock takes the lock if it is free, and tells whether it has. Only a threadlet of the loop can get it.
func (m *Mutex) TryLock() bool {
	t, err := m.home.caller()
	if err != nil || m.holder != nil {
		return false
	}
	m.holder = t
	return true
}

// Unlock gives the lock to the first waiter, or frees it. Any threadlet and any callback of the loop may call it. It panics
// if the lock is free, or if the caller is not on the loop. At the end of the loop nothing waits for locks any more, and an
// Unlock by a caller that does not hold the lock does nothing.
func (m *Mutex) Unlock() {
	switch {
	case !m.home.onLoop():
		panic("threadlet: Unlock of a Mutex from outside of its loop, or of one that was never locked")
	case m.home.s.Load().terminated && m.holder != Current():
		return
	case m.holder == nil:
		panic("threadlet: Unlock of a Mutex that is not locked")
	}
	m.holder = nil
	if w := m.queue.wakeFirst(nil); w != nil {
		m.holder = w.t
	}
}

// Cond is a condition that threadlets wait for until another makes it true. It must not be copied after its first use.
type Cond struct {
	L     *Mutex // held while the condition is looked at or changed
	queue waitlist[struct{}]
}

// NewCond returns a condition whose lock is m.
func NewCond(m *Mutex) *Cond { return &Cond{L: m} }

// Wait releases the lock, waits for Signal or Broadcast, and takes the lock again. Others may take the lock before, so the
// caller must test its condition again. The caller must hold the lock, or gets ErrNotThreadlet. After
// eventloop.ErrLoopTerminated it does not hold the lock, and its Unlock does nothing; otherwise it holds the lock again.
func (c *Cond) Wait() error {
	t, err := c.L.home.caller()
	if err != nil || c.L.holder != t && !t.s.terminated {
		return ErrNotThreadlet
	}
	if err := t.enter(); err != nil {
		if t.s.terminated {
			c.L.Unlock()
		}
		return err
	}
	w := &waiter[struct{}]{t: t}
	c.queue.push(w)
	c.L.Unlock()
	err = t.wait(conditional)
	w.leave()
	for again := true; again; { // a signal does not keep t from taking the lock, but Wait then returns ErrSignaled
		if t.s.terminated {
			return eventloop.ErrLoopTerminated
		}
		if again = c.L.lock(t) == ErrSignaled; again {
			err = ErrSignaled
		}
	}
	if t.s.terminated && c.L.holder != t {
		return eventloop.ErrLoopTerminated
	}
	return err
}

// Signal ends the first Wait. Callbacks and threadlets of the loop may call it, with the lock or without; elsewhere it does
// nothing.
func (c *Cond) Signal() {
	if c.L.home.onLoop() {
		c.queue.wakeFirst(nil)
	}
}

// Broadcast does for all current Waits what Signal does for the first.
func (c *Cond) Broadcast() {
	for c.L.home.onLoop() && c.queue.wakeFirst(nil) != nil {
	}
}
