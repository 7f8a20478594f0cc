package looptest

// The loop's clock (D18): CurrentTickTime.

import (
	"sync"
	"testing"
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
			l.doIn(k, func() {})
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

// tickTimeFresh compares the tick time inside callbacks with time.Now, after sleeps of various lengths.
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
