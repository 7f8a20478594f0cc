// Package js gives an event loop the timers, promises, events, abort signals and clocks that JavaScript programs
// expect.
//
// # Threading rule
//
// Every function that this package is given runs on the loop, one at a time, but for that of [JS.Try], which runs where
// that is called. Timers, immediates, microtasks, promises, abort signals and [Performance] may be used from any
// goroutine; so may the adding and removing of event listeners. [EventTarget.DispatchEvent] must be called on the loop,
// because listeners run within it. A function must not block: while it runs, nothing else on the loop does. Those that
// have to are for [eventloop.Loop.Promisify], with a context of [AbortSignal.Context] to stop them.
//
// # Order
//
//	timers that are due          SetTimeout, SetInterval
//	tasks and completions        whatever else runs on the loop
//	immediates                   SetImmediate
//
// After each callback, NextTick's functions run until there are none, then microtasks and the handlers of promises, in
// the order in which they became due, until there are none, and again, as in Node: what any of them adds runs before
// the next callback. (Callbacks of descriptors: see [eventloop.WithStrictMicrotaskOrdering].) When there are none left,
// the loop reports the rejections that nobody has handled. A loop has one such order, whether functions come from here
// or are given to the loop itself.
//
// Immediates that are set while immediates run have their turn after timers and tasks had theirs. An immediate that is
// set by a callback of a descriptor runs before the timers that are due then, as Node documents; but not before timers
// of the loop itself, or of another adapter.
//
// # Units and errors
//
// Delays and times are float64 milliseconds, as in JavaScript. What is given a function returns
// [eventloop.ErrNilCallback] for nil, unless it says otherwise. Timers and immediates are refused with
// [eventloop.ErrLoopTerminated] once the loop is ending, microtasks once it has ended, or has had enough of them at its
// end (eventloop.Loop.Shutdown). Timers are dropped when the loop shuts down; immediates that were set before run. Of a
// loop that has ended, an adapter keeps the functions of its timers as long as somebody keeps the adapter.
//
// A callback that panics is reported by the loop (eventloop.WithPanicHandler), and an interval goes on. A handler of a
// promise that panics rejects the promise that it was to settle. A listener of an event or of a signal that panics is
// reported through [WithPanicHandler] of this package, and the other listeners run.
//
// # Standards
//
// Timers: the HTML standard, 8.6 "Timers". Unref, Refresh, SetImmediate, NextTick: Node's documentation of timers and
// process. Promises: ECMAScript, as package promise says. Signals and events: the DOM standard. Performance: High
// Resolution Time and User Timing of the W3C. Where this package departs from them, the function says so.
package js
