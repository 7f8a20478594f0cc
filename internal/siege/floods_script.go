//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package main

// The floods of package js.

import (
	"context"
	"errors"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/js"
)

var scripts = []flood{
	{name: "js SetTimeout(0)", like: makes, law: pending, own: set(timerProbe),
		begin: each(func(s *site, t *tally) error { _, err := s.js.SetTimeout(t.next(), 0); return err })},
	{name: "js SetInterval, ClearInterval", like: alarms, begin: each(func(s *site, _ *tally) error {
		id, err := s.js.SetInterval(func() { s.enter() }, 1)
		s.js.ClearInterval(id)
		return err
	})},
	{name: "js Refresh", like: alarms, begin: refreshed(1)},
	{name: "js Refresh, far", like: alarms, begin: refreshed(1e6)},
	{name: "js Ref, Unref", like: locks, begin: func(s *site, _ *tally) flooder {
		id, err := s.js.SetTimeout(func() { s.enter() }, 1e6)
		if err != nil {
			s.fault(err.Error())
		}
		return flooder{call: func() bool { s.js.Unref(id); s.js.Ref(id); return s.js.HasRef(id) }}
	}},
	// To the loop an immediate is an internal task.
	{name: "js SetImmediate", like: makes, law: pending, own: set(internalProbe), free: set(taskProbe),
		begin: each(func(s *site, t *tally) error { _, err := s.js.SetImmediate(t.next()); return err })},
	{name: "js SetImmediate, ClearImmediate", like: makes, own: set(internalProbe), free: set(taskProbe),
		begin: each(func(s *site, _ *tally) error {
			id, err := s.js.SetImmediate(func() { s.enter() })
			s.js.ClearImmediate(id)
			return err
		})},
	{name: "js NextTick", like: sends, law: exactly, own: microtasks,
		begin: each(func(s *site, t *tally) error { return s.js.NextTick(t.next()) })},
	{name: "js QueueMicrotask", like: sends, law: exactly, own: microtasks,
		begin: each(func(s *site, t *tally) error { return s.js.QueueMicrotask(t.next()) })},
	{name: "js Abort", like: toils, law: exactly, own: set(internalProbe), free: set(taskProbe),
		begin: aborts(func(j *js.JS, signal *js.AbortSignal) *js.AbortSignal { return signal })},
	{name: "js AnySignal", like: toils, law: exactly, own: set(internalProbe), free: set(taskProbe),
		begin: aborts(func(j *js.JS, signal *js.AbortSignal) *js.AbortSignal {
			return j.AnySignal(j.NewAbortController().Signal(), signal)
		})},
	// A signal may be aborted before its listener is added, which is then never called.
	{name: "js TimeoutSignal", like: makes, own: set(timerProbe),
		begin: func(s *site, t *tally) flooder {
			return flooder{call: func() bool {
				signal, err := s.js.TimeoutSignal(1)
				if err == nil {
					o := &one{t: t}
					signal.OnAbort(func(error) { o.run() })
				}
				return err == nil
			}}
		}},
	{name: "js OnAbort, Context", like: litters, begin: asks(func(s *site) {
		remove := s.signal.OnAbort(func(error) { s.enter() })
		_, cancel := s.signal.Context(context.Background())
		cancel()
		remove()
	})},
	{name: "js DispatchEvent", like: serves, law: exactly, own: set(taskProbe), begin: dispatched},
	{name: "js AddEventListener, Remove", like: litters, begin: listening},
	{name: "js Promise", like: toils, law: wanted, own: microtasks,
		begin: kept(func(s *site, o *one) {
			p, resolve, _ := s.js.WithResolvers()
			p.Then(o.fulfilled, o.rejected)
			resolve(s.js.Resolve(eventloop.StateAwake))
		})},
}

// refreshed refreshes one timer, and sets another when that has fired.
func refreshed(ms float64) func(s *site, t *tally) flooder {
	return func(s *site, _ *tally) flooder {
		var id js.ID
		return flooder{call: func() bool {
			err := s.js.Refresh(id)
			if errors.Is(err, js.ErrNoTimer) {
				id, err = s.js.SetTimeout(func() { s.enter() }, ms)
			}
			return err == nil
		}}
	}
}

// aborts aborts signals that have a listener each.
func aborts(of func(j *js.JS, signal *js.AbortSignal) *js.AbortSignal) func(s *site, t *tally) flooder {
	return func(s *site, t *tally) flooder {
		return flooder{call: func() bool {
			c := s.js.NewAbortController()
			o := &one{t: t}
			of(s.js, c.Signal()).OnAbort(func(error) { o.run() })
			return c.Abort(nil) == nil
		}}
	}
}

// dispatched makes the loop dispatch one event after the other at a target.
func dispatched(s *site, t *tally) flooder {
	target := s.js.NewEventTarget()
	var listen func() // what the listener does with the event that is being dispatched; set and called on the loop
	if err := target.AddEventListener("flood", js.NewEventListener(func(*js.Event) { listen() })); err != nil {
		s.fault(err.Error())
	}
	return flooder{call: func() bool {
		fn := t.next()
		return s.loop.Submit(func() {
			listen = fn
			if _, err := target.DispatchEvent(js.NewEvent("flood")); err != nil {
				s.fault(err.Error())
			}
		}) == nil
	}}
}

func listening(s *site, _ *tally) flooder {
	target, listener := s.js.NewEventTarget(), js.NewEventListener(func(*js.Event) {})
	return flooder{call: func() bool {
		err := target.AddEventListener("flood", listener)
		target.RemoveEventListener("flood", listener)
		return err == nil
	}}
}
