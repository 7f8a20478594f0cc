// How long until a task runs: round trips, wakes, priority and steady traffic.

package tournament_test

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/turnloop/turnloop/internal/loopapi"
	"github.com/turnloop/turnloop/internal/tournament"
)

func BenchmarkPingPongLatency(b *testing.B) {
	eachWatching(b, func(r *bench) {
		r.b.ReportAllocs()
		task := r.done
		r.b.ResetTimer()
		for range r.b.N {
			r.submit(task)
			r.wait()
		}
	})
}

// eachWatching runs cell on every contestant's loop, without descriptors and with one registered on which nothing happens.
func eachWatching(b *testing.B, cell func(*bench)) {
	watching := func(b *testing.B, c tournament.Contestant) {
		b.Run("fd=1", func(b *testing.B) {
			r := start(b, c)
			r.watchSilence()
			cell(r)
		})
	}
	each(b, func(b *testing.B, c tournament.Contestant) {
		b.Run("fd=0", func(b *testing.B) { cell(start(b, c)) })
		watching(b, c)
	})
	blocking := tournament.Blocking()
	b.Run("impl="+blocking.Name, func(b *testing.B) { watching(b, blocking) })
}

// BenchmarkWakeFromIdle takes its own times: the pause that lets the loop park is not part of them.
func BenchmarkWakeFromIdle(b *testing.B) {
	eachWatching(b, func(r *bench) {
		var h histogram
		var submitted time.Time
		task := func() {
			h.record(time.Since(submitted))
			r.done()
		}
		for range r.b.N {
			r.idle()
			submitted = time.Now()
			r.submit(task)
			r.wait()
		}
		h.report(r.b)
	})
}

// idle pauses until the loop is parked. The pause is the same for all contestants and many times what any of them needs from
// its last task to its wait; a loop that reports its state is asked in addition. It yields instead of sleeping: a sleep
// would let the processor go cold, and the result would tell how fast the machine warms up.
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

// BenchmarkBusyNeighbours is BenchmarkPingPongLatency on processors that are never free.
func BenchmarkBusyNeighbours(b *testing.B) {
	each(b, func(b *testing.B, c tournament.Contestant) {
		r := start(b, c)
		task := r.done
		defer neighbours(runtime.GOMAXPROCS(0))()
		var h histogram
		b.ResetTimer()
		for range b.N {
			begin := time.Now()
			r.submit(task)
			r.wait()
			h.record(time.Since(begin))
		}
		b.StopTimer()
		h.report(b)
	})
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

// compute takes some microseconds. Since it calls a function it has a prologue, at which the scheduler can interrupt its goroutine
// even where signals may not.
//
//go:noinline
func compute(x uint64) uint64 {
	for range 1000 {
		x = scramble(x)
	}
	return x
}

//go:noinline
func scramble(x uint64) uint64 { return x*6364136223846793005 + 1442695040888963407 }

// BenchmarkInternalPriority keeps a fixed number of external tasks queued, on processors that are free otherwise, and on some
// that never are.
func BenchmarkInternalPriority(b *testing.B) {
	each(b, func(b *testing.B, c tournament.Contestant) {
		b.Run("busy=0", func(b *testing.B) { internalPriority(b, c) })
		b.Run("busy=1", func(b *testing.B) {
			defer neighbours(runtime.GOMAXPROCS(0))()
			internalPriority(b, c)
		})
	})
}

// internalPriority has each of the external tasks submit itself again.
func internalPriority(b *testing.B, c tournament.Contestant) {
	const flood = 10_000
	if _, ok := c.Divergences["D09_InternalFirst"]; ok {
		b.Skip("n/a: no priority lane; what waits behind the flood would measure the flood")
	}
	r := start(b, c)
	skipIfUnsupported(b, "internal queue", r.SubmitInternal(r.done))
	r.wait()
	skipIfBounded(b, c)

	var stop atomic.Bool
	left := flood
	var task func()
	task = func() {
		if !stop.Load() {
			r.onLoop(r.Submit(task))
		} else if left--; left == 0 {
			r.done()
		}
	}
	for range flood {
		r.submit(task)
	}

	var h histogram
	var submitted time.Time
	probe := func() {
		h.record(time.Since(submitted))
		r.done()
	}
	b.ResetTimer()
	for range b.N {
		submitted = time.Now()
		if err := r.SubmitInternal(probe); err != nil {
			b.Fatal(err)
		}
		r.wait()
	}
	b.StopTimer()
	h.report(b)
	stop.Store(true)
	r.wait()
}

// BenchmarkOpenLoopLatency submits by a schedule, whatever the loop does.
func BenchmarkOpenLoopLatency(b *testing.B) {
	each(b, func(b *testing.B, c tournament.Contestant) {
		for _, rate := range []int{50_000, 200_000} {
			b.Run(fmt.Sprintf("rate=%dk", rate/1000), func(b *testing.B) {
				openLoop(b, c, b.N, time.Second/time.Duration(rate))
			})
		}
	})
}

// BenchmarkHalfLoadLatency is that at half of the rate at which the baseline can run the same tasks. An iteration is very many
// tasks, since one stall makes thousands of them late.
func BenchmarkHalfLoadLatency(b *testing.B) {
	all := tournament.Contestants()
	baseline := all[slices.IndexFunc(all, func(c tournament.Contestant) bool { return c.Name == "baseline" })]
	tasks := 1_000_000
	if testing.Short() {
		tasks = 10_000
	}
	each(b, func(b *testing.B, c tournament.Contestant) {
		openLoop(b, c, b.N*tasks, 2*fastest(b, baseline))
		b.ReportMetric(0, "ns/op") // the mean is no time of an iteration
	})
}

func openLoop(b *testing.B, c tournament.Contestant, tasks int, interval time.Duration) {
	r := start(b, c)
	b.ResetTimer()
	h, _ := r.schedule(tasks, interval)
	h.report(b)
}

// fastest is the interval at which a loop gets and runs the tasks of an open loop without pauses: the median of a few tries.
func fastest(b *testing.B, c tournament.Contestant) time.Duration {
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

// schedule submits n tasks, one each interval, and returns how late each ran and how long all took. The k-th task to run is the
// k-th submitted, so it knows when it was due without carrying the time; a producer or a loop that falls behind delays all that
// follow, and all of that delay counts.
func (r *bench) schedule(n int, interval time.Duration) (*histogram, time.Duration) {
	var h histogram
	var begin time.Time
	task := func() {
		due := time.Duration(h.n) * interval
		h.record(time.Since(begin) - due)
		if h.n == n {
			r.done()
		}
	}
	begin = time.Now()
	for i := range n {
		// Yielding hands the processor to a loop that was just woken, as a producer that waits for its next request
		// would.
		for due := time.Duration(i) * interval; time.Since(begin) < due; {
			runtime.Gosched()
		}
		r.submit(task)
	}
	r.wait()
	return &h, time.Since(begin)
}
