// Package alternatetwo is the event loop that bets everything on speed: no lock on the way in, no allocation on any
// hot path, no check that only a bug of its own could fail.
//
// # What it bets on
//
//   - Submitting is one atomic addition. It claims a slot in a segment of 128, decides whether the function is
//     accepted and where in the order it stands. Nobody waits for a holder of a lock, and the loop takes what is
//     there in runs, without an atomic write.
//   - Memory is used again: segments come from a pool of each lane, timers from an arena, and microtasks wait in a
//     ring. Only the slot that was used is cleared, when it is read. In steady state nothing allocates. What a burst
//     took is given back to the collector.
//   - Timers live in a hierarchical wheel with nanoseconds as its finest level: inserting, cancelling and firing cost
//     the same whatever is pending.
//   - Descriptors are looked up by their number, and callbacks run in line. Versions tell events of a former
//     registration.
//   - Sleep is optimistic: commit, look again, wait. Before it blocks in the system's poller the loop lets other
//     goroutines run for a bounded while, because a blocked thread is slow to wake.
//
// # What it gives up
//
//   - A producer that the system stops between the claim of a slot and its publication holds back what was submitted
//     after it to the same lane, and keeps the loop from sleeping; in the lanes of internal tasks and microtasks, which
//     nothing may overtake, it holds back the loop. One that is stopped while it links a new segment holds back
//     producers, too.
//   - A loop that did block wakes slowly: that is the price of the classic wait.
//   - There is no descriptor beyond 65,535: registering one is an error.
//   - Timers wait behind a lock, held for some nanoseconds. They fire up to a millisecond late on an idle loop, because
//     that is the resolution of the system's wait.
//   - Pools are per lane, so several loops do not share what one of them has left over.
//   - There is no auto-exit.
//
// # What it skips
//
//   - State transitions are not validated, and no invariant is checked. A defect in this package shows as a hang or
//     as corruption, not as a message.
//   - Errors carry no context beyond the operation; there is no logging but for what nobody else would hear of.
//   - A panic is reported with its value and stack; that is all.
//   - Unregistering from another goroutine does not wait for a callback that is about to start.
//   - The methods trust a *Loop to come from New.
//
// What it does not skip: a function that was accepted runs exactly once unless Close ends the loop, bad descriptors
// are errors, and nothing that has run stays reachable.
package alternatetwo
