// How long until a task runs: round trips, wakes, priority and steady traffic.

package tournament

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/turnloop/turnloop/internal/gojabaseline"
	"github.com/turnloop/turnloop/internal/tournament/record"
)

func init() {
	register(Benchmark{
		Benchmark: record.Benchmark{
			Name: "PingPongLatency", Category: Latency, Units: []string{"ns/op", "B/op", "allocs/op"},
			Op:       "one round trip",
			Measures: "submit one task, wait until it has run, repeat; with fd registered descriptors on which nothing happens",
			Why:      "a goroutine that asks the loop and needs the answer pays this each time",
			Needs:    []record.Need{{Window: aWhile}},
		},
		Variants: watching(latencies),
	})
}

func latencies(r *bench) {
	r.b.ReportAllocs()
	task := r.done
	r.b.ResetTimer()
	for range r.b.N {
		r.submit(task)
		r.wait()
	}
}

// watching returns two variants of a cell: on a loop without descriptors, and on a loop with one registered descriptor on
// which nothing happens.
func watching(cell func(*bench)) []Variant {
	watched := func(b *testing.B, c Contestant) {
		r := start(b, c)
		r.watchSilence()
		cell(r)
	}
	return []Variant{
		{Name: "fd=0", Core: true, Run: func(b *testing.B, c Contestant) { cell(start(b, c)) }},
		{Name: "fd=1", Long: "the loop without a descriptor is enough for a glance", Run: watched, Controls: map[string]func(*testing.B){
			BlockingControl: func(b *testing.B) { watched(b, Blocking()) },
		}},
	}
}

func init() {
	register(Benchmark{
		Benchmark: record.Benchmark{
			Name: "BusyNeighbours", Category: Latency, Units: []string{"ns/op", "p50-ns/op", "p99-ns/op"},
			Op:       "one round trip",
			Measures: "submit one task, wait until it has run, repeat, while GOMAXPROCS other goroutines compute",
			Why:      "a loop shares the processors with the rest of the program, and must not queue behind it for each wake",
			Unscored: "who runs next, and for how long, is decided by the Go scheduler in slices of ten milliseconds, so figures jump " +
				"from the cost of a wake to that of a slice",
			Needs: []record.Need{{Window: schedulerSlices}},
		},
		Variants: one(busyNeighbours),
	})
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

func init() {
	register(Benchmark{
		Benchmark: record.Benchmark{
			Name: "BesideGarbage", Category: Latency, Units: []string{"p50-ns/op", "p99-ns/op", "ns/op"},
			Op:       "one round trip",
			Measures: "submit one task, wait until it has run, repeat, while another goroutine allocates without end and the collector is at work",
			Why:      "the rest of the program makes garbage, and the loop must not pay for it",
			Unscored: "when the collector runs, and on which processor, is decided by the Go runtime: means jump from one run to the next",
			Needs:    []record.Need{{Window: schedulerSlices, Values: 1000}},
		},
		Variants: one(besideGarbage),
	})
}

// besideGarbage is BenchmarkPingPongLatency beside a goroutine that allocates without end, so that the collector is at
// work most of the time, and takes a share of the processors.
func besideGarbage(b *testing.B, c Contestant) {
	r := start(b, c)
	defer allocator()()
	b.ResetTimer()
	r.roundTrips()
}

// allocator starts a goroutine that holds some megabytes of small objects, and replaces them by new ones over and over until
// leave is called.
func allocator() (leave func()) {
	type node struct {
		_ [56]byte
		p *byte // so that the collector has to look at it
	}
	var stop atomic.Bool
	var left sync.WaitGroup
	left.Go(func() {
		nodes := make([]*node, 1<<17)
		for i := 0; !stop.Load(); i = (i + 1) % len(nodes) {
			nodes[i] = &node{p: new(byte)}
		}
	})
	return func() {
		stop.Store(true)
		left.Wait()
	}
}

func init() {
	register(Benchmark{
		Benchmark: record.Benchmark{
			Name: "CrossLoop", Category: Latency, Units: []string{"ns/op", "B/op", "allocs/op"},
			Op:       "one round trip",
			Measures: "a task of one loop submits one to another loop, which submits one back, and so on",
			Why:      "programs with a loop for each processor, or for each kind of work, pass messages between them",
		},
		Variants: one(crossLoop),
	})
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

// BenchmarkInternalPriority keeps a fixed number of external tasks queued, on processors that are free otherwise.
// BenchmarkBusyInternalPriority does so on processors that other goroutines use. There about half of the values are slices of the
// scheduler, so the median of a round is either a slice or next to nothing, and the mean stands first.
func init() {
	register(Benchmark{
		Benchmark: record.Benchmark{
			Name: "InternalPriority", Category: Latency, Units: []string{"p50-ns/op", "p99-ns/op", "ns/op"},
			Op:       "one internal task",
			Measures: "from SubmitInternal to the task's start while 10000 external tasks are always waiting",
			Why:      "completions and control messages must not queue behind bulk work",
			Needs:    []record.Need{{Window: aWhile, Values: 1000}},
		},
		Variants: []Variant{{Run: func(b *testing.B, c Contestant) { internalPriority(b, c, 0) }}},
	})
	register(Benchmark{
		Benchmark: record.Benchmark{
			Name: "BusyInternalPriority", Category: Latency, Units: []string{"ns/op", "p50-ns/op", "p99-ns/op"},
			Op: "one internal task",
			Measures: "the same while GOMAXPROCS goroutines compute: each value takes slices of the scheduler or nearly nothing, and a " +
				"round's 99th percentile is of some hundred, for which only a run with a filter and minutes has the time",
			Why:   "the program that embeds a loop computes, too",
			Needs: []record.Need{{Window: schedulerSlices, Values: 101}},
		},
		Variants: []Variant{{Run: func(b *testing.B, c Contestant) { internalPriority(b, c, runtime.GOMAXPROCS(0)) }}},
	})
}

// internalPriority has each of the external tasks submit itself again. As many goroutines as busy says compute while it
// measures, but not before that: beside them the preparation would take seconds.
func internalPriority(b *testing.B, c Contestant, busy int) {
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
	leave := neighbours(busy)
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
	if busy > 0 {
		h.reportWith(b, 1)
	} else {
		h.report(b)
	}
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

// BenchmarkOpenLoopLatency submits by a schedule, whatever the loop does.
func init() {
	var variants []Variant
	for _, rate := range []int{50_000, 200_000} {
		variants = append(variants, Variant{
			Name: fmt.Sprintf("rate=%dk", rate/1000), Core: true,
			Run: func(b *testing.B, c Contestant) { openLoop(b, c, b.N, time.Second/time.Duration(rate)) },
		})
	}
	register(Benchmark{
		Benchmark: record.Benchmark{
			Name: "OpenLoopLatency", Category: Latency,
			Units:    []string{"p50-ns/op", "p99-ns/op", "p99.9-ns/op", "max-ns/op", "ns/op"},
			Op:       "one task at its place in a fixed schedule",
			Measures: "tasks arrive at a fixed rate; latency counts from the moment a task was due to arrive",
			Why:      "what clients see under steady traffic, with the loop's own stalls charged to everyone who waited",
			Needs:    []record.Need{{Values: 10_000}},
		},
		Variants: variants,
	})
}

func init() {
	register(Benchmark{
		Benchmark: record.Benchmark{
			Name: "HalfLoadLatency", Category: Latency,
			Units:    []string{"p50-ns/op", "p99-ns/op", "p99.9-ns/op", "max-ns/op"},
			Op:       "one task at its place in a fixed schedule",
			Measures: "the same with 1000000 tasks at half of the rate at which `baseline` can run them, which each process finds out first",
			Why:      "how long the unlucky wait where there is much to do, and yet enough time for it",
			Unscored: "what is late there waits for the system to give a thread its processor back, so figures jump by the system's tick, " +
				"4 ms as a rule",
		},
		Variants: []Variant{{Core: true, Long: "a million tasks on a schedule take longer than a glance", Run: halfLoad}},
	})
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

func openLoop(b *testing.B, c Contestant, tasks int, interval time.Duration) {
	r := start(b, c)
	b.ResetTimer()
	h, _ := r.schedule(tasks, interval)
	h.report(b)
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
