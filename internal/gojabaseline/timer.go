// Timers: the interface names them by number, goja_nodejs by pointer.

package gojabaseline

import (
	"sync"
	"time"

	"github.com/dop251/goja"
	"github.com/dop251/goja_nodejs/eventloop"
	"github.com/turnloop/turnloop/internal/loopapi"
)

type timers struct {
	mu      sync.Mutex // guards both fields; never held while a callback runs
	last    loopapi.TimerID
	pending map[loopapi.TimerID]*eventloop.Timer
}

// ScheduleTimer runs fn on the loop once, delay after the loop has taken notice. It returns ErrNilCallback, or
// ErrLoopTerminated when goja_nodejs refuses.
func (l *Loop) ScheduleTimer(delay time.Duration, fn func()) (loopapi.TimerID, error) {
	if fn == nil {
		return 0, loopapi.ErrNilCallback
	}
	t := &l.timers
	t.mu.Lock() // until the timer is in the table: it may fire before SetTimeout returns
	defer t.mu.Unlock()
	id := t.last + 1
	timer := l.js.SetTimeout(func(*goja.Runtime) {
		if t.take(id) != nil {
			fn()
		}
	}, delay)
	if timer == nil {
		return 0, loopapi.ErrLoopTerminated
	}
	t.last = id
	t.pending[id] = timer
	return id, nil
}

// CancelTimer keeps a pending timer from firing. It returns ErrTimerNotFound if it has fired, was cancelled or never was.
func (l *Loop) CancelTimer(id loopapi.TimerID) error {
	timer := l.timers.take(id)
	if timer == nil {
		return loopapi.ErrTimerNotFound
	}
	l.js.ClearTimeout(timer)
	return nil
}

// take removes and returns a timer, so that of firing and cancelling only one gets it. It returns nil for an unknown id.
func (t *timers) take(id loopapi.TimerID) *eventloop.Timer {
	t.mu.Lock()
	defer t.mu.Unlock()
	timer := t.pending[id]
	delete(t.pending, id)
	return timer
}

// drop forgets the timers of a loop that has ended.
func (t *timers) drop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	clear(t.pending)
}
