//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package main

// The floods that callbacks make: each callback starts the next.

import (
	"context"

	"github.com/turnloop/turnloop/eventloop"
)

var chains = []flood{
	{name: "chain of tasks", like: feeds, feeds: true, law: exactly,
		begin: chain(func(s *site, fn func()) error { return s.loop.Submit(fn) })},
	{name: "chain of internal tasks", like: feeds, feeds: true, law: exactly, free: set(taskProbe),
		begin: chain(func(s *site, fn func()) error { return s.loop.SubmitInternal(fn) })},
	{name: "chain of microtasks", like: feeds, feeds: true, law: exactly,
		begin: chain(func(s *site, fn func()) error { return s.loop.ScheduleMicrotask(fn) })},
	// NextTick's functions go before microtasks by intent, as in Node.
	{name: "chain of ticks", like: feeds, feeds: true, law: exactly, free: microtasks,
		begin: chain(func(s *site, fn func()) error { return s.loop.NextTick(fn) })},
	{name: "chain of timers at 0", like: feeds, feeds: true,
		begin: chain(func(s *site, fn func()) error { _, err := s.loop.ScheduleTimer(0, fn); return err })},
	{name: "chain of critical timers at 0", like: feeds, feeds: true,
		begin: chain(func(s *site, fn func()) error {
			_, err := s.loop.ScheduleTimerAs(eventloop.TimerCritical, 0, fn)
			return err
		})},
	{name: "chain of timeouts at 0", like: feeds, feeds: true,
		begin: chain(func(s *site, fn func()) error { _, err := s.js.SetTimeout(fn, 0); return err })},
	{name: "chain of immediates", like: feeds, feeds: true,
		begin: chain(func(s *site, fn func()) error { _, err := s.js.SetImmediate(fn); return err })},
	{name: "interval at 0", like: feeds, feeds: true, begin: interval},
	{name: "chain of promises", like: feeds, feeds: true, begin: follow},
	{name: "serve loop of Promisify", like: feeds, feeds: true, begin: serve},
	{name: "descriptor always ready", like: feeds, feeds: true, begin: always},
}

func interval(s *site, t *tally) flooder {
	_, err := s.js.SetInterval(func() { s.enter(); t.ran.Add(1) }, 0)
	if err != nil {
		s.fault(err.Error())
	}
	t.accepted.Add(1)
	return flooder{}
}

// follow is a chain of handlers, each of which makes the promise of the next.
func follow(s *site, t *tally) flooder {
	var next func(any) (any, error)
	next = func(any) (any, error) {
		s.enter()
		t.ran.Add(1)
		if !s.stop.Load() {
			t.accepted.Add(1)
			s.loop.Promises().Resolved(nil).Then(next, nil)
		}
		return nil, nil
	}
	s.loop.Promises().Resolved(nil).Then(next, nil)
	return flooder{}
}

// serve is the usual serve loop: each call is followed by another, whatever its outcome.
func serve(s *site, t *tally) flooder {
	var next func() error
	next = func() error {
		s.enter()
		t.ran.Add(1)
		if !s.stop.Load() {
			t.accepted.Add(1)
			s.loop.Promisify(context.Background(), func(context.Context) (any, error) { return nil, nil }).
				Finally(next).
				Catch(func(error) (any, error) { return nil, nil })
		}
		return nil
	}
	if err := s.loop.SubmitInternal(func() { _ = next() }); err != nil {
		s.fault(err.Error())
	}
	return flooder{}
}

func always(s *site, t *tally) flooder {
	fd := s.end(true)
	err := s.loop.RegisterFD(fd, eventloop.EventRead, func(eventloop.IOEvents) {
		s.enter()
		t.ran.Add(1)
		if s.stop.Load() {
			_ = s.loop.UnregisterFD(fd)
		}
	})
	if err != nil {
		s.fault(err.Error())
	}
	t.accepted.Add(1)
	return flooder{}
}
