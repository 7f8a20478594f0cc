package gojaloop

// Parking: a host leaves its loop with everything pending, and goes on elsewhere.

import (
	"errors"
	"slices"

	"github.com/dop251/goja"
	"github.com/turnloop/turnloop/eventloop"
)

// Park stops the host until [Host.Resume]. A callback that runs comes to its end, with its checkpoint; nothing else begins.
// Timers, immediates and functions of Submit stay, and more are accepted. The loop may end meanwhile. If a Go promise settles
// while the host is parked, its script's promise stays pending. Park does not wait. Any goroutine may call it.
func (h *Host) Park() { h.parked.Store(true) }

// Resume lets a parked host go on, on the same loop or on another. first, unless it is nil, runs before anything else.
//
// For the same loop, call it on that loop. For another loop, the previous one must have ended, the new one must not run
// yet, and no call of Do or Run may be under way. It returns an error if the host is not parked or has ended, or if l
// is nil; or the error of the loop's Submit.
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
	err := l.Submit(in.wake)
	if err == nil {
		h.parked.Store(false)
	}
	in.mu.Unlock()
	if err != nil {
		return err
	}
	h.turnQueued, h.ending, h.timers.alarm, h.phase = false, nil, 0, polling
	if first != nil {
		in.before(first)
	}
	return nil
}

// Pending returns how many timers and immediates with a ref are pending. It is for the loop; while the host is parked
// and its loop has ended, for the goroutine that parked it.
func (h *Host) Pending() int { return h.timers.refs + h.immediates.refs }

// Forget cancels all timers and immediates, as their clear functions do. It is for the loop; while the host is parked
// and its loop has ended, for the goroutine that parked it.
func (h *Host) Forget() { h.clearWhere(func(*scope) bool { return true }) }

// clearWhere cancels the timers and immediates with a context for which f returns true.
func (h *Host) clearWhere(f func(*scope) bool) {
	for _, l := range slices.Clone(h.timers.order) {
		for t := l.head; t != nil; {
			next := t.next
			if f(t.scope) {
				h.timers.clear(t)
			}
			t = next
		}
	}
	for _, q := range []*queue{&h.immediates.batch, &h.immediates.fresh} {
		for im := q.head; im != nil; {
			next := im.next
			if f(im.scope) {
				h.immediates.clear(im)
			}
			im = next
		}
	}
}
