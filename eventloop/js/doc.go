// Package js gives an event loop the timers, promises, events, abort signals and clocks that JavaScript programs
// expect.
//
// # Threading rule
//
// Functions that are given to this package run on the loop, one at a time; only that of [JS.Try] runs on the goroutine that
// calls Try. Timers, immediates, microtasks, promises, abort signals and [Performance] may be used from any goroutine, and
// event listeners added and removed. [EventTarget.DispatchEvent] must be called on the loop, because listeners run within
// it. A function must not block: while it runs, nothing else on the loop does. Give a
// function that has to block to [eventloop.Loop.Promisify], with a context of [AbortSignal.Context] to stop it.
//
// # Order
//
//	timers that are due          SetTimeout, SetInterval
//	tasks and completions        whatever else runs on the loop
//	immediates                   SetImmediate
//
// After each callback, NextTick's functions run until there are none; then microtasks and the handlers of promises run, in
// the order in which they became due, until there are none. This repeats, as in Node, until neither is left: so what any of
// them adds runs before the next callback. (For callbacks of descriptors see [eventloop.WithStrictMicrotaskOrdering].) Then
// the loop reports the rejections that have no handler. A loop has one such order, for functions from this package and for
// those that are given to the loop itself.
//
// Immediates that are set while immediates run wait until timers and tasks have run again. An immediate that a callback of
// a descriptor sets runs before the timers that are due then, as Node documents; but not before timers of the loop itself,
// or of another adapter.
//
// # Units and errors
//
// Delays and times are float64 milliseconds, as in JavaScript. A nil function is refused with [eventloop.ErrNilCallback],
// where nothing else is documented. Timers and immediates are refused with [eventloop.ErrLoopTerminated] once the loop is
// ending; microtasks once it has ended, or has run as many at its end as eventloop.Loop.Shutdown says. When the loop shuts
// down, timers are dropped, and immediates that were set before run. After the end of its loop, an adapter keeps the
// functions of its timers in memory for as long as the program keeps the adapter.
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
