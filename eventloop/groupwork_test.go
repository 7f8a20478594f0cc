package eventloop_test

// Tests of what a group's tasks do among the other work of a loop.

import (
	"context"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/flow"
	"github.com/turnloop/turnloop/internal/beat"
)

// Tasks of a group have their turn among those of the loop, and those of the loop among the group's, also where something
// interrupts them: a fault, a slow task, internal work. Neither keep the other waiting for longer than their allowance of a tick; a
// fault may let a tick begin with the group's once more.
func TestGroupTasksHaveTheirTurn(t *testing.T) {
	const tasks = 1000
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 1))
		budget := 1 + rng.IntN(300)
		g := newGroup(t, 2, eventloop.WithTickBudget(budget), eventloop.WithMetrics(seed%2 == 0))
		result := runs(g, context.Background())
		other, release := holds(t, g.Loop(1)), holds(t, g.Loop(0)) // the other takes no tasks away
		l, over := g.Loop(0), make(chan struct{})
		waits, turn, longest := [2]int{tasks, tasks}, 0, 0
		begins := func(kind, what int) {
			if waits[kind]--; waits[1-kind] == 0 {
				turn = 0
			} else if turn *= 1 - kind - kind; turn < 0 { // the other kind has had its turn
				turn = 0
			}
			if turn++; turn > longest {
				longest = turn
			}
			if turn *= 1 - kind - kind; waits == [2]int{} {
				close(over)
			}
			switch what {
			case 0:
				panic("of the test")
			case 1:
				runtime.Goexit()
			case 2:
				require.NoError(t, l.SubmitInternal(func() {}))
			case 3:
				time.Sleep(100 * time.Microsecond)
			}
		}
		for range tasks {
			one, another := rng.IntN(40), rng.IntN(40)
			require.NoError(t, g.Submit(func() { begins(0, one) }))
			require.NoError(t, l.Submit(func() { begins(1, another) }))
		}
		release()
		beat.Receive(t, over, "all tasks")
		other()
		require.NoError(t, g.Shutdown(context.Background()))
		require.NoError(t, <-result)
		require.LessOrEqual(t, longest, 2*budget, "seed %d: tasks of one kind in a row, while others wait", seed)
	}
}

// Tasks of a group whose internal work fills each tick leave the loop's own tasks a turn.
func TestGroupTasksShareWithTheLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGroup(t, 2)
		result := runs(g, context.Background())
		other, release := holds(t, g.Loop(1)), holds(t, g.Loop(0))
		ran, before := 0, -1
		for range 100 {
			require.NoError(t, g.Submit(func() {
				if ran++; ran == 1 {
					_ = g.Loop(0).Submit(func() { before = ran })
				}
				for range 8 { // more than a tick has time for
					_ = g.Loop(0).SubmitInternal(func() { time.Sleep(time.Millisecond) })
				}
			}))
		}
		release()
		time.Sleep(time.Minute)
		other()
		require.NoError(t, g.Shutdown(context.Background()))
		require.NoError(t, <-result)
		require.LessOrEqual(t, before, 20, "tasks of the group that run before the loop's")
	})
}

// Each tick runs one of the group's tasks and one of the loop's, also where it has more microtasks of other goroutines than it may.
func TestGroupTasksRunBesideMicrotasks(t *testing.T) {
	const tasks, burst = 20, 10_000
	g := newGroup(t, 2, eventloop.WithMicrotaskBudget(2*burst))
	result, l, full := runs(g, context.Background()), g.Loop(0), make(chan struct{})
	other, release := holds(t, g.Loop(1)), holds(t, l) // the other takes no tasks away
	var ran atomic.Int32
	for range tasks {
		require.NoError(t, g.Submit(func() { ran.Add(1) }))
		require.NoError(t, l.Submit(func() { ran.Add(1) }))
	}
	ticks := 0
	ticker, err := flow.Every(l, time.Nanosecond, func() {
		ticks++
		done := make(chan struct{})
		go func() {
			defer close(done)
			for range burst {
				_ = l.ScheduleMicrotask(func() {})
			}
		}()
		if <-done; ticks == 3*tasks {
			_ = l.SubmitInternal(func() { close(full) })
		}
	})
	require.NoError(t, err)
	release()
	<-full
	require.EqualValues(t, 2*tasks, ran.Load())
	ticker.Stop()
	other()
	require.NoError(t, g.Shutdown(context.Background()))
	require.NoError(t, <-result)
}

// A tick whose budget is spent by the last of the group's tasks has not exceeded it.
func TestGroupSpendsItsBudget(t *testing.T) {
	for _, tasks := range []int{1, 2, 64, 129} {
		var reports atomic.Int32
		g := newGroup(t, 2, eventloop.WithTickBudget(tasks), eventloop.WithOnOverload(func(error) { reports.Add(1) }))
		result, ran := runs(g, context.Background()), make(chan struct{})
		other, release := holds(t, g.Loop(1)), holds(t, g.Loop(0))
		for range tasks {
			require.NoError(t, g.Submit(func() {}))
		}
		_, err := g.Loop(0).ScheduleTimer(time.Millisecond, func() { close(ran) })
		require.NoError(t, err)
		release()
		<-ran
		other()
		require.Zero(t, reports.Load(), "%d tasks", tasks)
		require.NoError(t, g.Shutdown(context.Background()))
		require.NoError(t, <-result)
	}
}
