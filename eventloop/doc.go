// Package eventloop is a single-threaded event loop: functions handed to it from any goroutine run one at a time, in
// order, on the goroutine that called Run.
//
// # Threading rule
//
// Everything that the loop calls (tasks, timers, microtasks, callbacks of descriptors, handlers) runs on the loop, one at a time,
// so state that only callbacks touch needs no lock. Every method of [Loop] and [Group], and every function that takes a loop, may
// be called from any goroutine at any time, also from callbacks. A callback must not block: while it runs, nothing else does.
// One that calls runtime.LockOSThread undoes that before it returns: beside threadlets the runtime would end the program.
//
// A nil callback is refused with [ErrNilCallback]; AfterEnd, which returns no error, panics with it. A nil context panics.
//
// # What a tick does
//
//	┌─▶ read the clock                       CurrentTickTime
//	│   run the timers that are due          ScheduleTimer, for about 2 ms of each tier
//	│   run internal tasks                   SubmitInternal, for about 2 ms
//	│   run external tasks, up to a budget   Submit, for about 2 ms
//	│   resume threadlets                    package threadlet, for about 2 ms
//	│   nothing left? end, or sleep          WithAutoExit, Shutdown
//	│   until there is work
//	└── call whose descriptors are ready     RegisterFD, for about 2 ms
//
// After every callback is a checkpoint: it runs the functions of [Loop.NextTick], then microtasks
// ([Loop.ScheduleMicrotask]; each handler of a promise is one), also those that are scheduled meanwhile, until none is
// left or their budget is spent. A batch of descriptor callbacks shares one checkpoint, unless WithStrictMicrotaskOrdering
// gives each its own. A microtask of another goroutine runs before any callback that starts after it was accepted. Internal
// tasks that come meanwhile run before the next external task. Every step has a bound: what exceeds it keeps its order
// and waits for the next tick (microtasks for no more than 128 callbacks). So no amount of work keeps other work from
// running, or the loop from its end; only external tasks wait for as long as there are internal ones.
//
// # What it promises
//
// A function whose submission returned nil runs exactly once, on the loop, unless the loop is ended by [Loop.Close]; and never
// after [Loop.Done] is closed. That includes what was submitted before Run. Functions of one kind run in the order of their
// submission. A callback that panics, or that calls runtime.Goexit, is reported ([WithPanicHandler]) and the next one runs.
//
// # Promises
//
// [Loop.Promisify] runs blocking work on a goroutine of its own and returns a promise of the result; [Loop.NewPromise]
// returns one that any goroutine may settle. Handlers run on the loop. Package promise documents promises and has typed
// ones; [Loop.Promises] combines them. Package js adds the vocabulary of JavaScript, package flow what most programs build on a
// loop: to wait, try again, repeat, ask, and stop within a bound of time.
//
// # Descriptors
//
// [Loop.RegisterFD] watches raw descriptors for readiness, level-triggered: with epoll on Linux and kqueue on macOS and
// the BSDs; on Windows, sockets only. Elsewhere it returns errors.ErrUnsupported. Work wakes a loop with descriptors as
// fast as one without, and on Linux no thread blocks for it ([FastPathMode]). The loop never reads, writes or closes a
// descriptor. Its owner does, makes it non-blocking, and unregisters it before closing it: from another goroutine with
// [Loop.UnregisterFDThen], as its callback may be running.
//
// # What can be seen of it
//
// [Loop.Metrics] has figures, [Loop.Active] what the loop is doing and what keeps it alive, [WithStallThreshold] reports a
// callback while it blocks the loop, and [Loop.DumpEvents] writes what a flight recorder has kept. Each answers while the
// loop is blocked, and leaves an idle one alone. What no option asks for costs nothing.
//
// # How it ends
//
// [Loop.Shutdown], and the end of Run's context, run what was accepted, reject the promises that are pending, and then
// end the loop; [Loop.Close] drops what is queued. A loop with [WithAutoExit] ends in the same way when nothing can happen
// any more. A loop runs once; create another to start again. [Loop.AfterEnd] has a function called when it has ended.
//
// From the beginning of the end, Submit, timers, registrations and new promises are refused. Internal tasks and microtasks
// are accepted up to the bounds that [Loop.Shutdown] documents, and not once the loop has ended. Every refusal is
// [ErrLoopTerminated].
package eventloop
