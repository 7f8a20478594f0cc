package threadlet

// Coroutines: goroutines of iter.Pull, each of which runs threadlets one after the other.

import (
	"iter"
	"runtime/debug"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/internal/goroutine"
	"github.com/turnloop/turnloop/internal/guest"
	"github.com/turnloop/turnloop/internal/sched"
)

// coroutine is a goroutine that runs only while the loop's goroutine, or the driver (see suspend), has handed over to it.
// Only code on the loop touches the fields.
type coroutine struct {
	t     *Threadlet              // the threadlet that it runs; nil while it is idle
	id    uintptr                 // identity of its goroutine
	yield func(struct{}) bool     // hands back
	next  func() (struct{}, bool) // hands over
}

// newCoroutine makes a coroutine. The caller must switch to it before it makes another.
func (s *scheduler) newCoroutine() *coroutine {
	c := new(coroutine)
	if s.body == nil {
		s.body = s.coroutine()
	}
	s.made = c
	c.next, _ = iter.Pull(s.body)
	return c
}

// switchTo hands over to a coroutine, and returns when the coroutine hands back: because its threadlet waits, or because it is
// idle. Meanwhile the coroutine's goroutine is the loop's owner: switchTo stores that before and takes it back afterwards, but
// the id of a new coroutine is not known yet, so a new one stores it itself. For the driver, suspend has the same steps.
func (s *scheduler) switchTo(c *coroutine) {
	s.base = s.owner.Load()
	guest.SetOwner(s.owner, c.id)
	before := s.seen.enter(c)
	sched.Hand(c.id)
	c.next()
	sched.Hand(s.base)
	if s.wantsTrace {
		s.traceDriver(c)
	}
	s.seen.back(before)
	guest.SetOwner(s.owner, s.base)
	if s.spent != nil {
		s.bury()
	}
}

// traceDriver gives a coroutine that has just handed back the stack of its driver, which is the caller, and has it go on.
func (s *scheduler) traceDriver(c *coroutine) {
	for s.wantsTrace {
		s.wantsTrace = false
		s.trace = debug.Stack()
		c.next()
	}
}

// bury has the spent coroutine end. A new goroutine resumes it, because a coroutine that ends by runtime.Goexit also ends the
// goroutine that has resumed it. Its own goroutine must not be the loop's owner any more: another may have the same identity
// as soon as it has ended.
func (s *scheduler) bury() {
	c := s.spent
	s.spent = nil
	sched.Go(func() { c.next() })
}

// coroutine returns the function of every coroutine of s. Its frame and that of serve are at the bottom of every threadlet's
// stack, so they are small.
func (s *scheduler) coroutine() func(yield func(struct{}) bool) {
	return func(yield func(struct{}) bool) {
		c := s.made
		c.yield, c.id = yield, goroutine.ID()
		sched.Hand(c.id)
		guest.SetOwner(s.owner, c.id)
		s.seen.begins(c)
		coroutines.add(c)
		defer s.exits(c)
		for s.quitter != c {
			c.serve()
			s.putIdle(c)
			yield(struct{}{})
		}
	}
}

// exits is the last that a coroutine does. If its goroutine ends because a threadlet has called runtime.Goexit, that cannot be
// stopped, also not by a deferred function that panics. But it is postponed: the coroutine hands back first, so that the loop
// goes on. See bury.
func (s *scheduler) exits(c *coroutine) {
	coroutines.remove(c)
	s.seen.ends(c)
	if s.quitter == c {
		guest.SetOwner(s.owner, s.base) // this goroutine ends, and another may soon have the same identity
		return
	}
	s.spent = c
	c.yield(struct{}{})
}

// serve runs the coroutine's threadlet, and then fresh threadlets, as long as nextFresh returns one: that saves a switch for
// each.
func (c *coroutine) serve() {
	defer func() {
		if c.t != nil { // the function of c.t has panicked, or called runtime.Goexit
			c.failed(recover())
		}
	}()
	for c.t != nil {
		fn := c.t.fn
		c.t.fn = nil // so that what fn refers to can be collected while it runs
		fn()
		t := c.t
		c.t = nil
		t.finish(nil)
		c.t = t.s.nextFresh(c)
	}
}

// failed ends a threadlet that has panicked or called runtime.Goexit. It runs in a deferred call, above the threadlet's frames.
func (c *coroutine) failed(value any) {
	t := c.t
	c.t = nil
	switch _, unwound := value.(unwind); {
	case unwound, value == nil && t.refused > 2*stubborn: // by enter
		t.finish(eventloop.ErrLoopTerminated)
		return
	case value == nil:
		value = eventloop.ErrGoexit
	}
	fault := &eventloop.PanicError{Value: value, Stack: debug.Stack()}
	t.finish(fault)
	t.s.fault, t.s.faultSerial = fault, t.serial
}

// end ends an idle coroutine.
func (s *scheduler) end(c *coroutine) {
	s.quitter = c
	s.switchTo(c)
	s.quitter = nil
}

// report panics with the fault of a threadlet, which the loop recovers and reports as it does a callback's panic.
func (s *scheduler) report() {
	fault := s.fault
	s.fault = nil
	panic(guest.Fault{PanicError: fault, Threadlet: s.faultSerial})
}
