package eventloop_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
)

// A simulated loop that pauses whenever it may. Short pauses get the whole budget; long ones, as on a machine whose
// processors are busy, cost a small part of the time, and end when pauses are short again.
func TestPausesAreGivenUpWhereTheyAreLong(t *testing.T) {
	const work = 1000 // nanoseconds of a tick besides its pauses
	var p eventloop.Pauses
	simulate := func(length, until int64) (lost float64, last int) {
		var now, paused int64
		for now < until {
			last = p.Use(5)
			paused += int64(last) * length
			p.Judge(work + int64(last)*length)
			now += work + int64(last)*length
		}
		return float64(paused) / float64(now), last
	}
	_, last := simulate(300, 1e6)
	require.Equal(t, 5, last, "short pauses are all taken")
	require.Equal(t, eventloop.MostPauses, p.Use(eventloop.MostPauses), "up to the whole budget")

	lost, _ := simulate(20e6, 600e9)
	require.Less(t, lost, 0.02, "long pauses are given up, but for a try now and then")

	_, last = simulate(300, 60e9)
	require.Equal(t, 5, last, "and taken up again")
}
