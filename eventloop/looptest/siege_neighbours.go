package looptest

// Neighbours: goroutines of the same process that compute and never wait.

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"time"
)

// neighbours runs loops beside four computing goroutines for each processor, and compares them with the runtime: timers
// with those of package time, and tasks with functions sent over a channel to a goroutine. Each loop is fresh, as a loop
// may adapt to the load. Most of the loops must keep up.
func neighbours(t *trial) {
	var stop atomic.Bool
	t.onCleanup(func() { stop.Store(true) })
	var done []<-chan struct{}
	for range 4 * runtime.GOMAXPROCS(0) {
		done = append(done, t.async(func() {
			for !stop.Load() {
				toil(10_000)
			}
		}))
	}
	// Other processes may delay the loop at times: one good round is enough.
	rounds := 3
	if t.suite.exempt("Siege_Neighbours") {
		rounds = 1
	}
	var late string
	for range rounds {
		if late = t.besideNeighbours(max(few(5), 3), max(few(10), 3)); late == "" {
			break
		}
	}
	if late != "" {
		t.Errorf("beside goroutines that compute most of the loops are late: %s", late)
	}
	stop.Store(true)
	for _, o := range done {
		t.wait(o, "goroutines that compute")
	}
}

// besideNeighbours tries fresh loops, one after the other, until a majority has kept up or a majority has been late. A
// majority is more than half the number loops. It returns "" if the majority has kept up, and otherwise describes how late
// the last late loop was.
func (t *trial) besideNeighbours(loops, samples int) (late string) {
	for good, bad := 0, 0; ; {
		l := t.start(Config{})
		what := l.keepsUp(samples)
		l.finish()
		if what == "" {
			good++
		} else {
			late = what
			bad++
		}
		switch {
		case 2*good > loops:
			return ""
		case 2*bad > loops:
			return late
		}
	}
}

// keepsUp compares the longest of some samples of the loop with the longest of some samples of the runtime. The loop may
// take twice as long, and the constant more besides. If it takes longer, keepsUp returns a description, otherwise "".
func (l *loop) keepsUp(samples int) (late string) {
	t := l.trial
	const more = 50 * time.Millisecond
	worst := func(sample func(run func(fn func())) time.Duration, run func(fn func()), stopAt time.Duration) (d time.Duration) {
		for i := 0; i < samples && d <= stopAt; i++ {
			d = max(d, sample(run))
		}
		return d
	}
	fns := make(chan func(), 1)
	defer close(fns)
	go func() {
		for fn := range fns {
			fn()
		}
	}()
	const never = time.Hour
	if l.timers != nil {
		control := worst(t.late, func(fn func()) { time.AfterFunc(shortDelay, fn) }, never)
		if own := worst(t.late, func(fn func()) { l.timer(shortDelay, fn) }, 2*control+more); own > 2*control+more {
			return fmt.Sprintf("a timer was %v late, where none of %d of package time was later than %v", own, samples, control)
		}
	}
	control := worst(t.roundTrip, func(fn func()) { fns <- fn }, never)
	own := worst(t.roundTrip, func(fn func()) { t.must("Submit", l.Submit(fn)) }, 2*control+more)
	if own > 2*control+more {
		return fmt.Sprintf("a task took %v to get to run, where none of %d functions sent to a goroutine took more than %v", own,
			samples, control)
	}
	return ""
}

// shortDelay is the delay of the timers that late schedules.
const shortDelay = time.Millisecond

// late schedules a timer of shortDelay and returns by how much it fired late.
func (t *trial) late(schedule func(fn func())) (d time.Duration) {
	due, fired := time.Now().Add(shortDelay), make(chan struct{})
	schedule(func() { d = time.Since(due); close(fired) })
	t.wait(fired, "a timer beside goroutines that compute")
	return d
}

// roundTrip submits a function and returns the time until the caller knows that it has run.
func (t *trial) roundTrip(submit func(fn func())) time.Duration {
	begin, ran := time.Now(), make(chan struct{})
	submit(func() { close(ran) })
	t.wait(ran, "a function beside goroutines that compute")
	return time.Since(begin)
}
