// Package gojaloop joins an event loop and a stock goja runtime: scripts get Node's timers, ticks, microtasks and
// promises, and Go code gets a safe way in and out.
//
// # Threading rule
//
// A runtime belongs to its loop. Scripts run on the loop, and so does every function that a [Host] is given, unless it
// says otherwise. [Host.Do], [Host.Submit], [Host.Run] and [Host.Close] may be called from any goroutine; all other
// methods are for the loop: call them within Do or Submit, or from a Go function that a script has called. No goja.Value
// but primitives may be used elsewhere, nor may a *goja.Exception; errors that leave the loop are [*Error], which may.
//
// # Order
//
// It is Node's. After each callback (a script, a function of Do or Submit, a timer, an immediate, the outcome of Go work)
// the functions of process.nextTick run, then promise jobs and microtasks in the order in which they became due, and
// again until there are none; then rejections that nobody has handled are told. Of a turn's callbacks, timers that are
// due come first, then what other goroutines have brought, then immediates. A host's callbacks keep that order among
// themselves, and take their turns with everything else on the loop: timers and immediates give way to it after about
// ten milliseconds.
//
// goja runs promise jobs when the outermost call into it returns, which would be before ticks. So Go code enters scripts
// through the host alone. Do not call into a runtime from a callback that was given to the loop itself.
//
// # Ends and errors
//
// An exception that nobody has caught goes to the script's process.on('uncaughtException'), else to
// [WithUncaughtException], else it ends the program: nothing of the host runs any more, Run returns it, and if there is no Run, the
// loop reports it as a panic. Rejections go the same way by their own names. A panic in a Go function that a script has
// called is an exception if the function was given by [Host.Set] or [Host.Func]; in any other it passes by catch and
// finally, as goja has it, and is then an uncaught one. Too deep a recursion ([WithMaxCallStack]) cannot be caught by
// scripts either, and is an uncaught exception; and where goja ran promise jobs when either happened, those that were
// ready are lost.
//
// A script that does not end is ended by the context of Do or Run, by Close, and by the Close of its loop. goja has no
// limit for memory.
//
// # Timers
//
// By default they are Node's: setTimeout returns a Timeout, delays are whole milliseconds, and at least one. See
// [WithHTMLTimers] and [WithZeroDelays].
//
// Timers of equal delay that one callback sets, within a millisecond, fire together; none fires early. In Node, whose
// clock has whole milliseconds, one may.
package gojaloop
