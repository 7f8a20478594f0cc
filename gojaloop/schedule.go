package gojaloop

// Schedules: who decides, in place of the clock and the loop, when timers are due and when work of Go is done.

import (
	"context"
	"errors"
	"runtime/debug"
	"time"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/promise"
)

// alarms are timers of a loop, which has them by these methods.
type alarms interface {
	ScheduleTimer(delay time.Duration, fn func()) (eventloop.TimerID, error)
	CancelTimer(id eventloop.TimerID) error
	RefTimer(id eventloop.TimerID) error
	UnrefTimer(id eventloop.TimerID) error
}

// Schedule stands for what happens outside of a host: so that a script can be run under many orders, or under one again. Its
// methods are called on the loop, and it calls what it is given on the loop, each in a callback of its own.
type Schedule interface {
	alarms
	// Now returns the time since the host was made. It never goes back.
	Now() time.Duration
	// Work has a function of Promisify called, which blocks the loop meanwhile.
	Work(fn func())
}

// WithSchedule sets the schedule. By default time is the machine's, timers are the loop's, and work of Go runs on goroutines
// of its own. It must not be nil.
func WithSchedule(s Schedule) Option {
	return func(h *Host) error {
		if s == nil {
			return errors.New("gojaloop: WithSchedule: nil schedule")
		}
		h.schedule = s
		return nil
	}
}

// alarms returns who has the timers of the host's own.
func (h *Host) alarms() alarms {
	if h.schedule != nil {
		return h.schedule
	}
	return h.loop
}

// begin begins work of Go.
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

// caught calls a function, and makes an error of a panic.
func caught(fn func() (any, error)) (v any, err error) {
	defer func() {
		if x := recover(); x != nil {
			err = &eventloop.PanicError{Value: x, Stack: debug.Stack()}
		}
	}()
	return fn()
}
