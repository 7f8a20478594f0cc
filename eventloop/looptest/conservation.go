package looptest

// Conservation: accepted functions run exactly once, in order, on the loop, and nothing runs after the end.

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/turnloop/turnloop/internal/goroutine"
	"github.com/turnloop/turnloop/internal/loopapi"
)

// ledger records for every function whether it was accepted and how often it ran.
type ledger struct {
	t        *trial
	ran      []atomic.Int32
	accepted []atomic.Bool
	inside   atomic.Int32 // callbacks that run at this moment
	total    int          // callbacks that ran; only the loop touches it, so the race detector reports a second goroutine
	ended    atomic.Bool  // nothing may start any more
	late     atomic.Int32 // callbacks that started after ended was set
}

func newLedger(t *trial, n int) *ledger {
	return &ledger{t: t, ran: make([]atomic.Int32, n), accepted: make([]atomic.Bool, n)}
}

// entry returns function i, which records its own run.
func (b *ledger) entry(i int) func() {
	return func() {
		if b.ended.Load() {
			b.late.Add(1)
		}
		if b.inside.Add(1) != 1 {
			b.t.Errorf("two callbacks run at the same time")
		}
		b.total++
		if b.ran[i].Add(1) > 1 {
			b.t.Errorf("function %d ran twice", i)
		}
		b.inside.Add(-1)
	}
}

// submit offers function i to a lane.
func (b *ledger) submit(l *loop, k kind, i int) {
	err := k.run(l, b.entry(i))
	b.accepted[i].Store(err == nil)
	b.t.want(k.name, err, nil, loopapi.ErrLoopTerminated)
}

// audit checks that no refused function ran and, with all set, that every accepted one did.
func (b *ledger) audit(what string, all bool) {
	lost, rogue := 0, 0
	for i := range b.ran {
		switch ran, accepted := b.ran[i].Load() > 0, b.accepted[i].Load(); {
		case accepted && !ran:
			lost++
		case ran && !accepted:
			rogue++
		}
	}
	if all && lost > 0 {
		b.t.Errorf("%s: %d accepted functions never ran", what, lost)
	}
	if rogue > 0 {
		b.t.Errorf("%s: %d functions ran although their submission was refused", what, rogue)
	}
}

// storm lets producers submit to all queues at once, calls end while they do, and returns the ledger.
func storm(t *trial, l *loop, each int, end func(b *ledger)) *ledger {
	const producers = 3
	ks := l.queues()
	b := newLedger(t, producers*each)
	var going atomic.Int64
	begun := newLatch(1)
	producing := t.async(func() {
		t.parallel(producers, func(p int) {
			for i := range each {
				b.submit(l, ks[(i+p)%len(ks)], p*each+i)
				if going.Add(1) == int64(each/2) {
					begun.done()
				}
			}
		})
	})
	t.wait(begun.ch, "the producers to get going")
	end(b)
	t.wait(producing, "the producers to finish")
	return b
}

// conserveShutdown races producers with Shutdown and with the end of Run's context.
func conserveShutdown(t *trial) {
	t.rounds(t.scale(200), func(round int) {
		l := t.make(Config{})
		cancel := l.launchUntil()
		l.sync()
		var b *ledger
		if round%3 == 0 {
			b = storm(t, l, 200, func(*ledger) { cancel() })
			l.returns("", context.Canceled)
		} else {
			b = storm(t, l, 200, func(b *ledger) {
				t.want("Shutdown", l.shutdown(), nil)
				b.ended.Store(true)
			})
			l.returns("", nil)
		}
		b.close("a loop that ended gracefully", l, true)
	})
}

// close waits for late callbacks to show, and audits. Run has returned.
func (b *ledger) close(what string, l *loop, all bool) {
	b.ended.Store(true)
	l.over("of " + what)
	time.Sleep(50 * time.Microsecond)
	if n := b.late.Load(); n > 0 {
		b.t.Errorf("%d callbacks of %s started after Run or Shutdown had returned", n, what)
	}
	b.audit(what, all)
}

// conserveClose races producers with Close: only accepted functions run, once, and none starts after Close has returned.
func conserveClose(t *trial) {
	t.rounds(t.scale(300), func(int) {
		l := t.start(Config{})
		var after atomic.Bool
		var started atomic.Int32
		// One callback, the one that runs while Close returns, may still see the flag set.
		watch := func() {
			if after.Load() {
				started.Add(1)
			}
		}
		for range 300 {
			t.must("Submit", l.Submit(watch))
		}
		b := storm(t, l, 100, func(*ledger) {
			t.want("Close", l.Close(), nil)
			after.Store(true)
		})
		l.returns("", loopapi.ErrLoopTerminated)
		b.close("a loop that was closed", l, false)
		if n := started.Load(); n > 1 {
			t.Errorf("%d callbacks started after Close had returned", n)
		}
	})
}

// submitDuringClose calls every method without pause while the loop is being closed (bugs 8 and 30 of
// docs/reliability.md).
func submitDuringClose(t *trial) {
	t.rounds(t.scale(300), func(round int) {
		l := t.start(Config{})
		t.parallel(5, func(p int) {
			for i := range 100 {
				switch {
				case p == 0 && i == 40 && round%2 == 0:
					_ = l.Close()
				case p <= 1 && i == 50:
					_ = l.shutdown()
				case p <= 2 && i == 60:
					_ = l.Close()
				case l.timers != nil && i%5 == 4:
					if id, err := l.timers.ScheduleTimer(time.Duration(i)*time.Microsecond, noop); err == nil {
						t.want("CancelTimer", l.timers.CancelTimer(id), nil, loopapi.ErrTimerNotFound)
					}
				default:
					for _, k := range l.available() {
						t.want(k.name, k.run(l, noop), nil, loopapi.ErrLoopTerminated)
					}
				}
			}
		})
		l.returns("", nil, loopapi.ErrLoopTerminated)
	})
}

// conserveBeforeRun submits to all lanes before Run is called.
func conserveBeforeRun(t *trial) {
	l := t.make(Config{})
	ks := l.available()
	const n = 300
	b := newLedger(t, n*len(ks))
	all := newLatch(n * len(ks))
	for i := range n {
		for j, k := range ks {
			run := b.entry(i*len(ks) + j)
			t.must(k.name+" before Run", k.run(l, func() { run(); all.done() }))
			b.accepted[i*len(ks)+j].Store(true)
		}
	}
	time.Sleep(time.Millisecond)
	if left := all.left.Load(); left != int64(n*len(ks)) {
		t.Errorf("functions ran before Run was called")
	}
	l.launch(context.Background())
	t.wait(all.ch, "what was accepted before Run")
	l.finish()
	b.audit("what was accepted before Run", true)
}

// oneGoroutine has several goroutines submit to all lanes at once, timers and descriptors included.
func oneGoroutine(t *trial) {
	l := t.start(Config{})
	ks := l.available()
	const producers, each = 3, 100
	b := newLedger(t, producers*each)
	all := newLatch(producers * each)
	t.parallel(producers, func(p int) {
		for i := range each {
			run := b.entry(p*each + i)
			k := ks[(p+i)%len(ks)]
			t.want(k.name, k.run(l, func() {
				if goroutine.ID() != l.goroutine.Load() {
					t.Errorf("a %s runs on another goroutine than the one that called Run", k.name)
				}
				run()
				all.done()
			}), nil)
		}
	})
	t.wait(all.ch, "callbacks of all kinds")
	l.finish()
}

// lifeWithoutWork checks that Run of an idle loop without AutoExit does not return.
func lifeWithoutWork(t *trial) {
	l := t.make(Config{})
	l.launch(context.Background())
	for _, when := range []string{"", ", after a task"} {
		if !stays(l.ended, 20*time.Millisecond) {
			t.Fatalf("Run returned from a loop that was not asked to end%s", when)
		}
		l.sync()
	}
	l.finish()
}

// besideEndless returns a check that the lanes make progress beside n callbacks of one that submit themselves for ever (bug 46 of
// docs/reliability.md), except those that are left out.
func besideEndless(lane, n, rounds int, leftOut ...string) func(t *trial) {
	return func(t *trial) {
		l, k := t.start(Config{}), lanes[lane]
		stop := l.endless(k, n, noop)
		for range few(rounds) {
			l.serve(", beside "+k.name+"s that submit themselves for ever", leftOut...)
		}
		stop()
		l.finish()
	}
}
