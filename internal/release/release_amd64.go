//go:build !race && !schedules

// Package release stores with release order: a goroutine that loads the value sees all that was written before.
package release

// Where plain stores have that order.

import (
	"sync/atomic"
	"unsafe"
)

// Store stores v, as the release of a lock needs. Every plain store of this architecture has that order, and the compiler
// keeps stores in order. atomic.Uint32.Store is a full fence, which makes a producer wait for its own writes to reach the
// other processor.
func Store(p *atomic.Uint32, v uint32) { *(*uint32)(unsafe.Pointer(p)) = v }

// Publish stores v. It is for a figure that one goroutine writes and others read.
func Publish(p *atomic.Int64, v int64) { *(*int64)(unsafe.Pointer(p)) = v }
