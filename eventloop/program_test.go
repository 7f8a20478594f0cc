package eventloop_test

// Random programs on the loop, found by fuzzing.

import (
	"math/rand/v2"
	"testing"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/looptest"
)

// FuzzLoop holds the loop to the kit's sequential reference; the language of programs is described there.
func FuzzLoop(f *testing.F) { fuzz(f, (*looptest.Player).Play) }

// FuzzLoopTogether has several goroutines play each program.
func FuzzLoopTogether(f *testing.F) { fuzz(f, (*looptest.Player).PlayTogether) }

func fuzz(f *testing.F, play func(*looptest.Player, *testing.T, string) error) {
	player := looptest.NewPlayer(f, newLoop, looptest.VirtualTime(), modes)
	for _, program := range looptest.Programs() {
		if !testing.Short() || rand.IntN(4) == 0 { // TestConformance plays them all
			f.Add(program)
		}
	}
	f.Fuzz(func(t *testing.T, program string) {
		if err := play(player, t, program); err != nil {
			t.Error(err)
		}
	})
}

var modes = looptest.Modes(func(l looptest.EventLoop, mode int) error {
	return l.(*eventloop.Loop).SetFastPathMode(eventloop.FastPathMode(mode))
})
