package eventloop_test

// Tests of what a group's tasks do among the other work of a loop.

import (
	"context"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/flow"
)

// Tasks of a group have their turn among those of the loop, also where its queue is full and where something interrupts them: a
// fault, a slow task, internal work. A task of the loop runs after the tasks of the group that were submitted before, and before all
// but a few of those that were submitted later.
func TestGroupTasksHaveTheirTurn(t *testing.T) {
	const tasks = 1000
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 1))
		g := newGroup(t, 2, eventloop.WithQueueLimit(tasks), eventloop.WithTickBudget(1+rng.IntN(300)), eventloop.WithMetrics(seed%2 == 0))
		l, shared, release := g.Loop(0), 0, make(chan struct{})
		require.NoError(t, g.Loop(1).Submit(func() { <-release })) // so it takes no tasks away
		run := func(what int) {
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
		often := rng.IntN(2 * eventloop.GroupRun)
		for k := range tasks - 1 {
			what := rng.IntN(40)
			require.NoError(t, g.PutInto(0, func() { shared++; run(what) }))
			if rng.IntN(1+often) != 0 {
				continue
			}
			require.NoError(t, l.Submit(func() {
				if shared <= k || shared > k+eventloop.GroupRun {
					t.Errorf("seed %d: a task of the loop that was submitted behind %d of the group runs behind %d", seed, k+1, shared)
				}
			}))
		}
		for l.Submit(func() {}) == nil {
		}
		result, over := runs(g, context.Background()), make(chan struct{})
		require.NoError(t, g.PutInto(0, func() { close(over) }))
		<-over
		close(release)
		require.NoError(t, g.Shutdown(context.Background()))
		require.NoError(t, <-result)
	}
}

// Microtasks run after each task, and internal work before the next, as on a loop.
func TestGroupTasksAreTasks(t *testing.T) {
	for _, n := range []int{1, 2} {
		g := newGroup(t, n)
		var wrong atomic.Int32
		var flags [2]atomic.Int32 // by loop: what the last task has left to do
		for range 500 {
			require.NoError(t, g.Submit(func() {
				for k := range g.Len() {
					l := g.Loop(k)
					if !l.OnLoop() {
						continue
					}
					pending := &flags[k]
					if pending.Swap(2) != 0 {
						wrong.Add(1)
					}
					_ = l.ScheduleMicrotask(func() { pending.Add(-1) })
					_ = l.SubmitInternal(func() { pending.Add(-1) })
				}
			}))
		}
		result := runs(g, context.Background())
		require.NoError(t, g.Shutdown(context.Background()))
		<-result
		require.Zero(t, wrong.Load())
	}
}

// A turn of a group's runner runs a task, like any turn of the loop's tasks, also where each tick has more microtasks of other
// goroutines than it may: the runner stands before the loop's own tasks, and would keep them waiting, too.
func TestGroupTasksRunBesideMicrotasks(t *testing.T) {
	const tasks, burst = 20, 10_000
	g := newGroup(t, 2, eventloop.WithMicrotaskBudget(2*burst))
	l, release := g.Loop(0), make(chan struct{})
	require.NoError(t, g.Loop(1).Submit(func() { <-release })) // so it takes no tasks away
	var ran atomic.Int32
	for range tasks {
		require.NoError(t, g.PutInto(0, func() { ran.Add(1) }))
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
			_ = l.SubmitInternal(func() { close(release) })
		}
	})
	require.NoError(t, err)
	result := runs(g, context.Background())
	<-release
	require.EqualValues(t, 2*tasks, ran.Load())
	ticker.Stop()
	require.NoError(t, g.Shutdown(context.Background()))
	require.NoError(t, <-result)
}

// A tick whose budget is spent by the last of the group's tasks has not exceeded it.
func TestGroupSpendsItsBudget(t *testing.T) {
	for _, tasks := range []int{1, 2, eventloop.GroupRun, 2*eventloop.GroupRun + 1} {
		var reports atomic.Int32
		g := newGroup(t, 2, eventloop.WithTickBudget(tasks), eventloop.WithOnOverload(func(error) { reports.Add(1) }))
		release, ran := make(chan struct{}), make(chan struct{})
		require.NoError(t, g.Loop(1).Submit(func() { <-release }))
		for range tasks {
			require.NoError(t, g.PutInto(0, func() {}))
		}
		_, err := g.Loop(0).ScheduleTimer(time.Millisecond, func() { close(ran) })
		require.NoError(t, err)
		result := runs(g, context.Background())
		<-ran
		close(release)
		require.Zero(t, reports.Load(), "%d tasks", tasks)
		require.NoError(t, g.Shutdown(context.Background()))
		require.NoError(t, <-result)
	}
}
