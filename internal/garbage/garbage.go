// Package garbage runs the garbage collector for tests that look at what is left.
package garbage

import (
	"runtime"
	"sync"
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
