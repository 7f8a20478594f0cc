package eventloop_test

// Handing over: who wakes a loop that comes late lets it go first.

import (
	"fmt"
	"math"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/internal/park"
)

// When wakers go on computing, the loop has run its task before they do, where both have one processor; so has a loop of a group.
// When they wait, they do not yield.
func TestWakerYields(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	defer park.Calm.Until.Store(0)
	const wakes = 610 // once in 61 the scheduler looks first at those who have yielded
	const warm = 20   // after a few late sleeps wakers yield
	first := func(submit func(func()) error, computes time.Duration, loops ...*eventloop.Loop) (n int) {
		for i := range warm + wakes {
			rest(loops...)
			park.Calm.Until.Store(math.MaxInt64) // while the loop paused, somebody has computed
			var begun atomic.Bool
			if require.NoError(t, submit(func() { begun.Store(true) })); begun.Load() && i >= warm {
				n++
			}
			for since := time.Now(); time.Since(since) < computes; {
			}
			for !begun.Load() {
				runtime.Gosched()
			}
		}
		return n
	}
	undisturbed(t, func() error {
		l, g := observed(t), newGroup(t, 2)
		runs(g, t.Context())
		const long = 50 * time.Microsecond
		plain, loop, group := first(l.Submit, 0, l), first(l.Submit, long, l), first(g.Submit, long, g.Loop(0), g.Loop(1))
		if plain > wakes/2 || loop < wakes-5 || group < wakes-5 {
			return fmt.Errorf("of %d tasks %d ran first when the waker waits, %d when it computes, %d in a group", wakes, plain, loop, group)
		}
		return nil
	})
}
