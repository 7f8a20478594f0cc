//go:build !race && !schedules

package guest

// What a loop's owner stores, where plain stores are enough.

import (
	"sync/atomic"
	"unsafe"
)

// SetOwner sets the goroutine that runs a loop from now on. The caller must have been that goroutine until now.
//
// A plain store is enough: on this architecture stores become visible in the order of writing. A goroutine that asks
// whether it is the owner compares the stored identity with its own. The owner sees its own store, or that of the
// goroutine that handed over to it. A goroutine with the identity of an ended one began after the last store of that one.
func SetOwner(p *atomic.Uintptr, id uintptr) { *(*uintptr)(unsafe.Pointer(p)) = id }

// Publish stores a figure that only one goroutine writes and others read. A plain store is enough, as in SetOwner.
func Publish(p *atomic.Int64, v int64) { *(*int64)(unsafe.Pointer(p)) = v }
