// Package alternateone is the safety-first loop of the tournament: it bets that a loop whose correctness can be seen,
// and which checks itself at every step, is worth more than one that is fast.
//
// # What it bets on
//
// One lock. All that is handed in, tasks, internal work, microtasks and timers, meets the loop under a single mutex,
// and so do the decisions: what is accepted, what runs next, whether to sleep, and that the end has come. What runs
// next is decided in one function that sees all queues at one moment. There is no window between looking and acting, so
// there is no protocol of flags and re-checks to get wrong.
//
// Invariants, always on. Queues, heap and map, state table, descriptor table, the owning goroutine and the books of
// what was accepted are checked in constant time at each operation, and in full at the end. A violated invariant panics
// with a LoopError that tells operation, phase, cause and context; the isolation of callbacks does not swallow it, and
// a loop in which one was found accepts nothing any more.
//
// Errors that explain. Every error but a context's is a LoopError, in which errors.Is finds the sentinel; a panic is
// reported with the kind and number of the task and the number of the loop. The phases of a shutdown are logged at
// debug level.
//
// A poller that nothing can race with. One lock is held across the poll and while an I/O callback runs. So no callback
// runs once an UnregisterFD has returned, whoever called it, and an event that belongs to no registration is known to
// be a ghost at once. A goroutine that comes to register announces itself, wakes the loop, and is let in before the
// loop goes on.
//
// # What it gives up
//
// Throughput under contention: each callback costs the loop a turn at the lock that all producers want. Microtasks take
// that lock too, also on the loop.
//
// Latency: the loop sleeps in the system's poller, and a wake-up is always a write to the wake descriptor. Producers
// that find the loop asleep all write, each for itself.
//
// Concurrency of registration: while an I/O callback runs, another goroutine that registers, modifies or unregisters
// waits for it. A callback that waits for such a goroutine deadlocks; callbacks may do the same themselves.
//
// Scale of timers: insert and cancel take the logarithm of the number of pending timers, and a map.
//
// Forgiveness: where another loop would limp on, this one panics. It has no auto-exit.
package alternateone

import "github.com/turnloop/turnloop/internal/loopapi"

// The facts about this design that keep it from meeting checks.
const (
	underOneLock = "the poller's one lock is held while an I/O callback runs, so that another goroutine's registration " +
		"waits for the callback"
	lateMicrotasks = "the checkpoint is behind the I/O callbacks of a poll: a microtask that ends the wait runs after those that " +
		"are ready by then"
	allDueTimers = "a turn runs every timer that was due when it began, however long that takes"
	countedTasks = "a turn runs external tasks up to a number, however long that takes"
	untilEmpty   = "the end has come when all queues are empty, and until then internal work and microtasks are accepted " +
		"from everybody"
	blockedThread = "the loop sleeps in the system's poller: a thread that comes back from there waits for a processor " +
		"like any goroutine"
)

// Entry enters this loop into the tournament. Its divergences are the checks that the design does not meet; those that it does not
// meet on some machines, and at some times, may diverge.
func Entry() loopapi.Entry {
	return loopapi.Entry{
		Name:       "alternateone",
		Folder:     "internal/alternateone",
		Philosophy: "safety first: one lock, every invariant checked at run time, rich errors",
		New:        loopapi.NewOf(func(cfg loopapi.Config) (*Loop, error) { return New(cfg) }),
		Divergences: map[string]string{
			"IO_UnderLock":      underOneLock,
			"Siege_Bursts":      allDueTimers,
			"Siege_SlowTasks":   countedTasks,
			"Siege_Shutdown":    untilEmpty,
			"Siege_SelfFeeding": untilEmpty,
		},
		MayDiverge: map[string]string{
			"IO_ForeignFirst":  lateMicrotasks,
			"Siege_Neighbours": blockedThread,
		},
	}
}
