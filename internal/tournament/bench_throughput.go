// How many tasks a second: one producer, many producers, bursts, and memory pressure.

package tournament

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/turnloop/turnloop/internal/tournament/record"
)

func init() {
	register(Benchmark{
		Benchmark: record.Benchmark{
			Name: "Submit", Category: Throughput, Units: []string{"ns/op", "B/op", "allocs/op"},
			Op:       "one task submitted and run",
			Measures: "one producer submits one prebuilt function over and over; the time ends when the last has run",
			Why:      "the price of handing work to the loop, and nothing else",
		},
		Variants: one(submit),
	})
}

func submit(b *testing.B, c Contestant) {
	b.ReportAllocs()
	r := start(b, c)
	task := r.countdown(b.N)
	b.ResetTimer()
	for range b.N {
		r.submit(task)
	}
	r.wait()
}

func init() {
	register(Benchmark{
		Benchmark: record.Benchmark{
			Name: "SubmitOnLoop", Category: Throughput, Units: []string{"ns/op", "B/op", "allocs/op"},
			Op:       "one task submitted and run",
			Measures: "a prebuilt function submits itself from the loop, again and again",
			Why:      "work that is done in steps gives way to other work between them",
		},
		Variants: one(submitOnLoop),
	})
}

func submitOnLoop(b *testing.B, c Contestant) {
	b.ReportAllocs()
	r := start(b, c)
	left := b.N
	var task func()
	task = func() {
		if left--; left == 0 {
			r.done()
			return
		}
		r.onLoop(r.Submit(task))
	}
	b.ResetTimer()
	r.submit(task)
	r.wait()
}

func init() {
	register(Benchmark{
		Benchmark: record.Benchmark{
			Name: "PingPong", Category: Throughput, Units: []string{"ns/op", "B/op", "allocs/op"},
			Op:       "one task submitted and run",
			Measures: "one producer submits a fresh closure per task and counts it in and out of a WaitGroup",
			Why:      "what submission costs in ordinary code, which captures variables and waits for results",
		},
		Variants: one(pingPong),
	})
}

func pingPong(b *testing.B, c Contestant) {
	b.ReportAllocs()
	r := start(b, c)
	var pending sync.WaitGroup
	sum := 0
	b.ResetTimer()
	for i := range b.N {
		pending.Add(1)
		r.submit(func() {
			sum += i
			pending.Done()
		})
	}
	go func() {
		pending.Wait()
		r.done()
	}()
	r.wait()
	if sum != b.N*(b.N-1)/2 {
		b.Fatal("a task ran not at all or twice")
	}
}

func init() {
	register(Benchmark{
		Benchmark: record.Benchmark{
			Name: "MultiProducer", Category: Throughput, Units: []string{"ns/op", "B/op", "allocs/op"},
			Op:       "one task submitted and run",
			Measures: "ten producers at once submit one prebuilt function",
			Why:      "a server's goroutines all report to one loop",
			Needs:    []record.Need{{Window: aWhile}},
		},
		Variants: one(func(b *testing.B, c Contestant) { produce(b, c, 10) }),
	})
}

func init() {
	var variants []Variant
	for _, producers := range []int{1, 2, 4, 8, 16} {
		variants = append(variants, Variant{
			Name: fmt.Sprintf("producers=%d", producers), Core: true, Long: "the ten producers of MultiProducer are enough for a glance",
			Run: func(b *testing.B, c Contestant) { produce(b, c, producers) },
		})
	}
	register(Benchmark{
		Benchmark: record.Benchmark{
			Name: "Contention", Category: Throughput, Units: []string{"ns/op", "B/op", "allocs/op"},
			Op:       "one task submitted and run",
			Measures: "1, 2, 4, 8 and 16 producers at once submit one prebuilt function",
			Why:      "shows whether more producers make the loop slower",
			Needs:    []record.Need{{Window: aWhile}},
		},
		Variants: variants,
	})
}

// produce shares b.N submissions of one prebuilt function among producers that start together.
func produce(b *testing.B, c Contestant, producers int) {
	b.ReportAllocs()
	r := start(b, c)
	task := r.countdown(b.N)
	begin := make(chan struct{})
	var ready, over sync.WaitGroup
	for p := range producers {
		share := b.N / producers
		if p < b.N%producers {
			share++
		}
		ready.Add(1)
		over.Go(func() {
			ready.Done()
			<-begin
			for range share {
				if err := r.Submit(task); err != nil {
					r.fail(err)
					return
				}
			}
		})
	}
	ready.Wait()
	b.ResetTimer()
	close(begin)
	r.wait()
	b.StopTimer()
	over.Wait()
}

const burst = 1000

func init() {
	register(Benchmark{
		Benchmark: record.Benchmark{
			Name: "Burst", Category: Throughput, Units: []string{"ns/op", "B/op", "allocs/op"},
			Op:       "one task of a burst",
			Measures: "bursts of 1000 tasks, each burst drained before the next",
			Why:      "work comes in waves: the loop goes from sleep to full load and back",
		},
		Variants: one(bursts),
	})
}

func bursts(b *testing.B, c Contestant) {
	b.ReportAllocs()
	r := start(b, c)
	// The last task of a burst answers. It is the one that finds left at zero.
	left := 0
	task := func() {
		if left--; left == 0 {
			r.done()
		}
	}
	b.ResetTimer()
	for todo := b.N; todo > 0; todo -= burst {
		n := min(todo, burst)
		left = n
		for range n {
			r.submit(task)
		}
		r.wait()
	}
}

func init() {
	register(Benchmark{
		Benchmark: record.Benchmark{
			Name: "ManyLoops", Category: Throughput, Units: []string{"ns/op", "B/op", "allocs/op"},
			Op:       "one task submitted and run",
			Measures: "one task for each of 64 loops, and the next when all have run",
			Why:      "actors, tenants and tests have a loop each, and all of them share the processors",
		},
		Variants: []Variant{{Name: fmt.Sprintf("loops=%d", many), Core: true, Run: manyLoops}},
	})
}

// manyLoops hands one task to each of many loops, and the next when all have run.
func manyLoops(b *testing.B, c Contestant) {
	b.ReportAllocs()
	loops := make([]*bench, many)
	for i := range loops {
		loops[i] = start(b, c)
	}
	var left atomic.Int64
	task := func() {
		if left.Add(-1) == 0 {
			loops[0].done()
		}
	}
	b.ResetTimer()
	for todo := b.N; todo > 0; todo -= many {
		n := min(todo, many)
		left.Store(int64(n))
		for _, r := range loops[:n] {
			r.submit(task)
		}
		loops[0].wait()
	}
}

const many = 64

func init() {
	register(Benchmark{
		Benchmark: record.Benchmark{
			Name: "GCPressure", Category: Memory,
			Units:    []string{"ns/op", "B/op", "allocs/op", "gc-cycles/op", "gc-pause-ns/op"},
			Needs:    []record.Need{{Window: aWhile}},
			Op:       "one task with 256 bytes of captured data",
			Measures: "bursts of closures that each own fresh memory, the collector's work included",
			Why:      "real tasks carry data, and a queue that keeps it alive makes the collector work more",
		},
		Variants: one(gcPressure),
	})
}

func gcPressure(b *testing.B, c Contestant) {
	b.ReportAllocs()
	r := start(b, c)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	sum, left := 0, 0
	b.ResetTimer()
	for todo := b.N; todo > 0; todo -= burst {
		n := min(todo, burst)
		left = n
		for i := range n {
			payload := new([256]byte)
			payload[i%len(payload)] = 1
			r.submit(func() {
				for _, v := range payload[:16] {
					sum += int(v)
				}
				if left--; left == 0 {
					r.done()
				}
			})
		}
		r.wait()
	}
	b.StopTimer()
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(after.NumGC-before.NumGC)/float64(b.N), "gc-cycles/op")
	b.ReportMetric(float64(after.PauseTotalNs-before.PauseTotalNs)/float64(b.N), "gc-pause-ns/op")
	runtime.KeepAlive(sum)
}
