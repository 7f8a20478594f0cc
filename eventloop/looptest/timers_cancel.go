package looptest

// Timers: cancellation and identity.

import (
	"sync/atomic"
	"time"

	"github.com/turnloop/turnloop/internal/loopapi"
)

// cancelRace cancels timers from other goroutines at about the time of their deadline, each from two goroutines at once.
func cancelRace(t *trial) {
	l := t.start(Config{})
	n := t.scale(800)
	fired := make([]atomic.Int32, n)
	cancelled := make([]atomic.Int32, n)
	t.parallel(4, func(p int) {
		for i := p; i < n; i += 4 {
			id := l.timer(time.Duration(i%4)*30*time.Microsecond, func() { fired[i].Add(1) })
			spin(time.Duration(i%9) * 20 * time.Microsecond)
			cancel := func() {
				err := l.timers.CancelTimer(id)
				t.want("CancelTimer of a timer that may have fired", err, nil, loopapi.ErrTimerNotFound)
				if err == nil {
					cancelled[i].Add(1)
				}
			}
			other := t.async(cancel)
			cancel()
			<-other
			t.steps.Add(1)
		}
	})
	for i := range n {
		t.eventually(func() bool { return fired[i].Load()+cancelled[i].Load() > 0 }, "timer %d, which nobody cancelled", i)
	}
	time.Sleep(5 * time.Millisecond)
	l.sync()
	for i := range n {
		if f, c := fired[i].Load(), cancelled[i].Load(); f+c != 1 {
			t.Errorf("timer %d fired %d times and was cancelled %d times: want one of both, once", i, f, c)
		}
	}
	l.finish()
}

// timerIDs checks that an ID names one timer only, also when the loop uses its slot again.
func timerIDs(t *trial) {
	l := t.start(Config{})
	used := map[loopapi.TimerID]bool{}
	take := func(id loopapi.TimerID) {
		if id == 0 || used[id] {
			t.Errorf("ScheduleTimer returned the ID %d: zero, or used before", id)
		}
		used[id] = true
	}
	for range few(50) {
		stale := l.timer(time.Hour, noop)
		take(stale)
		t.want("CancelTimer", l.timers.CancelTimer(stale), nil)
		fired := make(chan struct{})
		id := l.timer(time.Millisecond, func() { close(fired) })
		take(id)
		t.want("CancelTimer of a stale ID", l.timers.CancelTimer(stale), loopapi.ErrTimerNotFound)
		if l.refs != nil {
			t.want("RefTimer of a stale ID", l.refs.RefTimer(stale), loopapi.ErrTimerNotFound)
			t.want("UnrefTimer of a stale ID", l.refs.UnrefTimer(stale), loopapi.ErrTimerNotFound)
		}
		t.wait(fired, "a timer; a stale ID must not cancel it")
	}
	l.finish()
}

// foreignTimers schedules and fires many timers of many goroutines.
func foreignTimers(t *trial) {
	l := t.start(Config{})
	const producers = 4
	n := max(t.scale(2000), 20)
	fired := make([]atomic.Int32, producers*n)
	all := newLatch(producers * n)
	t.parallel(producers, func(p int) {
		for i := range n {
			l.timer(time.Duration((i*7+p)%50)*100*time.Microsecond, func() { fired[p*n+i].Add(1); all.done() })
		}
	})
	t.wait(all.ch, "%d timers of %d goroutines", producers*n, producers)
	l.sync()
	for i := range fired {
		if f := fired[i].Load(); f != 1 {
			t.Errorf("timer %d fired %d times", i, f)
		}
	}
	l.finish()
}
