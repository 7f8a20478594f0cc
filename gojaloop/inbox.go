package gojaloop

// The inbox: what other goroutines have given the host to run.

import (
	"sync"
	"sync/atomic"

	"github.com/dop251/goja"
	"github.com/turnloop/turnloop/eventloop"
)

// inbox is where producers and the loop meet. One callback of the loop is under way to it while there is anything, so
// that a thousand functions cost the loop one, and goja one call.
type inbox struct {
	host *Host

	mu          sync.Mutex  // guards first, last and armed; held over the loop's Submit, never over functions
	first, last *chunk      // what is queued; nil if nothing is
	armed       bool        // the loop has been asked to look here
	filled      atomic.Bool // something is queued; changed under the lock, and the loop looks at it without

	batch *chunk                // taken from the queue, with something left in its first; the loop's
	spare atomic.Pointer[chunk] // an empty one, from the loop to producers
	ring  func()                // the loop's callback
}

// chunk is a piece of a queue. Who has the piece has all of it: a producer under the lock, then the loop.
type chunk struct {
	fns  [64]func(*goja.Runtime)
	own  uint64 // a bit for each that wants an entry of its own, and no runtime
	n    int    // how many are set
	at   int    // how many are taken
	next *chunk
}

// item is a function, or something that wants an entry of its own.
type item struct {
	fn  func(*goja.Runtime)
	own func()
}

func (in *inbox) init(h *Host) {
	in.host = h
	in.ring = in.heard
}

// add accepts an item, or returns why not. What was accepted runs, in order, unless the loop is closed or the host ends;
// by a parked host, when it goes on.
func (in *inbox) add(it item) error {
	h := in.host
	in.mu.Lock()
	defer in.mu.Unlock()
	if err := h.ended.Load(); err != nil {
		return closed(*err)
	}
	if h.parked.Load() {
		in.put(it)
		return nil
	}
	if s := h.loop.State(); s == eventloop.StateTerminating || s == eventloop.StateTerminated {
		return eventloop.ErrLoopTerminated
	}
	if !in.armed {
		if err := h.loop.Submit(in.ring); err != nil {
			return err
		}
		in.armed = true
	}
	in.put(it)
	return nil
}

// put appends an item, under the lock.
func (in *inbox) put(it item) {
	c := in.last
	if c == nil || c.n == len(c.fns) {
		if c = in.spare.Swap(nil); c == nil {
			c = new(chunk)
		}
		if in.last == nil {
			in.first = c
			in.filled.Store(true)
		} else {
			in.last.next = c
		}
		in.last = c
	}
	if own := it.own; own != nil {
		c.own |= 1 << c.n
		it.fn = func(*goja.Runtime) { own() }
	}
	c.fns[c.n] = it.fn
	c.n++
}

// heard is the loop's callback. The next item asks again; what this entry leaves behind is asked for by the host.
func (in *inbox) heard() {
	in.mu.Lock()
	in.armed = false
	in.mu.Unlock()
	in.host.goAhead()
}

// take makes what is queued the batch, if that has run.
func (in *inbox) take() {
	if in.batch == nil && in.filled.Load() {
		in.batch = in.taken()
	}
}

// taken takes all that is queued.
func (in *inbox) taken() *chunk {
	in.mu.Lock()
	defer in.mu.Unlock()
	c := in.first
	in.first, in.last = nil, nil
	in.filled.Store(false)
	return c
}

// before puts a function before everything that is taken.
func (in *inbox) before(fn func(*goja.Runtime)) {
	c := &chunk{n: 1, next: in.batch}
	c.fns[0] = fn
	in.batch = c
}

// any tells whether there is anything that came before.
func (in *inbox) any() bool { return in.batch != nil || in.filled.Load() }

// next takes the next function of the batch; nil if there is none, or if what comes next wants an entry of its own.
func (in *inbox) next() (fn func(*goja.Runtime), own bool) {
	c := in.batch
	switch {
	case c == nil:
		return nil, false
	case c.own>>c.at&1 != 0:
		return nil, true
	}
	return in.pop(c), false
}

// own takes what comes next if it wants an entry of its own, else it returns nil.
func (in *inbox) own() func() {
	c := in.batch
	if c == nil || c.own>>c.at&1 == 0 {
		return nil
	}
	own := in.pop(c)
	return func() { own(nil) }
}

// pop takes the first of the batch, which is in c.
func (in *inbox) pop(c *chunk) func(*goja.Runtime) {
	fn := c.fns[c.at]
	c.fns[c.at] = nil
	if c.at++; c.at == c.n {
		in.batch = c.next
		c.own, c.n, c.at, c.next = 0, 0, 0, nil
		in.spare.Store(c)
	}
	return fn
}

// drop forgets everything, when the host ends.
func (in *inbox) drop() {
	for in.batch != nil || in.filled.Load() {
		in.take()
		c := in.batch
		own := c.own>>c.at&1 != 0
		if fn := in.pop(c); own {
			fn(nil) // which finds that the host has ended, and tells who waits
		}
	}
}
