// Package alternatetwo is the fast loop of the tournament: no lock for submission, no allocation on any hot path, no check
// that only a defect of its own could fail.
//
// # What it bets on
//
//   - Submitting is one atomic addition. It claims a slot in a segment of 128, and so decides whether the function is
//     accepted and its place in the order. No producer waits for a lock, and the loop takes functions out in runs, without
//     an atomic write.
//   - Memory is reused: segments come from a pool of each lane, timers from an arena, and microtasks wait in a ring. Only
//     a used slot is cleared, when it is read. In steady state nothing allocates. The memory of a burst is freed.
//   - Timers are in a hierarchical wheel with nanoseconds as its finest level: inserting, cancelling and firing cost the
//     same, however many timers are pending.
//   - Descriptors are looked up by their number, and their callbacks run in line. Events carry a version, which reveals
//     those of a former registration.
//   - Sleep is optimistic: commit, look again, wait. Before it blocks in the system's poller the loop lets other
//     goroutines run for a bounded time, because a blocked thread is slow to wake.
//
// # What it gives up
//
//   - A producer may be preempted between the claim of a slot and its publication. Then it delays the functions submitted
//     after it to the same lane, and keeps the loop from sleeping; in the lanes of internal tasks and microtasks, which
//     nothing may overtake, it delays the whole loop. A producer that is preempted while it links a new segment delays
//     other producers, too.
//   - A loop that has blocked wakes slowly, as it blocks a thread in the system's poller.
//   - Registering a descriptor beyond 65,535 is an error.
//   - Timers are behind a lock, held for a short time. They fire up to a millisecond late on an idle loop, because that is
//     the resolution of the system's wait.
//   - Pools are per lane, so loops do not share free memory.
//   - There is no auto-exit.
//
// # What it skips
//
//   - State transitions are not validated, and no invariant is checked. A defect in this package shows as a hang or
//     as corruption, not as a message.
//   - Errors have no context beyond the operation. Only errors that no method returns are logged.
//   - A panic is reported with its value and stack only.
//   - Unregistering from another goroutine does not wait for a callback that is about to start.
//   - The methods work only on a *Loop made by New.
//
// What it keeps: an accepted function runs exactly once unless Close ends the loop, bad descriptors are errors, and a
// function that has run is not reachable any more.
package alternatetwo
