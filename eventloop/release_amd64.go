//go:build !race && !schedules

package eventloop

// Stores with release order, where plain ones have it.

import (
	"sync/atomic"
	"unsafe"
)

// storeRelease stores v so that a goroutine that loads it sees all that was written before, as the release of a lock needs.
// Every plain store of this architecture does that, and the compiler keeps stores in order. atomic.Uint32.Store is a full
// fence, which makes a producer wait for its own writes to reach the other processor.
func storeRelease(p *atomic.Uint32, v uint32) { *(*uint32)(unsafe.Pointer(p)) = v }

// publish stores v in the same way. It is for a figure that one goroutine writes and others read.
func publish(p *atomic.Int64, v int64) { *(*int64)(unsafe.Pointer(p)) = v }
