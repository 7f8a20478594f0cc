package js

// Microtasks and ticks: two queues that the loop's microtask checkpoint drains in Node's order.
//
// Each function that is queued brings one microtask of the loop, which runs not that function but the one whose turn it
// is. So the loop's budget and its containment of panics hold for each of them, and the order is decided here.

import "github.com/turnloop/turnloop/eventloop"

// QueueMicrotask queues fn to run on the loop after the current callback, and after NextTick's functions, before the
// next callback (the HTML standard's queueMicrotask). Microtasks run in order, also those that they queue themselves,
// up to the loop's microtask budget.
//
// Any goroutine may call it; on the loop it takes no lock. It returns ErrNilCallback, or ErrLoopTerminated when the
// loop has ended.
func (j *JS) QueueMicrotask(fn func()) error { return j.enqueue(&j.jobs, fn) }

// NextTick queues fn to run on the loop after the current callback and before its microtasks (Node's process.nextTick);
// called by a microtask, after the microtasks. Ticks that ticks queue run in the same drain.
//
// Any goroutine may call it; from elsewhere, the loop hears of each call on its own, and microtasks it heard of before
// run first. On the loop it takes no lock. It returns ErrNilCallback, or ErrLoopTerminated when the loop has ended.
func (j *JS) NextTick(fn func()) error { return j.enqueue(&j.ticks, fn) }

func (j *JS) enqueue(q *queue, fn func()) error {
	if fn == nil {
		return eventloop.ErrNilCallback
	}
	if !j.loop.OnLoop() {
		return j.loop.ScheduleMicrotask(func() {
			q.push(fn)
			j.pump()
		})
	}
	if err := j.loop.ScheduleMicrotask(j.runNext); err != nil {
		return err
	}
	q.push(fn)
	return nil
}

// pump runs the function whose turn it is.
func (j *JS) pump() {
	q := &j.ticks
	if j.inJobs || j.ticks.empty() {
		q, j.inJobs = &j.jobs, true
	}
	fn := q.pop()
	defer j.pumped()
	fn()
}

// pumped lets ticks run again when there is no microtask left, however the function ended.
func (j *JS) pumped() {
	if j.jobs.empty() {
		j.inJobs = false
	}
}
