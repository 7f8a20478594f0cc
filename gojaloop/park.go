package gojaloop

// Parking: a host leaves its loop with all it has, and goes on elsewhere.

import (
	"errors"

	"github.com/dop251/goja"
	"github.com/turnloop/turnloop/eventloop"
)

// Park stops the host: the callback that runs, if one does, comes to its end with its ticks and promise jobs, and nothing
// else begins until [Host.Resume]. Timers, immediates and functions of Submit stay as they are, and more are accepted.
// The loop may end meanwhile, but for promises of Go that settle when the host is parked: these are lost to scripts. It
// does not wait. Any goroutine may call it.
func (h *Host) Park() { h.parked.Store(true) }

// Resume has a parked host go on, on the same loop or on another. first, unless it is nil, runs before anything else.
//
// It is for the loop when it is the same; else the loop before must have ended, the other must not run yet, and nobody may
// be calling Do or Run meanwhile. It returns an error if the host is not parked or has ended, or what the loop's Submit
// returns.
func (h *Host) Resume(l *eventloop.Loop, first func(*goja.Runtime)) error {
	if err := h.Err(); err != nil {
		return closed(err)
	}
	if l == nil || !h.parked.Load() {
		return errors.New("gojaloop: Resume of a host that is not parked, or on no loop")
	}
	in := &h.inbox
	in.mu.Lock()
	h.loop = l
	in.armed = true
	err := l.Submit(in.ring)
	if err == nil {
		h.parked.Store(false)
	}
	in.mu.Unlock()
	if err != nil {
		return err
	}
	h.owed, h.ending, h.timers.alarm, h.phase = false, nil, 0, polling
	if first != nil {
		in.before(first)
	}
	return nil
}

// Pending returns how many timers and immediates that have a ref are pending. It is for the loop, and for whoever has parked
// the host when its loop has ended.
func (h *Host) Pending() int { return h.timers.refs + h.immediates.refs }

// Forget takes back all timers and immediates, as their clears do. It is for the loop, and for whoever has parked the
// host when its loop has ended.
func (h *Host) Forget() {
	for _, l := range h.timers.order {
		for l.head != nil {
			h.timers.clear(l.head)
		}
	}
	for _, q := range []*queue{&h.immediates.batch, &h.immediates.fresh} {
		for q.head != nil {
			h.immediates.clear(q.head)
		}
	}
}
