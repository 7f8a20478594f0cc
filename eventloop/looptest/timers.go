package looptest

// Timers: order, punctuality, extreme delays.

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/turnloop/turnloop/internal/loopapi"
)

// timer schedules fn from any goroutine; a refusal is a failure.
func (l *loop) timer(d time.Duration, fn func()) loopapi.TimerID {
	id, err := l.timers.ScheduleTimer(d, fn)
	if err != nil {
		l.trial.Errorf("ScheduleTimer(%v): %v", d, err)
	}
	return id
}

// slack is by how much a timer may be late on virtual time, on which only the loop itself delays it.
const slack = time.Millisecond

// timerOrder plays programs of many timers with random delays, many of them equal.
func timerOrder(t *trial) {
	rng := rand.New(rand.NewPCG(1, 2))
	var texts []string
	for _, from := range []string{".", ";", ".", ""} {
		for range max(few(400), 40) {
			from += fmt.Sprint("t", rng.IntN(7))
		}
		texts = append(texts, from)
	}
	played(texts...)(t)
}

// neverEarly measures the time from before the call until the callback.
func neverEarly(t *trial) {
	l := t.start(Config{})
	unit := 100 * time.Microsecond
	if t.virtual {
		unit = 17 * time.Minute
	}
	n := 200
	all := newLatch(n)
	for i := range n {
		arm := func() {
			d, begin := time.Duration(i)*unit, time.Now()
			if i%7 == 0 {
				d += time.Duration(i) // not a whole number of any unit
			}
			l.timer(d, func() {
				if took := time.Since(begin); took < d {
					t.Errorf("a timer of %v fired after %v, that is %v early", d, took, d-took)
				}
				all.done()
			})
		}
		if i%2 == 0 {
			arm()
			continue
		}
		// In a callback that has run for a while a cached time is old.
		l.do(func() { time.Sleep(min(unit/10, time.Second)); arm() })
	}
	t.waitFor(all.ch, time.Duration(n)*unit, "%d timers", n)
	l.finish()
}

// punctual looks at how late timers of an idle loop are.
func punctual(t *trial) {
	t.onlyVirtual()
	l := t.start(Config{})
	for i := range 30 {
		l.rest()
		d, begin := time.Duration(i%10)*1300*time.Microsecond, time.Now()
		fired := make(chan time.Time, 1)
		l.timer(d, func() { fired <- time.Now() })
		if late := receive(t, fired, "a timer of %v", d).Sub(begin) - d; late > slack {
			t.Errorf("on an idle loop a timer was late by %v, want at most %v", late, slack)
		}
	}
	l.finish()
}

// hugeDelay checks that delays near the end of the range neither fire nor wrap, nor hide other timers.
func hugeDelay(t *trial) {
	l := t.start(Config{})
	var ids []loopapi.TimerID
	for _, d := range []time.Duration{math.MaxInt64, math.MaxInt64 - 1, math.MaxInt64 - time.Hour, math.MaxInt64 / 2,
		1 << 62, 100 * 365 * 24 * time.Hour} {
		ids = append(ids, l.timer(d, func() { t.Errorf("a timer of %v fired", d) }))
		l.do(func() { ids = append(ids, l.timer(d, func() { t.Errorf("a timer of %v fired", d) })) })
		fired := make(chan struct{})
		l.timer(2*time.Millisecond, func() { close(fired) })
		t.wait(fired, "a timer of 2ms, with one of %v pending", d)
	}
	if t.virtual {
		time.Sleep(10 * 365 * 24 * time.Hour)
	}
	l.sync()
	for _, id := range ids {
		t.want("CancelTimer of a huge delay", l.timers.CancelTimer(id), nil)
	}
	l.finish()
}

// fourHundredDays runs timers of up to 400 days, and a daily one that re-arms itself and keeps the loop's clock moving.
func fourHundredDays(t *trial) {
	t.onlyVirtual()
	l := t.start(Config{})
	const day = 24 * time.Hour
	begin := time.Now()
	delays := []time.Duration{time.Nanosecond, time.Millisecond, time.Second, time.Minute, time.Hour, day, 12 * day,
		12*day + 10*time.Hour, 13 * day, 24*day + 20*time.Hour, 25 * day, 49 * day, 50 * day, 100 * day, 365 * day, 400 * day}
	all := newLatch(len(delays))
	for _, d := range delays {
		l.timer(d, func() {
			if late := time.Since(begin) - d; late < 0 || late > slack {
				t.Errorf("a timer of %v fired %v after its deadline", d, late)
			}
			all.done()
		})
	}
	beats := 0
	var beat func()
	beat = func() {
		if beats++; beats < 400 {
			l.timer(day, beat)
		}
	}
	l.timer(day, beat)
	t.waitFor(all.ch, 401*day, "timers of up to 400 days")
	l.do(func() {
		if beats < 399 {
			t.Errorf("a timer that re-arms itself daily fired %d times in 400 days", beats)
		}
	})
	l.finish()
}

// timersBeforeRun schedules on a loop that does not run yet: the delay counts from the call.
func timersBeforeRun(t *trial) {
	l := t.make(Config{})
	var fired journal[time.Duration]
	all := newLatch(6)
	schedule := func(d time.Duration) { l.timer(d, func() { fired.add(d); all.done() }) }
	for _, d := range []time.Duration{40 * time.Millisecond, 0, 30 * time.Millisecond, -1, 10 * time.Millisecond} {
		schedule(d)
	}
	cancelled := l.timer(time.Millisecond, func() { t.Errorf("a timer fired that was cancelled before Run") })
	t.want("CancelTimer before Run", l.timers.CancelTimer(cancelled), nil)
	time.Sleep(20 * time.Millisecond)
	l.launch(context.Background())
	l.sync()
	schedule(31 * time.Millisecond) // due last, unless the delays of the others count from Run
	t.wait(all.ch, "timers scheduled before Run, and one after")
	wantOrder(t, "timers scheduled before Run, and one of 31ms 20ms later", fired.all(), []time.Duration{0, -1,
		10 * time.Millisecond, 30 * time.Millisecond, 40 * time.Millisecond, 31 * time.Millisecond})
	l.finish()
}
