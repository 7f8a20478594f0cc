package alternatetwo_test

// Tests of what operations allocate, and what an idle loop holds.

import (
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"github.com/turnloop/turnloop/internal/alternatetwo"
	"github.com/turnloop/turnloop/internal/beat"
	"github.com/turnloop/turnloop/internal/garbage"
	"github.com/turnloop/turnloop/internal/loopapi"
	"github.com/turnloop/turnloop/internal/race"
)

const batch = 1000 // operations per run, so that the one allocation that AllocsPerRun rounds away shows

// allocFree expects run, which does a batch of operations and waits for the loop to have done them, not to allocate.
func allocFree(t *testing.T, run func()) {
	t.Helper()
	if race.Enabled {
		t.Skip("the race detector makes pools forget")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	for range 5 {
		run()
	}
	least := testing.AllocsPerRun(20, run)
	for range 3 { // what the runtime allocates now and then is not the loop's
		least = min(least, testing.AllocsPerRun(20, run))
	}
	if least != 0 {
		t.Errorf("%v allocations in %d operations", least, batch)
	}
}

// TestAllocs: no hot path allocates in steady state.
func TestAllocs(t *testing.T) {
	l, stop := start(t)
	defer stop()
	token := make(chan struct{}, 1)
	empty, last := func() {}, func() { token <- struct{}{} }
	submitting := func(submit func(func()) error) func(*testing.T) {
		return func(t *testing.T) {
			allocFree(t, func() {
				for range batch - 1 {
					_ = submit(empty)
				}
				_ = submit(last)
				<-token
			})
		}
	}
	t.Run("Submit", submitting(l.Submit))
	t.Run("SubmitInternal", submitting(l.SubmitInternal))
	t.Run("ForeignMicrotask", submitting(l.ScheduleMicrotask))
	onLoop := func(body func()) func(*testing.T) {
		task := func() { body(); last() }
		return func(t *testing.T) { allocFree(t, func() { _ = l.Submit(task); <-token }) }
	}
	t.Run("Microtask", onLoop(func() {
		for range batch {
			_ = l.ScheduleMicrotask(empty)
		}
	}))
	t.Run("TimerCancel", onLoop(func() {
		for i := range batch {
			id, _ := l.ScheduleTimer(time.Hour+time.Duration(i)*time.Second, empty)
			_ = l.CancelTimer(id)
		}
	}))
	left := 0
	var rearm func()
	rearm = func() {
		if left--; left == 0 {
			last()
			return
		}
		_, _ = l.ScheduleTimer(0, rearm)
	}
	begin := func() { left = batch; rearm() }
	t.Run("TimerFire", func(t *testing.T) { allocFree(t, func() { _ = l.Submit(begin); <-token }) })
	t.Run("Wake", func(t *testing.T) {
		over, stop := beat.After(beat.Beats) // a watchdog for each sleep would allocate
		defer stop()
		allocFree(t, func() {
			for range batch / 100 {
				for l.State() != loopapi.StateSleeping {
					select {
					case <-over:
						t.Fatal("an idle loop does not sleep")
					default:
						runtime.Gosched()
					}
				}
				_ = l.Submit(last)
				<-token
			}
		})
	})
}

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
		ran := make(chan struct{})
		_ = l.Submit(func() { close(ran) })
		<-ran
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
