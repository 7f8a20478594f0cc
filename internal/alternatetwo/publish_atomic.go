//go:build !amd64 || race

package alternatetwo

// The publication of a slot, by an atomic store.

import (
	"sync/atomic"
	"unsafe"
)

// publish stores p so that the consumer, once it sees p, sees all that was written before.
func publish(slot *unsafe.Pointer, p unsafe.Pointer) { atomic.StorePointer(slot, p) }
