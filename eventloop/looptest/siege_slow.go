package looptest

// Slow tasks: a tick is bounded in time, not only in the number of tasks.

import (
	"errors"
	"sync/atomic"
	"time"

	"github.com/turnloop/turnloop/internal/loopapi"
)

// slowTasks queues many slow tasks. The first one schedules a timer, which must fire in their midst.
func slowTasks(t *trial) {
	const n, each, most = 50, 2 * time.Millisecond, 25 // as many tasks as five ticks have time for
	l := t.start(Config{})
	var ran atomic.Int64
	at := make(chan int64, 1)
	g := l.hold()
	for i := range n {
		t.must("Submit", l.Submit(func() {
			if i == 0 {
				l.timer(0, func() { at <- ran.Load() })
			}
			ran.Add(1)
			time.Sleep(each)
		}))
	}
	g.open()
	if n := receive(t, at, "a timer, behind tasks that are slow"); n > most {
		t.Errorf("a timer that was due fired when %d tasks of %v each had run, want at most %d: tasks have about 10 ms of a tick",
			n, each, most)
	}
	t.want("Close", l.Close(), nil)
	t.want("Run", l.result(), loopapi.ErrLoopTerminated)
}

// overloadOfSlowTasks submits as many slow tasks as the tick budget allows, which is no overload, and on another loop one
// task more, which is an overload.
func overloadOfSlowTasks(t *trial) {
	const budget, each = 20, time.Millisecond
	for _, more := range []int{0, 1} {
		var reports atomic.Int64
		l := t.start(Config{TickBudget: budget, OnOverload: func(err error) {
			if !errors.Is(err, loopapi.ErrLoopOverloaded) {
				t.Errorf("OnOverload(%v), want ErrLoopOverloaded", err)
			}
			reports.Add(1)
		}})
		l.rest()
		g := l.hold()
		all := newLatch(budget + more)
		for range budget + more {
			t.must("Submit", l.Submit(func() { time.Sleep(each); all.done() }))
		}
		g.open()
		t.wait(all.ch, "%d tasks", budget+more)
		l.rest()
		if got := reports.Load(); got != int64(more) {
			t.Errorf("%d tasks of %v each, with a tick budget of %d, were reported %d times as overload, want %d",
				budget+more, each, budget, got, more)
		}
		l.finish()
	}
}
