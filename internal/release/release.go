//go:build !amd64 || race || schedules

// Package release stores with release order: a goroutine that loads the value sees all that was written before.
package release

// Where only atomic stores are known to have that order.

import (
	plain "sync/atomic"

	"github.com/turnloop/turnloop/internal/sched/atomic"
)

// Store stores v, as the release of a lock needs.
func Store(p *atomic.Uint32, v uint32) { p.Store(v) }

// Publish stores v. It is for a figure that one goroutine writes and others read.
func Publish(p *plain.Int64, v int64) { p.Store(v) }
