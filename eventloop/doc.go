// Package eventloop is a single-threaded event loop: functions handed to it from any goroutine run one at a time, in
// order, on the goroutine that called Run.
//
// # Threading rule
//
// Everything that the loop calls (tasks, timers, microtasks, callbacks of descriptors, handlers) runs on the loop, one
// at a time, so state that only callbacks touch needs no lock. Every method of [Loop] may be called from any goroutine,
// also from callbacks. A callback must not block: while it runs, nothing else does.
//
// Callbacks that are nil are refused with [ErrNilCallback]. Contexts must not be nil: as elsewhere in Go, who uses one
// panics.
//
// # What a tick does
//
//	┌─▶ read the clock                       CurrentTickTime
//	│   run the timers that are due          ScheduleTimer, for about 10 ms of each tier
//	│   run internal tasks                   SubmitInternal, for about 10 ms
//	│   run external tasks, up to a budget   Submit
//	│   nothing left? end, or sleep          WithAutoExit, Shutdown
//	│   until there is work
//	└── call whose descriptors are ready     RegisterFD
//
// After every callback the microtasks run ([Loop.ScheduleMicrotask]; what handlers of promises do is one each; before
// them, [Loop.NextTick]), those that they schedule included, until none is left or their budget is spent; after those
// of descriptors in batches, unless WithStrictMicrotaskOrdering says otherwise. A microtask of another goroutine runs
// before any callback that starts after it was accepted. Between two external tasks, internal tasks that came meanwhile
// run first. Every step has a bound: what exceeds it keeps its order and waits for the next tick, so nothing, however
// much of it there is, keeps the rest from running, or the loop from its end.
//
// # What it promises
//
// A function whose submission returned nil runs exactly once, on the loop, unless the loop is ended by [Loop.Close];
// and never after [Loop.Done] is closed. That includes what was submitted before Run. Functions of one kind run in the
// order of their submission. A callback that panics, or that calls runtime.Goexit, is reported ([WithPanicHandler]) and
// the next one runs.
//
// # Promises
//
// [Loop.Promisify] runs blocking work on a goroutine of its own and returns a promise of the result; [Loop.NewPromise]
// returns one that any goroutine may settle. Handlers run on the loop. Package promise says what promises do, and has
// them with types; [Loop.Promises] combines them. Package js, on top, has the vocabulary of JavaScript.
//
// # Descriptors
//
// [Loop.RegisterFD] has raw descriptors watched for readiness, level-triggered: by epoll on Linux, by kqueue on macOS
// and the BSDs, and sockets on Windows. Elsewhere it returns errors.ErrUnsupported. A loop with descriptors is woken by
// work as fast as one without, and no thread blocks for it on Linux ([FastPathMode]). The loop never reads, writes or
// closes a descriptor: that is up to its owner, who makes it non-blocking, and unregisters it before closing it; from
// another goroutine by [Loop.UnregisterFDThen], as its callback may be running.
//
// # What can be seen of it
//
// [Loop.Metrics] has figures, [Loop.Active] what the loop is doing and what keeps it alive, [WithStallThreshold] reports a
// callback while it blocks the loop, and [Loop.DumpEvents] writes what a flight recorder has kept. Each answers while the
// loop is blocked, and leaves an idle one alone. What is not asked for by an option costs nothing.
//
// # How it ends
//
// [Loop.Shutdown], and the end of Run's context, run what was accepted, reject the promises that are pending, and then
// end the loop; [Loop.Close] drops what is queued. A loop with [WithAutoExit] ends in the same way when nothing can happen
// any more. A loop runs once; create another to start again.
//
// An end accepts ever less. Submit, timers, registrations and new promises are refused from its beginning; internal tasks
// and microtasks when it has had enough of them, for which [Loop.Shutdown] has the numbers, and once it is over. All of
// these say [ErrLoopTerminated].
package eventloop
