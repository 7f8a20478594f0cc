package looptest

// Auto-exit (Config.AutoExit): Run returns when nothing can happen any more, and not before.

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/turnloop/turnloop/internal/loopapi"
)

// autoExit makes a loop with AutoExit, calls prepare, and then Run.
func (t *trial) autoExit(prepare func(l *loop)) *loop {
	l := t.make(Config{AutoExit: true})
	prepare(l)
	l.launch(context.Background())
	return l
}

// exits expects Run to return by itself.
func (l *loop) exits(what string) { l.returns(" of an auto-exit loop, "+what+",", nil) }

// stays expects Run not to return.
func (l *loop) stays(what string) { l.staysUntil(time.Now().Add(time.Hour), what) }

// staysUntil expects Run not to return before due, the time at which the loop may end.
func (l *loop) staysUntil(due time.Time, what string) {
	if !stays(l.ended, 10*time.Millisecond) && time.Now().Before(due) {
		l.trial.Fatalf("an auto-exit loop ended although it was kept alive by %s (Run returned %v)", what, l.err)
	}
}

// exitEmpty runs auto-exit loops without work, with work, and with a task that ends them.
func exitEmpty(t *trial) {
	l := t.autoExit(func(*loop) {})
	l.exits("with no work at all")
	t.want("Submit after auto-exit", l.Submit(noop), loopapi.ErrLoopTerminated)
	t.want("Shutdown after auto-exit", l.shutdown(), loopapi.ErrLoopTerminated)
	l.over("after auto-exit")

	var seen journal[string]
	l = t.autoExit(func(l *loop) { t.must("Submit", l.chain(&seen)) })
	l.exits("when its work is done")
	wantOrder(t, "a chain of work on an auto-exit loop", seen.all(), chainLinks)

	for _, end := range []struct {
		name string
		call func(l *loop) error
		want error
	}{
		{"Close", func(l *loop) error { return l.Close() }, loopapi.ErrLoopTerminated},
		{"Shutdown", func(l *loop) error { return l.Shutdown(context.Background()) }, nil},
	} {
		l = t.autoExit(func(l *loop) {
			t.must("Submit", l.Submit(func() { t.want(end.name, end.call(l), nil) }))
		})
		l.returns(" of an auto-exit loop after "+end.name, end.want)
	}
}

// exitTimers keeps a loop alive with timers.
func exitTimers(t *trial) {
	fired, due := false, time.Now().Add(30*time.Millisecond)
	l := t.autoExit(func(l *loop) { l.timer(30*time.Millisecond, func() { fired = true }) })
	l.staysUntil(due, "a pending timer")
	l.exits("when its last timer has fired")
	if !fired {
		t.Errorf("an auto-exit loop ended before its timer fired")
	}

	var id loopapi.TimerID
	l = t.autoExit(func(l *loop) { id = l.timer(time.Hour, noop) })
	l.stays("a pending timer")
	t.want("CancelTimer", l.timers.CancelTimer(id), nil)
	l.exits("when its last timer was cancelled from another goroutine")

	l = t.autoExit(func(l *loop) {
		id := l.timer(time.Hour, noop)
		t.must("Submit", l.Submit(func() { t.want("CancelTimer", l.timers.CancelTimer(id), nil) }))
	})
	l.exits("when a callback cancelled its last timer")
}

// exitUnref refs and unrefs timers: only ref'd ones keep a loop alive.
func exitUnref(t *trial) {
	var id loopapi.TimerID
	dropped := func() { t.Errorf("a timer fired that did not keep the loop alive") }
	l := t.autoExit(func(l *loop) {
		id = l.timer(time.Hour, dropped)
		t.want("UnrefTimer", l.refs.UnrefTimer(id), nil)
		t.want("UnrefTimer again", l.refs.UnrefTimer(id), nil)
	})
	l.exits("with only an unref'd timer")
	t.want("RefTimer after the end", l.refs.RefTimer(id), loopapi.ErrTimerNotFound)

	l = t.autoExit(func(l *loop) {
		id = l.timer(time.Hour, dropped)
		t.want("UnrefTimer", l.refs.UnrefTimer(id), nil)
		t.want("RefTimer", l.refs.RefTimer(id), nil)
		t.want("RefTimer again", l.refs.RefTimer(id), nil)
	})
	l.stays("a timer that was unref'd and ref'd again")
	t.want("UnrefTimer from another goroutine", l.refs.UnrefTimer(id), nil)
	l.exits("when its last ref'd timer was unref'd from another goroutine while it slept")

	// An unref'd timer still fires while another timer keeps the loop alive, and releases no reference then.
	var fired atomic.Bool
	due := time.Now().Add(30 * time.Millisecond)
	l = t.autoExit(func(l *loop) {
		id = l.timer(time.Millisecond, func() { fired.Store(true) })
		t.want("UnrefTimer", l.refs.UnrefTimer(id), nil)
		l.timer(30*time.Millisecond, noop)
	})
	l.staysUntil(due, "a ref'd timer beside one that is not")
	l.exits("when its last ref'd timer has fired")
	if !fired.Load() {
		t.Errorf("an unref'd timer did not fire although the loop lived past its deadline")
	}
	t.want("UnrefTimer of a fired timer", l.refs.UnrefTimer(id), loopapi.ErrTimerNotFound)

	l = t.autoExit(func(l *loop) {
		id = l.timer(time.Hour, dropped)
		t.must("Submit", l.Submit(func() { t.want("UnrefTimer on the loop", l.refs.UnrefTimer(id), nil) }))
	})
	l.exits("when a callback unref'd its last timer")

	// Cancelling an unref'd timer releases no reference.
	l = t.autoExit(func(l *loop) {
		idle := l.timer(time.Hour, dropped)
		t.want("UnrefTimer", l.refs.UnrefTimer(idle), nil)
		t.want("CancelTimer", l.timers.CancelTimer(idle), nil)
		id = l.timer(time.Hour, dropped)
	})
	l.stays("a ref'd timer, after an unref'd one was cancelled")
	t.want("CancelTimer", l.timers.CancelTimer(id), nil)
	l.exits("when its last timer was cancelled")
}

// exitHold keeps loops alive with Hold and ends them by releases.
func exitHold(t *trial) {
	var first, second func()
	l := t.autoExit(func(l *loop) { first, second = l.holder.Hold(), l.holder.Hold() })
	l.stays("two holds")
	first()
	first()
	l.stays("a hold, after the release of another was called twice")
	l.sync()
	l.stays("a hold, after a task")
	second()
	l.exits("when its last hold was released from another goroutine while it slept")
	second()

	released := make(chan struct{})
	l = t.autoExit(func(l *loop) {
		t.must("Submit", l.Submit(func() {
			release := l.holder.Hold()
			go func() { <-released; release() }()
		}))
	})
	l.stays("a hold taken in a callback")
	close(released)
	l.exits("when a hold taken in a callback was released")

	// A task submitted before the release is accepted and runs.
	for range t.scale(200) {
		var release func()
		var ran atomic.Bool
		l := t.autoExit(func(l *loop) { release = l.holder.Hold() })
		t.must("Submit to a loop that is held", l.Submit(func() { ran.Store(true) }))
		release()
		l.exits("when its hold was released")
		if !ran.Load() {
			t.Fatalf("a task accepted while the loop was held did not run")
		}
	}
}

// exitRace submits when the loop has just run its last function and is about to exit: each function runs or is refused.
func exitRace(t *trial) {
	const most = 50
	t.rounds(t.scale(6000), func(round int) {
		l := t.make(Config{AutoExit: true})
		ks := l.available()
		b := newLedger(t, most)
		b.submit(l, ks[0], 0)
		l.launch(context.Background())
		for i := 1; i < most && b.accepted[i-1].Load(); i++ {
			t.eventually(func() bool { return b.ran[i-1].Load() > 0 }, "an auto-exit loop to run what it had accepted")
			spin(time.Duration((round*7+i)%32) * 50 * time.Nanosecond)
			b.submit(l, ks[i%len(ks)], i)
		}
		l.exits("when its work is done")
		b.ended.Store(true)
		b.audit("an auto-exit loop", true)
	})
}
