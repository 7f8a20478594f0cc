//go:build !amd64 || race || schedules

package eventloop

// Stores with release order, where only atomic ones are known to have it.

import (
	plain "sync/atomic"

	"github.com/turnloop/turnloop/internal/sched/atomic"
)

// storeRelease stores v so that a goroutine that loads it sees all that was written before, as the release of a lock needs.
func storeRelease(p *atomic.Uint32, v uint32) { p.Store(v) }

// publish stores v in the same way. It is for a figure that one goroutine writes and others read.
func publish(p *plain.Int64, v int64) { p.Store(v) }
