// What the conformance kit asks and goja_nodejs does not give.

package gojabaseline

import (
	"errors"
	"fmt"

	"github.com/turnloop/turnloop/internal/loopapi"
)

// The facts about goja_nodejs that keep it from meeting checks.
const (
	panicEnds   = "a panic or Goexit in a callback ends the loop; what is queued is lost, and RunOnLoop goes on to report success"
	oneQueue    = "there is one queue: internal work waits behind external work, and is refused like it"
	refusesLate = "work is accepted, and run, until Terminate begins, a moment after the end was asked for"
	cannotDrop  = "stopping lets accepted work run: there is no way to drop it"
	allocates   = "RunOnLoop allocates a closure for each job, and turning a func() into what it takes another"
	behindTasks = "a timer that is due is one more job behind all that wait, and these run before the loop looks at anything else"
	ownTimers   = "each timer is a time.AfterFunc with a goroutine that hands the callback over: due timers run in any order"
)

// Entry enters goja_nodejs' loop into the tournament.
func Entry() loopapi.Entry {
	return loopapi.Entry{
		Name:        "baseline",
		Folder:      "internal/gojabaseline",
		Philosophy:  "the outside reference: github.com/dop251/goja_nodejs/eventloop behind the interface",
		VirtualTime: true,
		New: func(cfg loopapi.Config) (loopapi.EventLoop, error) {
			if !cfg.IsZero() {
				return nil, fmt.Errorf("goja_nodejs has no such option: %w", errors.ErrUnsupported)
			}
			return New(), nil
		},
		Divergences: map[string]string{
			"D06_PanicNilLegacy":   panicEnds,
			"D06_PanicIsolation":   panicEnds,
			"D06_PanicInBatch":     panicEnds,
			"D06_Goexit":           panicEnds,
			"D06_AbortWhileEnding": panicEnds,

			"D09_InternalFirst":            oneQueue,
			"D09_InternalWhileTerminating": oneQueue,
			"D16_ShutdownChain":            oneQueue,
			"D16_ShutdownBeforeRun":        oneQueue,

			"D08_EndFromCallback":     refusesLate,
			"D16_ShutdownDrains":      refusesLate,
			"D16_ShutdownRefuses":     refusesLate,
			"D16_ShutdownContext":     refusesLate,
			"D16_ShutdownDropsTimers": refusesLate,
			"D16_RunResult":           refusesLate,
			"D16_Done":                refusesLate,
			"TerminalStates":          refusesLate,
			"BadInput":                refusesLate,

			"D16_CloseDrops":          cannotDrop,
			"D16_CloseDuringShutdown": cannotDrop,
			"D16_CloseBeforeRun":      cannotDrop,
			"Retention_Dropped":       cannotDrop,

			"D14_AllocSubmit":   allocates,
			"D14_AllocInternal": allocates,
			"D14_AllocTimer":    allocates,

			"Siege_Bursts":    behindTasks,
			"Siege_SlowTasks": behindTasks,
			"Siege_Close":     cannotDrop,

			"Timers_Order":         ownTimers,
			"Timers_BeforeRun":     ownTimers,
			"Timers_CancelInBatch": ownTimers,
		},
		MayDiverge: map[string]string{
			"D16_RunContext":     oneQueue,
			"Conservation_Close": cannotDrop,
			"Siege_Timers":       ownTimers + "; a flood's goroutines wait by the thousand, and one may wait for seconds",
		},
	}
}
