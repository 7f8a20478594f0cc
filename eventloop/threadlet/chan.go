package threadlet

// Channels between threadlets.

import (
	"io"

	"github.com/turnloop/turnloop/eventloop"
)

// Chan passes values between threadlets of one loop, in order, as a channel does between goroutines; callbacks of the loop
// use TrySend and TryReceive. [NewChan] makes one.
type Chan[T any] struct {
	home      home
	buffer    []T // a ring
	read, n   int // index of the oldest value, and how many there are
	senders   waitlist[T]
	receivers waitlist[*T]
	closed    bool
}

// NewChan returns a channel of a loop with room for n values. With n = 0 each Send waits for its Receive. It panics if n is
// negative. Any goroutine may call it.
func NewChan[T any](l *eventloop.Loop, n int) *Chan[T] {
	c := &Chan[T]{buffer: make([]T, n)}
	c.home.s.Store(schedulerOf(l))
	return c
}

// Send passes v on, and waits until there is room for v or a receiver. With an error v was not passed on: io.ErrClosedPipe
// when the channel is closed, ErrSignaled, eventloop.ErrLoopTerminated, or ErrNotThreadlet.
func (c *Chan[T]) Send(v T) error {
	t, err := c.home.caller()
	if err != nil {
		return err
	}
	if err := t.enter(); err != nil {
		return err
	}
	switch {
	case c.closed:
		return io.ErrClosedPipe
	case c.put(v):
		return nil
	}
	w := &waiter[T]{t: t, value: v}
	c.senders.push(w)
	err = t.wait(sending)
	w.leave()
	return err
}

// TrySend passes v on if that needs no waiting, and tells whether it has. Callbacks of the loop may call it; elsewhere it
// returns false.
func (c *Chan[T]) TrySend(v T) bool { return c.home.onLoop() && !c.closed && c.put(v) }

// put gives v to the first receiver that waits, or to the buffer. It returns false if there is no room.
func (c *Chan[T]) put(v T) bool {
	if w := c.receivers.wakeFirst(nil); w != nil {
		*w.value = v
		return true
	}
	if c.n == len(c.buffer) {
		return false
	}
	c.buffer[(c.read+c.n)%len(c.buffer)] = v
	c.n++
	return true
}

// Receive returns the next value, and waits until there is one. It returns io.EOF when the channel is closed and has no
// more, ErrSignaled, eventloop.ErrLoopTerminated, or ErrNotThreadlet.
func (c *Chan[T]) Receive() (v T, err error) {
	t, err := c.home.caller()
	if err != nil {
		return v, err
	}
	if err := t.enter(); err != nil {
		return v, err
	}
	if v, ok := c.get(); ok {
		return v, nil
	}
	if c.closed {
		return v, io.EOF
	}
	return c.receive(t)
}

func (c *Chan[T]) receive(t *Threadlet) (v T, err error) {
	w := &waiter[*T]{t: t, value: &v}
	c.receivers.push(w)
	err = t.wait(receiving)
	w.leave()
	return v, err
}

// TryReceive returns the next value if there is one, and tells whether there is. Callbacks of the loop may call it;
// elsewhere it returns false.
func (c *Chan[T]) TryReceive() (v T, ok bool) {
	if !c.home.onLoop() {
		return v, false
	}
	return c.get()
}

// get takes the oldest value: from the buffer, or, if that is empty, from the first sender that waits.
func (c *Chan[T]) get() (v T, ok bool) {
	if c.n == 0 {
		if w := c.senders.wakeFirst(nil); w != nil {
			return w.value, true
		}
		return v, false
	}
	v = c.buffer[c.read]
	c.buffer[c.read] = *new(T)
	c.read = (c.read + 1) % len(c.buffer)
	c.n--
	if w := c.senders.wakeFirst(nil); w != nil {
		c.put(w.value)
	}
	return v, true
}

// Len returns how many values are in the buffer. It is for the loop; elsewhere it returns 0.
func (c *Chan[T]) Len() int {
	if !c.home.onLoop() {
		return 0
	}
	return c.n
}

// Close ends the channel. Senders get io.ErrClosedPipe; receivers get what is in the buffer, and then io.EOF. Threadlets
// and callbacks of the loop may call it, more than once, too; elsewhere it returns ErrNotThreadlet.
func (c *Chan[T]) Close() error {
	if !c.home.onLoop() {
		return ErrNotThreadlet
	}
	c.closed = true
	for c.senders.wakeFirst(io.ErrClosedPipe) != nil {
	}
	for c.receivers.wakeFirst(io.EOF) != nil {
	}
	return nil
}
