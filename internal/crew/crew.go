// Package crew has the goroutines that run functions for a loop: which of them there are, and which functions wait for one. It
// knows no loop.
package crew

import (
	"slices"

	"github.com/turnloop/turnloop/internal/goroutine"
	"github.com/turnloop/turnloop/internal/sched"
	"github.com/turnloop/turnloop/internal/sched/atomic"
	"github.com/turnloop/turnloop/internal/slim"
)

// Crew is the goroutines that run functions for one loop, and the functions that wait for one. Any goroutine may call its methods.
//
// There are only so many places. Under a limit a goroutine has one until its function has returned. Without a limit it has one
// until it takes its first step: so a burst of functions does not fill the run queue of the processor. What finds no place waits,
// in order.
type Crew struct {
	limit   int         // functions that run at a time; 0 for any number; fixed by Init
	refused atomic.Bool // Refuse was called; set before mu is taken, so whoever appends to waiting and reads it under mu knows

	mu      sched.Mutex                 // guards what follows
	members slim.Map[uintptr, struct{}] // the goroutines that run functions, by identity; an ending loop accepts work from them
	places  int                         // places that are taken
	unbegun int                         // functions that wait, or whose goroutine has not taken its first step
	waiting []queued
	dropped int           // at least as many of waiting have begun: they were cancelled
	gone    chan struct{} // closed when no goroutine runs a function; made by WhenEmpty; nil when nobody waits for it
}

// Work is one function, as the crew sees it.
type Work interface {
	Begun() bool     // somebody has taken the function: a goroutine to call it, or another to drop it
	Unrefused() bool // Refuse does not keep it from its goroutine
	Refuse()         // it is told that its function is not to be called, before its goroutine begins
}

// queued is Work with the function that a goroutine calls for it.
type queued struct {
	Work
	run func()
}

// Many is how many functions have a goroutine that has not begun, at most; callers that find so many give way. The run queue of a
// processor holds 256 goroutines. Those that find it full take half of it along to the global run queue, and with it whoever
// else waits there, like a loop that was woken. From that queue the runtime rarely takes a goroutine while others are ready.
const Many = 128

// Init makes the crew ready. At most limit functions run at a time; any number, if limit is 0.
func (c *Crew) Init(limit int) { c.limit = limit }

// Start starts a goroutine that calls run, for w, or has w wait for a place. run calls Begin, and Leave if it calls w's function.
func (c *Crew) Start(w Work, run func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unbegun++
	switch {
	case c.places < c.limit || c.limit == 0 && c.places < Many:
		c.places++
		c.launch(run)
	case c.limit != 0 && c.refused.Load() && !w.Unrefused():
		w.Refuse()
		sched.Go(run)
	default:
		c.waiting = append(c.waiting, queued{w, run})
	}
}

// launch starts a goroutine that has a place.
func (c *Crew) launch(run func()) {
	if c.limit == 0 {
		sched.Go(run)
		return
	}
	sched.Go(func() {
		defer func() { // also when run ends the goroutine
			c.mu.Lock()
			defer c.mu.Unlock()
			c.leavePlace()
		}()
		run()
	})
}

// leavePlace gives a place to the first function that waits and was not cancelled. The caller holds mu.
func (c *Crew) leavePlace() {
	for len(c.waiting) > 0 {
		t := c.waiting[0]
		c.waiting[0] = queued{}
		if c.waiting = c.waiting[1:]; !t.Begun() {
			c.launch(t.run)
			return
		}
		c.dropped = max(0, c.dropped-1)
	}
	c.waiting, c.places = nil, max(0, c.places-1) // what End has had called may have had no place
}

// Begin is the first step of a goroutine. It becomes a member if it has taken its function.
func (c *Crew) Begin(taken bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.limit == 0 {
		c.leavePlace()
	}
	if taken {
		c.unbegun--
		c.members.Put(goroutine.ID(), struct{}{})
	}
}

// Leave takes the calling goroutine out.
func (c *Crew) Leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.members.Delete(goroutine.ID())
	c.tellIfEmpty()
}

// Drop counts out a function that was cancelled before it has begun. When most of those that wait were cancelled, it removes them.
func (c *Crew) Drop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unbegun--
	if c.dropped++; 2*c.dropped > len(c.waiting) {
		c.waiting = slices.DeleteFunc(c.waiting, func(t queued) bool { return t.Begun() })
		c.dropped = 0
	}
}

// Refuse has no more functions begin. Those that wait under a limit are refused; those that have a goroutine go on.
func (c *Crew) Refuse() {
	c.refused.Store(true)
	if c.limit != 0 { // without a limit, what waits has been begun
		c.abandon(true)
	}
}

// Refused tells whether Refuse was called.
func (c *Crew) Refused() bool { return c.refused.Load() }

// End has the crew let go of what waits: its run is called, which sees the end and calls no function.
func (c *Crew) End() { c.abandon(false) }

// abandon removes what still waits: all of it, or, if refused is set, what is to be refused, and then refuses it. It calls run of
// each all the same. This may take a while and nobody waits for it, so it is done on another goroutine.
func (c *Crew) abandon(refused bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var left, gone []queued
	for _, t := range c.waiting {
		if refused && t.Unrefused() {
			left = append(left, t)
		} else {
			gone = append(gone, t)
		}
	}
	c.waiting, c.dropped = left, 0
	if len(gone) != 0 {
		sched.Go(func() {
			for _, t := range gone {
				if refused {
					t.Refuse()
				}
				t.run()
			}
		})
	}
}

// Size returns how many goroutines run functions.
func (c *Crew) Size() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.members.Of)
}

// Waiting returns how many functions wait for a place, or have a goroutine that has not taken its first step.
func (c *Crew) Waiting() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.unbegun
}

// Queued returns how many functions wait for a place, those among them that were cancelled.
func (c *Crew) Queued() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.waiting)
}

// Has tells whether the calling goroutine is in the crew.
func (c *Crew) Has() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, is := c.members.Of[goroutine.ID()]
	return is
}

// WhenEmpty returns a channel that is closed when no goroutine runs a function.
func (c *Crew) WhenEmpty() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gone == nil {
		c.gone = make(chan struct{})
	}
	defer c.tellIfEmpty()
	return c.gone
}

// tellIfEmpty closes the channel of WhenEmpty if there are no members. The caller holds mu.
func (c *Crew) tellIfEmpty() {
	if c.gone != nil && len(c.members.Of) == 0 {
		close(c.gone)
		c.gone = nil
	}
}
