//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package main

// Very many tasks: each runs once, and the memory stays as it is.

import (
	"context"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/turnloop/turnloop/internal/beat"
)

const checkpoints = 10

// tasks runs two producers that submit batches in all lanes, so that the loop is now and then asleep, and now and then far
// behind.
func tasks(r *run, newLoop maker) {
	l, err := newLoop(auto)
	if err != nil {
		r.failf("New: %v", err)
		return
	}
	go l.Run(context.Background())
	var m memory
	const producers = 2
	part := max(r.target/checkpoints, 1)
	for i := int64(1); i <= checkpoints && !r.failed() && r.ctx.Err() == nil; i++ {
		var all sync.WaitGroup
		for p := range producers {
			all.Go(func() { produce(r, l, i*100+int64(p), part*i) })
		}
		all.Wait()
		m.checkpoint(r)
	}
	r.shutdown(l)
	m.check(r)
}

// produce submits batches, each of which has run before the next, until the station has reached its goal.
func produce(r *run, l loop, goroutine, goal int64) {
	random := r.random(uint64(goroutine))
	var ran atomic.Int64
	var last [4]int // the last function that ran in each lane; only the loop touches it, as the race detector checks
	done := make(chan struct{}, 1)
	var batch, expected int64
	one := func() {
		if ran.Add(1) == expected {
			done <- struct{}{}
		}
	}
	lanes := []func(func()) error{l.Submit, l.SubmitInternal, l.ScheduleMicrotask,
		func(fn func()) error { _, err := l.ScheduleTimer(time.Duration(random.IntN(50_000)), fn); return err }}
	for r.reached.Load() < goal && r.ctx.Err() == nil {
		batch = 1 + random.Int64N(1<<random.IntN(14))
		lane := random.IntN(3)
		if random.IntN(64) == 0 {
			lane = 3 // timers cost more
		}
		expected += batch
		for i := range int(batch) {
			fn := one
			if i%16 == 0 && lane < 3 { // a closure of its own, which knows its place in the order
				fn = func() {
					if i != 0 && last[lane] != i-16 {
						r.failf("of a batch of %d in lane %d, %d ran behind %d", batch, lane, i, last[lane])
					}
					last[lane] = i
					one()
				}
			}
			if err := lanes[lane](fn); err != nil {
				r.failf("a submission was refused: %v", err)
				return
			}
		}
		if !beat.Wait(done) {
			r.failf("of %d tasks %d ran", expected, ran.Load())
			return
		}
		if got := ran.Load(); got != expected {
			r.failf("%d tasks ran of %d", got, expected)
			return
		}
		r.reached.Add(batch)
	}
	for range 100 { // a second run may come later
		runtime.Gosched()
	}
	if got := ran.Load(); got != expected {
		r.failf("%d tasks ran of %d", got, expected)
	}
}

// memory records how much memory the process uses.
type memory struct {
	heap, resident []int64
}

func (m *memory) checkpoint(r *run) {
	var stats runtime.MemStats
	runtime.GC()
	runtime.GC() // and what the first one left to finalizers and pools
	runtime.ReadMemStats(&stats)
	m.heap = append(m.heap, int64(stats.HeapAlloc))
	m.resident = append(m.resident, residentBytes())
}

const (
	heapSlack     = 512 << 10
	residentSlack = 24 << 20
)

// check compares the last half of the checkpoints with the first: a leak shows in all of them.
func (m *memory) check(r *run) {
	if len(m.heap) < 4 {
		return
	}
	half := len(m.heap) / 2
	for _, kind := range []struct {
		name  string
		sizes []int64
		slack int64
	}{{"heap", m.heap, heapSlack}, {"resident memory", m.resident, residentSlack}} {
		if first, second := largest(kind.sizes[:half]), largest(kind.sizes[half:]); second > first+kind.slack {
			r.failf("the %s grows: %s KiB at %d checkpoints", kind.name, kibibytes(kind.sizes), len(kind.sizes))
		}
	}
	r.notef("heap %s KiB, resident %s KiB at %d checkpoints", kibibytes(m.heap), kibibytes(m.resident), len(m.heap))
}

func largest(sizes []int64) (size int64) {
	for _, s := range sizes {
		size = max(size, s)
	}
	return size
}

func kibibytes(sizes []int64) string {
	var words []string
	for _, s := range sizes {
		words = append(words, strconv.FormatInt(s>>10, 10))
	}
	return strings.Join(words, " ")
}

// residentBytes returns the size of the process in memory, where the system tells it, else 0.
func residentBytes() int64 {
	line, _ := os.ReadFile("/proc/self/statm")
	fields := strings.Fields(string(line))
	if len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.ParseInt(fields[1], 10, 64)
	return pages * int64(os.Getpagesize())
}
