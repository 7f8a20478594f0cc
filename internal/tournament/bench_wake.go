// Waking a parked loop: what it takes the loop to start, and its waker to go on.

package tournament

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/turnloop/turnloop/internal/loopapi"
)

func wakeBesideDescriptor(b *testing.B, c Contestant) {
	r := start(b, c)
	r.watchSilence()
	r.wakes(func(*atomic.Bool) {})
}

func wakeByBusy(b *testing.B, c Contestant) { start(b, c).wakes(computeUntil) }

// wakes measures wake-ups of a parked loop, from the call of Submit until the task begins. After each Submit the submitter
// calls then.
func (r *bench) wakes(then func(begun *atomic.Bool)) {
	r.places(then, func(submitted, begun, _ time.Time) time.Duration { return begun.Sub(submitted) })
}

// places measures b.N wake-ups in parts. Whether the system has the loop's thread on its waker's processor or on another, which
// sleeps, decides what a wake takes, and it keeps that for as long as a process lasts. So other goroutines compute between the
// parts, which moves the threads, and the median that is reported is the mean of the parts' medians.
func (r *bench) places(then func(begun *atomic.Bool), value func(submitted, begun, returned time.Time) time.Duration) {
	parts := max(1, min(r.b.N/50, 20)) // fifty wakes are enough for a median
	var all histogram
	var medians time.Duration
	left := r.b.N
	for i := range parts {
		n := left / (parts - i)
		left -= n
		r.b.StopTimer()
		moveThreads()
		r.b.StartTimer()
		var part histogram
		r.wakeIdle(n, then, func(submitted, begun, returned time.Time) {
			d := value(submitted, begun, returned)
			part.record(d)
			all.record(d)
		})
		medians += part.quantile(0.5)
	}
	all.report(r.b)
	r.b.ReportMetric(max(0, float64(medians)/float64(parts)-float64(clockReading())), "p50-ns/op")
}

// moveThreads has a goroutine for each processor compute for two milliseconds. They look at the clock themselves: whoever slept
// meanwhile would wait for a slice of the scheduler.
func moveThreads() {
	var all sync.WaitGroup
	until := time.Now().Add(2 * time.Millisecond)
	for range runtime.GOMAXPROCS(0) {
		all.Go(func() {
			for x := uint64(1); time.Now().Before(until); {
				x = compute(x)
			}
		})
	}
	all.Wait()
}

// wakeIdle wakes a parked loop n times. For each wake-up it calls tell with the times at which Submit was called, the task
// began, and Submit returned.
func (r *bench) wakeIdle(n int, then func(begun *atomic.Bool), tell func(submitted, begun, returned time.Time)) {
	var ran time.Time
	var begun atomic.Bool
	task := func() {
		ran = time.Now()
		begun.Store(true)
		r.done()
	}
	for range n {
		r.idle()
		begun.Store(false)
		submitted := time.Now()
		r.submit(task)
		returned := time.Now()
		then(&begun)
		r.wait()
		tell(submitted, ran, returned)
	}
}

// computeUntil computes until the task has begun, but no longer than goroutines that submit something often go on for.
func computeUntil(begun *atomic.Bool) {
	const longest = time.Millisecond
	x := uint64(1)
	for begin := time.Now(); !begun.Load() && time.Since(begin) < longest; {
		x = compute(x)
	}
}

// idle pauses until the loop is parked. The pause is the same for all contestants, and many times as long as any of them
// takes from its last task until it is parked; a loop that reports its state is asked in addition. idle yields instead of
// sleeping: a sleep would let the processor go cold, and the benchmark would measure how fast it warms up.
func (r *bench) idle() {
	const pause = 20 * time.Microsecond
	for begin := time.Now(); time.Since(begin) < pause; {
		runtime.Gosched()
	}
	states, ok := r.EventLoop.(loopapi.StateReporter)
	if !ok {
		return
	}
	for deadline := time.Now().Add(time.Minute); states.State() != loopapi.StateSleeping; runtime.Gosched() {
		if time.Now().After(deadline) {
			r.b.Fatalf("an idle loop does not sleep: it is %v", states.State())
		}
	}
}
