package park

// Pauses: how a loop that has nothing to do spares its next producer a wake-up.

import (
	"github.com/turnloop/turnloop/internal/release"
	"github.com/turnloop/turnloop/internal/sched"
)

// pauses are moments in which the loop lets other goroutines run before it goes to sleep. A goroutine that waited for the
// task that has just run may then submit the next: the loop needs no wake-up, and the tick goes on.
//
// But work does not wake a loop that has yielded: the loop runs again when it comes to the head of the scheduler's queue. Beside
// goroutines that compute, that takes a time slice for each of them. So there are pauses only while the processors are calm.
//
// Only the loop's goroutine touches them. Times are in nanoseconds since the loop's anchor.
type pauses struct {
	used  int   // pauses of this tick
	left  int   // pauses that the idle moment may still have; the first that brings work ends it
	vain  int   // idle moments in a row whose first pause has brought nothing
	skip  int   // idle moments to come that get no pause because of that
	lost  int64 // nanoseconds in long pauses, less those forgiven
	began int64 // when the tick began
	since int64 // since then ticks have begun at most longPause apart, and no more than mostLost was lost
	clock int64 // when the loop last read the clock: after one of the last few pauses, or when the tick began
}

const (
	mostPauses = 16          // in a tick: bounds the age of tickTime
	perMoment  = 4           // in an idle moment: work that another processor is about to submit takes a while
	perClock   = 4           // pauses between two looks at the clock, which cost a good part of what a pause saves
	longPause  = 100_000     // nanoseconds: more than a few goroutines take that have little to do
	mostLost   = 2_000_000   // nanoseconds in long pauses; beyond that the loop takes the processors for busy until it has asked
	forgiven   = 20          // for so many nanoseconds of ticks one nanosecond less counts as lost
	steady     = 100_000_000 // nanoseconds: several time slices, so goroutines that compute would have had turns
	nearTimer  = 1_000_000   // nanoseconds before a timer in which there are no pauses
	mostSkip   = 6           // the most that vain gets; then about one idle moment in 2^6 gets a pause
)

// begin renews the pauses for a tick that begins now.
func (p *pauses) begin(now int64) {
	if now-p.began > longPause {
		p.since = now
	}
	p.lost = max(0, p.lost-(now-p.began)/forgiven)
	p.used, p.left, p.began, p.clock = 0, 0, now, now
}

// exhausted tells whether all pauses of the tick are used. Nearly every pause has then brought work, or the loop would have
// gone to sleep before.
func (p *pauses) exhausted() bool { return p.used == mostPauses }

// Pause begins an idle moment: it lets other goroutines run, if that is likely to bring work, and tells whether work has come.
func (p *Park) Pause() bool {
	s := &p.pauses
	if s.left = 0; s.skip > 0 {
		s.skip--
		return false
	}
	if s.used == mostPauses {
		return false
	}
	s.left = perMoment
	if p.pauseOnce() {
		s.vain = 0
		return true
	}
	s.vain = min(s.vain+1, mostSkip)
	s.skip = 1<<s.vain - 2
	return false
}

// pauseOn goes on with the pauses of an idle moment, before a sleep, and tells whether work has come.
func (p *Park) pauseOn() bool {
	s := &p.pauses
	for s.left > 0 {
		if p.pauseOnce() {
			s.vain, s.skip = 0, 0
			return true
		}
	}
	return false
}

// pauseOnce lets other goroutines run once, if there may be a pause now, and tells whether work has come.
func (p *Park) pauseOnce() bool {
	s := &p.pauses
	s.left--
	if s.used == mostPauses || p.earliest.Load()-s.clock < nearTimer || !sched.Exploring && !p.calm() {
		s.left = 0
		return false
	}
	s.used++
	release.Publish(&p.Pauses, p.Pauses.Load()+1)
	sched.Yield()
	p.host.Note(Paused)
	news := p.host.News()
	if !news || s.used%perClock == 0 {
		p.measurePauses(p.Now())
	}
	return news
}

// calm tells whether the processors count as calm: because some loop, or ask, has found them so, or because nothing has
// kept this loop waiting for the time steady. Without the second reason a loop could stay in doubt for long: ask may get
// no chance to run, since the runtime prefers goroutines that wake each other.
func (p *Park) calm() bool {
	s := &p.pauses
	now := p.Born + s.clock
	if Calm.Is(now) {
		return true
	}
	if s.clock-s.since < steady {
		return false
	}
	Calm.Until.Store(now + int64(lasting))
	return true
}

// measurePauses takes the time of the last few pauses, with the callbacks between them. One long pause proves nothing,
// since the garbage collector causes some; long pauses of mostLost in all do.
func (p *Park) measurePauses(now int64) {
	s := &p.pauses
	took := now - s.clock
	s.clock = now
	if took > longPause {
		s.lost += took
	}
	if Calm.learn(took, s.lost, p.Born+now) {
		s.lost, s.left, s.since = 0, 0, now
	}
}
