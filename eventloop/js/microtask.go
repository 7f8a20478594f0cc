package js

// Microtasks and the functions of NextTick: they are the loop's, so that all that runs between callbacks, also the handlers
// of promises, has one order, which is Node's.

// QueueMicrotask queues fn to run on the loop after the current callback, and after NextTick's functions, before the
// next callback (the HTML standard's queueMicrotask). Microtasks and the handlers of promises run in the order in which
// they became due, also those that they queue themselves, up to the loop's microtask budget.
//
// It is the loop's ScheduleMicrotask. Any goroutine may call it; on the loop it takes no lock. It returns
// ErrNilCallback, or ErrLoopTerminated when the loop has ended, or is ending and has taken as much as
// eventloop.Loop.Shutdown says.
func (j *JS) QueueMicrotask(fn func()) error { return j.loop.ScheduleMicrotask(fn) }

// NextTick queues fn to run on the loop after the current callback and before its microtasks (Node's process.nextTick);
// called by a microtask or a promise's handler, after all of these. Functions that are queued by such functions run in the
// same drain.
//
// It is the loop's NextTick. Any goroutine may call it; a call from another goroutine counts as one by a microtask. On the
// loop it takes no lock. It returns the errors of QueueMicrotask.
func (j *JS) NextTick(fn func()) error { return j.loop.NextTick(fn) }
