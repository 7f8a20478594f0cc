package wheel_test

// Tests of the timers that are near.

import (
	"testing"

	"github.com/turnloop/turnloop/internal/wheel"
)

// A burst within a tick comes out in order, whatever the order in which it came in. If that was nearly the same, as with
// timers without delay, none of it goes through the heap, also when a few came long before their time.
func TestBurst(t *testing.T) {
	const n = 300
	for name, c := range map[string]struct {
		deadline func(i int64) int64
		heap     int // at most so many timers there
	}{
		"equal":      {func(i int64) int64 { return 7 }, 0},
		"rising":     {func(i int64) int64 { return i }, 0},
		"swapped":    {func(i int64) int64 { return i ^ 3 }, 0},
		"late first": {func(i int64) int64 { return (i + n - 20) % n }, 2 * 20},
		"early last": {func(i int64) int64 { return (i + 20) % n }, 2 * 20},
		"falling":    {func(i int64) int64 { return n - i }, n},
		"shuffled":   {func(i int64) int64 { return i * 7919 % n }, n},
	} {
		for tier := range tiers {
			p := newPair(t)
			p.now = 3 * wheel.Tick
			for _, at := range []int64{0, 3 * wheel.Tick} { // into near at once, and by way of a slot
				for i := range int64(n) {
					p.insert(tier, at+c.deadline(i), i%2 == 0)
				}
				p.pop(tier, p.w.Seq())
				if got := p.w.InHeap(tier); got > c.heap {
					t.Errorf("%s: %d of %d timers are in the heap, want at most %d", name, got, n, c.heap)
				}
				for i := range n / 10 {
					p.remove(p.ids[len(p.ids)-n+10*i])
				}
				p.now += n
				p.popAll(tier)
			}
		}
	}
}
