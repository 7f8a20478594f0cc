package tournament_test

// Random programs on every ranked contestant.

import (
	"flag"
	"testing"

	"pgregory.net/rapid"

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

// TestRandomOperations plays random programs on every contestant. A failure is shrunk to the shortest program that shows it.
// Each run plays others: a failure names its seed, which -rapid.seed plays again.
func TestRandomOperations(t *testing.T) {
	const failfile = "rapid.nofailfile" // the seed says it all
	if f := flag.Lookup(failfile); f.Value.String() == f.DefValue {
		defer func() { _ = f.Value.Set(f.DefValue) }()
		if err := f.Value.Set("true"); err != nil {
			t.Fatal(err)
		}
	}
	letter := rapid.SampledFrom([]byte("simtcsimtcrudwxXfpgSC()()();.:0123456780123!"))
	for name, player := range ranked(t) {
		t.Run("impl="+name, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				program := string(rapid.SliceOfN(letter, 0, 60).Draw(rt, "program"))
				if err := player.Play(t, program); err != nil {
					rt.Fatal(err)
				}
				if err := player.PlayTogether(t, program); err != nil {
					rt.Fatal(err)
				}
			})
		})
	}
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
