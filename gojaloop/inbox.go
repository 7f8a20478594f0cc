package gojaloop

// The inbox: the functions that other goroutines have given the host to run.

import (
	"math/bits"
	"sync"
	"sync/atomic"

	"github.com/dop251/goja"
	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/internal/goroutine"
)

// inbox takes functions from producers to the loop. At most one callback of the loop is queued for it, so that a
// thousand functions cost the loop one callback, and goja one call.
type inbox struct {
	host *Host

	mu          sync.Mutex  // guards first, last, length, taking and armed; held over the loop's Submit, never over functions
	first, last *chunk      // the queue; nil when it is empty
	length      int         // chunks in the queue
	taking      int         // chunks that the loop has taken last
	armed       bool        // wake is queued at the loop
	filled      atomic.Bool // the queue is not empty; changed under mu, read by the loop without it

	batch *chunk                // what the loop has taken from the queue; nil or not empty; only the loop touches it
	spare atomic.Pointer[chunk] // an empty chunk, given back by the loop to producers
	wake  func()                // the method onWake
}

// chunk is a piece of the queue. All of it has one owner: the producers under mu, then the loop.
type chunk struct {
	fns  [64]func(*goja.Runtime)
	own  uint64 // a bit for each function that needs an entry of its own, and gets no runtime
	n    int    // how many functions are set
	at   int    // how many are taken
	next *chunk
}

// item is a function of Submit, or one that needs an entry of its own.
type item struct {
	fn  func(*goja.Runtime)
	own func()
}

func (in *inbox) init(h *Host) {
	in.host = h
	in.wake = in.onWake
}

// add accepts an item, or returns why not. Accepted items run, in order, unless the loop is closed or the host ends;
// on a parked host they run when it goes on. Any goroutine. A producer that is far ahead of the loop gives way, once for
// each chunk, as one does in the loop's Submit.
func (in *inbox) add(it item) error {
	in.mu.Lock()
	err := in.accept(it)
	ahead, loop := 0, in.host.loop
	if err == nil && in.last.n == len(in.last.fns) {
		ahead = in.length + in.taking
	}
	in.mu.Unlock()
	if ahead >= yieldAhead && !loop.OnLoop() {
		goroutine.GiveWay(ahead / aheadPerYield)
	}
	return err
}

// accept is the part of add for which mu is locked.
func (in *inbox) accept(it item) error {
	h := in.host
	if err := h.ended.Load(); err != nil {
		return closed(*err)
	}
	if h.parked.Load() {
		in.put(it)
		return nil
	}
	if s := h.loop.State(); s == eventloop.StateTerminating || s == eventloop.StateTerminated {
		if h.ranLoop.Load() {
			return errRanLoop
		}
		return eventloop.ErrLoopTerminated
	}
	if !in.armed {
		if err := h.loop.Submit(in.wake); err != nil {
			return err
		}
		in.armed = true
	}
	in.put(it)
	return nil
}

const (
	yieldAhead    = 64      // chunks that wait when producers begin to give way
	aheadPerYield = 1 << 10 // chunks that wait for each further yield
)

// put appends an item. The caller holds mu.
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
		in.length++
	}
	if own := it.own; own != nil {
		c.own |= 1 << c.n
		it.fn = func(*goja.Runtime) { own() }
	}
	c.fns[c.n] = it.fn
	c.n++
}

// onWake is the callback that add queues at the loop. From now on the next item queues another one. If this callback leaves
// items in the inbox, the host asks for another entry.
func (in *inbox) onWake() {
	in.mu.Lock()
	in.armed = false
	in.mu.Unlock()
	in.host.runTurn()
}

// take makes the functions in the queue the batch, if the batch before has run. On the loop.
func (in *inbox) take() {
	if in.batch == nil && in.filled.Load() {
		in.batch = in.taken()
	}
}

// taken empties the queue, and returns its chunks.
func (in *inbox) taken() *chunk {
	in.mu.Lock()
	defer in.mu.Unlock()
	c := in.first
	in.first, in.last = nil, nil
	in.length, in.taking = 0, in.length
	in.filled.Store(false)
	return c
}

// before puts a function before everything in the batch.
func (in *inbox) before(fn func(*goja.Runtime)) {
	c := &chunk{n: 1, next: in.batch}
	c.fns[0] = fn
	in.batch = c
}

// any tells whether an item is in the batch or in the queue.
func (in *inbox) any() bool { return in.batch != nil || in.filled.Load() }

// next takes out the next function of the batch. It returns nil if there is none. If the next one needs an entry of
// its own, it stays in the batch, and own is true.
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

// nextOwn takes out the next function if it needs an entry of its own; otherwise it takes none, and returns nil.
func (in *inbox) nextOwn() func() {
	c := in.batch
	if c == nil || c.own>>c.at&1 == 0 {
		return nil
	}
	own := in.pop(c)
	return func() { own(nil) }
}

// pop takes out the first function of the batch. c is the batch's first chunk. A chunk is cleared as a whole, which
// costs less than function by function while the garbage collector marks.
func (in *inbox) pop(c *chunk) func(*goja.Runtime) {
	fn := c.fns[c.at]
	if c.at++; c.at == c.n {
		in.batch = c.next
		clear(c.fns[:c.n])
		c.own, c.n, c.at, c.next = 0, 0, 0, nil
		in.spare.Store(c)
	}
	return fn
}

// drop forgets all items, when the host ends. There may be millions, so it calls only those that have waiting callers.
func (in *inbox) drop() {
	for in.batch != nil || in.filled.Load() {
		in.take()
		c := in.batch
		in.batch = c.next
		for own := c.own >> c.at << c.at; own != 0; own &= own - 1 {
			c.fns[bits.TrailingZeros64(own)](nil) // finds that the host has ended, and returns the error to its caller
		}
	}
}
