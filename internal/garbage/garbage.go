// Package garbage runs the garbage collector for tests that look at what is left.
package garbage

import (
	"math"
	"runtime"
	"sync"
	"time"
	"weak"
)

// one guards the number of processors: of two who change it at once, one would put back what the other had set.
var one sync.Mutex

// Collect is runtime.GC on one processor. On several, the runtime's sweepers wait for each other by going round and
// round: on a busy machine, where one's thread has to wait for its turn, a collection of a small heap takes milliseconds
// of processor time instead of a tenth of one, and tests collect hundreds of times. It is not for use beside tests that set
// the number of processors themselves.
func Collect() {
	one.Lock()
	defer one.Unlock()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	runtime.GC()
}

// DropStopped makes Go's runtime let go of the timers that were stopped, and so of what their functions capture: it does so
// by itself only when they are more than a quarter of a processor's timers. It costs a thousand timers.
func DropStopped() {
	one.Lock()
	defer one.Unlock()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // one processor has all timers
	var timers [1000]*time.Timer
	for i := range timers {
		timers[i] = time.AfterFunc(math.MaxInt64, func() {})
	}
	// The last one stands behind the others until the scheduler has looked: stopped ones at the end go without such a look.
	last := len(timers) - 1
	for _, t := range timers[:last] {
		t.Stop()
	}
	runtime.Gosched()
	timers[last].Stop()
}

// Until collects until done says so, and reports whether it did within a thousand collections. What is garbage may outlive
// one or two: a register or a dead slot of a stack still has it, and cleanups run on a goroutine of their own.
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

// Taken tells whether the collector has taken, after however many collections, what p points to.
func Taken[T any](p weak.Pointer[T]) bool { return Until(func() bool { return p.Value() == nil }) }

// Closed tells whether the collector closes c, after however many collections: by a cleanup, say.
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
