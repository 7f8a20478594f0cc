//go:build schedules

package eventloop_test

// The scenarios of order, of tiers, and of what an ending loop accepts.

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/internal/sched"
)

var (
	critical   = timed("critical", eventloop.TimerCritical, 0)
	background = timed("background", eventloop.TimerBackground, 0)
	tardy      = timed("tardy", eventloop.TimerBackground, time.Millisecond)
)

// timed submits a timer.
func timed(lane string, tier eventloop.TimerTier, delay time.Duration) submission {
	call := func(l *eventloop.Loop, fn func()) error {
		_, err := l.ScheduleTimerAs(tier, delay, fn)
		return err
	}
	return submission{lane: lane, call: call, refused: true, dropped: true}
}

// inOrder is a goroutine whose functions run in the order of the calls, whatever another one does.
func inOrder(name string, other submission, calls ...submission) []scenario {
	prepare := func(w *stage) []sched.Thread {
		w.left = len(calls) + 2
		var want, ran []string
		w.verify = func() error {
			if !slices.Equal(ran, want) {
				return fmt.Errorf("ran in this order: %v", ran)
			}
			return nil
		}
		return []sched.Thread{w.thread("run", w.run), w.thread("a", func() {
			for _, s := range calls {
				want = append(want, s.lane)
				t, fn := w.task("a " + s.lane)
				t.err = s.call(w.Loop, func() {
					ran = append(ran, s.lane)
					fn()
				})
			}
		}), w.producer("b", other, 2)}
	}
	return []scenario{{name: name, prepare: prepare}, {name: name + ", parked", parked: true, prepare: prepare}}
}

// Of timers that are due, those of a more urgent tier go first.
func tiers(w *stage) []sched.Thread {
	w.left = 4
	var ran []string
	w.verify = func() error {
		if want := []string{"critical", "timer", "background"}; !slices.Equal(ran, want) {
			return fmt.Errorf("ran in this order: %v", ran)
		}
		return nil
	}
	return []sched.Thread{w.thread("run", w.run), w.thread("a", func() {
		if err := w.Submit(func() {
			for _, s := range []submission{background, timer, critical} {
				t, fn := w.task("a " + s.lane)
				t.err = s.call(w.Loop, func() {
					ran = append(ran, s.lane)
					fn()
				})
			}
		}); err != nil {
			w.fault("Submit: %v", err)
		}
	}), w.producer("b", submit, 1)}
}

// Internal work does not wait for who has the lock of external work, also when the loop does.
func urgentWhileLocked(s submission) func(w *stage) []sched.Thread {
	return func(w *stage) []sched.Thread {
		w.left = 2
		ran := false
		return []sched.Thread{w.thread("run", w.run), w.thread("a", func() {
			w.LockInbox()
			sched.Until(func() bool { return ran })
			w.UnlockInbox()
			w.producer("a", submit, 1).Run()
		}), w.thread("b", func() {
			t, fn := w.task("b " + s.lane)
			t.err = s.call(w.Loop, func() {
				ran = true
				fn()
			})
		})}
	}
}

// An ending loop accepts so much from elsewhere, and no more, whenever the end begins; and apart from that so much from
// its own callbacks.
func hurried(s submission) func(w *stage) []sched.Thread {
	const mostLate, mostOwn = 1, 2
	return func(w *stage) []sched.Thread {
		w.Hurry(mostLate, mostOwn)
		late, own := 0, 0
		w.verify = func() error {
			if late > mostLate || own > mostOwn {
				return fmt.Errorf("accepted %d functions from elsewhere, and %d from the loop", late, own)
			}
			return nil
		}
		var serve func()
		serve = func() {
			if own > mostOwn {
				return
			}
			over := ending(w.State())
			t, fn := w.task("served " + s.lane)
			if t.err = s.call(w.Loop, func() { fn(); serve() }); t.err == nil && over {
				own++
			}
		}
		return []sched.Thread{w.thread("run", w.run), w.thread("flood", func() {
			for range mostLate + 2 {
				over := ending(w.State())
				t, fn := w.task("flood " + s.lane)
				if t.err = s.call(w.Loop, fn); t.err == nil && over {
					late++
				}
			}
		}), w.thread("end", func() {
			t, fn := w.task("end external")
			t.err = w.Submit(func() {
				fn()
				w.Credit(mostOwn) // without what this function has brought by running
				w.shutdown()
				serve()
				if own == 0 {
					w.fault("a callback was refused what it may do")
				}
			})
		})}
	}
}

// What a worker brings, and what its function submits, is accepted by an ending loop that accepts nothing else.
func owed(w *stage) []sched.Thread {
	w.Hurry(0, 0)
	called := false
	var heard <-chan eventloop.Result
	w.verify = func() error {
		r, err := outcome(heard)
		switch {
		case err != nil:
			return err
		case called && (r.Err != nil || w.tasks[0].err != nil):
			return fmt.Errorf("heard %v, and what the worker has submitted: %w", r, w.tasks[0].err)
		}
		return nil
	}
	return []sched.Thread{w.thread("run", w.run), w.thread("promisify", func() {
		heard = w.Promisify(context.Background(), func(context.Context) (any, error) {
			called = true
			t, fn := w.task("worker internal")
			t.err = w.SubmitInternal(fn)
			return nil, nil
		}).ToChannel()
	}), w.thread("end", w.shutdown)}
}

var endings = join(
	inOrder("order", internal, microtask, internal, submit),
	inOrder("order beside tasks", submit, microtask, internal, submit),
	inOrder("order beside timers", timer, microtask, internal, submit),
	inOrder("order of a microtask and a timer", internal, microtask, timer),
	served("critical and background", critical, background),
	served("submit and background", submit, background),
	served("late background and internal", tardy, internal),
	[]scenario{
		{name: "tiers", prepare: tiers},
		{name: "tiers, parked", parked: true, prepare: tiers},
		ended("timer and shutdown", timer, 2, (*stage).shutdown),
		ended("critical and shutdown", critical, 2, (*stage).shutdown),
		ended("background and shutdown", background, 2, (*stage).shutdown),
		ended("critical and close", critical, 2, (*stage).close),
		ended("background and close", background, 2, (*stage).close),
		{name: "internal while locked", prepare: urgentWhileLocked(internal)},
		{name: "microtask while locked", prepare: urgentWhileLocked(microtask)},
		{name: "internal in a hurry", prepare: hurried(internal)},
		{name: "microtask in a hurry", prepare: hurried(microtask)},
		{name: "owed", prepare: owed},
	},
)
