package wheel_test

// The longest step, in processor time of its thread, which Linux tells.

import (
	"math"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/turnloop/turnloop/internal/wheel"
)

// BenchmarkWorstStep: a million timers inserted, one of ten removed, and the others popped, each step timed by itself. A step has the
// least of its times in several equal rounds, since what interrupts the thread counts with the step that it interrupts; the
// worst of the steps is told.
func BenchmarkWorstStep(b *testing.B) {
	const rounds = 3
	n := int64(1_000_000)
	if testing.Short() {
		n = 10_000
	}
	for order, at := range map[string]func(i int64, r *rand.Rand) int64{
		"equal":    func(int64, *rand.Rand) int64 { return 1e9 },
		"rising":   func(i int64, _ *rand.Rand) int64 { return 1e9 + i*1000 },
		"falling":  func(i int64, _ *rand.Rand) int64 { return 1e9 + (n-i)*1000 },
		"shuffled": func(i int64, _ *rand.Rand) int64 { return 1e9 + i*7919%n*1000 },
		"hours":    func(_ int64, r *rand.Rand) int64 { return 1e9 + r.Int64N(10*3600e9) },
	} {
		b.Run("order="+order, func(b *testing.B) {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			defer debug.SetGCPercent(debug.SetGCPercent(-1)) // whose work is no step of the wheel's
			fn, ids, times := func() {}, make([]uint64, n), []int64(nil)
			for b.Loop() {
				for range rounds {
					var w wheel.Wheel
					r := rand.New(rand.NewPCG(1, 2))
					runtime.GC()
					step, last := 0, threadTime(b)
					stepped := func() {
						now := threadTime(b)
						if step == len(times) {
							times = append(times, math.MaxInt64)
						}
						times[step] = min(times[step], now-last)
						step, last = step+1, now
					}
					for i := range ids {
						ids[i] = w.Insert(wheel.Normal, at(int64(i), r), fn, true)
						stepped()
					}
					for i := 0; i < len(ids); i += 10 {
						w.Remove(ids[i])
						stepped()
					}
					for ; w.Len() > 0; stepped() {
						w.PopDue(wheel.Normal, w.Next(), math.MaxUint64)
					}
				}
			}
			b.ReportMetric(float64(slices.Max(times)), "worst-cpu-ns")
		})
	}
}

// threadTime is the processor time that the thread has used, in nanoseconds.
func threadTime(b *testing.B) int64 {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		b.Fatal(err)
	}
	return t.Nano()
}
