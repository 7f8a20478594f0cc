package gojaloop

// Schedules: a replacement for the clock, the loop's timers and the goroutines of Go work.

import (
	"context"
	"runtime/debug"
	"time"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/promise"
)

// alarms are the timer methods that a loop has, and a Schedule too.
type alarms interface {
	ScheduleTimer(delay time.Duration, fn func()) (eventloop.TimerID, error)
	CancelTimer(id eventloop.TimerID) error
	RefTimer(id eventloop.TimerID) error
	UnrefTimer(id eventloop.TimerID) error
}

// Schedule decides in place of the clock, the loop's timers and the goroutines of Go work, so that a script can be
// run in many orders, or again in the same one. The host calls its methods on the loop. The schedule must call the
// functions that it is given on the loop, each in a callback of its own.
type Schedule interface {
	alarms
	// Now returns the time since the host was made. It never goes back.
	Now() time.Duration
	// Work arranges a later call of fn, which does the work that a call of [Host.Promisify] was given. It runs on the loop,
	// and so blocks it.
	Work(fn func())
}

// WithSchedule sets the schedule. By default time is the machine's, timers are the loop's, and Go work runs on
// goroutines of its own. It must not be nil.
func WithSchedule(s Schedule) Option {
	return given(s != nil, "WithSchedule: nil schedule", func(h *Host) { h.schedule = s })
}

// alarms returns the schedule, else the loop.
func (h *Host) alarms() alarms {
	if h.schedule != nil {
		return h.schedule
	}
	return h.loop
}

// begin starts Go work, and returns a promise of its outcome. On the loop.
func (h *Host) begin(fn func() (any, error)) *promise.Promise {
	if h.schedule == nil {
		return h.loop.Promisify(context.Background(), func(context.Context) (any, error) { return fn() })
	}
	p, resolve, reject := h.loop.NewPromise()
	h.schedule.Work(func() {
		v, err := caught(fn)
		if err != nil {
			reject(err)
		} else {
			resolve(v)
		}
	})
	return p
}

// caught calls fn, and returns a panic as an error.
func caught(fn func() (any, error)) (v any, err error) {
	defer func() {
		if x := recover(); x != nil {
			err = &eventloop.PanicError{Value: x, Stack: debug.Stack()}
		}
	}()
	return fn()
}
