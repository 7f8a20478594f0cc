//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package alternateone

// Registration of descriptors, from any goroutine, on systems where they can be polled.

import (
	"errors"
	"fmt"

	"github.com/turnloop/turnloop/internal/loopapi"
	"github.com/turnloop/turnloop/internal/rival"
)

const allEvents = loopapi.EventRead | loopapi.EventWrite | loopapi.EventError | loopapi.EventHangup

var errUnknownEvents = errors.New("unknown events")

// RegisterFD implements loopapi.FDRegistrar. A sleeping loop is woken to let the caller in. While an I/O callback runs, a
// caller on another goroutine waits for it, so an I/O callback must not wait for a goroutine that registers.
func (l *Loop) RegisterFD(fd int, events loopapi.IOEvents, callback func(loopapi.IOEvents)) error {
	const op = "RegisterFD"
	if callback == nil {
		return l.fail(op, loopapi.ErrNilCallback, "descriptor", fd)
	}
	return l.change(op, fd, events, func(w *watch) error {
		switch {
		case l.isEnding(false):
			return loopapi.ErrLoopTerminated
		case w != nil:
			return loopapi.ErrFDAlreadyRegistered
		}
		t := &l.table
		t.number++
		w = &watch{fd: fd, tag: uint32(t.number), id: t.number, events: events, callback: callback}
		w.call = func() { w.callback(w.ready) }
		err := rival.Watch(l.poller, fd, events, w.tag)
		if err == nil {
			t.watch[fd] = w
		}
		return err
	})
}

// ModifyFD implements loopapi.FDRegistrar. It waits as RegisterFD does.
func (l *Loop) ModifyFD(fd int, events loopapi.IOEvents) error {
	return l.change("ModifyFD", fd, events, func(w *watch) error {
		switch {
		case l.isEnding(true):
			return loopapi.ErrLoopTerminated
		case w == nil:
			return loopapi.ErrFDNotRegistered
		}
		err := l.poller.Modify(fd, w.events, events, w.tag)
		if err == nil {
			w.events = events
		}
		return err
	})
}

// UnregisterFD implements loopapi.FDRegistrar. It waits as RegisterFD does: the callback does not start after UnregisterFD has
// returned. It may be called after fd was closed.
func (l *Loop) UnregisterFD(fd int) error {
	return l.change("UnregisterFD", fd, 0, func(w *watch) error {
		switch {
		case l.isEnding(true):
			return loopapi.ErrLoopTerminated
		case w == nil:
			return loopapi.ErrFDNotRegistered
		}
		delete(l.table.watch, fd)
		// Remove fails when fd is closed. If a duplicate goes on reporting, its events belong to no watch; see poll.
		_ = l.poller.Remove(fd, w.events)
		return nil
	})
}

// change runs f with the table locked, and passes it the watch of fd, or nil. It wraps f's error.
func (l *Loop) change(op string, fd int, events loopapi.IOEvents, f func(*watch) error) error {
	if events&^allEvents != 0 {
		return l.fail(op, fmt.Errorf("%w: %#x", errUnknownEvents, uint32(events)), "descriptor", fd)
	}
	if !l.OnLoop() || !l.holding { // an I/O callback runs while the loop holds the lock of the table
		asleep := l.announce()
		defer l.leave()
		if asleep {
			l.wake(op)
		}
		l.table.mu.Lock()
		defer l.table.mu.Unlock()
	}
	w := l.table.watch[fd]
	if w != nil {
		l.examine(op, fd, w)
	}
	if err := f(w); err != nil {
		return l.fail(op, err, "descriptor", fd)
	}
	return nil
}

// announce makes the loop let the caller in, and reports whether the loop must be woken for that. It counts under the lock
// of the sleep decision: a loop that is awake does not go to sleep before the caller was in, and a loop that sleeps is
// seen here.
func (l *Loop) announce() (asleep bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.announced++
	return l.state.load() == sleeping
}

// leave tells the loop that the caller has left the table. The loop waits for the count in letIn.
func (l *Loop) leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.admitted++
	l.gone.Signal()
}

// isEnding reports whether the loop has ended or, if forGood is false, is ending. The caller holds table.mu.
func (l *Loop) isEnding(forGood bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.table.watch == nil || l.broken.Load() != nil || !forGood && l.ending()
}
