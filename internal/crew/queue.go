package crew

// The queue: which functions have a goroutine, and which wait for one.

import (
	"slices"

	"github.com/turnloop/turnloop/internal/sched"
	"github.com/turnloop/turnloop/internal/sched/atomic"
)

// Work is one function, as the queue sees it.
type Work interface {
	Begun() bool     // somebody has taken the function: a goroutine to call it, or another to drop it
	Unrefused() bool // Refuse does not keep it from its goroutine
	Refuse()         // it is told that its function is not to be called, before its goroutine begins
}

// queue starts a goroutine for each function; under a limit, or if there are too many, for some of them later. In between its
// fields are zero.
type queue struct {
	limit    int         // goroutines at a time; 0 for any number; fixed by Init
	mu       sched.Mutex // guards the other fields, and writes of deferred
	running  int         // goroutines at work; counted under a limit only
	waiting  []queued    // in the order of the calls of Start
	dropped  int         // how many of waiting have begun: they were cancelled
	deferred atomic.Bool // waiting is not empty, and there is no limit
	refused  atomic.Bool // set by Refuse, before it takes mu; whoever appends to waiting under a limit reads it under mu
}

// queued is Work with the function that a goroutine calls for it.
type queued struct {
	Work
	run func()
}

// Many is how many functions wait for a goroutine, or goroutines for their first step, when callers that add more should give
// way. The run queue of a processor holds 256 goroutines. Those that find it full take half of it along to the global run
// queue, and with it whoever else waits there, like a loop that was woken. From that queue the runtime rarely takes a
// goroutine while others are ready.
const Many = 128

// Start starts a goroutine that calls run, for w, or has w wait for one. run calls Enter and Leave if it calls w's function. Callers
// give way when too many goroutines have not begun. If the caller cannot, w waits, and each goroutine that begins starts the next.
//
// Whoever takes a function, to call it or because its context has ended, counts it out of Waiting, and then looks at
// deferred. Start sets deferred before it looks at the count again. So either Start starts w, or one of those will.
func (c *Crew) Start(w Work, run func(), cannotWait bool) {
	c.made().count.Add(oneWaits)
	t := queued{w, run}
	switch {
	case c.limit != 0:
		c.startWithin(c.limit, t)
	case cannotWait && (c.deferred.Load() || c.Waiting() > Many):
		c.mu.Lock()
		c.waiting = append(c.waiting, t)
		c.deferred.Store(true)
		c.mu.Unlock()
		for c.Waiting() <= Many && c.startNext() {
		}
	default:
		sched.Go(run)
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

// End has the queue let go of what waits: its run is called, which sees the end and calls no function.
func (c *Crew) End() { c.abandon(false) }

// Drop counts out a function that waited and was cancelled.
func (c *Crew) Drop() {
	c.made().count.Add(-oneWaits)
	c.drop()
	c.followUp()
}

// Queued returns how many functions the queue has, those among them that were dropped.
func (c *Crew) Queued() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.waiting)
}

// followUp starts a function in the place of one that waits no more. There may be a limit; then it does nothing.
func (q *queue) followUp() {
	if q.deferred.Load() {
		q.startNext()
	}
}

// startNext starts the first function that waits, if there is one. There is no limit.
func (q *queue) startNext() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	t, ok := q.pop()
	if ok {
		sched.Go(t.run)
	}
	q.deferred.Store(len(q.waiting) != 0)
	return ok
}

// pop takes the first function that waits and was not cancelled. The caller holds mu.
func (q *queue) pop() (t queued, ok bool) {
	for len(q.waiting) > 0 {
		t := q.waiting[0]
		q.waiting[0] = queued{}
		q.waiting = q.waiting[1:]
		if !t.Begun() {
			return t, true
		}
		q.dropped = max(0, q.dropped-1)
	}
	q.waiting = nil
	return queued{}, false
}

func (q *queue) startWithin(limit int, t queued) {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.running < limit:
		q.running++
		sched.Go(func() { q.runItem(t.run) })
	case q.refused.Load() && !t.Unrefused():
		t.Refuse()
		sched.Go(t.run)
	default:
		q.waiting = append(q.waiting, t)
	}
}

func (q *queue) runItem(run func()) {
	defer q.next() // also when run ends the goroutine
	run()
}

// next is called when a function is done, and starts the first that waits in its place.
func (q *queue) next() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if t, ok := q.pop(); ok {
		sched.Go(func() { q.runItem(t.run) })
	} else {
		q.running--
	}
}

// drop counts a function that was cancelled while it waited. When most of those that wait were cancelled, it removes them.
func (q *queue) drop() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.dropped++; 2*q.dropped > len(q.waiting) {
		q.waiting = slices.DeleteFunc(q.waiting, func(t queued) bool { return t.Begun() })
		q.dropped = 0
		if len(q.waiting) == 0 {
			q.deferred.Store(false)
		}
	}
}

// abandon removes what still waits: all of it, or, if refused is set, what is to be refused, and then refuses it. It calls run of
// each all the same. This may take a while and nobody waits for it, so it is done on another goroutine.
func (q *queue) abandon(refused bool) {
	q.mu.Lock()
	var left, waiting []queued
	for _, t := range q.waiting {
		if refused && t.Unrefused() {
			left = append(left, t)
		} else {
			waiting = append(waiting, t)
		}
	}
	q.waiting, q.dropped = left, 0
	q.deferred.Store(false)
	q.mu.Unlock()
	if len(waiting) != 0 {
		sched.Go(func() {
			for _, t := range waiting {
				if refused {
					t.Refuse()
				}
				t.run()
			}
		})
	}
}
