//go:build !amd64 || race

package eventloop

import "sync/atomic"

// storeRelease stores v so that whoever loads it sees all that was written before: what it takes to release a lock.
func storeRelease(p *atomic.Uint32, v uint32) { p.Store(v) }
