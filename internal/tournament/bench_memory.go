// What loops cost while they live, and what their lives cost.

package tournament

import (
	"context"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/turnloop/turnloop/eventloop/looptest"
	"github.com/turnloop/turnloop/internal/loopapi"
)

func lives(b *testing.B, c Contestant) {
	b.ReportAllocs()
	ctx, cancel := context.WithTimeout(context.Background(), patience(b))
	defer cancel()
	ran, stopped := make(chan bool, 1), make(chan error, 1)
	task := func() { ran <- true }
	cfg := small(c)
	b.ResetTimer()
	for range b.N {
		loop, err := c.New(cfg)
		if err != nil {
			b.Fatal(err)
		}
		go func() { stopped <- loop.Run(context.Background()) }()
		if err := loop.Submit(task); err != nil {
			b.Fatal(err)
		}
		select {
		case <-ran:
		case <-ctx.Done():
			b.Fatal("the task was lost")
		}
		if err := loop.Shutdown(ctx); err != nil {
			b.Fatalf("Shutdown: %v", err)
		}
		select {
		case err := <-stopped:
			if err != nil {
				b.Fatalf("Run: %v", err)
			}
		case <-ctx.Done():
			b.Fatal("Run has not returned after Shutdown")
		}
	}
	b.StopTimer()
}

// small returns the configuration that makes a control use a small buffer, as fits a loop with little to do.
func small(c Contestant) looptest.Config {
	if c.Bounded {
		return looptest.Config{QueueLimit: SmallBuffer}
	}
	return looptest.Config{}
}

// footprintOf is a cell that takes a measurement.
func footprintOf(take measurement) func(*testing.B, Contestant) {
	return func(b *testing.B, c Contestant) { footprint(b, c, take) }
}

// A measurement adds what it measures to sums, by unit.
type measurement func(b *testing.B, c Contestant, sums map[string]float64)

// footprint runs take b.N times; each reports bytes by adding to sums.
func footprint(b *testing.B, c Contestant, take measurement) {
	sums := map[string]float64{}
	for range b.N {
		take(b, c, sums)
	}
	b.StopTimer()
	for unit, sum := range sums {
		b.ReportMetric(sum/float64(b.N), unit)
	}
	b.ReportMetric(0, "ns/op")
}

func idleLoops(b *testing.B, c Contestant, sums map[string]float64) {
	n := scaled(256, 16)
	loops := make([]looptest.EventLoop, n)
	var ran, stopped sync.WaitGroup
	ran.Add(n)
	goroutines := -runtime.NumGoroutine()
	before := live()
	for i := range loops {
		loop, err := c.New(small(c))
		if err != nil {
			b.Fatal(err)
		}
		loops[i] = loop
		stopped.Go(func() {
			if err := loop.Run(context.Background()); err != nil {
				b.Errorf("Run: %v", err)
			}
		})
		if err := loop.Submit(ran.Done); err != nil {
			b.Fatal(err)
		}
	}
	await(b, &ran)
	after := live()
	goroutines += runtime.NumGoroutine()
	for _, loop := range loops {
		ctx, cancel := context.WithTimeout(context.Background(), patience(b))
		if err := loop.Shutdown(ctx); err != nil {
			b.Errorf("Shutdown: %v", err)
		}
		cancel()
	}
	await(b, &stopped)
	sums["B/loop"] += bytes(before.HeapAlloc, after.HeapAlloc, n)
	sums["goroutines/loop"] += float64(goroutines) / float64(n)
}

func pendingTimers(b *testing.B, c Contestant, sums map[string]float64) {
	n := scaled(100_000, 10_000)
	r := start(b, c)
	defer r.stop()
	timers, ok := r.EventLoop.(loopapi.TimerScheduler)
	if !ok {
		b.Skip("n/a: no TimerScheduler")
	}
	before := live()
	r.pend(timers, n)
	after := live()
	sums["B/timer"] += bytes(before.HeapAlloc, after.HeapAlloc, n)
}

func runtimeTimers(_ *testing.B, _ Contestant, sums map[string]float64) {
	timers := make([]*time.Timer, scaled(100_000, 10_000))
	before := live()
	nothing := func() {}
	for i := range timers {
		timers[i] = time.AfterFunc(later(i, len(timers)), nothing)
	}
	after := live()
	for _, t := range timers {
		t.Stop()
	}
	sums["B/timer"] += bytes(before.HeapAlloc, after.HeapAlloc, len(timers))
}

func queuedTasks(b *testing.B, c Contestant, sums map[string]float64) {
	skipIfBounded(b, c)
	n := scaled(100_000, 10_000)
	r := start(b, c)
	defer r.stop()
	before := live()
	release := r.pileUp(n)
	after := live()
	release()
	r.wait()
	sums["B/task"] += bytes(before.HeapAlloc, after.HeapAlloc, n)
}

// pileUp queues n tasks behind one that blocks until release is called. The last one says done.
func (r *bench) pileUp(n int) (release func()) {
	gate := make(chan struct{})
	r.submit(func() { <-gate })
	task := r.countdown(n)
	for range n {
		r.submit(task)
	}
	return func() { close(gate) }
}

// live returns the memory statistics after everything was collected that can be. It collects more than once, since pools keep
// what they hold for two collections.
func live() (m runtime.MemStats) {
	for range 3 {
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return m
}

func bytes(before, after uint64, n int) float64 {
	return max(0, float64(after)-float64(before)) / float64(n)
}

func scaled(full, short int) int {
	if testing.Short() {
		return short
	}
	return full
}

// await is WaitGroup.Wait for goroutines and tasks that may never end.
func await(b *testing.B, g *sync.WaitGroup) {
	b.Helper()
	over := make(chan struct{})
	go func() {
		g.Wait()
		close(over)
	}()
	select {
	case <-over:
	case <-time.After(patience(b)):
		b.Fatal("gave up waiting: a task was lost or a loop has not ended")
	}
}
