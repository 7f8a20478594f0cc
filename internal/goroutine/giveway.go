package goroutine

// Giving way to other goroutines.

import (
	"runtime"
	"time"
)

const (
	mostYields = 16                   // yields in one call
	longYield  = 5 * time.Millisecond // after which there is no further yield
)

// GiveWay lets other goroutines run, once and then further times, though not often. It is for a producer that may be ahead of
// its consumer: it does not wait for the consumer, it only keeps many producers from having the processors to themselves. Where
// other goroutines compute, one yield takes long, and one is enough. The caller holds no lock that the consumer may want.
func GiveWay(further int) {
	began := time.Now()
	for range min(1+further, mostYields) {
		if runtime.Gosched(); time.Since(began) > longYield {
			return
		}
	}
}
