package park

// What tests need of the package, and nothing else does.

import "time"

// MostPauses is how many pauses a tick has.
const MostPauses = mostPauses

// Paused returns how many pauses the tick has had.
func (p *Park) Paused() int { return p.pauses.used }

// Clock returns when the loop last looked at the clock, in nanoseconds since epoch.
func (p *Park) Clock() int64 { return p.Born + p.pauses.clock }

// PauseTakes is a tick that begins so long after the one before, and has pauses which take so long together.
func (p *Park) PauseTakes(rest, took time.Duration) {
	p.pauses.begin(p.pauses.clock + int64(rest))
	p.measurePauses(p.pauses.clock + int64(took))
}

// SleepOf is a sleep from which the loop is woken and gets on so late. It tells whether the waker is to read the clock, or to yield.
func (p *Park) SleepOf(late time.Duration) (timed, yields bool) {
	p.prepareWake()
	way := p.handover.way.Load()
	if way == wakeTimed {
		p.handover.woken.Store(p.Now() - int64(late))
	}
	p.learnFromWake()
	return way == wakeTimed, way == wakeAndYield
}

// Measured tells whether the waker of the sleep is to read the clock.
func (p *Park) Measured() bool { return p.handover.way.Load() == wakeTimed }

// SleepUnwoken is a sleep that nobody ends; it returns how many are left until one is measured.
func (p *Park) SleepUnwoken() int {
	p.prepareWake()
	p.learnFromWake()
	return p.handover.left
}
