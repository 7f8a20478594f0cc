// Package gojabaseline puts github.com/dop251/goja_nodejs/eventloop behind the tournament's EventLoop interface. It is
// the outside reference: the loop that Go programs which embed JavaScript use today, as it is.
//
// The adapter is thin. Submit is a nil check and one RunOnLoop; the rest translates between vocabularies and keeps the
// little that the interface asks for and goja_nodejs does not store: whether Run was called, who asked for the end,
// and a number for each pending timer.
//
// # What the adapter costs
//
// RunOnLoop takes a func(*goja.Runtime), the interface a func(). Only a closure turns one into the other, so Submit
// allocates 16 bytes on top of the 24 that RunOnLoop allocates itself. BenchmarkAdapter shows both ways. A timer costs
// the same closure and an entry in a map, because the interface names timers by number and goja_nodejs by pointer.
//
// # What it cannot do
//
// Divergences has the list, check by check. In words:
//
//   - There is one queue. SubmitInternal is Submit: nothing overtakes, and what comes after the end is refused.
//   - Stopping lets the running batch and everything accepted before the end run. That is a graceful Shutdown, but also
//     all that Close can do: goja_nodejs has no way to drop accepted work.
//   - New work is refused only once Terminate has begun, a moment after Shutdown was called; until then it is accepted
//     and run.
//   - StopNoWait on a loop that does not run yet does nothing, so the adapter queues it as a job instead.
//   - A panic in a callback comes out of Run and ends the loop: what is queued is lost, and RunOnLoop goes on to report
//     success for work that will never run. So does runtime.Goexit, which ends Run's goroutine.
//   - Each timer is a time.AfterFunc whose goroutine hands the callback over, so timers of equal delay may fire in any
//     order, and the delay of a timer scheduled before Run counts from Run.
//   - There are no microtasks (goja drains its promise jobs itself, without a hook), no descriptors, no limits or
//     budgets, no overload or panic reports, and no states to ask for.
package gojabaseline
