package tournament_test

// Random programs on every ranked contestant.

import (
	"testing"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/looptest"
	"github.com/turnloop/turnloop/internal/tournament"
)

// ranked returns the contestants that are ranked, each with a player of programs that knows its divergences.
func ranked(t testing.TB) map[string]*looptest.Player {
	players := map[string]*looptest.Player{}
	for _, c := range tournament.Own().Contestants {
		if !c.Ranked {
			continue
		}
		options := []looptest.Option{looptest.Name(c.Name)}
		if c.VirtualTime {
			options = append(options, looptest.VirtualTime())
		}
		for _, declared := range []map[string]string{c.Divergences, c.MayDiverge} {
			for check, reason := range declared {
				options = append(options, looptest.MayDiverge(check, reason))
			}
		}
		if c.Name == "main" {
			options = append(options, looptest.Modes(func(l looptest.EventLoop, mode int) error {
				return l.(*eventloop.Loop).SetFastPathMode(eventloop.FastPathMode(mode))
			}))
		}
		players[c.Name] = looptest.NewPlayer(t, c.New, options...)
	}
	return players
}

// FuzzContestants plays programs of the fuzzer's on every contestant.
func FuzzContestants(f *testing.F) {
	players := ranked(f)
	for _, program := range looptest.Programs() {
		f.Add(program)
	}
	f.Fuzz(func(t *testing.T, program string) {
		for name, player := range players {
			if err := player.Play(t, program); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}
