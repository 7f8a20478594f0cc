package slim_test

// Tests of maps that shrink: that they hold what maps hold, give memory back, and cost little.

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/internal/slim"
)

// Whatever is stored and deleted, the Map has what a map has, and room for a few times that. All the replacing of maps
// copies a third of what was deleted, at most.
func TestMap(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		var m slim.Map[int, uint64]
		want := map[int]uint64{}
		deleted, copied := 0, 0
		for range 60 {
			keys, fill := 1+r.IntN(1<<r.IntN(13)), r.IntN(4) != 0
			for range r.IntN(2 * keys) {
				k := r.IntN(keys)
				if fill {
					v := r.Uint64()
					want[k] = v
					m.Put(k, v)
					continue
				}
				before, had := m.Room(), len(want)
				delete(want, k)
				m.Delete(k)
				if deleted += had - len(want); m.Room() < before {
					copied += len(want)
				}
				require.LessOrEqual(t, m.Room(), max(slim.Keep, 4*(len(want)+1)))
			}
		}
		require.Len(t, m.Of, len(want))
		for k, v := range want {
			require.Equal(t, v, m.Of[k])
		}
		require.LessOrEqual(t, 3*copied, deleted)
	}
}

// A loop over the map may delete what it comes to.
func TestDeleteInALoop(t *testing.T) {
	var m slim.Map[int, int]
	for k := range 1000 {
		m.Put(k, k)
	}
	seen := 0
	for k := range m.Of {
		seen++
		m.Delete(k)
	}
	require.Equal(t, 1000, seen)
	require.Empty(t, m.Of)
	require.LessOrEqual(t, m.Room(), slim.Keep)
}

func TestSlice(t *testing.T) {
	for _, c := range []struct{ length, room, want int }{
		{0, 64, 64}, {0, 65, 64}, {10, 1000, 64}, {249, 1000, 498}, {250, 1000, 1000}, {1000, 1000, 1000},
	} {
		s := make([]int, c.length, c.room)
		for i := range s {
			s[i] = i
		}
		got := slim.Slice(s)
		require.Equal(t, c.want, cap(got))
		require.True(t, slices.Equal(s, got))
	}
}
