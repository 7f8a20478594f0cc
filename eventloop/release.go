//go:build !amd64 || race || schedules

package eventloop

import (
	plain "sync/atomic"

	"github.com/turnloop/turnloop/internal/sched/atomic"
)

// storeRelease stores v so that whoever loads it sees all that was written before: what it takes to release a lock.
func storeRelease(p *atomic.Uint32, v uint32) { p.Store(v) }

// publish stores v likewise: a figure that one goroutine writes and others read.
func publish(p *plain.Int64, v int64) { p.Store(v) }
