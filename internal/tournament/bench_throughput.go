// How many tasks a second: one producer, many producers, bursts, and memory pressure.

package tournament

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

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
