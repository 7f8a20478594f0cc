package programs

// Random programs, each from a seed.

import (
	"os"
	"strconv"
	"testing"
	"time"
)

// A run plays the same programs each time, though who runs when is for the scheduler to say. TURNLOOP_SOAK plays very many others, and
// TURNLOOP_SEED plays one again and again.
func TestPrograms(t *testing.T) {
	seed, step, n := uint64(1), uint64(1), 4000
	switch text := os.Getenv("TURNLOOP_SEED"); {
	case text != "":
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatal(err)
		}
		step = 0
	case os.Getenv("TURNLOOP_SOAK") != "":
		seed, n = uint64(time.Now().UnixNano()), 100_000
	case testing.Short():
		n = 200
	}
	t.Logf("%d programs, the first with TURNLOOP_SEED=%d", n, seed)
	for range n {
		if play(t, seed); t.Failed() {
			return
		}
		seed += step
	}
}
