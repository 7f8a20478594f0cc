package gojaloop

// Interrupts: how other goroutines end a script that does not end.

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dop251/goja"
	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/internal/loopapi"
)

// guard lets other goroutines interrupt one entry, and nothing else. goja's own interrupt is a flag that stays set: if it is
// set when the entry is over, it ends the next call; and in some places goja clears the flag without ending the call. So an
// interrupt of guard names its entry, is repeated as long as that entry runs, and is taken back when the entry is over.
type guard struct {
	host *Host

	// entry is the number of the entry that runs, 0 when none does. The loop writes entry, then reads busy; an interrupter writes
	// busy, then reads entry. So either the interrupter sees that its entry is over, or the loop waits for it in finish.
	entry atomic.Uint64
	busy  atomic.Bool
	last  uint64 // number of the last entry; only the loop touches it

	watched atomic.Bool // a watch is armed, which looks for the loop's Close, at the heap and at the callback that runs
	fuse    fuse        // used by the watch alone

	limit    time.Duration // how long a callback may take with its checkpoint; 0 for any time
	callback atomic.Uint64 // the number of the callback that runs; the loop counts, the watch reads

	calling atomic.Pointer[call] // the call whose code runs; written by the loop, which then reads busy

	mu     sync.Mutex
	cause  error       // the cause of the interrupt under way; guarded by mu
	victim *call       // the call that the interrupt under way is for; nil if it is for an entry or a callback; guarded by mu
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
	g.callback.Add(1)
	if g.dead.Load() {
		g.finish()
		return false
	}
	if !g.watched.Load() && !g.watched.Swap(true) {
		loop := g.host.loop
		now := seen{g.entry.Load(), g.callback.Load(), time.Now()}
		time.AfterFunc(g.every(), func() { g.watch(loop, now) })
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
	g.cause, g.victim = nil, nil
	g.busy.Store(false)
}

// current returns the number of the entry that runs, 0 when none does.
func (g *guard) current() uint64 { return g.entry.Load() }

// interrupt interrupts the entry of that number if it still runs; the first cause counts. Any goroutine.
func (g *guard) interrupt(entry uint64, cause error) { g.interruptIn(entry, 0, cause) }

// interruptIn does what interrupt does, as long as the callback of that number runs, unless that is 0. The loop writes callback,
// then reads busy; so an interrupt for a callback that is over is seen, and taken back, before the next one begins.
func (g *guard) interruptIn(entry, callback uint64, cause error) {
	g.interruptWhile(func() bool {
		return !(entry == 0 || g.entry.Load() != entry || callback != 0 && g.callback.Load() != callback)
	}, nil, cause)
}

// interruptCall interrupts the code of a call if it runs, and tells whether it does. Any goroutine.
func (g *guard) interruptCall(c *call, cause error) bool {
	return g.interruptWhile(func() bool { return g.calling.Load() == c }, c, cause)
}

// isFor tells whether the interrupt under way is for that call. On the loop.
func (g *guard) isFor(c *call) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return c != nil && g.victim == c
}

// interruptWhile interrupts as long as runs returns true, and returns what it has returned first. Any goroutine.
func (g *guard) interruptWhile(runs func() bool, victim *call, cause error) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.busy.Store(true)
	if !runs() {
		return false
	}
	if g.cause == nil {
		g.cause, g.victim = cause, victim
	}
	g.host.vm.Interrupt(cause)
	time.AfterFunc(again, func() {
		if runs() {
			g.interruptWhile(runs, victim, cause)
		}
	})
	return true
}

// next counts a callback, and takes back the interrupt of the one before. On the loop.
func (g *guard) next() {
	if g.limit == 0 {
		return
	}
	if g.callback.Add(1); g.busy.Load() {
		g.forgive()
	}
}

// forgive takes back the interrupt of a callback that took too long, or of a call. On the loop.
func (g *guard) forgive() {
	g.takeBack(func() bool { return g.cause == ErrCallbackLimit || g.victim != nil })
}

// takeBack takes back the interrupt under way if the function, which is called with mu locked, says so. On the loop.
func (g *guard) takeBack(unwanted func() bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if unwanted() {
		g.host.vm.ClearInterrupt()
		g.cause, g.victim = nil, nil
	}
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
	every := watchEvery
	if g.fuse.limit != 0 {
		every = measureEvery
	}
	if g.limit != 0 {
		every = min(every, max(g.limit/4, time.Millisecond))
	}
	return every
}

// seen is what the watch has found.
type seen struct {
	entry, callback uint64
	since           time.Time // when it found that callback first
}

// watch looks at the host, again and again: it kills the host if its loop was closed while an entry runs, or if the heap
// exceeds the memory limit, and interrupts a callback that takes longer than it may. last is what the look before has found; for
// the first look it is the present. When two looks in a row have found no entry, the watch rests until one begins, so that an
// idle host causes no wake-ups.
func (g *guard) watch(loop *eventloop.Loop, last seen) {
	now := seen{g.entry.Load(), g.callback.Load(), time.Now()}
	if now.entry != 0 && loop.Closed() {
		g.kill(eventloop.ErrLoopTerminated)
		return
	}
	if g.fuse.blown() {
		g.host.killFrom(loop, ErrMemory)
		return
	}
	if now.entry == 0 && last.entry == 0 {
		g.watched.Store(false)
		if now.entry = g.entry.Load(); now.entry == 0 || g.watched.Swap(true) {
			return
		}
	}
	if now.entry == last.entry && now.callback == last.callback {
		if now.since = last.since; g.limit != 0 && now.entry != 0 && time.Since(now.since) >= g.limit {
			g.interruptIn(now.entry, now.callback, ErrCallbackLimit)
		}
	}
	time.AfterFunc(g.every(), func() { g.watch(loop, now) })
}

// errLost is the fault of an entry that goja has left as if nothing were wrong, with calls on its stacks: an exception
// in "await" itself does that, and goja keeps it.
var errLost = errors.New("gojaloop: an exception got lost in goja, which cannot go on")

// interrupted drops the nextTick functions and rejections that an interrupt has left. The host goes on, unless it was
// killed or the runtime is broken: then the host ends. Any other fault has broken the runtime, and ends the host too.
func (h *Host) interrupted(fault error) {
	h.dropLeft()
	err := h.guard.killCause()
	calls := len(h.inFlight.Of) > 0 // they may have lost jobs
	if cause := h.guard.interruptCause(); err == nil && cause != nil && (calls || h.broken()) {
		err = loopapi.Errorf("%v: %v", ErrBroken, cause)
	} else if err == nil && cause == nil {
		e := h.asError(goja.Undefined(), fault)
		e.Code = 1
		err = e
	}
	if err != nil {
		h.end(err)
	} else if h.guard.interruptCause() == ErrCallbackLimit && !h.entry.told {
		h.overLimit()
	}
}

// overLimit passes on that a callback took too long. Scripts do not hear of it: they could go on with it.
func (h *Host) overLimit() {
	e := &Error{Message: ErrCallbackLimit.Error(), Code: 1, cause: ErrCallbackLimit}
	if h.onUncaught == nil {
		h.end(e)
		return
	}
	h.guard.forgive() // the function may call scripts
	if second := h.protect(func() error { h.onUncaught(e); return nil }); second != nil {
		h.end(h.asError(nil, second))
	}
}

// broken tells whether goja has returned without unwinding its stacks, after which its next call would not return.
// That happens when a fault that scripts cannot catch leaves an async function that was resumed, or a generator, and
// when "await" itself throws. If goja does not show its stacks, the answer is yes.
func (h *Host) broken() bool {
	return !h.calls.IsValid() || !h.tries.IsValid() || h.calls.Len()+h.tries.Len() != 0
}
