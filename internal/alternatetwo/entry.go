package alternatetwo

// The loop's entry for the tournament.

import (
	"github.com/turnloop/turnloop/internal/loopapi"
	"github.com/turnloop/turnloop/internal/rival"
)

const lateMicrotasks = "microtasks of other goroutines are looked for after a callback, so they run behind the first one of a " +
	"loop that wakes"

// Entry returns this loop's entry for the tournament, with the checks that only this design keeps it from meeting.
func Entry() loopapi.Entry {
	return rival.Entry(loopapi.Entry{
		Name:        "alternatetwo",
		Philosophy:  "maximum performance: lock-free, zero allocation, minimal validation",
		New:         loopapi.NewOf(New),
		Divergences: map[string]string{"D02_ForeignFirst": lateMicrotasks},
		MayDiverge:  map[string]string{"IO_ForeignFirst": lateMicrotasks},
	})
}
