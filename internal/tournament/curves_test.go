package tournament

// Benchmarks that draw curves of what the ranking has one figure of: more producers, more timers, higher rates, more connections.

import (
	"fmt"
	"testing"
	"time"

	"github.com/turnloop/turnloop/internal/loopapi"
)

// BenchmarkContention: 1 to 16 producers at once submit one prebuilt function.
func BenchmarkContention(b *testing.B) {
	each(b, func(b *testing.B, c Contestant) {
		for _, producers := range []int{1, 2, 4, 8, 16} {
			b.Run(fmt.Sprintf("producers=%d", producers), func(b *testing.B) { produce(b, c, producers) })
		}
	})
}

// BenchmarkPendingTimers: a timer scheduled and cancelled, or fired, beside none to a million others, in loops and in the runtime.
func BenchmarkPendingTimers(b *testing.B) {
	pending := []int{0, 1_000, 100_000, 1_000_000}
	if testing.Short() {
		pending = pending[:2]
	}
	run := func(b *testing.B, cancel, fire func(pending int) func(*testing.B)) {
		for _, n := range pending {
			b.Run(fmt.Sprintf("op=cancel/pending=%d", n), cancel(n))
			b.Run(fmt.Sprintf("op=fire/pending=%d", n), fire(n))
		}
	}
	each(b, func(b *testing.B, c Contestant) {
		of := func(op func(*bench, loopapi.TimerScheduler)) func(int) func(*testing.B) {
			return func(n int) func(*testing.B) { return func(b *testing.B) { onTimers(op, n)(b, c) } }
		}
		run(b, of(cancelOnLoop), of(fireOnLoop))
	})
	b.Run("impl="+RuntimeControl, func(b *testing.B) {
		of := func(op func(*testing.B)) func(int) func(*testing.B) {
			return func(n int) func(*testing.B) { return inRuntime(op, n) }
		}
		run(b, of(cancelInRuntime), of(fireInRuntime))
	})
}

// BenchmarkOpenLoopRate: OpenLoopLatency at 200 000 tasks a second.
func BenchmarkOpenLoopRate(b *testing.B) {
	each(b, func(b *testing.B, c Contestant) { openLoop(b, c, b.N, 5*time.Microsecond) })
}

// BenchmarkBurstMemory: the heap of a loop after a drained burst of 1000000 tasks.
func BenchmarkBurstMemory(b *testing.B) { each(b, footprintOf(drainedBurst)) }

// drainedBurst takes the whole loop, so that the result is a size and not a difference around zero.
func drainedBurst(b *testing.B, c Contestant, sums map[string]float64) {
	skipIfBounded(b, c)
	before := live()
	r := start(b, c)
	defer r.stop()
	release := r.pileUp(scaled(1_000_000, 10_000))
	release()
	r.wait()
	for range 1000 { // a few more tasks, since a loop may need some ticks to give memory back
		r.submit(r.done)
		r.wait()
	}
	after := live()
	sums["B/burst"] += bytes(before.HeapAlloc, after.HeapAlloc, 1)
}
