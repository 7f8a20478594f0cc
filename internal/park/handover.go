package park

// Handing over: how a loop gets to run although its waker does not block.

import (
	"runtime"

	"github.com/turnloop/turnloop/internal/sched"
	"github.com/turnloop/turnloop/internal/sched/atomic"
)

// handover is what a loop has learned of the producers that wake it. Go's scheduler makes a readied goroutine the next
// one of its waker's processor (runnext), from where an idle processor does not steal it for a while. That serves a
// waker that soon blocks, as most do; one that goes on computing keeps the loop from running. So some sleeps are
// measured, from the wake-up to the loop's next step. When the loop is late again and again, its wakers yield to it:
// they go on after the loop, or sooner if another processor is free. They yield only while the processors are calm:
// otherwise a waker that yields would wait for every goroutine that computes.
type handover struct {
	// way is how to wake the loop from this sleep. The loop writes it before it commits to sleep, and the waker reads it.
	way atomic.Uint32
	// woken is when a waker ended the measured sleep, in nanoseconds since anchor; 0 before. A slow waker may store it when
	// another sleep has begun.
	woken atomic.Int64

	// Only the loop touches these.
	left     int // sleeps until one is measured
	lateness int // up by one for each measured sleep that ended late, down by one for each other; from 0 to mostLateness
}

// The ways of waking a loop.
const (
	wakeOnly uint32 = iota
	wakeTimed
	wakeAndYield
)

const (
	lateWake     = 20_000 // nanoseconds from the wake-up to the loop's next step: a sleep that takes more ended late
	mostLateness = 4      // the lateness at which wakers yield
	rarely       = 16     // sleeps between two measured ones
	moreRarely   = 512    // the same while wakers yield: after a measured sleep they do not, so that it ends late once more
)

// prepareWake decides on the way of waking the loop from the sleep that now begins.
func (p *Park) prepareWake() {
	h := &p.handover
	way := wakeOnly
	switch h.left--; {
	case h.left < 0:
		way = wakeTimed
		h.woken.Store(0)
	case h.lateness == mostLateness && !sched.Exploring && Calm.Is(p.Born+p.pauses.clock):
		way = wakeAndYield
	}
	if way != h.way.Load() {
		h.way.Store(way)
	}
}

// learnFromWake learns from the sleep that has just ended, if it was measured. If the lateness has changed, the next sleep
// is measured, too.
func (p *Park) learnFromWake() {
	h := &p.handover
	if h.left >= 0 {
		return
	}
	h.left = 0
	woken := h.woken.Load()
	if woken == 0 {
		return // no producer has ended the sleep
	}
	before := h.lateness
	if p.Now()-woken > lateWake {
		h.lateness = min(h.lateness+1, mostLateness)
	} else {
		h.lateness = max(h.lateness-1, 0)
	}
	switch {
	case h.lateness != before:
	case h.lateness == 0:
		h.left = rarely
	default:
		h.left = moreRarely
	}
}

// WakeFor does what Wake does, for a producer that has read Sleeping, and tells whether it was this one that has woken the loop.
// mayYield says that the caller may let others run.
func (p *Park) WakeFor(mayYield bool) bool {
	if !p.state.Wake() {
		return false
	}
	way := p.handover.way.Load()
	if way == wakeTimed {
		p.handover.woken.Store(p.Now())
	}
	if way != wakeAndYield || !mayYield {
		p.Signal()
		return true
	}
	ticks := p.Ticks.Load() // read only if needed: the loop has just written to this cache line
	p.Signal()
	began := p.Now()
	runtime.Gosched()
	if p.Ticks.Load() == ticks {
		runtime.Gosched() // once more, since the scheduler sometimes runs its global queue first, where the caller just was
	}
	now := p.Now()
	Calm.learn(now-began, now-began, p.Born+now)
	return true
}
