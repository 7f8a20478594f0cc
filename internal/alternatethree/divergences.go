package alternatethree

// The facts about this design that keep it from meeting checks of the conformance kit.
const (
	lateMicrotasks = "there is a checkpoint after each callback and none before the first: what wakes the loop runs before " +
		"the microtasks that came with it"
	allDueTimers = "a turn runs every timer that was due when it began, however long that takes"
	untilEmpty   = "the ingress is sealed when it is found empty, and accepts internal tasks and microtasks from everybody " +
		"until then"
	blockedThread = "the loop sleeps in the system's poller: a thread that comes back from there waits for a processor " +
		"like any goroutine"
)

// Divergences maps checks to the reason why this loop does not meet them.
func Divergences() map[string]string {
	return map[string]string{
		"D02_ForeignFirst":  lateMicrotasks,
		"Siege_Bursts":      allDueTimers,
		"Siege_Shutdown":    untilEmpty,
		"Siege_SelfFeeding": untilEmpty,
	}
}

// MayDiverge maps those that it does not meet on some machines, and at some times.
func MayDiverge() map[string]string {
	return map[string]string{
		"IO_ForeignFirst":  lateMicrotasks,
		"Siege_Neighbours": blockedThread,
	}
}
