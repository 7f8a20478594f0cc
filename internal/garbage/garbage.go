// Package garbage runs the garbage collector for tests that check what is still reachable.
package garbage

import (
	"math"
	"runtime"
	"sync"
	"time"
	"weak"
)

// one guards GOMAXPROCS. If two goroutines changed it at once, one of them would restore the setting of the other.
var one sync.Mutex

// Collect is runtime.GC on one processor. On several processors the runtime's sweepers spin while they wait for each
// other. On a busy machine, where a sweeper's thread may have to wait for a processor, this makes a collection of a small
// heap many times as expensive, and tests collect hundreds of times. Do not use Collect beside tests that set the number of
// processors themselves.
func Collect() {
	one.Lock()
	defer one.Unlock()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	runtime.GC()
}

// DropStopped makes Go's runtime drop stopped timers, and so the captures of their functions. By itself the runtime drops
// them only when they are more than a quarter of a processor's timers. DropStopped makes a thousand timers.
func DropStopped() {
	one.Lock()
	defer one.Unlock()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // so that all timers are in the list of one processor
	var timers [1000]*time.Timer
	for i := range timers {
		timers[i] = time.AfterFunc(math.MaxInt64, func() {})
	}
	// Stopped timers at the end of the runtime's list are removed at once, and not with the others. So the last timer runs until
	// the scheduler has looked at the list: then most of it is stopped, and the scheduler removes all that is.
	last := len(timers) - 1
	for _, t := range timers[:last] {
		t.Stop()
	}
	runtime.Gosched()
	timers[last].Stop()
}

// Until collects until done returns true, and reports whether it did within a thousand collections. Garbage may outlive one
// or two: a register or a dead slot of a stack may still refer to it, and cleanups run on a goroutine of their own.
func Until(done func() bool) bool {
	for range 1000 {
		Collect()
		runtime.Gosched()
		if done() {
			return true
		}
	}
	return false
}

// Heap collects, and returns how many bytes of the heap are in use. It collects twice, because pools forget in two steps.
func Heap() uint64 {
	Collect()
	Collect()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// Taken collects as Until does, and reports whether the target of p was collected.
func Taken[T any](p weak.Pointer[T]) bool { return Until(func() bool { return p.Value() == nil }) }

// Closed collects as Until does, and reports whether c was closed, for instance by a cleanup.
func Closed(c <-chan struct{}) bool {
	return Until(func() bool {
		select {
		case <-c:
			return true
		default:
			return false
		}
	})
}
