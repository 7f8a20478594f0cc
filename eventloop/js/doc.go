// Package js gives an event loop the timers, events, abort signals and clocks that JavaScript programs expect.
//
// # Threading rule
//
// Every function that this package is given runs on the loop, one at a time. Timers, immediates, microtasks, abort
// signals and [Performance] may be used from any goroutine; so may the adding and removing of event listeners.
// [EventTarget.DispatchEvent] must be called on the loop, because listeners run within it. A function must not block:
// while it runs, nothing else on the loop does.
//
// # Order
//
//	timers that are due          SetTimeout, SetInterval
//	tasks and completions        whatever else runs on the loop
//	immediates                   SetImmediate
//
// After each callback, NextTick's functions run until there are none, then microtasks until there are none, and again,
// as in Node: what a tick or a microtask adds runs before the next callback. The order of ticks and microtasks holds
// among the functions given to one [JS] on its loop; a microtask given to the loop itself runs in its place among them,
// even if ticks are waiting.
//
// Immediates that are set while immediates run have their turn after timers and tasks had theirs. An immediate that is
// set by a callback of a descriptor runs before the timers that are due then, as Node documents.
//
// # Units and errors
//
// Delays and times are float64 milliseconds, as in JavaScript. Whatever is given a function returns
// [eventloop.ErrNilCallback] for nil, and [eventloop.ErrLoopTerminated] when the loop is ending. Timers, and immediates
// that wait for the next turn, are dropped when the loop shuts down.
//
// A callback that panics is reported by the loop (eventloop.WithPanicHandler), and an interval goes on. A listener of
// an event or of a signal that panics is reported through [WithPanicHandler] of this package, and the other listeners
// run.
//
// # Standards
//
// Timers: the HTML standard, 8.6 "Timers". Unref, Refresh, SetImmediate, NextTick: Node's documentation of timers and
// process. Signals and events: the DOM standard. Performance: High Resolution Time and User Timing of the W3C. Where
// this package departs from them, the function says so.
package js
