package wheel_test

// Benchmarks of the wheel, with none to a million timers pending.

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/turnloop/turnloop/internal/wheel"
)

var sizes = []int{0, 1_000, 100_000, 1_000_000}

// filled returns a wheel with timers over the next hour, dealt out to the first tiers.
func filled(pending, tiers int) *wheel.Wheel {
	w := new(wheel.Wheel)
	fn := func() {}
	for i := range pending {
		w.Insert(wheel.Tier(i%tiers), 1e9+int64(i)*3_600e9/int64(pending), fn, true)
	}
	return w
}

// A time-out that is set and cancelled.
func BenchmarkInsertRemove(b *testing.B) {
	for _, pending := range sizes {
		b.Run(fmt.Sprintf("pending=%d", pending), func(b *testing.B) {
			w := filled(pending, 1)
			fn := func() {}
			b.ReportAllocs()
			now := int64(0)
			for b.Loop() {
				now += 100
				w.Remove(w.Insert(wheel.Normal, now+30e9, fn, true))
			}
		})
	}
}

// A timer that fires and is set again, among others that do the same.
func BenchmarkRearm(b *testing.B) {
	for _, pending := range sizes[1:] {
		b.Run(fmt.Sprintf("pending=%d", pending), func(b *testing.B) {
			w := filled(pending, 1)
			fn := func() {}
			b.ReportAllocs()
			for now := int64(0); b.Loop(); {
				for due := (func())(nil); due == nil; due, _ = w.PopDue(wheel.Normal, now, math.MaxUint64) {
					now = max(now, w.Next())
				}
				w.Insert(wheel.Normal, now+3_600e9, fn, true)
			}
		})
	}
}

// The same with timers of all tiers, for an owner that looks at all of them at each wake.
func BenchmarkRearmTiers(b *testing.B) {
	for _, pending := range sizes[1:] {
		b.Run(fmt.Sprintf("pending=%d", pending), func(b *testing.B) {
			w := filled(pending, wheel.Tiers)
			fn := func() {}
			b.ReportAllocs()
			for now := int64(0); b.Loop(); {
				now = max(now, w.Next())
				for tier := range wheel.Tier(wheel.Tiers) {
					if due, _ := w.PopDue(tier, now, math.MaxUint64); due != nil {
						w.Insert(tier, now+3_600e9, fn, true)
					}
				}
			}
		})
	}
}

// A tick of the loop in which no timer is due.
func BenchmarkNothingDue(b *testing.B) {
	w := filled(1000, 1)
	now := int64(0)
	for b.Loop() {
		now++
		w.PopDue(wheel.Normal, now%1e9, math.MaxUint64)
	}
}

// Timers that are all inserted before the first is popped, with their deadlines in different orders: as one goroutine
// makes them within a tick, or over many; as many goroutines do; as nobody does.
func BenchmarkBurst(b *testing.B) {
	for _, order := range []struct {
		name string
		at   func(i, n int64) int64
	}{
		{"equal", func(i, n int64) int64 { return 0 }},
		{"rising", func(i, n int64) int64 { return i }},
		{"ticks", func(i, n int64) int64 { return i * 50 }},
		{"jitter", func(i, n int64) int64 { return i + rand.Int64N(8) }},
		{"latefirst", func(i, n int64) int64 {
			if i < 50 {
				return n - i
			}
			return i
		}},
		{"shuffled", func(i, n int64) int64 { return i * 7919 % n }},
	} {
		for _, n := range []int64{1000, 100_000, 1_000_000} {
			b.Run(fmt.Sprintf("order=%s/due=%d", order.name, n), func(b *testing.B) {
				fn := func() {}
				at := make([]int64, n)
				for i := range at {
					at[i] = order.at(int64(i), n)
				}
				var w wheel.Wheel
				var popping time.Duration
				for b.Loop() {
					for _, deadline := range at {
						w.Insert(wheel.Normal, deadline, fn, true)
					}
					start := time.Now()
					for ok := true; ok; {
						_, ok = w.PopDue(wheel.Normal, math.MaxInt64-1, math.MaxUint64)
					}
					popping += time.Since(start)
				}
				timers := float64(b.N) * float64(n)
				b.ReportMetric(float64(popping)/timers, "pop-ns/timer")
				b.ReportMetric(float64(b.Elapsed()-popping)/timers, "insert-ns/timer")
			})
		}
	}
}
