package looptest

// The loop's clock (D18): CurrentTickTime.

import (
	"sync"
	"time"
)

// tickTime reads the tick time before Run, beside the ticks of a running loop, and after the end.
func tickTime(t *trial) {
	unused := t.make(Config{})
	if unused.clock.CurrentTickTime().IsZero() {
		t.Errorf("CurrentTickTime is zero before Run")
	}
	begin := time.Now()
	l := t.start(Config{})
	var readers [3]<-chan struct{}
	var again [len(readers)]chan struct{}
	for i := range readers {
		again[i] = make(chan struct{}, 1)
		readers[i] = t.async(func() {
			last := l.clock.CurrentTickTime()
			for range again[i] {
				for range max(few(640), 64) {
					now := l.clock.CurrentTickTime()
					if now.Before(last) {
						t.Errorf("CurrentTickTime went back from %v to %v", last, now)
					}
					if now.IsZero() || now.Sub(begin) > time.Hour || begin.Sub(now) > time.Hour {
						t.Errorf("CurrentTickTime is %v at %v: zero, or torn", now, time.Now())
					}
					last = now
				}
			}
		})
	}
	stop := sync.OnceFunc(func() {
		for _, r := range again {
			close(r)
		}
	})
	t.onCleanup(stop)
	for i := range max(few(t.scale(4000)), 12) {
		for _, k := range l.available() {
			if k.name == "timer" && i%3 != 0 {
				continue
			}
			for _, r := range again { // each reader has read again, and goes on to read while the next tick begins
				r <- struct{}{}
			}
			l.doIn(k, noop)
		}
	}
	stop()
	for _, r := range readers {
		t.wait(r, "a goroutine that reads the clock")
	}
	l.finish()
	if l.clock.CurrentTickTime().Before(begin) {
		t.Errorf("CurrentTickTime after the end is before the beginning")
	}
}

// tickTimeFresh compares the tick time inside callbacks with the times at which the loop was seen asleep, and of the callback.
func tickTimeFresh(t *trial) {
	l := t.start(Config{})
	for i := range max(few(20), 4) {
		slept := time.Duration(i) * time.Millisecond
		if t.virtual {
			slept *= 600_000 // ten minutes each
		}
		time.Sleep(slept)
		for _, k := range l.available() {
			before := time.Now()
			l.rest() // the next tick begins later than this call
			l.doIn(k, func() { l.tickedSince(before, "a "+k.name) })
		}
	}
	if l.timers != nil {
		const delay = 20 * time.Millisecond
		deadline, fired := time.Now().Add(delay), make(chan struct{})
		l.timer(delay, func() { l.tickedSince(deadline, "a timer"); close(fired) })
		t.wait(fired, "a timer of %v", delay)
	}
	l.finish()
}

// tickedSince checks, in a callback, that the tick did not begin before a time, nor in the future.
func (l *loop) tickedSince(before time.Time, where string) {
	tick := l.clock.CurrentTickTime()
	if now := time.Now(); now.Before(tick) {
		l.trial.Errorf("in the callback of %s CurrentTickTime is %v in the future", where, tick.Sub(now))
	}
	if old := before.Sub(tick); old > clockStep {
		l.trial.Errorf("in the callback of %s CurrentTickTime is %v older than the moment from which on its tick can have begun", where, old)
	}
}
