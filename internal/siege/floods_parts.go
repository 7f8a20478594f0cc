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
	{name: "Every, stop", like: alarms, begin: each(func(s *site, _ *tally) error {
		l, err := s.native()
		if err != nil {
			return err
		}
		ticker, err := flow.Every(l, time.Millisecond, func() { s.enter() })
		if err == nil {
			ticker.Stop()
		}
		return err
	})},
	{name: "Repeat, stop", like: alarms, begin: each(func(s *site, _ *tally) error {
		l, err := s.native()
		if err != nil {
			return err
		}
		ticker, err := flow.Repeat(l, func(now time.Time) time.Time { return now.Add(time.Millisecond) }, func() { s.enter() })
		if err == nil {
			ticker.Stop()
		}
		return err
	})},
	{name: "Call", like: makes, law: exactly, own: set(taskProbe), begin: each(func(s *site, t *tally) error {
		l, err := s.native()
		if err == nil {
			fn := t.next()
			_, err = flow.Call(context.Background(), l, func() (int, error) { fn(); return 0, nil })
		}
		return err
	})},
	{name: "Exec", like: makes, law: exactly, own: set(taskProbe), begin: each(func(s *site, t *tally) error {
		l, err := s.native()
		if err == nil {
			fn := t.next()
			err = flow.Exec(context.Background(), l, func() error { fn(); return nil })
		}
		return err
	})},
	{name: "Work", like: makes, law: wanted, own: set(internalProbe), free: set(taskProbe), begin: kept(worked)},
	{name: "AfterEnd, stop", like: locks, begin: asksNative(func(l *eventloop.Loop) { l.AfterEnd(func() {})() })},
	{name: "AwaitWorkers", like: litters, begin: asksNative(func(l *eventloop.Loop) { _ = l.AwaitWorkers(context.Background()) })},
	{name: "HoldNamed", like: locks, begin: asksNative(func(l *eventloop.Loop) { l.HoldNamed("siege")() })},
	{name: "Active", like: litters, begin: asksNative(func(l *eventloop.Loop) { l.Active() })},
	{name: "Closed", like: reads, begin: asksNative(func(l *eventloop.Loop) { l.Closed() })},
	{name: "DumpEvents", like: litters, opts: []eventloop.Option{eventloop.WithFlightRecorder(64)},
		begin: asksNative(func(l *eventloop.Loop) { _ = l.DumpEvents(io.Discard) })},
	{name: "DumpTrace", like: litters, opts: []eventloop.Option{eventloop.WithFlightRecorder(64)},
		begin: asksNative(func(l *eventloop.Loop) { _ = l.DumpTrace(io.Discard) })},
	{name: "Metrics", like: litters, opts: []eventloop.Option{eventloop.WithMetrics(true)},
		begin: asksNative(func(l *eventloop.Loop) { l.Metrics() })},
}

// ended returns a context that has ended.
func ended() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// asksNative is a flood of calls of the loop's own that only ask.
func asksNative(call func(l *eventloop.Loop)) func(s *site, t *tally) flooder {
	return each(func(s *site, _ *tally) error {
		l, err := s.native()
		if err == nil {
			call(l)
		}
		return err
	})
}

func slept(ctx context.Context) func(s *site, t *tally) flooder {
	return kept(func(s *site, o *one) {
		if l, err := s.native(); err == nil {
			flow.Sleep(ctx, l, time.Millisecond).Then(o.fulfilled, o.rejected)
		}
	})
}

func worked(s *site, o *one) {
	l, err := s.native()
	if err != nil {
		return
	}
	p, settle := l.NewWorkPromise()
	if err := l.Work(context.Background(), func(context.Context) (any, error) { return nil, nil }, settle); err != nil {
		p = l.Promises().Rejected(err)
	}
	p.Then(o.fulfilled, o.rejected)
}

// retried tries a function that returns err, and after a failure once more. Most wait for that until the loop ends.
func retried(err error) func(s *site, o *one) {
	return func(s *site, o *one) {
		l, none := s.native()
		if none != nil {
			return
		}
		flow.Retry(context.Background(), l, flow.Backoff{First: time.Second, Attempts: 2}, func(context.Context, int) (int, error) { return 1, err }).
			Untyped().Then(o.fulfilled, o.rejected)
	}
}
