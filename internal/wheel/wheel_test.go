package wheel_test

// Tests of the wheel's clock.

import (
	"math"
	"testing"

	"github.com/turnloop/turnloop/internal/wheel"
)

// One call may take the clock over any distance, also past where other wheels wrapped: 12 days, 400 days, centuries
// (bugs 37 and 44 of docs/reliability.md).
func TestClockJumps(t *testing.T) {
	const day = 24 * 3600 * 1_000_000_000
	for _, jump := range []int64{1, wheel.Tick, day / 24, 12 * day, 49 * day, 400 * day, 100_000 * day, math.MaxInt64 - 1} {
		p := newPair(t)
		for _, deadline := range []int64{jump + 1, jump, jump - 1, 0, 1, jump / 2, jump, math.MaxInt64, jump / 64, jump / 3 * 2} {
			for tier := range tiers {
				p.insert(tier, deadline, true)
			}
		}
		p.now = jump - 1
		p.popAll(wheel.Normal)
		for tier := range tiers {
			p.insert(tier, 0, true) // in the past of the tier's current tick, and behind one that waits there
			p.insert(tier, jump-1, true)
			p.insert(tier, jump-2+wheel.Tick, true)
		}
		p.popAll(wheel.Critical)
		p.now = jump
		for tier := range tiers {
			p.popAll(tier)
		}
		p.drain()
	}
}

// Removal may leave a bound behind that is too early, but each removal costs its owner one wake at most.
func TestWakesAfterRemoval(t *testing.T) {
	var w wheel.Wheel
	const removed = 200
	for i := range int64(removed) {
		tier := wheel.Tier(i) % tiers
		w.Remove(w.Insert(tier, 1e9+i*37e6, func() {}, true))
		w.Insert(tier, 500e9+i*1e9, func() {}, true)
		w.Remove(w.Insert(tier, 2e9+i*37e6, func() {}, true))
	}
	wakes := 0
	for w.Len() > 0 {
		now := w.Next()
		wakes++
		for tier := range tiers {
			for ok := true; ok; {
				_, ok = w.PopDue(tier, now, math.MaxUint64)
			}
		}
	}
	if wakes > removed+2*removed {
		t.Fatalf("%d wakes for %d timers and %d removed ones", wakes, removed, 2*removed)
	}
}
