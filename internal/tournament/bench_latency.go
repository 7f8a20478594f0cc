// How long until a task runs: round trips, wakes, priority and steady traffic.

package tournament

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"
)

// latency measures round trips, on a loop that watches a descriptor on which nothing happens or does not.
func latency(watches bool) func(*testing.B, Contestant) {
	return func(b *testing.B, c Contestant) {
		b.ReportAllocs()
		r := start(b, c)
		if watches {
			r.watchSilence()
		}
		task := r.done
		b.ResetTimer()
		for range b.N {
			r.submit(task)
			r.wait()
		}
	}
}

// crossLoop sends a task there and back between two loops.
func crossLoop(b *testing.B, c Contestant) {
	b.ReportAllocs()
	here, there := start(b, c), start(b, c)
	left := b.N
	var ping, pong func()
	ping = func() { here.onLoop(there.Submit(pong)) }
	pong = func() {
		if left--; left == 0 {
			here.done()
			return
		}
		here.onLoop(here.Submit(ping))
	}
	b.ResetTimer()
	here.submit(ping)
	here.wait()
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

func internalPriority(b *testing.B, c Contestant) {
	prioritise(b, c, func() func() { return func() {} })
}

// prioritise has each of the external tasks submit itself again. It calls beside when all wait, and what that returns when it has measured:
// beside goroutines that compute, the preparation would take seconds.
func prioritise(b *testing.B, c Contestant, beside func() (leave func())) {
	const flood = 10_000
	r := start(b, c)
	skipIfUnsupported(b, "internal queue", r.SubmitInternal(r.done))
	r.wait()
	skipIfBounded(b, c)
	if !r.internalFirst() {
		b.Skip("n/a: no priority lane; what waits behind the flood would measure the flood")
	}

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
	leave := beside()
	b.ResetTimer()
	for range b.N {
		submitted = time.Now()
		if err := r.SubmitInternal(probe); err != nil {
			b.Fatal(err)
		}
		r.wait()
	}
	b.StopTimer()
	leave()
	h.report(b)
	stop.Store(true)
	r.wait()
}

// internalFirst tells whether internal work overtakes external work that waits.
func (r *bench) internalFirst() bool {
	gate, order := make(chan struct{}), []bool{}
	r.submit(func() { <-gate })
	r.submit(func() { order = append(order, false) })
	if err := r.SubmitInternal(func() { order = append(order, true) }); err != nil {
		r.b.Fatal(err)
	}
	r.submit(r.done)
	close(gate)
	r.wait()
	return len(order) > 0 && order[0]
}

func openLoop(b *testing.B, c Contestant, tasks int, interval time.Duration) {
	r := start(b, c)
	b.ResetTimer()
	h, _ := r.schedule(tasks, interval)
	h.report(b)
}

// schedule submits n tasks, one each interval, and returns how late each ran and how long all took. The k-th task to run is
// the k-th that was submitted, so it knows when it was due without carrying the time. A producer or a loop that falls behind
// delays all tasks that follow, and this whole delay counts.
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
