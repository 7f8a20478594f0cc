// Package park is where a loop sleeps, and how others wake it. It knows no tasks, timers or descriptors: it asks its host.
package park

import (
	"math"
	plain "sync/atomic"
	"time"

	"github.com/turnloop/turnloop/internal/release"
	"github.com/turnloop/turnloop/internal/sched"
	"github.com/turnloop/turnloop/internal/sched/atomic"
)

// Host is the loop as its sleep sees it. Only the loop's goroutine calls the methods, except for Signal.
type Host interface {
	// News tells whether other goroutines may have left something to do. It does not count the alarm.
	News() bool
	// Needed tells whether anything keeps the loop alive. One that nothing keeps alive does not park.
	Needed() bool
	// Note is told of what begins and ends.
	Note(m Moment)

	// Blocks tells whether the loop is to park in Block; else it parks on a channel. If timed, Block returns at its timeout; without
	// that the alarm ends it.
	Blocks() (blocks, timed bool)
	// Block returns when the timeout has passed, unless that is negative, or earlier: at Signal, or for what the host waits for.
	Block(timeout time.Duration)
	// Signal ends a Block, and tells whether the loop is in one, or is going to be. It is called once for each sleep, by any goroutine.
	Signal() bool
}

// Moment is a step of the loop that its host is told of.
type Moment uint8

const (
	Paused Moment = iota // it has let other goroutines run
	Parks                // it is about to park
	Woke                 // it is awake again
)

// Park is a loop's sleep. The loop commits, then verifies, then sleeps: it moves its state from Running to Sleeping, looks once
// more at everything that could be work, and only then parks. A producer writes, then checks: it publishes that there is work,
// then reads the state, and wakes the loop if it reads Sleeping. All these accesses are sequentially consistent atomics, so of "the
// loop misses the work" and "the producer misses the sleep" at most one can happen. What counts as work is the host's.
//
// Only the loop's goroutine calls its methods and touches its fields, except for those that say something else.
type Park struct {
	state    *StateWord
	earliest *atomic.Int64 // no timer is due before it, in nanoseconds since Anchor
	host     Host
	wake     chan struct{} // has the wake-up in flight, if any: its capacity is one; see Signal

	Anchor time.Time // fixed by Init
	Born   int64     // Anchor in nanoseconds since epoch, on the wall clock; fixed by Init

	// The loop writes these; any goroutine may read them.
	Tick                         atomic.Int64 // when the current tick began, in nanoseconds since Anchor
	Ticks, Sleeps, Wakes, Pauses plain.Int64  // how many there were; written with release.Publish

	pauses   pauses   // lets other goroutines run while there is nothing to do
	handover handover // lets the loop run before wakers that go on computing
	alarm    alarm    // wakes the loop at earliest
}

// Init makes p ready. The loop owns state and earliest.
func (p *Park) Init(state *StateWord, earliest *atomic.Int64, host Host) {
	p.state, p.earliest, p.host = state, earliest, host
	p.wake = make(chan struct{}, 1)
	p.Anchor = time.Now()
	p.Born = int64(p.Anchor.Sub(epoch))
	p.alarm.at = never
}

// never is a deadline that is not reached.
const never = math.MaxInt64

// Now reads the clock: nanoseconds since Anchor, monotonic. Any goroutine may call it.
func (p *Park) Now() int64 { return int64(sched.Since(p.Anchor)) }

// Begin begins a tick. now is the time.
func (p *Park) Begin(now int64) {
	p.pauses.begin(now)
	p.Tick.Store(now)
	release.Publish(&p.Ticks, p.Ticks.Load()+1)
}

// Idle pauses for the rest of the idle moment, and tells whether the loop may then go to sleep: no work has come, and no timer
// is due. If all pauses of the tick are used it may not: the next tick has new ones.
func (p *Park) Idle() bool {
	if p.pauses.exhausted() || p.pauseOn() {
		return false
	}
	at := p.earliest.Load()
	return at > p.Tick.Load() && (at == never || at > p.Now())
}

// Sleep parks the loop until there may be something to do, and tells whether it has slept: not if it is ending.
func (p *Park) Sleep() (slept bool) {
	p.prepareWake()
	if !p.state.Sleep() {
		return false
	}
	p.begin()
	p.park()
	p.end(!p.state.Wake()) // if it was no waker, the loop itself leaves Sleeping
	p.learnFromWake()
	return true
}

// park waits until there may be something to do. The loop has committed to sleep.
func (p *Park) park() {
	blocks, timed := p.host.Blocks()
	timeout := time.Duration(-1)
	if at := p.earliest.Load(); !timed {
		p.arm(at)
	} else if at != never {
		timeout = time.Duration(max(0, at-p.Now()))
	}
	if p.host.News() || !p.host.Needed() {
		return // the signal of a producer that has claimed the wake-up already ends the next park early, which is harmless
	}
	if blocks {
		p.host.Block(timeout)
		return
	}
	sched.Await(p.wake)
	<-p.wake
}

// Rest parks a loop that is ending and waits for workers, until there is something to run. Neither timers nor descriptors are
// served any more, so it parks on its channel.
func (p *Park) Rest() {
	if !p.state.Rest() {
		return
	}
	parks := !p.host.News()
	if parks {
		p.begin()
		sched.Await(p.wake)
		<-p.wake
	}
	if woken := !p.state.Wake(); parks {
		p.end(woken)
	}
}

// begin counts a sleep, right before the loop parks.
func (p *Park) begin() {
	release.Publish(&p.Sleeps, p.Sleeps.Load()+1)
	p.host.Note(Parks)
}

// end ends a sleep. woken says that a wake-up has done that.
func (p *Park) end(woken bool) {
	if woken {
		release.Publish(&p.Wakes, p.Wakes.Load()+1)
	}
	p.host.Note(Woke)
}

// Wake wakes the loop if it sleeps. Any goroutine calls it, when it has published what the loop is to see.
func (p *Park) Wake() {
	if p.state.Load().Sleeping() && p.state.Wake() {
		p.Signal()
	}
}

// Signal ends the loop's park. Only the goroutine that has taken the state out of sleep calls it: so once for each
// sleep. If the channel is full, it has the late signal of another sleep, which ends this park as well. A late signal
// may reach a place that the loop has left: then it ends the next park there early.
func (p *Park) Signal() {
	if p.host.Signal() {
		return
	}
	sched.Point()
	select {
	case p.wake <- struct{}{}:
	default:
	}
}
