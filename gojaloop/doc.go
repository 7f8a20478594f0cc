// Package gojaloop joins an event loop and a stock goja runtime: scripts get Node's timers, nextTick functions,
// microtasks and promises, and Go code gets a safe way in and out.
//
// # Threading rule
//
// A runtime belongs to its loop. Scripts run on the loop, and so does every function given to a [Host], unless its
// documentation says otherwise. Any goroutine may call [Host.Call], [Host.Do], [Host.Submit], [Host.Run], [Host.Close]
// and the other methods that say so. All remaining methods are for the loop: call them in a function given to Do or Submit,
// or in a Go function that a script has called. On other goroutines only primitive values of scripts may be used, and
// no *goja.Exception: exceptions leave the loop as [*Error], which any goroutine may use.
//
// # Order
//
// The order is Node's. A callback is a script, a function of Do or Submit, a timer, an immediate, or the outcome of Go work. A
// checkpoint follows each callback: the functions of process.nextTick run, then promise jobs and microtasks in the order in which
// they became due, and again until none are left; then the rejections that have no handler are reported.
//
// A turn of the host runs the timers that are due, then the functions of other goroutines, then immediates. Turns alternate with
// everything else on the loop; a long turn gives way to it after about ten milliseconds, and goes on later.
//
// goja runs promise jobs when the outermost call into it returns, which would be before the nextTick functions. So Go code must
// enter scripts through the host alone: do not call into a runtime from a callback that was given to the loop itself.
//
// # Ends and errors
//
// An exception that no script has caught goes to the script's listeners of process.on('uncaughtException'), else to
// the function of [WithUncaughtException], else it ends the host: nothing of the host runs any more, and Run returns
// the exception; if no Run waits, the loop reports it as a panic. A rejection without a handler goes to the listeners
// of 'unhandledRejection', else to the function of [WithUnhandledRejection], else it counts as an uncaught exception.
//
// A panic in a Go function that a script has called is an exception if the function was given by [Host.Set] or [Host.Func]. A
// panic in any other Go function is an uncaught exception, and so is too deep a recursion ([WithMaxCallStack]): goja skips catch
// and finally for both. If one of them happens while goja runs promise jobs, the jobs that are ready are lost.
//
// A script that does not end is interrupted by the context of Do or Run, by Close, and by the Close of its loop. What
// goja's own Interrupt ends, called on the loop, counts as an uncaught exception.
// [WithMemoryLimit] ends a host whose scripts keep too much memory. Interrupts and limits do not reach into a single
// call of one of goja's own functions: docs/goja.md says what that means for untrusted scripts.
//
// # Timers
//
// Timers are Node's by default: setTimeout returns a Timeout, and delays are whole milliseconds, at least one.
// [WithHTMLTimers] and [WithZeroDelays] change that.
//
// Timers of equal delay that one callback sets within a millisecond fire together. No timer fires early; in Node,
// whose clock has whole milliseconds, one may.
package gojaloop
