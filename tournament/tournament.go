// Package tournament lets an event loop of your own take part in Turnloop's tournament: beside the production loop, goja_nodejs' loop
// and a plain channel, through the conformance suite and every benchmark that it has the capabilities for, into one report.
//
// The main function of a program calls Main with your entries, and nothing else:
//
//	func main() {
//		tournament.Main(tournament.Entry{
//			Name:       "mine",
//			Philosophy: "a queue and a lock",
//			New:        func(cfg looptest.Config) (looptest.EventLoop, error) { return myloop.New(), nil },
//		})
//	}
//
// The program has the flags of the tournament's own: "go run . run -mode quick -filter Submit -out results", and "go run . help".
// The README in this folder makes one from nothing.
package tournament

import (
	"fmt"
	"os"

	"github.com/turnloop/turnloop/eventloop/looptest"
	own "github.com/turnloop/turnloop/internal/tournament"
	"github.com/turnloop/turnloop/internal/tournament/command"
)

// Entry is a loop that takes part, or a program that does.
type Entry struct {
	Name       string // as in reports: letters, digits and dashes, with no number behind a dash
	Philosophy string // one line: what the loop bets on

	// New makes a loop. It is called from any goroutine, also several times at once, and often. If cfg asks for something that
	// the loop does not have, it returns an error that wraps errors.ErrUnsupported; otherwise the loop must do all that cfg asks
	// for. In benchmarks cfg asks for nothing. What the loop can do besides its five methods is found by type assertion: see
	// package looptest.
	New looptest.Factory

	// Divergences are the checks of the conformance suite that the loop is known not to meet, and why. A loop that fails any other is
	// shown, and not ranked. MayDiverge are those that it fails only when it loses a race.
	Divergences map[string]string
	MayDiverge  map[string]string

	// VirtualTime says that the loop parks on channels only. Checks of time then run on virtual time (see looptest.VirtualTime).
	VirtualTime bool

	// Program and its arguments are for an entry in any language, instead of New: it speaks the line protocol that the README describes,
	// and is shown beside the ranking.
	Program []string
}

// Main is the whole main function of an entrant's program. It takes the command line, and does not return. The process starts its own
// program anew for every measurement, so nothing else may go on before it is called.
//
// The first entry is the one that the reports speak of.
func Main(entries ...Entry) {
	field, err := field(entries)
	if err != nil {
		fmt.Fprintln(os.Stderr, "tournament:", err)
		os.Exit(2)
	}
	command.Main(field, "go run .")
}

// field is everybody who takes part.
func field(entries []Entry) (own.Field, error) {
	var loops []looptest.Entry
	var programs []own.Program
	for _, e := range entries {
		switch {
		case len(e.Program) > 0 && e.New != nil:
			return own.Field{}, fmt.Errorf("entry %q is a loop and a program; it can be one of them", e.Name)
		case len(e.Program) > 0:
			programs = append(programs, own.Program{Name: e.Name, Philosophy: e.Philosophy, Args: e.Program})
		default:
			loops = append(loops, looptest.Entry{
				Name: e.Name, Philosophy: e.Philosophy, New: e.New,
				Divergences: e.Divergences, MayDiverge: e.MayDiverge, VirtualTime: e.VirtualTime,
			})
		}
	}
	return own.With(loops...).WithPrograms(programs)
}
