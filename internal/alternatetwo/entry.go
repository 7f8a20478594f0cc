package alternatetwo

// The loop's entry for the tournament, and where it diverges from the conformance kit.

import "github.com/turnloop/turnloop/internal/loopapi"

// The facts about this design that keep it from meeting checks of the conformance kit.
const (
	lateMicrotasks = "microtasks of other goroutines are looked for after a callback, so they run behind the first one of a " +
		"loop that wakes"
	allDueTimers = "a tick runs every timer that was due when it began, however long that takes"
	countedTasks = "a tick runs external tasks up to a number, however long that takes"
	untilEmpty   = "the lanes of internal tasks and microtasks are sealed when they are found empty, and accept from everybody " +
		"until then"
	blockedThread = "the loop sleeps in the system's poller: a thread that comes back from there waits for a processor " +
		"like any goroutine"
)

// Entry returns this loop's entry for the tournament. Divergences are the checks that the design always fails, MayDiverge
// those that it fails on some machines or at some times.
func Entry() loopapi.Entry {
	return loopapi.Entry{
		Name:       "alternatetwo",
		Folder:     "internal/alternatetwo",
		Philosophy: "maximum performance: lock-free, zero allocation, minimal validation",
		New:        loopapi.NewOf(New),
		Divergences: map[string]string{
			"D02_ForeignFirst":  lateMicrotasks,
			"Siege_Bursts":      allDueTimers,
			"Siege_SlowTasks":   countedTasks,
			"Siege_Shutdown":    untilEmpty,
			"Siege_SelfFeeding": untilEmpty,
		},
		MayDiverge: map[string]string{
			"IO_ForeignFirst": lateMicrotasks,
			"Live_Neighbours": blockedThread,
			"Live_Ends":       untilEmpty,
		},
	}
}
