//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package main

// The floods of package js.

import (
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
	// To the loop an immediate is an internal task.
	{name: "js SetImmediate", like: makes, law: pending, own: set(internalProbe), free: set(taskProbe),
		begin: each(func(s *site, t *tally) error { _, err := s.js.SetImmediate(t.next()); return err })},
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
	// One may be aborted before there is a listener, which then never hears.
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
	{name: "js DispatchEvent", like: makes, law: exactly, own: set(taskProbe), begin: dispatched},
	{name: "js AddEventListener, Remove", like: litters, begin: listening},
	{name: "js Promise", like: toils, law: wanted, own: microtasks,
		begin: kept(func(s *site, o *one) {
			p, resolve, _ := s.js.WithResolvers()
			p.Then(o.fulfilled, o.rejected)
			resolve(s.js.Resolve(eventloop.StateAwake))
		})},
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

// dispatched has the loop dispatch one event after the other at a target.
func dispatched(s *site, t *tally) flooder {
	target := s.js.NewEventTarget()
	var heard func() // of the event that is dispatched; on the loop
	if err := target.AddEventListener("flood", js.NewEventListener(func(*js.Event) { heard() })); err != nil {
		s.fault(err.Error())
	}
	return flooder{call: func() bool {
		fn := t.next()
		return s.loop.Submit(func() {
			heard = fn
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
