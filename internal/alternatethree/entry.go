package alternatethree

// The loop's entry for the tournament, and where it diverges from the conformance kit.

import "github.com/turnloop/turnloop/internal/loopapi"

// The facts about this design that keep it from meeting checks of the conformance kit.
const (
	lateMicrotasks = "there is a checkpoint after each callback and none before the first: what wakes the loop runs before " +
		"the microtasks that came with it"
	allDueTimers = "a tick runs every timer that was due when it began, however long that takes"
	countedTasks = "a tick runs external tasks up to a number, however long that takes"
	untilEmpty   = "the ingress is sealed when it is found empty, and accepts internal tasks and microtasks from everybody " +
		"until then"
	blockedThread = "the loop sleeps in the system's poller: a thread that comes back from there waits for a processor " +
		"like any goroutine"
)

// Entry returns this loop's entry for the tournament. Divergences are the checks that the design always fails, MayDiverge
// those that it fails on some machines or at some times.
func Entry() loopapi.Entry {
	return loopapi.Entry{
		Name:       "alternatethree",
		Folder:     "internal/alternatethree",
		Philosophy: "balanced: mutexes and RWMutex, full error handling, easy to read",
		New:        loopapi.NewOf(func(cfg loopapi.Config) (*Loop, error) { return New(cfg) }),
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
