package rival

// The configuration and the entry of a rival.

import (
	"cmp"
	"errors"
	"fmt"
	"maps"

	"github.com/turnloop/turnloop/internal/loopapi"
)

// The defaults, and the fixed numbers.
const (
	defaultBudget  = 1024    // of external tasks in a tick, and of microtasks in a checkpoint
	InternalBudget = 100_000 // of internal tasks in a tick, after which timers and descriptors have their turn
)

// ErrRunaway is reported when the budget of internal tasks is spent.
var ErrRunaway = loopapi.Errorf("%v: internal work does not come to an end", loopapi.ErrLoopOverloaded)

// Checked returns cfg with the defaults in the place of zeros. It returns an error that names the field if a number is
// negative, and one that wraps errors.ErrUnsupported for AutoExit, which no rival has.
func Checked(cfg loopapi.Config) (loopapi.Config, error) {
	if cfg.AutoExit {
		return cfg, fmt.Errorf("AutoExit: %w", errors.ErrUnsupported)
	}
	for _, field := range []struct {
		name     string
		n        *int
		fallback int
	}{
		{"QueueLimit", &cfg.QueueLimit, 0},
		{"TickBudget", &cfg.TickBudget, defaultBudget},
		{"MicrotaskBudget", &cfg.MicrotaskBudget, defaultBudget},
	} {
		if *field.n < 0 {
			return cfg, fmt.Errorf("%s: %d is negative", field.name, *field.n)
		}
		*field.n = cmp.Or(*field.n, field.fallback)
	}
	return cfg, nil
}

// The facts about the rivals' seeds that keep all of them from meeting checks of the conformance kit.
const (
	allDueTimers = "a tick runs every timer that was due when it began, however long that takes"
	countedTasks = "a tick runs external tasks up to a number, however long that takes"
	untilEmpty   = "the end has come when all queues are empty, and until then internal work and microtasks are accepted " +
		"from everybody"
	blockedThread = "the loop sleeps in the system's poller: a thread that comes back from there waits for a processor " +
		"like any goroutine"
)

// Entry completes e, which has the divergences of one rival, by those that all have.
func Entry(e loopapi.Entry) loopapi.Entry {
	e.Folder = "internal/" + e.Name
	maps.Copy(e.Divergences, map[string]string{
		"Siege_Bursts":      allDueTimers,
		"Siege_SlowTasks":   countedTasks,
		"Siege_Shutdown":    untilEmpty,
		"Siege_SelfFeeding": untilEmpty,
	})
	maps.Copy(e.MayDiverge, map[string]string{"Live_Neighbours": blockedThread, "Live_Ends": untilEmpty})
	return e
}
