// Package alternatethree is the balanced loop of the tournament, and the one to learn from.
//
// # What it bets on
//
// Ordinary locks, held briefly. Shared data is guarded by a mutex whose rule is written beside it; other data belongs to
// the loop's goroutine and needs no lock. Speed comes from holding locks for a few instructions: producers append to a
// list of chunks, and the loop takes the whole list at once. Every error of the system is wrapped with the attempted
// operation, and is returned by a method or logged. One tick is one function that reads from top to bottom.
//
// There are three locks: of the ingress, of the timers, and of the table of descriptors. No goroutine holds two of them,
// and none is held while a callback runs or while the loop waits. So any method may be called from any callback and under
// any lock of the user.
//
// # What it gives up
//
//   - Many producers wait for one mutex, and sleep when it is held for long: lock-free ingress does better.
//   - The loop sleeps in a system call. A wake-up costs a system call and the start of a thread; a parked goroutine would
//     cost neither.
//   - Timers are a binary heap: inserting and cancelling take the logarithm of the number of pending timers.
//   - Every callback has a deferred recover of its own, which is simple and exact, and costs a few nanoseconds.
//   - A loop holds the poller's descriptors from New on. A loop that is dropped without Run, Shutdown or Close leaks
//     them.
//   - Sleeps are rounded up to milliseconds, the unit of the poller.
//
// # Where to begin
//
// With tick in loop.go; then wait.go, the protocol of sleep and wake; then ingress.go, which accepts work and decides the
// end.
package alternatethree
