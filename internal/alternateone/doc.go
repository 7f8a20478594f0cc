// Package alternateone is the safety-first loop of the tournament: it gives up speed for correctness that can be seen and is
// checked at every step.
//
// # What it bets on
//
// One lock. Tasks, internal tasks, microtasks and timers are handed in under a single mutex. Under the same mutex the loop
// decides what is accepted, what runs next, whether to sleep, and that the end has come. One function decides what runs
// next, and sees all queues at one moment. No work can come between a look and the action that follows from it, so there
// is no protocol of flags and re-checks to get wrong.
//
// Invariants, always on. Queues, timer heap and map, state, descriptor table, the owning goroutine and the counts of
// accepted work are checked in constant time at each operation, and in full at the end. A violated invariant panics with a
// LoopError that holds operation, phase, cause and context. The isolation of callbacks passes this panic on, and the
// broken loop accepts nothing any more.
//
// Errors that explain. Every error except a context's is a LoopError, in which errors.Is finds the sentinel. A panic is
// logged with the kind and number of the task and the number of the loop. The phases of a shutdown are logged at debug
// level.
//
// A poll without races. One lock is held during the poll and while an I/O callback runs. So no callback runs once
// UnregisterFD has returned, on any goroutine, and an event without a registration can only come from a duplicate that has
// outlived its registration. A goroutine that registers announces itself, wakes the loop, and is let in before the loop
// goes on.
//
// # What it gives up
//
// Throughput under contention: for each callback the loop takes the lock that all producers want. Microtasks take that
// lock too, also on the loop.
//
// Latency: the loop sleeps in the system's poller, and a wake-up is always a write to the wake descriptor. All producers
// that find the loop asleep write, each for itself.
//
// Concurrency of registration: while an I/O callback runs, another goroutine that registers, modifies or unregisters
// waits for it. A callback that waits for such a goroutine deadlocks; the callback itself may make these calls.
//
// Scale of timers: insert and cancel take the logarithm of the number of pending timers, and a map operation.
//
// Tolerance: where another loop would go on in a bad state, this one panics. It has no auto-exit.
package alternateone

import (
	"github.com/turnloop/turnloop/internal/loopapi"
	"github.com/turnloop/turnloop/internal/rival"
)

// Entry returns this loop's entry for the tournament, with the checks that only this design keeps it from meeting.
func Entry() loopapi.Entry {
	return rival.Entry(loopapi.Entry{
		Name:       "alternateone",
		Philosophy: "safety first: one lock, every invariant checked at run time, rich errors",
		New:        loopapi.NewOf(New),
		Divergences: map[string]string{
			"IO_UnderLock": "the poller's one lock is held while an I/O callback runs, so that another goroutine's " +
				"registration waits for the callback",
		},
		MayDiverge: map[string]string{
			"IO_ForeignFirst": "the checkpoint is behind the I/O callbacks of a poll: a microtask that ends the wait runs " +
				"after those that are ready by then",
		},
	})
}
