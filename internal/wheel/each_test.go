package wheel_test

// Tests of Each.

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/internal/wheel"
)

// Each visits all pending timers and no others, with the values of their Insert.
func TestEach(t *testing.T) {
	type timer struct {
		seq      uint64
		deadline int64
		ref      bool
	}
	r := rand.New(rand.NewPCG(5, 6))
	var w wheel.Wheel
	pending := map[uint64]timer{}
	for range 3000 {
		if r.IntN(5) < 3 {
			tm := timer{w.Seq(), r.Int64N(1 << r.IntN(50)), r.IntN(2) == 0}
			pending[w.Insert(wheel.Tier(r.IntN(wheel.Tiers)), tm.deadline, func() {}, tm.ref)] = tm
		} else {
			for id := range pending {
				require.True(t, w.Remove(id))
				delete(pending, id)
				break
			}
		}
	}
	found := map[uint64]timer{}
	w.Each(func(id, seq uint64, deadline int64, ref bool) { found[id] = timer{seq, deadline, ref} })
	require.Equal(t, pending, found)
	require.Len(t, found, w.Len())
	new(wheel.Wheel).Each(func(uint64, uint64, int64, bool) { t.Error("there is none") })
}
