//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package main

// How much memory a cell takes.

import (
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
	"time"
)

const (
	mostHeap = 3 << 30   // bytes; a flood that takes more is stopped
	remarked = 256 << 20 // bytes; the report mentions more
	littered = 64 << 20  // bytes; if a cell has left more, it is collected
)

// memory measures the memory in use, and stops a flood that takes too much.
type memory struct {
	most   atomic.Uint64
	capped atomic.Bool
	stop   atomic.Bool
	site   atomic.Pointer[site]
}

func watchMemory() *memory {
	m := &memory{}
	before := used() // the runtime keeps something of each goroutine that ever was
	go func() {
		for ; !m.stop.Load(); time.Sleep(10 * time.Millisecond) {
			n := max(used(), before) - before
			m.most.Store(max(m.most.Load(), n))
			if s := m.site.Load(); n > mostHeap && s != nil && !s.stop.Swap(true) {
				m.capped.Store(true)
			}
		}
	}()
	return m
}

// used returns the bytes in use, garbage that is not collected yet included.
func used() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64() + sample[1].Value.Uint64()
}

// tidy frees the memory that the last cell has left.
func tidy() {
	if used() > littered {
		debug.FreeOSMemory()
	}
}
