package alternatethree

// The loop's entry for the tournament.

import (
	"github.com/turnloop/turnloop/internal/loopapi"
	"github.com/turnloop/turnloop/internal/rival"
)

const lateMicrotasks = "there is a checkpoint after each callback and none before the first: what wakes the loop runs before " +
	"the microtasks that came with it"

// Entry returns this loop's entry for the tournament, with the checks that only this design keeps it from meeting.
func Entry() loopapi.Entry {
	return rival.Entry(loopapi.Entry{
		Name:        "alternatethree",
		Philosophy:  "balanced: mutexes and RWMutex, full error handling, easy to read",
		New:         loopapi.NewOf(New),
		Divergences: map[string]string{"D02_ForeignFirst": lateMicrotasks},
		MayDiverge:  map[string]string{"IO_ForeignFirst": lateMicrotasks},
	})
}
