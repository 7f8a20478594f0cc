// The loop's clock (D18): CurrentTickTime.
package looptest

import (
	"sync/atomic"
	"testing"
	"time"
)

// tickTime reads the clock from everywhere.
func tickTime(t *trial) {
	unused := t.make(Config{})
	if unused.clock.CurrentTickTime().IsZero() {
		t.Errorf("CurrentTickTime is zero before Run")
	}
	begin := time.Now()
	l := t.start(Config{})
	var stop atomic.Bool
	readers := make([]<-chan struct{}, 3)
	for i := range readers {
		readers[i] = t.async(func() {
			last := l.clock.CurrentTickTime()
			for reads := 0; !stop.Load(); reads++ {
				now := l.clock.CurrentTickTime()
				if now.Before(last) {
					t.Errorf("CurrentTickTime went back from %v to %v", last, now)
					return
				}
				if now.IsZero() || now.Sub(begin) > time.Hour || begin.Sub(now) > time.Hour {
					t.Errorf("CurrentTickTime is %v at %v: zero, or torn", now, time.Now())
					return
				}
				last = now
				if reads%64 == 0 {
					time.Sleep(10 * time.Microsecond)
				}
			}
		})
	}
	for i := range t.scale(4000) {
		for _, k := range l.available() {
			if k.name == "timer" && i%100 != 0 {
				continue
			}
			l.doIn(k, func() {})
		}
	}
	stop.Store(true)
	for _, r := range readers {
		t.wait(r, "a goroutine that reads the clock")
	}
	l.finish()
	if l.clock.CurrentTickTime().Before(begin) {
		t.Errorf("CurrentTickTime after the end is before the beginning")
	}
}

// tickTimeFresh compares with the time of day inside callbacks, after sleeps of various lengths.
func tickTimeFresh(t *trial) {
	l := t.start(Config{})
	step := 1
	if testing.Short() && !t.virtual {
		step = 5
	}
	for i := 0; i < 20; i += step {
		slept := time.Duration(i) * time.Millisecond
		if t.virtual {
			slept *= 600_000 // ten minutes each
		}
		time.Sleep(slept)
		l.rest()
		for _, k := range l.available() {
			before := time.Now()
			l.doIn(k, func() {
				now, tick := time.Now(), l.clock.CurrentTickTime()
				if age := now.Sub(tick); age > t.slack() {
					t.Errorf("in a %s after %v of sleep CurrentTickTime is %v old", k.name, slept, age)
				} else if age < 0 {
					t.Errorf("in a %s CurrentTickTime is %v in the future", k.name, -age)
				}
				if old := before.Sub(l.clock.CurrentTickTime()); old > t.slack() {
					t.Errorf("in a %s CurrentTickTime is from %v before it was submitted", k.name, old)
				}
			})
		}
	}
	if l.timers != nil {
		fired := make(chan struct{})
		deadline := time.Now().Add(20 * time.Millisecond)
		l.timer(20*time.Millisecond, func() {
			if early := deadline.Sub(l.clock.CurrentTickTime()); early > 0 {
				t.Errorf("in the callback of a timer CurrentTickTime is %v before its deadline", early)
			}
			close(fired)
		})
		t.wait(fired, "a timer of 20ms")
	}
	l.finish()
}
