package looptest

// Shutdown (D16): all accepted functions run, and none runs after the end.

import (
	"context"
	"math"
	"sync/atomic"
	"time"

	"github.com/turnloop/turnloop/internal/goroutine"
	"github.com/turnloop/turnloop/internal/loopapi"
)

// chain submits A, which submits internal B, which queues microtask C, which submits internal D.
func (l *loop) chain(seen *journal[string]) error {
	last := func() {
		seen.add("C")
		l.trial.want("SubmitInternal", l.SubmitInternal(seen.note("D")), nil)
	}
	return l.Submit(func() {
		seen.add("A")
		l.trial.want("SubmitInternal", l.SubmitInternal(func() {
			seen.add("B")
			if l.micro != nil {
				l.microtask(last)
			} else {
				last()
			}
		}), nil)
	})
}

var chainLinks = []string{"A", "B", "C", "D"}

// shutdownDropsTimers shuts down loops with timers pending.
func shutdownDropsTimers(t *trial) {
	for _, d := range []time.Duration{time.Hour, math.MaxInt64} {
		l := t.start(Config{})
		id := l.timer(d, func() { t.Errorf("a timer of %v fired although the loop was shut down", d) })
		begin := time.Now()
		t.want("Shutdown", l.shutdown(), nil)
		if took := time.Since(begin); t.virtual && took > 0 {
			t.Errorf("Shutdown took %v with a timer of %v pending: pending timers are dropped, not awaited", took, d)
		}
		l.returns("", nil)
		t.want("CancelTimer of a timer that the end dropped", l.timers.CancelTimer(id), loopapi.ErrTimerNotFound)
	}
	// A timer that becomes due while the loop terminates is dropped, too.
	l := t.start(Config{})
	g := l.hold()
	l.timer(30*time.Millisecond, func() { t.Errorf("a timer fired that became due while the loop terminated") })
	for range 3000 { // more than one tick
		t.must("Submit", l.Submit(noop))
	}
	stopped := l.stopping()
	time.Sleep(40 * time.Millisecond)
	g.open()
	stopped()
	l.returns("", nil)
}

// shutdownTogether calls Shutdown from many goroutines at once.
func shutdownTogether(t *trial) {
	t.rounds(t.scale(100), func(int) {
		l := t.start(Config{})
		var finished, firsts atomic.Int64
		for range 20 {
			t.must("Submit", l.Submit(func() { finished.Add(1) }))
		}
		t.parallel(8, func(int) {
			err := l.shutdown()
			if n := finished.Load(); n != 20 {
				t.Errorf("Shutdown returned when %d of 20 accepted tasks had run", n)
			}
			t.want("Shutdown", err, nil, loopapi.ErrLoopTerminated)
			if err == nil {
				firsts.Add(1)
			}
		})
		if firsts.Load() != 1 {
			t.Errorf("of 8 concurrent Shutdowns %d returned nil, want one; the others return ErrLoopTerminated", firsts.Load())
		}
		t.want("a later Shutdown", l.shutdown(), loopapi.ErrLoopTerminated)
		l.returns("", nil)
	})
}

// shutdownBeforeRun shuts down a loop that never ran, twice: what it had accepted runs on a goroutine of its own.
func shutdownBeforeRun(t *trial) {
	l := t.make(Config{})
	here, ran := goroutine.ID(), false
	t.must("Submit", l.Submit(func() {
		if ran = true; goroutine.ID() == here {
			t.Errorf("callbacks ran on the goroutine that called Shutdown, which may hold locks that they need")
		}
	}))
	t.want("Shutdown of a loop that never ran", l.shutdown(), nil)
	if !ran {
		t.Errorf("a function accepted by a loop that never ran had not run when Shutdown returned")
	}
	t.want("the second Shutdown", l.shutdown(), loopapi.ErrLoopTerminated)
}

// shutdownRacesRun calls Shutdown or Close at about the moment at which Run begins (bugs 9 and 10 of
// docs/reliability.md).
func shutdownRacesRun(t *trial) {
	t.rounds(t.scale(800), func(i int) {
		l := t.make(Config{})
		var ran atomic.Int64
		t.must("Submit", l.Submit(func() { ran.Add(1) }))
		l.launch(context.Background())
		spin(time.Duration(i%20) * time.Microsecond)
		if i%2 == 0 {
			t.want("Shutdown", l.shutdown(), nil)
			if ran.Load() != 1 {
				t.Errorf("a task accepted before Run ran %d times when Shutdown returned", ran.Load())
			}
			l.returns(" that races with Shutdown", nil, loopapi.ErrLoopTerminated, loopapi.ErrLoopAlreadyRunning)
		} else {
			t.want("Close", l.Close(), nil)
			l.returns(" that races with Close", loopapi.ErrLoopTerminated, loopapi.ErrLoopAlreadyRunning)
		}
	})
}

// doneChannel checks that Done stays open while a callback runs, and is closed when Run has returned.
func doneChannel(t *trial) {
	l := t.start(Config{})
	g := l.hold()
	stopped := l.stopping()
	if !stays(l.comp.Done(), time.Millisecond) {
		t.Errorf("Done is closed while a callback runs")
	}
	g.open()
	stopped()
	l.over("after Shutdown")
	l.returns("", nil)

	l = t.start(Config{})
	g = l.hold()
	t.want("Close", l.Close(), nil)
	if !stays(l.comp.Done(), time.Millisecond) {
		t.Errorf("Done is closed after Close while a callback still runs")
	}
	g.open()
	l.over("after Close")

	t.rounds(t.scale(100), func(int) {
		l := t.start(Config{})
		ended := t.async(func() {
			<-l.ended
			select {
			case <-l.comp.Done():
			default:
				t.Errorf("Done is still open although Run has returned")
			}
		})
		t.want("Shutdown", l.shutdown(), nil)
		t.wait(ended, "Run to return")
	})
}
