package looptest

// The queues: priority (D09), order and producers that do not wait (D10), overload (D17).

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/turnloop/turnloop/internal/loopapi"
)

// internalUnlimited piles up internal tasks while the loop is held.
func internalUnlimited(t *trial) {
	l, err := t.tryMake(Config{QueueLimit: 4})
	if err != nil {
		l = t.make(Config{})
	}
	l.launch(context.Background())
	g := l.hold()
	n := t.scale(240_000)
	all := newLatch(n)
	for range n {
		t.must("SubmitInternal", l.SubmitInternal(all.done))
	}
	g.open()
	t.wait(all.ch, "%d internal tasks", n)
	l.finish()
}

// runaway runs chains of internal tasks beyond the bound of one tick.
func runaway(t *trial) {
	var reports atomic.Int64
	l := t.start(Config{OnOverload: func(error) { reports.Add(1) }})

	// A long but finite chain is reported once.
	const bound = 100_000
	left, done := bound+bound/2, make(chan struct{})
	var chain func()
	chain = func() {
		if left--; left == 0 {
			close(done)
			return
		}
		t.want("SubmitInternal", l.SubmitInternal(chain), nil)
	}
	t.must("SubmitInternal", l.SubmitInternal(chain))
	t.wait(done, "a chain of %d internal tasks", bound+bound/2)
	l.sync()
	if got := reports.Load(); got != 1 {
		t.Errorf("a chain of %d internal tasks was reported %d times, want once", bound+bound/2, got)
	}

	// An endless chain lets timers fire, but lets no external task start.
	var fired, external atomic.Bool
	ran := 0
	ended := make(chan struct{})
	chain = func() {
		if ran++; ran == 1 {
			t.want("ScheduleTimer", schedule(l, func() { fired.Store(true) }), nil)
			t.want("Submit", l.Submit(func() { external.Store(true) }), nil)
		}
		if fired.Load() || ran > 10*bound {
			if external.Load() {
				t.Errorf("an external task started while internal work was waiting")
			}
			close(ended)
			return
		}
		t.want("SubmitInternal", l.SubmitInternal(chain), nil)
	}
	t.must("SubmitInternal", l.SubmitInternal(chain))
	t.wait(ended, "the endless chain to be stopped")
	if !fired.Load() {
		t.Errorf("no timer fired during %d internal tasks", ran)
	}
	l.finish()
}

// fifo queues sequences of many lengths, around the usual sizes of chunks and rings.
func fifo(t *trial) {
	l := t.start(Config{})
	for _, k := range l.queues() {
		for _, n := range []int{1, 2, 127, 128, 129, 255, 256, 257, 1000, 4097, t.scale(100_000)} {
			order := make([]int, 0, n)
			l.burst(k, n, func(i int) { order = append(order, i) })
			wantOrder(t, fmt.Sprintf("%d callbacks of the kind %s", n, k.name), order, upTo(n))
		}
	}
	// Producer and consumer take turns, so that the queue's cursors chase each other.
	var order journal[int]
	n := t.scale(8000)
	for i := range n {
		t.must("Submit", l.Submit(func() { order.add(i) }))
		if i%200 == i/200 {
			l.sync()
		}
	}
	l.sync()
	wantOrder(t, "tasks submitted in turns", order.all(), upTo(n))
	l.finish()
}

// producerOrder checks each producer's order while all of them submit at once to a loop that consumes.
func producerOrder(t *trial) {
	l := t.start(Config{})
	ks := l.queues()
	const producers = 6
	n := t.scale(8000)
	orders := make([]journal[int], producers*len(ks))
	all := newLatch(producers * n)
	t.parallel(producers, func(p int) {
		for i := range n {
			k := (p + i) % len(ks)
			t.want(ks[k].name, ks[k].run(l, func() { orders[p*len(ks)+k].add(i); all.done() }), nil)
		}
	})
	t.wait(all.ch, "%d callbacks of %d producers", producers*n, producers)
	for i := range orders {
		seen := orders[i].all()
		for j := 1; j < len(seen); j++ {
			if seen[j-1] >= seen[j] {
				t.Errorf("of producer %d, lane %s: %d ran before %d", i/len(ks), ks[i%len(ks)].name, seen[j-1], seen[j])
				break
			}
		}
	}
	l.finish()
}

// submitDoesNotWait submits more than any buffer holds while the loop is stuck.
func submitDoesNotWait(t *trial) {
	l := t.start(Config{})
	g := l.hold()
	n := max(t.scale(64_000), 10_000) // more than any buffer, also in a short run
	all := newLatch(2 * n)
	submitting := t.async(func() {
		for range n {
			t.want("Submit", l.Submit(all.done), nil)
			t.want("SubmitInternal", l.SubmitInternal(all.done), nil)
			t.steps.Add(1)
		}
	})
	t.wait(submitting, "%d tasks to be submitted while a callback blocks the loop: Submit waits for the consumer", 2*n)
	g.open()
	t.wait(all.ch, "%d tasks", 2*n)
	l.finish()
}

// overloadEpisode spends the tick budget and counts the reports.
func overloadEpisode(t *trial) {
	const budget = 8
	var reports atomic.Int64
	l := t.start(Config{TickBudget: budget, OnOverload: func(err error) {
		if !errors.Is(err, loopapi.ErrLoopOverloaded) {
			t.Errorf("OnOverload(%v), want ErrLoopOverloaded", err)
		}
		reports.Add(1)
	}})
	for _, burst := range []struct {
		n    int
		want int64
	}{{budget, 0}, {budget + 1, 1}, {budget - 1, 0}, {100 * budget, 1}, {100 * budget, 1}} {
		before := reports.Load()
		l.rest() // tasks that ran before have used up part of their tick's budget
		l.burst(lanes[external], burst.n, func(int) {})
		l.rest()
		if got := reports.Load() - before; got != burst.want {
			t.Errorf("a burst of %d tasks with a tick budget of %d was reported %d times as overload, want %d",
				burst.n, budget, got, burst.want)
		}
	}
	l.finish()
}

// queueLimit fills the queue to its limit and drains it again.
func queueLimit(t *trial) {
	for _, limit := range []int{1, 16, 300} {
		l := t.start(Config{QueueLimit: limit})
		for range 3 {
			var ran atomic.Int64
			g := l.hold()
			for range limit {
				t.must("Submit below the limit", l.Submit(func() { ran.Add(1) }))
			}
			for range 3 {
				t.want("Submit at the limit", l.Submit(func() { t.Errorf("a refused task ran") }), loopapi.ErrLoopOverloaded)
			}
			t.want("Submit(nil) at the limit", l.Submit(nil), loopapi.ErrNilCallback)
			for range 10 {
				t.want("SubmitInternal at the limit", l.SubmitInternal(noop), nil)
			}
			g.open()
			t.eventually(func() bool { return ran.Load() == int64(limit) }, "%d accepted tasks to run", limit)
			l.rest()
			l.sync() // there is room again
		}
		g := l.hold()
		for range limit {
			t.must("Submit", l.Submit(noop))
		}
		t.want("Close", l.Close(), nil)
		t.want("Submit at the limit of a closed loop", l.Submit(noop), loopapi.ErrLoopTerminated)
		g.open()
	}
}
