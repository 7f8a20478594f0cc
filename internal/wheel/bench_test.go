package wheel_test

// Benchmarks of the wheel, with none to a million timers pending.

import (
	"fmt"
	"math"
	"testing"

	"github.com/turnloop/turnloop/internal/wheel"
)

var sizes = []int{0, 1_000, 100_000, 1_000_000}

// filled returns a wheel with timers over the next hour.
func filled(pending int) *wheel.Wheel {
	w := new(wheel.Wheel)
	fn := func() {}
	for i := range pending {
		w.Insert(wheel.Normal, 1e9+int64(i)*3_600e9/int64(pending), fn, true)
	}
	return w
}

// A time-out that is set and cancelled.
func BenchmarkInsertRemove(b *testing.B) {
	for _, pending := range sizes {
		b.Run(fmt.Sprintf("pending=%d", pending), func(b *testing.B) {
			w := filled(pending)
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
			w := filled(pending)
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
