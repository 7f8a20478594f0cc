package eventloop_test

// What each public call costs on its usual path.

import (
	"context"
	"testing"
	"time"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/internal/costs"
	"github.com/turnloop/turnloop/internal/poller"
)

func TestCosts(t *testing.T) {
	costs.Check(t, costRows, map[string]string{
		`^With`: "makes an option; what New and the loop pay for it is in the benchmarks of metrics and the tournament",
		`^(Activity|FastPathMode|Latency|Metrics|Stall)\.`: "reads or writes a value of the caller",
		`^Loop\.Dump`:            "writes what was recorded",
		`^Loop\.SetFastPathMode`: "is called once, if at all",
	})
}

func BenchmarkCosts(b *testing.B) { costs.Benchmark(b, costRows) }

func work(context.Context) (any, error) { return nil, nil }

var costRows = []costs.Row{
	// to begin and to end
	costs.Off("New", 8, 3824, 0, func(e *costs.Env) func() {
		return func() { e.Must(madeLoop(e).Close()) }
	}),
	costs.Off("Loop.Close", 8, 3824, 0, func(e *costs.Env) func() {
		return func() { e.Must(madeLoop(e).Close()) }
	}),
	costs.Off("Loop.Run", 15, 5120, 0, func(e *costs.Env) func() {
		return func() {
			l := madeLoop(e)
			e.Must(l.Submit(func() { _ = l.Shutdown(context.Background()) }))
			e.Must(l.Run(context.Background()))
		}
	}),
	costs.Off("Loop.Shutdown", 8, 3824, 0, func(e *costs.Env) func() {
		return func() { e.Must(madeLoop(e).Shutdown(context.Background())) }
	}),
	costs.Off("Loop.AfterEnd", 2, 48, 0, func(e *costs.Env) func() {
		return func() { e.AfterEnd(nop)() }
	}),
	costs.Off("WithQueueLimit", 1, 16, 0, func(*costs.Env) func() {
		return func() { kept = eventloop.WithQueueLimit(1) }
	}),
	costs.Off("WithStallThreshold", 1, 24, 0, func(*costs.Env) func() {
		report := func(eventloop.Stall) {}
		return func() { kept = eventloop.WithStallThreshold(time.Second, report) }
	}),
	costs.Off("WithWorkerLimit", 1, 16, 0, func(*costs.Env) func() {
		return func() { kept = eventloop.WithWorkerLimit(1) }
	}),

	// what runs
	costs.Off("Loop.Submit", 0, 0, 1, func(e *costs.Env) func() { return func() { e.Must(e.Submit(nop)) } }),
	costs.Off("Loop.SubmitInternal", 0, 16, 1, func(e *costs.Env) func() { return func() { e.Must(e.SubmitInternal(nop)) } }),
	costs.On("Loop.ScheduleMicrotask", 0, 0, 1, func(e *costs.Env) func() { return func() { e.Must(e.ScheduleMicrotask(nop)) } }),
	costs.On("Loop.NextTick", 0, 0, 1, func(e *costs.Env) func() { return func() { e.Must(e.NextTick(nop)) } }),
	costs.Off("Loop.ScheduleTimer", 0, 48, 1, func(e *costs.Env) func() {
		return func() { _, err := e.ScheduleTimer(0, nop); e.Must(err) }
	}),
	costs.Off("Loop.ScheduleTimerAs", 0, 48, 1, func(e *costs.Env) func() {
		return func() { _, err := e.ScheduleTimerAs(eventloop.TimerCritical, 0, nop); e.Must(err) }
	}),
	costs.On("Loop.CancelTimer", 0, 0, 0, func(e *costs.Env) func() {
		return func() {
			id, err := e.ScheduleTimer(time.Hour, nop)
			e.Must(err)
			e.Must(e.CancelTimer(id))
		}
	}),
	costs.Off("Loop.RefTimer", 0, 0, 0, pendingTimer(func(e *costs.Env, id eventloop.TimerID) { e.Must(e.RefTimer(id)) })),
	costs.Off("Loop.UnrefTimer", 0, 0, 0, pendingTimer(func(e *costs.Env, id eventloop.TimerID) { e.Must(e.UnrefTimer(id)) })),

	// descriptors
	costs.Off("Loop.RegisterFD", 1, 32, 0, registered(func(e *costs.Env, l *eventloop.Loop) { e.Must(l.UnregisterFD(1)) })),
	costs.Off("Loop.ModifyFD", 1, 32, 0, registered(func(e *costs.Env, l *eventloop.Loop) {
		e.Must(l.ModifyFD(1, eventloop.EventWrite))
		e.Must(l.UnregisterFD(1))
	})),
	costs.Off("Loop.UnregisterFD", 1, 32, 0, registered(func(e *costs.Env, l *eventloop.Loop) { e.Must(l.UnregisterFD(1)) })),
	costs.Off("Loop.UnregisterFDThen", 6, 208, 0, registered(func(e *costs.Env, l *eventloop.Loop) {
		done := make(chan struct{})
		e.Must(l.UnregisterFDThen(1, func() { close(done) }))
		<-done
	})),

	// work and promises
	costs.Off("Loop.NewPromise", 4, 160, 1, func(e *costs.Env) func() {
		return func() { _, resolve, _ := e.NewPromise(); resolve(nil) }
	}),
	costs.On("Loop.NewWorkPromise", 1, 96, 0, func(e *costs.Env) func() {
		return func() { _, settle := e.NewWorkPromise(); settle(nil, nil) }
	}),
	costs.Off("Loop.Promises", 0, 0, 0, func(e *costs.Env) func() { return func() { kept = e.Promises() } }),
	costs.Off("Loop.Promisify", 6, 352, 1, func(e *costs.Env) func() {
		return func() { _, err := e.Promisify(context.Background(), work).Await(context.Background()); e.Must(err) }
	}),
	costs.Off("Promisify", 7, 384, 1, func(e *costs.Env) func() {
		return func() {
			_, err := eventloop.Promisify(context.Background(), e.Loop, func(context.Context) (int, error) { return 1, nil }).Await(context.Background())
			e.Must(err)
		}
	}),
	costs.Off("Loop.Work", 2, 176, 1, func(e *costs.Env) func() {
		done := make(chan struct{})
		told := func(any, error) { done <- struct{}{} }
		return func() { e.Must(e.Work(context.Background(), work, told)); <-done }
	}),
	costs.Off("Loop.RefuseWork", 0, 0, 0, func(e *costs.Env) func() { return e.RefuseWork }),
	costs.Off("Loop.AwaitWorkers", 1, 112, 0, func(e *costs.Env) func() {
		return func() { e.Must(e.AwaitWorkers(context.Background())) }
	}),
	costs.Off("Loop.Hold", 2, 80, 0, func(e *costs.Env) func() { return func() { e.Hold()() } }),
	costs.Off("Loop.HoldNamed", 2, 80, 0, func(e *costs.Env) func() { return func() { e.HoldNamed("a name")() } }),

	// what is asked
	costs.Off("Loop.OnLoop", 0, 0, 0, func(e *costs.Env) func() { return func() { kept = e.OnLoop() } }),
	costs.Off("Loop.State", 0, 0, 0, func(e *costs.Env) func() { return func() { _ = e.State() } }),
	costs.Off("Loop.Closed", 0, 0, 0, func(e *costs.Env) func() { return func() { kept = e.Closed() } }),
	costs.Off("Loop.Done", 0, 0, 0, func(e *costs.Env) func() { return func() { _ = e.Done() } }),
	costs.Off("Loop.ID", 0, 0, 0, func(e *costs.Env) func() { return func() { _ = e.ID() } }),
	costs.Off("Loop.Alive", 0, 0, 0, func(e *costs.Env) func() { return func() { kept = e.Alive() } }),
	costs.Off("Loop.CurrentTickTime", 0, 0, 0, func(e *costs.Env) func() { return func() { _ = e.CurrentTickTime() } }),
	costs.Off("Loop.Metrics", 0, 0, 0, func(e *costs.Env) func() { return func() { _ = e.Metrics() } }),
	costs.Off("Latency.Since", 1, 10880, 0, func(e *costs.Env) func() {
		l, err := eventloop.New(eventloop.WithMetrics(true))
		e.Must(err)
		before := l.Metrics().Callback
		return func() { _ = before.Since(before) }
	}),
	costs.Off("Loop.Active", 2, 192, 0, func(e *costs.Env) func() { return func() { _ = e.Active() } }),

	// groups
	costs.Off("NewGroup", 34, 9200, 0, func(e *costs.Env) func() {
		return func() { g, err := eventloop.NewGroup(2); e.Must(err); e.Must(g.Close()) }
	}),
	costs.Off("Group.Close", 34, 9200, 0, func(e *costs.Env) func() {
		return func() { g, err := eventloop.NewGroup(2); e.Must(err); e.Must(g.Close()) }
	}),
	costs.Off("Group.Run", 60, 13200, 0, func(e *costs.Env) func() {
		return func() {
			g, err := eventloop.NewGroup(2)
			e.Must(err)
			e.Must(g.Submit(func() { _ = g.Shutdown(context.Background()) }))
			e.Must(g.Run(context.Background()))
		}
	}),
	costs.Off("Group.Shutdown", 40, 9400, 0, func(e *costs.Env) func() {
		return func() { g, err := eventloop.NewGroup(2); e.Must(err); e.Must(g.Shutdown(context.Background())) }
	}),
	costs.Off("Group.Submit", 0, 0, 0, grouped(func(e *costs.Env, g *eventloop.Group) { e.Must(g.Submit(nop)) })),
	costs.Off("Group.Least", 0, 0, 0, grouped(func(_ *costs.Env, g *eventloop.Group) { _ = g.Least() })),
	costs.Off("Group.Loop", 0, 0, 0, grouped(func(_ *costs.Env, g *eventloop.Group) { _ = g.Loop(1) })),
	costs.Off("Group.LoopFor", 0, 0, 0, grouped(func(_ *costs.Env, g *eventloop.Group) { _ = g.LoopFor("key") })),
	costs.Off("Group.Len", 0, 0, 0, grouped(func(_ *costs.Env, g *eventloop.Group) { _ = g.Len() })),
	costs.Off("Group.Done", 0, 0, 0, grouped(func(_ *costs.Env, g *eventloop.Group) { _ = g.Done() })),
	costs.Off("Group.Metrics", 4, 43536, 0, grouped(func(_ *costs.Env, g *eventloop.Group) { _ = g.Metrics() })),
	costs.Off("Group.RefuseWork", 0, 0, 0, grouped(func(_ *costs.Env, g *eventloop.Group) { g.RefuseWork() })),
}

// nop is a function that costs nothing.
func nop() {}

// noPoller is a poller without descriptors.
type noPoller struct{}

func (noPoller) Add(int, eventloop.IOEvents, uint32) error                        { return nil }
func (noPoller) Modify(int, eventloop.IOEvents, eventloop.IOEvents, uint32) error { return nil }
func (noPoller) Remove(int, eventloop.IOEvents) error                             { return nil }
func (noPoller) Wait(time.Duration) ([]poller.Event, error)                       { return nil, nil }
func (noPoller) Watch(func(error)) (stop func(), err error)                       { return func() {}, nil }
func (noPoller) Wake() error                                                      { return nil }
func (noPoller) Reset() error                                                     { return nil }
func (noPoller) Close() error                                                     { return nil }

// kept is what a call returns, lest the compiler leaves the call out.
var kept any

func madeLoop(e *costs.Env, opts ...eventloop.Option) *eventloop.Loop {
	l, err := eventloop.New(opts...)
	e.Must(err)
	return l
}

// pendingTimer is a call for a timer that does not fire.
func pendingTimer(call func(*costs.Env, eventloop.TimerID)) func(e *costs.Env) func() {
	return func(e *costs.Env) func() {
		id, err := e.ScheduleTimer(time.Hour, nop)
		e.Must(err)
		return func() { call(e, id) }
	}
}

// registered is a call that takes back a registration, together with that; on a loop of its own, whose poller is none.
func registered(call func(*costs.Env, *eventloop.Loop)) func(e *costs.Env) func() {
	return func(e *costs.Env) func() {
		l := madeLoop(e, eventloop.WithPoller(func() (eventloop.SystemPoller, error) { return noPoller{}, nil }))
		go l.Run(context.Background())
		e.Cleanup(func() { _ = l.Close() })
		return func() {
			e.Must(l.RegisterFD(1, eventloop.EventRead, func(eventloop.IOEvents) {}))
			call(e, l)
		}
	}
}

// grouped is a call of a group that runs.
func grouped(call func(*costs.Env, *eventloop.Group)) func(e *costs.Env) func() {
	return func(e *costs.Env) func() {
		g, err := eventloop.NewGroup(2)
		e.Must(err)
		go g.Run(context.Background())
		e.Cleanup(func() { _ = g.Close(); <-g.Done() })
		return func() { call(e, g) }
	}
}
