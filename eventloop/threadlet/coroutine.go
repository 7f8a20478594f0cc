package threadlet

// Coroutines, on which threadlets run one after the other. They are iter.Pull's.

import (
	"iter"
	"runtime"
	"runtime/debug"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/internal/goroutine"
	"github.com/turnloop/turnloop/internal/guest"
)

// coroutine is a goroutine that only runs while the loop's has handed over to it. All of it is touched on the loop alone.
type coroutine struct {
	s     *scheduler
	t     *Threadlet // that it runs; nil while it is idle
	id    uintptr    // of its goroutine
	no    uint64     // the number of that, if somebody wants to know
	base  uintptr    // of the goroutine that has resumed it
	yield func(struct{}) bool
	next  func() (struct{}, bool)
	rest  *coroutine // in the list of those that are idle
	quit  bool       // it is to end
	spent bool       // it called runtime.Goexit, and takes whoever resumes it along
}

func (s *scheduler) newCoroutine() *coroutine {
	c := &coroutine{s: s}
	c.next, _ = iter.Pull(c.run)
	return c
}

// resume hands over to a coroutine until it waits, or is idle. The loop's owner is who runs.
func (c *coroutine) resume() {
	owner := c.s.owner
	c.base = owner.Load()
	guest.SetOwner(owner, c.id) // one that begins says itself who it is
	before := c.s.seen.enter(c)
	c.next()
	for c.s.asked {
		c.s.asked = false
		c.s.trace = debug.Stack()
		c.next()
	}
	c.s.seen.back(before)
	guest.SetOwner(owner, c.base)
	if c.spent {
		go c.next()
	}
}

func (c *coroutine) run(yield func(struct{}) bool) {
	c.yield, c.id = yield, goroutine.ID()
	guest.SetOwner(c.s.owner, c.id)
	c.s.seen.begins(c)
	coroutines.add(c)
	for !c.quit {
		c.serve()
		c.s.putIdle(c)
		yield(struct{}{})
	}
	coroutines.remove(c.id)
	guest.SetOwner(c.s.owner, c.base) // its identity may soon be another's
}

// serve runs a threadlet, and then those that wait to begin, as long as nothing else is due, for which no switch is
// needed.
func (c *coroutine) serve() {
	defer func() {
		if c.t != nil { // it did not return
			c.failed(recover())
		}
	}()
	for c.t != nil {
		c.t.fn()
		t := c.t
		c.t = nil
		t.finish(nil)
		c.t = c.s.nextFresh(c)
	}
}

// failed is the end of a threadlet that has panicked, or has called runtime.Goexit, in a deferred call above its stack.
// Goexit cannot be stopped, but put off until the loop has gone on.
func (c *coroutine) failed(value any) {
	t := c.t
	c.t = nil
	switch value.(type) {
	case unwind:
		t.finish(eventloop.ErrLoopTerminated)
		return
	case nil:
		value, c.spent = eventloop.ErrGoexit, true
	}
	fault := &eventloop.PanicError{Value: value, Stack: debug.Stack()}
	t.finish(fault)
	c.s.fault, c.s.culprit = fault, t.serial
	if c.spent {
		coroutines.remove(c.id)
		c.yield(struct{}{})
		runtime.Goexit() // it was no Goexit but a panic(nil) as the runtime had it once (GODEBUG=panicnil=1)
	}
}

// end ends an idle coroutine.
func (c *coroutine) end() {
	c.quit = true
	c.resume()
}

// report has the loop report the fault of a threadlet as that of the callback that is running.
func (s *scheduler) report() {
	fault := s.fault
	s.fault = nil
	panic(guest.Fault{PanicError: fault, Serial: s.culprit})
}
