//go:build !amd64 || race || schedules

package guest

import (
	plain "sync/atomic"

	"github.com/turnloop/turnloop/internal/sched"
	"github.com/turnloop/turnloop/internal/sched/atomic"
)

// SetOwner says which goroutine runs a loop from now on. Its caller has run it until now.
func SetOwner(p *atomic.Uintptr, id uintptr) {
	sched.Hand(id)
	p.Store(id)
}

// Publish stores a figure that one goroutine writes and others read.
func Publish(p *plain.Int64, v int64) { p.Store(v) }
