//go:build !amd64 || race || schedules

package eventloop

import "github.com/turnloop/turnloop/internal/sched/atomic"

// storeRelease stores v so that whoever loads it sees all that was written before: what it takes to release a lock.
func storeRelease(p *atomic.Uint32, v uint32) { p.Store(v) }
