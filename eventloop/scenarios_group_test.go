//go:build schedules

package eventloop_test

// What goroutines do to the loops of a group in TestSchedules.

import (
	"context"
	"fmt"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/internal/sched"
)

// beside is a group of which each loop but one has a callback of its own that waits until the group's tasks have run: so no
// schedule comes to its end in which a task waits for a loop that is busy, and another sleeps. If asleep,
// all loops sleep before anything else begins.
func beside(name string, asleep bool, tasks int, waits ...submission) scenario {
	return scenario{name: "group, " + name, chance: true, prepare: func(w *stage) []sched.Thread {
		asleep := asleep
		g, err := eventloop.NewGroup(len(waits)+1, eventloop.WithPoller(func() (eventloop.SystemPoller, error) { return w.poller, nil }))
		if err != nil {
			panic(err)
		}
		g.Unwatched()
		w.Loop = g.Loop(0)
		left, ran := tasks, make([]int, tasks)
		over := func() bool { return left == 0 }
		begins := func() bool {
			asleep = asleep && sleepers(g) < g.Len()
			return !asleep
		}
		var threads []sched.Thread
		for i := range g.Len() {
			threads = append(threads, w.thread(fmt.Sprint("run ", i), func() { _ = g.Loop(i).Run(context.Background()) }))
		}
		for i, s := range waits {
			l, call := g.Loop(i), s.call
			if call == nil {
				var fn func()
				if err := l.RegisterFD(1, eventloop.EventRead, func(eventloop.IOEvents) { w.poller.ready = false; fn() }); err != nil {
					panic(err)
				}
				call = func(_ *eventloop.Loop, f func()) error { fn = f; w.poller.event(); return nil }
			}
			threads = append(threads, w.thread(fmt.Sprint("own ", i), func() {
				sched.Until(begins)
				if err := call(l, func() { sched.Until(over) }); err != nil && !over() {
					w.fault("loop %d refuses: %v", i, err)
				}
			}))
		}
		threads = append(threads, w.thread("producer", func() {
			sched.Until(begins)
			for k := range tasks {
				if err := g.Submit(func() { ran[k]++; left-- }); err != nil {
					w.fault("task %d is refused: %v", k, err)
				}
			}
		}), w.thread("end", func() {
			sched.Until(over)
			for i := range g.Len() {
				_ = g.Loop(i).Shutdown(context.Background())
			}
		}))
		w.verify = func() error {
			for k, n := range ran {
				if n != 1 {
					return fmt.Errorf("task %d ran %d times", k, n)
				}
			}
			return nil
		}
		return threads
	}}
}

// closed is a group of two loops that is closed while tasks are submitted: none begins when Close has returned, and none runs twice.
func closed(name string, tasks int) scenario {
	return scenario{name: "group, " + name, chance: true, prepare: func(w *stage) []sched.Thread {
		g, err := eventloop.NewGroup(2, eventloop.WithPoller(func() (eventloop.SystemPoller, error) { return w.poller, nil }))
		if err != nil {
			panic(err)
		}
		g.Unwatched()
		w.Loop = g.Loop(0)
		over, ran := false, make([]int, tasks)
		threads := []sched.Thread{w.thread("producer", func() {
			for k := range tasks {
				_ = g.Submit(func() {
					if ran[k]++; over {
						w.fault("task %d began after Close had returned", k)
					}
				})
			}
		}), w.thread("close", func() {
			_ = g.Close()
			over = true
		})}
		for i := range g.Len() {
			threads = append(threads, w.thread(fmt.Sprint("run ", i), func() { _ = g.Loop(i).Run(context.Background()) }))
		}
		w.verify = func() error {
			for k, n := range ran {
				if n > 1 {
					return fmt.Errorf("task %d ran %d times", k, n)
				}
			}
			return nil
		}
		return threads
	}}
}

// event is the callback of a descriptor.
var event = submission{lane: "event"}

var groups = []scenario{
	closed("a task beside Close", 1),
	closed("two tasks beside Close", 2),
	beside("a task beside a long one", false, 1, submit),
	beside("a task beside two long ones", false, 1, submit, submit),
	beside("a task beside a long one, asleep", true, 1, submit),
	beside("a task beside long internal work, asleep", true, 1, internal),
	beside("a task beside a long microtask, asleep", true, 1, microtask),
	beside("a task beside a long timer, asleep", true, 1, alarm),
	beside("a task beside a long event, asleep", true, 1, event),
	beside("two tasks beside a long one, asleep", true, 2, submit),
	beside("a task beside two long ones, asleep", true, 1, submit, submit),
	beside("a task beside a long one and internal work, asleep", true, 1, submit, internal),
	beside("a task beside a long one and a microtask, asleep", true, 1, submit, microtask),
	beside("a task beside a long one and a timer, asleep", true, 1, submit, alarm),
}
