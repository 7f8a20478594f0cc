//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package main

// The floods of the loop's own calls, from other goroutines.

import (
	"errors"
	"time"

	"golang.org/x/sys/unix"

	"github.com/turnloop/turnloop/eventloop"
)

// idleTimer is a delay longer than any cell.
const idleTimer = time.Hour

var calls = []flood{
	{name: "Submit", like: sends, law: exactly, own: set(taskProbe),
		begin: each(func(s *site, t *tally) error { return s.loop.Submit(t.next()) })},
	{name: "Submit at the limit", like: sends, law: exactly, own: set(taskProbe), free: set(taskProbe),
		opts:  []eventloop.Option{eventloop.WithQueueLimit(8)},
		begin: each(func(s *site, t *tally) error { return s.loop.Submit(t.next()) })},
	{name: "Submit of nil", like: reads, refused: true,
		begin: each(func(s *site, _ *tally) error { return s.loop.Submit(nil) })},
	// External tasks wait for internal ones by intent.
	{name: "SubmitInternal", like: sends, law: exactly, own: set(internalProbe), free: set(taskProbe),
		begin: each(func(s *site, t *tally) error { return s.loop.SubmitInternal(t.next()) })},
	{name: "ScheduleMicrotask", like: sends, law: exactly, own: microtasks,
		begin: each(func(s *site, t *tally) error { return s.loop.ScheduleMicrotask(t.next()) })},
	{name: "NextTick", like: sends, law: exactly, own: microtasks,
		begin: each(func(s *site, t *tally) error { return s.loop.NextTick(t.next()) })},
	{name: "ScheduleTimer(0)", like: sends, law: pending, own: set(timerProbe),
		begin: each(func(s *site, t *tally) error { _, err := s.loop.ScheduleTimer(0, t.next()); return err })},
	{name: "ScheduleTimer(1ms)", like: sends, law: pending, own: set(timerProbe),
		begin: each(func(s *site, t *tally) error { _, err := s.loop.ScheduleTimer(time.Millisecond, t.next()); return err })},
	{name: "ScheduleTimerAs critical", like: sends, law: pending, own: set(timerProbe),
		begin: tiered(eventloop.TimerCritical)},
	// Background timers wait for all probes, and no probe waits for them.
	{name: "ScheduleTimerAs background", like: sends, law: pending, begin: tiered(eventloop.TimerBackground)},
	{name: "ScheduleTimer, CancelTimer", like: alarms, begin: cancelled},
	{name: "CancelTimer of none", like: locks, refused: true,
		begin: each(func(s *site, _ *tally) error { return s.loop.CancelTimer(0) })},
	{name: "RefTimer, UnrefTimer", like: locks, begin: referenced},
	{name: "SetFastPathMode", like: locks, begin: switched},
	{name: "Hold", like: locks, begin: asks(func(s *site) { s.loop.Hold()() })},
	{name: "Alive", like: locks, begin: asks(func(s *site) { s.loop.Alive() })},
	{name: "OnLoop", like: reads, begin: asks(func(s *site) { s.loop.OnLoop() })},
	{name: "State", like: reads, begin: asks(func(s *site) { s.loop.State() })},
	{name: "CurrentTickTime", like: reads, begin: asks(func(s *site) { s.loop.CurrentTickTime() })},
}

func tiered(tier eventloop.TimerTier) func(s *site, t *tally) flooder {
	return each(func(s *site, t *tally) error {
		_, err := s.loop.ScheduleTimerAs(tier, 0, t.next())
		return err
	})
}

// cancelled schedules timers and cancels them; each is cancelled or has run.
func cancelled(s *site, t *tally) flooder {
	return flooder{call: func() bool {
		o := &one{t: t}
		id, err := s.loop.ScheduleTimer(time.Millisecond, o.run)
		if err != nil {
			return false
		}
		if s.loop.CancelTimer(id) == nil && o.ran.Swap(true) {
			s.fault("a timer that was cancelled has run")
		}
		return true
	}}
}

func referenced(s *site, _ *tally) flooder {
	id, err := s.loop.ScheduleTimer(idleTimer, func() { s.enter() })
	if err != nil {
		s.fault("no timer to unref: " + err.Error())
	}
	return flooder{call: func() bool { return s.loop.UnrefTimer(id) == nil && s.loop.RefTimer(id) == nil }}
}

// switched changes the loop's mode of sleeping; one of the modes is refused while there are descriptors.
func switched(s *site, _ *tally) flooder {
	modes := []eventloop.FastPathMode{eventloop.FastPathDisabled, eventloop.FastPathAuto, eventloop.FastPathForced}
	n := 0
	return flooder{call: func() bool {
		n++
		return s.loop.SetFastPathMode(modes[n%len(modes)]) == nil
	}}
}

var descriptors = []flood{
	{name: "RegisterFD, UnregisterFD", like: systems, begin: registered(false)},
	{name: "RegisterFD, UnregisterFD, ready", like: systems, begin: registered(true)},
	{name: "RegisterFD, UnregisterFDThen", like: systems, law: pending, own: set(internalProbe), free: set(taskProbe), begin: followed},
	// Most of what a refused call costs is the making of its error.
	{name: "RegisterFD again", like: litters, refused: true, begin: again},
	{name: "ModifyFD", like: systems, begin: modified},
}

// end returns a descriptor that is always writable, and readable if something is set.
func (s *site) end(something bool) int {
	fd, far, err := pair()
	if err != nil {
		s.fault(err.Error())
		return -1
	}
	if something {
		_, _ = far.Write([]byte{0})
	}
	s.atEnd(func() {
		_ = far.Close()
		_ = unix.Close(fd)
	})
	return fd
}

func (s *site) register(fd int, events eventloop.IOEvents) error {
	return s.loop.RegisterFD(fd, events, func(eventloop.IOEvents) { s.enter() })
}

func registered(ready bool) func(s *site, t *tally) flooder {
	return func(s *site, _ *tally) flooder {
		fd := s.end(ready)
		return flooder{call: func() bool { return s.register(fd, eventloop.EventRead) == nil && s.loop.UnregisterFD(fd) == nil }}
	}
}

// followed registers again only when the last registration is known to be over. A notification after the loop's end is no
// callback of the loop.
func followed(s *site, t *tally) flooder {
	fd := s.end(true)
	return flooder{call: func() bool {
		if s.register(fd, eventloop.EventRead) != nil {
			return false
		}
		over, o := make(chan struct{}), &one{t: t}
		if s.loop.UnregisterFDThen(fd, func() { o.count(); close(over) }) != nil {
			return false
		}
		<-over
		return true
	}}
}

func again(s *site, _ *tally) flooder {
	fd := s.end(false)
	if err := s.register(fd, eventloop.EventRead); err != nil {
		s.fault(err.Error())
	}
	return flooder{call: func() bool {
		err := s.register(fd, eventloop.EventRead)
		if err != nil && !errors.Is(err, eventloop.ErrFDAlreadyRegistered) && !errors.Is(err, eventloop.ErrLoopTerminated) {
			s.fault(err.Error())
		}
		return err == nil
	}}
}

// modified watches a descriptor for an event that is there, and for one that is not, in turn.
func modified(s *site, _ *tally) flooder {
	fd := s.end(false)
	if err := s.register(fd, eventloop.EventRead); err != nil {
		s.fault(err.Error())
	}
	return flooder{call: func() bool {
		return s.loop.ModifyFD(fd, eventloop.EventWrite) == nil && s.loop.ModifyFD(fd, eventloop.EventRead) == nil
	}}
}
