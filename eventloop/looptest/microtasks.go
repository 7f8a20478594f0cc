package looptest

// Microtasks (D02): drained after every callback, within a budget.

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/turnloop/turnloop/internal/loopapi"
)

// microtask schedules fn.
func (l *loop) microtask(fn func()) {
	if err := l.micro.ScheduleMicrotask(fn); err != nil {
		l.trial.Errorf("ScheduleMicrotask: %v", err)
	}
}

// microtaskBudget queues microtasks up to the budget and beyond it, with a configured budget and with the default.
func microtaskBudget(t *trial) {
	for _, configured := range []int{64, 0} {
		budget := configured
		if budget == 0 {
			budget = 1024
		}
		for _, n := range []int{budget - 1, budget, budget + 1, 3*budget + 7} {
			var ran, reports, ranAtReport atomic.Int64
			l := t.start(Config{MicrotaskBudget: configured, OnOverload: func(err error) {
				if errors.Is(err, loopapi.ErrMicrotaskBudget) && reports.Add(1) == 1 {
					ranAtReport.Store(ran.Load())
				}
			}})
			var order journal[int]
			all := newLatch(n)
			t.must("SubmitInternal", l.SubmitInternal(func() {
				for i := range n {
					l.microtask(func() { ran.Add(1); order.add(i); all.done() })
				}
			}))
			// No other work is queued and nothing wakes the loop: it must go on by itself.
			t.wait(all.ch, "%d microtasks with a budget of %d; a loop must not sleep with microtasks pending", n, budget)
			wantOrder(t, fmt.Sprintf("%d microtasks with a budget of %d", n, budget), order.all(), upTo(n))
			l.sync()
			got, breaches := reports.Load(), int64((n-1)/budget)
			switch {
			case n <= budget && got != 0:
				t.Errorf("%d microtasks within the budget of %d were reported %d times as ErrMicrotaskBudget", n, budget, got)
			case n > budget && (got < 1 || got > breaches):
				t.Errorf("%d microtasks with a budget of %d: ErrMicrotaskBudget reported %d times, want 1 to %d", n, budget, got, breaches)
			case n > budget && ranAtReport.Load() != int64(budget):
				t.Errorf("%d microtasks had run in the drain that was reported, the budget is %d", ranAtReport.Load(), budget)
			}
			l.finish()
		}
	}
}

// foreignMicrotasks schedules microtasks from other goroutines, also on a sleeping loop.
func foreignMicrotasks(t *trial) {
	l := t.start(Config{})
	const producers = 4
	n := t.scale(4000)
	var order [producers]journal[int]
	all := newLatch(producers * n)
	t.parallel(producers, func(p int) {
		for i := range n {
			t.want("ScheduleMicrotask from another goroutine",
				l.micro.ScheduleMicrotask(func() { order[p].add(i); all.done() }), nil)
			if i%512 == 0 {
				time.Sleep(100 * time.Microsecond)
			}
		}
	})
	t.wait(all.ch, "%d microtasks of %d goroutines", producers*n, producers)
	for p := range producers {
		wantOrder(t, fmt.Sprint("microtasks of producer ", p), order[p].all(), upTo(n))
	}
	var seen journal[string]
	l.doIn(lanes[internal], func() {
		l.microtask(seen.note("a callback's first"))
		<-t.async(func() { l.microtask(seen.note("another goroutine's")) })
		l.microtask(seen.note("the callback's second"))
	})
	l.sync()
	wantOrder(t, "microtasks of a callback and of another goroutine", seen.all(),
		[]string{"a callback's first", "another goroutine's", "the callback's second"})
	l.finish()
}

// foreignFirst schedules a microtask from another goroutine and then submits a function to every other lane: before Run,
// on a sleeping loop, on one that goes to sleep, and on a busy one. The microtask must run first.
func foreignFirst(t *trial) {
	l := t.make(Config{})
	l.foreignFirst("before Run", func() { l.launch(context.Background()) })
	l.everywhere(1500, func(where string) { l.foreignFirst(where, noop) })
	l.finish()
}

// everywhere plays rounds on a loop that sleeps, on one that goes to sleep, and on a busy one.
func (l *loop) everywhere(n int, round func(where string)) {
	for range max(few(60), 20) {
		l.rest()
		round("on a loop that sleeps")
	}
	for i := range l.trial.scale(n) {
		round("on a loop that goes to sleep")
		pause(i)
	}
	idle := l.occupy()
	for range l.trial.scale(n) {
		round("on a busy loop")
	}
	idle()
}

// foreignFirst plays one round. It calls begin when all functions are submitted.
func (l *loop) foreignFirst(where string, begin func()) {
	t := l.trial
	ks := []kind{lanes[microtask], lanes[internal], lanes[external]}
	if l.timers != nil {
		ks = append(ks, lanes[timerLane])
	}
	order := make([]string, 0, len(ks)) // only the loop touches it until all have run
	all := newLatch(len(ks))
	for _, k := range ks {
		t.must(k.name, k.run(l, func() { order = append(order, k.name); all.done() }))
	}
	begin()
	t.wait(all.ch, "a microtask and what was submitted behind it")
	overtaken := slices.Index(order, ks[2].name) < slices.Index(order, ks[1].name)
	if order[0] != ks[0].name || overtaken && !t.exempt("D09_InternalFirst") {
		t.Fatalf("a goroutine scheduled a microtask, then an internal task, a task, and a timer if there are any, %s; they ran in the "+
			"order %s", where, strings.Join(order, ", "))
	}
}

// occupy keeps the loop busy with a task and a timer that submit themselves again, until idle is called.
func (l *loop) occupy() (idle func()) {
	more := func() { l.trial.want("SubmitInternal from a callback", l.SubmitInternal(noop), nil) }
	task, timer := l.endless(lanes[external], 1, more), noop
	if l.timers != nil {
		timer = l.endless(lanes[timerLane], 1, more)
	}
	return func() { timer(); task() }
}

// upTo returns 0, 1, ... n-1.
func upTo(n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = i
	}
	return s
}
