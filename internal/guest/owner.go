//go:build !amd64 || race || schedules

package guest

// What a loop's owner stores, by atomic stores.

import (
	plain "sync/atomic"

	"github.com/turnloop/turnloop/internal/sched/atomic"
)

// SetOwner sets the goroutine that runs a loop from now on. The caller must have been that goroutine until now.
func SetOwner(p *atomic.Uintptr, id uintptr) { p.Store(id) }

// Publish stores a figure that only one goroutine writes and others read.
func Publish(p *plain.Int64, v int64) { p.Store(v) }
