//go:build !race && !schedules

package eventloop

import (
	"sync/atomic"
	"unsafe"
)

// storeRelease stores v so that whoever loads it sees all that was written before: what it takes to release a lock. Every
// plain store of this architecture does that, and the compiler keeps stores in order, whereas atomic.Uint32.Store is a
// full fence, which makes a producer wait for its own writes to reach the other processor.
func storeRelease(p *atomic.Uint32, v uint32) { *(*uint32)(unsafe.Pointer(p)) = v }

// publish stores v likewise: a figure that one goroutine writes and others read.
func publish(p *atomic.Int64, v int64) { *(*int64)(unsafe.Pointer(p)) = v }
