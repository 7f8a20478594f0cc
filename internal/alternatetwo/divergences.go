package alternatetwo

// The facts about this design that keep it from meeting checks of the conformance kit.
const (
	lateMicrotasks = "microtasks of other goroutines are looked for after a callback, so they run behind the first one of a " +
		"loop that wakes"
	allDueTimers = "a turn runs every timer that was due when it began, however long that takes"
	untilEmpty   = "the lanes of internal tasks and microtasks are sealed when they are found empty, and accept from everybody " +
		"until then"
	blockedThread = "the loop sleeps in the system's poller: a thread that comes back from there waits for a processor " +
		"like any goroutine"
)

// Divergences names the checks that this design gives up, and why.
func Divergences() map[string]string {
	return map[string]string{
		"D02_ForeignFirst":  lateMicrotasks,
		"Siege_Bursts":      allDueTimers,
		"Siege_Shutdown":    untilEmpty,
		"Siege_SelfFeeding": untilEmpty,
	}
}

// MayDiverge names those that it does not meet on some machines, and at some times.
func MayDiverge() map[string]string {
	return map[string]string{
		"IO_ForeignFirst":  lateMicrotasks,
		"Siege_Neighbours": blockedThread,
	}
}
