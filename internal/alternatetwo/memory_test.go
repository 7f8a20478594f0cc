package alternatetwo_test

// Tests of what a loop holds when it is idle, at first and after a burst.

import (
	"runtime"
	"testing"

	"github.com/turnloop/turnloop/internal/alternatetwo"
	"github.com/turnloop/turnloop/internal/garbage"
)

// live returns the heap in use when everything collectable is collected.
func live() int64 {
	for range 3 {
		garbage.Collect()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestIdleFootprint: a loop that has done little holds little: tables, wheel and ring are made on first use.
func TestIdleFootprint(t *testing.T) {
	const n, limit = 32, 24 << 10
	before := live()
	loops := make([]*alternatetwo.Loop, n)
	for i := range loops {
		l, stop := start(t)
		defer stop()
		loops[i] = l
	}
	if each := (live() - before) / n; each > limit {
		t.Errorf("an idle loop holds %d bytes, want at most %d", each, limit)
	}
	runtime.KeepAlive(loops)
}

// TestBurstMemory: what a burst took in each queue is given back.
func TestBurstMemory(t *testing.T) {
	l, stop := start(t)
	defer stop()
	const n, limit = 100_000, 256 << 10
	run := func(n int) {
		gate, done := make(chan struct{}), make(chan struct{})
		left := 5 * n
		task := func() {
			if left--; left == 0 {
				close(done)
			}
		}
		_ = l.Submit(func() {
			<-gate
			for range n {
				_ = l.ScheduleMicrotask(task)
				_, _ = l.ScheduleTimer(0, task)
			}
		})
		for range n {
			_ = l.Submit(task)
			_ = l.SubmitInternal(task)
			_ = l.ScheduleMicrotask(task)
		}
		close(gate)
		<-done
		over := make(chan struct{})
		_ = l.Submit(func() { close(over) }) // the tick in which the last of them ran is over, or nearly
		<-over
	}
	run(10)
	before := live()
	run(n)
	run(10)
	if more := live() - before; more > limit {
		t.Errorf("after a burst of %d in each queue the loop holds %d bytes more than before", n, more)
	}
}
