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

	mu     sync.Mutex // guards queue and armed; held over the loop's Submit, never over functions
	queue  []item
	armed  bool        // the loop has been asked to look here
	filled atomic.Bool // queue is not empty; changed under the lock, and the loop looks at it without

	batch fifo[item] // taken from the queue; the loop's
	ring  func()     // the loop's callback
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
	if in.queue = append(in.queue, it); len(in.queue) == 1 {
		in.filled.Store(true)
	}
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
	if in.batch.len() != 0 || !in.filled.Load() {
		return
	}
	in.mu.Lock()
	queue := in.queue
	in.queue = in.batch.items[:0]
	in.filled.Store(false)
	in.mu.Unlock()
	in.batch = fifo[item]{items: queue}
}

// any tells whether there is anything that came before.
func (in *inbox) any() bool { return in.batch.len() != 0 || in.filled.Load() }

// next takes the next function of the batch; nil if there is none, or if what comes next wants an entry of its own.
func (in *inbox) next() (fn func(*goja.Runtime), own bool) {
	if in.batch.len() == 0 {
		return nil, false
	}
	if in.batch.first().own != nil {
		return nil, true
	}
	return in.batch.pop().fn, false
}

// own takes what comes next if it wants an entry of its own, else it returns nil.
func (in *inbox) own() func() {
	if in.batch.len() == 0 || in.batch.first().own == nil {
		return nil
	}
	return in.batch.pop().own
}

// drop forgets everything, when the host ends.
func (in *inbox) drop() {
	in.mu.Lock()
	dropped := in.queue
	in.queue = nil
	in.filled.Store(false)
	in.mu.Unlock()
	for in.batch.len() != 0 {
		dropped = append(dropped, in.batch.pop())
	}
	for _, it := range dropped {
		if it.own != nil {
			it.own() // which finds that the host has ended, and tells who waits
		}
	}
}
