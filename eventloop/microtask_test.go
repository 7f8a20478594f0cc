package eventloop_test

// Tests of microtasks and of NextTick: their order, and what a spent budget holds back.

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
)

// Ticks go before microtasks, also those that ticks bring; those that microtasks bring go behind them; and so it stays
// when one of them does not return, or the budget is spent.
func TestNextTick(t *testing.T) {
	for _, budget := range []int{1, 2, 3, 1024} {
		var log []string
		l, err := eventloop.New(eventloop.WithAutoExit(true), eventloop.WithMicrotaskBudget(budget),
			eventloop.WithOnOverload(func(error) {}), eventloop.WithPanicHandler(func(*eventloop.PanicError) {}))
		require.NoError(t, err)
		say := func(what string, then ...func()) func() {
			return func() {
				log = append(log, what)
				for _, f := range then {
					f()
				}
			}
		}
		tick := func(f func()) func() { return func() { require.NoError(t, l.NextTick(f)) } }
		micro := func(f func()) func() { return func() { require.NoError(t, l.ScheduleMicrotask(f)) } }
		reaction := func(f func()) func() {
			return func() { l.Promises().Resolved(1).Then(func(any) (any, error) { f(); return nil, nil }, nil) }
		}
		require.ErrorIs(t, l.NextTick(nil), eventloop.ErrNilCallback)
		require.NoError(t, l.Submit(say("task",
			micro(say("m1", tick(say("t of m1")), micro(say("m of m1")), func() { panic("m1") })),
			reaction(say("p1", tick(say("t of p1")))),
			tick(say("t1", tick(say("t of t1")), micro(say("m of t1")))),
			tick(say("t2", func() { panic("t2") })),
			micro(say("m2")))))
		require.NoError(t, l.Submit(say("next task")))
		require.NoError(t, l.Submit(tick(say("tick of a task"))))
		require.NoError(t, l.Submit(say("last task")))
		require.NoError(t, l.Run(context.Background()))
		order := []string{"task", "t1", "t2", "t of t1", "m1", "p1", "m2", "m of t1", "m of m1", "t of m1", "t of p1",
			"next task", "tick of a task", "last task"}
		if budget < 1024 { // then the next task does not wait for all
			require.ElementsMatch(t, order, log)
			order, log = without(order, "task"), without(log, "task")
		}
		require.Equal(t, order, log, "budget %d", budget)
		require.ErrorIs(t, l.NextTick(func() {}), eventloop.ErrLoopTerminated)
	}

	l := made(t, eventloop.WithAutoExit(true), eventloop.WithMicrotaskBudget(2), eventloop.WithOnOverload(func(error) {}))
	var log []string
	require.NoError(t, l.Submit(func() {
		for i := range 5 {
			require.NoError(t, l.ScheduleMicrotask(func() { log = append(log, fmt.Sprint("m", i)) }))
		}
		_, err := l.ScheduleTimer(0, func() {
			log = append(log, "timer")
			require.NoError(t, l.NextTick(func() { log = append(log, "tick") }))
			require.True(t, l.Alive(), "a tick is something that can happen")
		})
		require.NoError(t, err)
	}))
	require.NoError(t, l.Run(context.Background()))
	tick := slices.Index(log, "tick")
	require.Equal(t, "timer", log[tick-1], "what a spent budget holds back does not keep it: %v", log)
	require.Less(t, tick, slices.Index(log, "m4"))

	l = made(t)
	require.NoError(t, l.Submit(func() {
		require.NoError(t, l.NextTick(func() {}))
		require.True(t, l.Alive(), "a tick is something that can happen")
		require.NoError(t, l.Close())
	}))
	require.ErrorIs(t, l.Run(context.Background()), eventloop.ErrLoopTerminated)

	l = made(t)
	ran := make(chan int, 3)
	require.NoError(t, l.ScheduleMicrotask(func() { ran <- 1 }))
	require.NoError(t, l.NextTick(func() { ran <- 3 }))
	require.NoError(t, l.ScheduleMicrotask(func() { ran <- 2 }))
	require.NoError(t, l.Shutdown(context.Background()))
	require.Equal(t, []int{1, 2, 3}, []int{<-ran, <-ran, <-ran}, "from elsewhere it is as if a microtask did")
}

// A report of what a microtask has done is no microtask, and the microtask that it is of runs no more: ticks of the report,
// and of callbacks behind it, go before the microtasks that wait.
func TestNextTickBehindAReport(t *testing.T) {
	tick := func(l *eventloop.Loop, log *[]string) {
		require.NoError(t, l.NextTick(func() { *log = append(*log, "tick") }))
	}
	for name, budget := range map[string]int{"OnOverload": 2, "OnOverload panics": 2, "panic handler": 1024} {
		var l *eventloop.Loop
		var log []string
		l, err := eventloop.New(eventloop.WithAutoExit(true), eventloop.WithMicrotaskBudget(budget),
			eventloop.WithOnOverload(func(error) {
				if name == "OnOverload panics" {
					panic(name)
				}
				tick(l, &log)
			}),
			eventloop.WithPanicHandler(func(*eventloop.PanicError) {
				if name == "panic handler" {
					tick(l, &log)
				}
			}))
		require.NoError(t, err)
		require.NoError(t, l.Submit(func() {
			for i := range 4 {
				require.NoError(t, l.ScheduleMicrotask(func() {
					log = append(log, fmt.Sprint("m", i))
					if i == 1 && name == "panic handler" {
						panic(name)
					}
				}))
			}
		}))
		require.NoError(t, l.Submit(func() {
			if name == "OnOverload panics" {
				tick(l, &log)
			}
		}))
		require.NoError(t, l.Run(context.Background()))
		require.Equal(t, []string{"m0", "m1", "tick", "m2", "m3"}, log, name)
	}
}

// A microtask of another goroutine runs behind the callback that is running, not behind all that is queued.
func TestForeignMicrotaskFollowsTheCallback(t *testing.T) {
	for _, schedule := range []func(*eventloop.Loop, func()) error{
		(*eventloop.Loop).ScheduleMicrotask, (*eventloop.Loop).NextTick,
	} {
		l := made(t, eventloop.WithAutoExit(true))
		var log []string
		require.NoError(t, l.Submit(func() {
			scheduled := make(chan error)
			go func() { scheduled <- schedule(l, func() { log = append(log, "microtask") }) }()
			require.NoError(t, <-scheduled)
		}))
		require.NoError(t, l.Submit(func() { log = append(log, "next task") }))
		require.NoError(t, l.Run(context.Background()))
		require.Equal(t, []string{"microtask", "next task"}, log)
	}
}

func without(list []string, what string) (rest []string) {
	for _, s := range list {
		if !strings.Contains(s, what) {
			rest = append(rest, s)
		}
	}
	return rest
}

// What lasts over many ticks is told once; when its queue has been empty and it comes again, it is told again.
func TestEachEpisodeIsToldOnce(t *testing.T) {
	const internal = 100_000 // as many as a tick runs
	for name, c := range map[string]struct {
		submit func(l *eventloop.Loop, fn func()) error
		count  int
		want   error
	}{
		"external":  {(*eventloop.Loop).Submit, 8, eventloop.ErrLoopOverloaded},
		"internal":  {(*eventloop.Loop).SubmitInternal, internal, eventloop.ErrLoopOverloaded},
		"microtask": {(*eventloop.Loop).ScheduleMicrotask, 8, eventloop.ErrMicrotaskBudget},
	} {
		told, left := 0, 2
		l, err := eventloop.New(eventloop.WithAutoExit(true), eventloop.WithTickBudget(2), eventloop.WithMicrotaskBudget(2),
			eventloop.WithOnOverload(func(err error) {
				require.ErrorIs(t, err, c.want, name)
				told++
			}))
		require.NoError(t, err)
		var episode func()
		episode = func() {
			left--
			for range c.count {
				require.NoError(t, c.submit(l, func() {}))
			}
			require.NoError(t, c.submit(l, func() {
				if left > 0 { // and begins when this, the last, has run
					_, err := l.ScheduleTimer(0, episode)
					require.NoError(t, err)
				}
			}))
		}
		require.NoError(t, l.Submit(episode))
		require.NoError(t, l.Run(context.Background()))
		require.Equal(t, 2, told, name)
	}
}

// What a spent budget holds back waits for a bounded number of callbacks, however many a tick runs: else a flood of tasks
// that schedule microtasks would pile these up, since each tick has one budget for those of thousands of tasks.
func TestHeldMicrotasksPileUpNoFurther(t *testing.T) {
	const budget, tasks = 16, 5000
	for name, submit := range map[string]func(*eventloop.Loop, func()) error{
		"external": (*eventloop.Loop).Submit, "internal": (*eventloop.Loop).SubmitInternal,
	} {
		l, err := eventloop.New(eventloop.WithAutoExit(true), eventloop.WithTickBudget(2*tasks),
			eventloop.WithMicrotaskBudget(budget), eventloop.WithOnOverload(func(error) {}))
		require.NoError(t, err)
		queued, ran, most, last := 0, 0, 0, -1
		micro := func() {
			i := queued
			queued++
			require.NoError(t, l.ScheduleMicrotask(func() {
				require.Equal(t, last+1, i, "they keep their order")
				last = i
				ran++
			}))
		}
		require.NoError(t, submit(l, func() {
			for range 2 * budget {
				micro()
			}
		}))
		for i := range tasks {
			require.NoError(t, submit(l, func() {
				if i%10 == 0 { // fewer than a budget for each 128 callbacks
					micro()
				}
				most = max(most, queued-ran)
			}))
		}
		require.NoError(t, l.Run(context.Background()))
		require.Equal(t, queued, ran)
		require.LessOrEqual(t, most, 3*budget, "%s tasks pile up microtasks", name)
	}
}
