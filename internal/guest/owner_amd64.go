//go:build !race && !schedules

package guest

import (
	"sync/atomic"
	"unsafe"
)

// SetOwner says which goroutine runs a loop from now on. Its caller has run it until now.
//
// A plain store is enough, which on this architecture others see in the order in which it was written. Who asks whether
// they are the owner compares with their own identity: the owner finds its own store, or that of the goroutine that handed
// over to it; and one that has the identity of a goroutine that has ended began after that one's last store.
func SetOwner(p *atomic.Uintptr, id uintptr) { *(*uintptr)(unsafe.Pointer(p)) = id }

// Publish stores a figure that one goroutine writes and others read. See SetOwner.
func Publish(p *atomic.Int64, v int64) { *(*int64)(unsafe.Pointer(p)) = v }
