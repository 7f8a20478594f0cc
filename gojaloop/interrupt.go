package gojaloop

// Interrupts: how other goroutines end a script that does not end.

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/turnloop/turnloop/eventloop"
)

// guard lets other goroutines interrupt one entry, and nothing else. goja's own interrupt is a flag that stays set: if it is
// set when the entry is over, it ends the next call; and in some places goja clears the flag without ending the call. So an
// interrupt of guard names its entry, is repeated as long as that entry runs, and is taken back when the entry is over.
type guard struct {
	host *Host

	// entry is the number of the entry that runs, 0 when none does. The loop writes entry, then reads busy; an
	// interrupter writes busy, then reads entry. So either the interrupter sees that its entry is over, or the loop
	// waits for it in finish.
	entry atomic.Uint64
	busy  atomic.Bool
	last  uint64 // number of the last entry; only the loop touches it

	watched atomic.Bool // a watch is armed, which looks for the loop's Close and at the heap
	fuse    fuse        // used by the watch alone

	mu     sync.Mutex
	cause  error       // the cause of the interrupt under way; guarded by mu
	killed error       // why no entry may begin any more; guarded by mu
	dead   atomic.Bool // killed is set
}

const (
	// again is the delay before an interrupt without effect is repeated.
	again = 10 * time.Millisecond
	// watchEvery is the delay between two looks of the watch.
	watchEvery = 20 * time.Millisecond
	// measureEvery is the delay between two looks of the watch if there is a memory limit.
	measureEvery = 5 * time.Millisecond
)

// begin begins an entry and arms the watch. It returns false when no entry may begin any more. On the loop.
func (g *guard) begin() bool {
	g.last++
	g.entry.Store(g.last)
	if g.dead.Load() {
		g.finish()
		return false
	}
	if !g.watched.Load() && !g.watched.Swap(true) {
		loop := g.host.loop
		time.AfterFunc(g.every(), func() { g.watch(loop, g.entry.Load()) })
	}
	return true
}

// finish ends the entry, and takes back its interrupt if there was one. On the loop.
func (g *guard) finish() {
	g.entry.Store(0)
	if !g.busy.Load() {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.host.vm.ClearInterrupt()
	g.cause = nil
	g.busy.Store(false)
}

// current returns the number of the entry that runs, 0 when none does.
func (g *guard) current() uint64 { return g.entry.Load() }

// interrupt interrupts the entry of that number if it still runs; the first cause counts. Any goroutine.
func (g *guard) interrupt(entry uint64, cause error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.busy.Store(true)
	if entry == 0 || g.entry.Load() != entry {
		return
	}
	if g.cause == nil {
		g.cause = cause
	}
	g.host.vm.Interrupt(cause)
	time.AfterFunc(again, func() {
		if g.entry.Load() == entry {
			g.interrupt(entry, cause)
		}
	})
}

// kill interrupts the entry that runs, and lets no other begin; the first cause counts. Any goroutine.
func (g *guard) kill(cause error) {
	g.mu.Lock()
	if g.killed == nil {
		g.killed = cause
	}
	g.mu.Unlock()
	g.dead.Store(true)
	g.interrupt(g.entry.Load(), cause)
}

// interruptCause returns the cause of the interrupt under way, or nil.
func (g *guard) interruptCause() error {
	if !g.busy.Load() {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.cause
}

// killCause returns why no entry may begin any more, or nil.
func (g *guard) killCause() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.killed
}

// every returns the delay between two looks of the watch.
func (g *guard) every() time.Duration {
	if g.fuse.limit != 0 {
		return measureEvery
	}
	return watchEvery
}

// watch looks at the host, again and again: it kills the host if its loop was closed while an entry runs, or if the heap
// exceeds the memory limit. seen is the entry that the previous look has found; for the first look it is the current one.
// When two looks in a row have found no entry, the watch rests until one begins, so that an idle host causes no wake-ups.
func (g *guard) watch(loop *eventloop.Loop, seen uint64) {
	entry := g.entry.Load()
	if entry != 0 && loop.Closed() {
		g.kill(eventloop.ErrLoopTerminated)
		return
	}
	if g.fuse.blown() {
		g.host.killFrom(loop, ErrMemory)
		return
	}
	if entry == 0 && seen == 0 {
		g.watched.Store(false)
		if entry = g.entry.Load(); entry == 0 || g.watched.Swap(true) {
			return
		}
	}
	time.AfterFunc(g.every(), func() { g.watch(loop, entry) })
}
