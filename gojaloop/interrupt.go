package gojaloop

// Interrupts: how a script that does not end is ended from elsewhere.

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/turnloop/turnloop/eventloop"
)

// guard lets other goroutines interrupt what runs, and nothing else. goja's own flag outlives what it was meant for: set
// too late, it hits the next call; and code of goja's may swallow it. So an interrupt names the entry that it is for, is
// repeated as long as that goes on, and is taken back when it is over.
type guard struct {
	host *Host

	// entry is the number of the entry that runs, 0 when none does. Written by the loop, which then looks at busy; who
	// interrupts sets busy and then looks at entry. So either it sees that the entry is over, or the loop waits for it.
	entry atomic.Uint64
	busy  atomic.Bool
	last  uint64 // the loop's

	watched atomic.Bool // a watch is armed: somebody looks now and then whether the loop was closed

	mu     sync.Mutex
	cause  error // of the interrupt that is under way; guarded by mu
	killed error // why no entry is to begin any more; guarded by mu
	dead   atomic.Bool
}

const (
	// again is after how long an interrupt that had no effect is repeated.
	again = 10 * time.Millisecond
	// watchEvery is how soon a script that runs hears that its loop was closed.
	watchEvery = 20 * time.Millisecond
)

// begin begins an entry, unless none is to begin any more.
func (g *guard) begin() bool {
	g.last++
	g.entry.Store(g.last)
	if g.dead.Load() {
		g.finish()
		return false
	}
	if !g.watched.Load() && !g.watched.Swap(true) {
		loop := g.host.loop
		time.AfterFunc(watchEvery, func() { g.watch(loop, g.entry.Load()) })
	}
	return true
}

// finish ends an entry, and takes back the interrupt if there was one.
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

func (g *guard) current() uint64 { return g.entry.Load() }

// interrupt interrupts an entry, if it still runs. Any goroutine.
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

// kill interrupts what runs, and lets nothing begin any more. Any goroutine.
func (g *guard) kill(cause error) {
	g.mu.Lock()
	if g.killed == nil {
		g.killed = cause
	}
	g.mu.Unlock()
	g.dead.Store(true)
	g.interrupt(g.entry.Load(), cause)
}

// why returns the reason of the interrupt that is under way, or nil.
func (g *guard) why() error {
	if !g.busy.Load() {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.cause
}

// reason returns why no entry begins any more.
func (g *guard) reason() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.killed
}

// watch looks whether the loop was closed while an entry runs. It looks again as long as there are new entries, and then
// rests until the next: a host at rest wakes nobody.
func (g *guard) watch(loop *eventloop.Loop, seen uint64) {
	entry := g.entry.Load()
	if entry != 0 && loop.Closed() {
		g.kill(eventloop.ErrLoopTerminated)
		return
	}
	if entry == 0 && seen == 0 {
		g.watched.Store(false)
		if entry = g.entry.Load(); entry == 0 || g.watched.Swap(true) {
			return
		}
	}
	time.AfterFunc(watchEvery, func() { g.watch(loop, entry) })
}
