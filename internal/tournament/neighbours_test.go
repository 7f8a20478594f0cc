package tournament

// Benchmarks of loops that share their processors with the rest of a program. Go's scheduler, its collector and the system decide most of
// what they show, so they are no figures of the ranking.

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/turnloop/turnloop/internal/gojabaseline"
)

// each runs a benchmark for every contestant that is a loop.
func each(b *testing.B, run func(*testing.B, Contestant)) {
	for _, c := range Own().Contestants {
		if c.New != nil {
			b.Run("impl="+c.Name, func(b *testing.B) { run(b, c) })
		}
	}
}

// schedulerSlices is a time in which each of a few goroutines that compute gets several time slices of Go's scheduler, of ten milliseconds.
const schedulerSlices = 300 * time.Millisecond

// BenchmarkBusyNeighbours: submit one task, wait until it has run, repeat, while GOMAXPROCS other goroutines compute.
func BenchmarkBusyNeighbours(b *testing.B) { each(b, busyNeighbours) }

// BenchmarkBusyInternalPriority: from SubmitInternal to the task's start while 10000 external tasks wait and GOMAXPROCS goroutines compute.
func BenchmarkBusyInternalPriority(b *testing.B) {
	each(b, func(b *testing.B, c Contestant) {
		prioritise(b, c, func() func() { return neighbours(runtime.GOMAXPROCS(0)) })
	})
}

// BenchmarkHalfLoadLatency: how late tasks run that come by a schedule, at half of the rate at which baseline can run them.
func BenchmarkHalfLoadLatency(b *testing.B) { each(b, halfLoad) }

// BenchmarkWakeCost: how long the Submit that wakes a parked loop takes its caller, who then computes for up to a millisecond.
func BenchmarkWakeCost(b *testing.B) {
	each(b, func(b *testing.B, c Contestant) { start(b, c).wakeCosts(computeUntil) })
}

// BenchmarkWakePlain: WakeFromIdle on a loop without descriptors, whose submitter waits.
func BenchmarkWakePlain(b *testing.B) {
	each(b, func(b *testing.B, c Contestant) { start(b, c).wakes(func(*atomic.Bool) {}) })
}

// busyNeighbours is BenchmarkPingPongLatency on processors that are never free.
func busyNeighbours(b *testing.B, c Contestant) {
	r := start(b, c)
	defer neighbours(runtime.GOMAXPROCS(0))()
	b.ResetTimer()
	r.roundTrips()
}

// roundTrips measures b.N round trips one by one, or as many as fit into a few windows of time. Beside goroutines that
// compute, a round trip takes either a microsecond or a time slice of each of them. So the first round trips do not tell how
// many of the next ones fit into a given time.
func (r *bench) roundTrips() {
	const longest = 4 * schedulerSlices
	var h histogram
	task := r.done
	began := time.Now()
	for range r.b.N {
		begin := time.Now()
		if begin.Sub(began) > longest {
			break
		}
		r.submit(task)
		r.wait()
		h.record(time.Since(begin))
	}
	r.b.StopTimer()
	h.report(r.b)
}

// neighbours starts n goroutines that compute until leave is called.
func neighbours(n int) (leave func()) {
	var stop atomic.Bool
	var left sync.WaitGroup
	for range n {
		left.Go(func() {
			for x := uint64(1); !stop.Load(); {
				x = compute(x)
			}
		})
	}
	return func() {
		stop.Store(true)
		left.Wait()
	}
}

// halfLoad is BenchmarkOpenLoopLatency at half of the rate at which the baseline can run the same tasks. An iteration is very
// many tasks, since one stall makes thousands of them late.
func halfLoad(b *testing.B, c Contestant) {
	tasks := 1_000_000
	if testing.Short() {
		tasks = 10_000
	}
	openLoop(b, c, b.N*tasks, 2*fastest(b, Contestant{Entry: gojabaseline.Entry()}))
	b.ReportMetric(0, "ns/op") // not reported: the mean latency is not the time of an iteration
}

// fastest is the interval at which a loop gets and runs the tasks of an open loop without pauses: the median of a few tries.
func fastest(b *testing.B, c Contestant) time.Duration {
	const tasks = 100_000
	r := start(b, c)
	defer r.stop()
	var took [9]time.Duration
	for i := range took {
		_, took[i] = r.schedule(tasks, 0)
	}
	slices.Sort(took[:])
	return took[len(took)/2] / tasks
}

// wakeCosts measures the same wake-ups from the call of Submit until Submit returns.
func (r *bench) wakeCosts(then func(begun *atomic.Bool)) {
	r.places(then, func(submitted, _, returned time.Time) time.Duration { return returned.Sub(submitted) })
}
