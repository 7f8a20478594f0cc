// Package alternatethree is the balanced contestant: the event loop to learn from.
//
// # What it bets on
//
// Ordinary parts, held briefly. Everything that goroutines share is guarded by a mutex whose rule stands beside it;
// what is not shared belongs to the loop's goroutine and needs none. Speed comes from holding locks for a few
// instructions: producers append to a list of chunks, and the loop takes the whole list at once. Every error of the
// system is wrapped with what was attempted, and is returned by a method or logged. One tick is one function that reads
// from top to bottom.
//
// The locks are that of the ingress, that of the timers, and that of the table of descriptors. No goroutine holds two
// of them, and none is held while a callback runs or while the loop waits. So any method may be called from any
// callback and under any lock of the user.
//
// # What it gives up
//
//   - Many producers queue up for one mutex, and sleep when it is taken for long: lock-free ingress does better.
//   - The loop sleeps inside the operating system. To wake it costs a system call and the start of a thread, where a
//     parked goroutine costs neither.
//   - Timers are a binary heap: inserting and cancelling take the logarithm of the number that is pending.
//   - Every callback is guarded by itself, which is simple and exact, and costs a few nanoseconds each.
//   - A loop holds the poller's descriptors from New on. One that is dropped without Run, Shutdown or Close leaks
//     them.
//   - Deadlines are rounded up to the milliseconds that the poller counts in.
//
// # Where to begin
//
// tick in loop.go; then wait.go, the protocol of sleep and wake; then ingress.go, where work comes in and the end is
// decided.
package alternatethree
