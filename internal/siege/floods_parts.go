//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package main

// The floods of what only the loop itself has: waits and intervals, and what looks into it.

import (
	"context"
	"io"
	"time"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/flow"
)

var parts = []flood{
	{name: "Sleep(1ms)", like: makes, law: wanted, own: microtasks | set(timerProbe), begin: slept(context.Background())},
	{name: "Sleep, context ended", like: makes, law: wanted, own: microtasks, begin: slept(ended())},
	{name: "Retry", like: makes, law: wanted, own: microtasks | set(internalProbe), free: set(taskProbe), begin: kept(retried(nil))},
	{name: "Retry, failing", like: hoards, law: wanted, own: microtasks | set(internalProbe, timerProbe), free: set(taskProbe),
		begin: kept(retried(eventloop.ErrGoexit))},
	{name: "Every, stop", like: alarms, begin: stopped(func(s *site) (*flow.Ticker, error) {
		return flow.Every(s.own, time.Millisecond, s.enter)
	})},
	{name: "Repeat, stop", like: alarms, begin: stopped(func(s *site) (*flow.Ticker, error) {
		return flow.Repeat(s.own, func(now time.Time) time.Time { return now.Add(time.Millisecond) }, s.enter)
	})},
	{name: "Call", like: makes, law: exactly, own: set(taskProbe), begin: each(func(s *site, t *tally) error {
		fn := t.next()
		_, err := flow.Call(context.Background(), s.own, func() (int, error) { fn(); return 0, nil })
		return err
	})},
	{name: "Exec", like: makes, law: exactly, own: set(taskProbe), begin: each(func(s *site, t *tally) error {
		fn := t.next()
		return flow.Exec(context.Background(), s.own, func() error { fn(); return nil })
	})},
	{name: "Work", like: makes, law: wanted, own: set(internalProbe), free: set(taskProbe), begin: kept(worked)},
	{name: "AfterEnd, stop", like: locks, begin: asks(func(s *site) { s.own.AfterEnd(func() {})() })},
	{name: "AwaitWorkers", like: litters, begin: asks(func(s *site) { _ = s.own.AwaitWorkers(context.Background()) })},
	{name: "HoldNamed", like: locks, begin: asks(func(s *site) { s.own.HoldNamed("siege")() })},
	{name: "Active", like: litters, begin: asks(func(s *site) { s.own.Active() })},
	{name: "Closed", like: reads, begin: asks(func(s *site) { s.own.Closed() })},
	{name: "DumpEvents", like: litters, opts: []eventloop.Option{eventloop.WithFlightRecorder(64)},
		begin: asks(func(s *site) { _ = s.own.DumpEvents(io.Discard) })},
	{name: "DumpTrace", like: litters, opts: []eventloop.Option{eventloop.WithFlightRecorder(64)},
		begin: asks(func(s *site) { _ = s.own.DumpTrace(io.Discard) })},
	{name: "Metrics", like: litters, opts: []eventloop.Option{eventloop.WithMetrics(true)},
		begin: asks(func(s *site) { s.own.Metrics() })},
}

// ended returns a context that has ended.
func ended() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// stopped begins intervals, and stops each.
func stopped(begin func(s *site) (*flow.Ticker, error)) func(s *site, t *tally) flooder {
	return each(func(s *site, _ *tally) error {
		ticker, err := begin(s)
		if err == nil {
			ticker.Stop()
		}
		return err
	})
}

func slept(ctx context.Context) func(s *site, t *tally) flooder {
	return kept(func(s *site, o *one) {
		flow.Sleep(ctx, s.own, time.Millisecond).Then(o.fulfilled, o.rejected)
	})
}

func worked(s *site, o *one) {
	p, settle := s.own.NewWorkPromise()
	if err := s.own.Work(context.Background(), func(context.Context) (any, error) { return nil, nil }, settle); err != nil {
		p = s.own.Promises().Rejected(err)
	}
	p.Then(o.fulfilled, o.rejected)
}

// retried tries a function that returns err, and after a failure once more. Most wait for that until the loop ends.
func retried(err error) func(s *site, o *one) {
	return func(s *site, o *one) {
		flow.Retry(context.Background(), s.own, flow.Backoff{First: time.Second, Attempts: 2}, func(context.Context, int) (int, error) { return 1, err }).
			Untyped().Then(o.fulfilled, o.rejected)
	}
}
