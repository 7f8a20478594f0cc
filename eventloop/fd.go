package eventloop

// Descriptors: the calls of users, and the calls of their callbacks. Registrations and sleeps are package fdset's.

import (
	"fmt"
	"log/slog"

	"github.com/turnloop/turnloop/internal/fdset"
	"github.com/turnloop/turnloop/internal/loopapi"
	"github.com/turnloop/turnloop/internal/observe"
	"github.com/turnloop/turnloop/internal/place"
	"github.com/turnloop/turnloop/internal/sched"
)

// fdHost is the loop as its descriptors see it.
type fdHost struct{ *Loop }

func (h fdHost) Ending() bool { return h.state.Load().Ending() }
func (h fdHost) Wake()        { h.park.Wake() }
func (h fdHost) Log(level slog.Level, msg string, err error, args ...any) {
	h.logLater(level, msg, err, args...)
}

// ioBatch is how many callbacks of descriptors run between two microtask checkpoints.
const ioBatch = 64

// RegisterFD calls callback on the loop whenever the descriptor is ready for one of events, and for EventError and
// EventHangup, asked for or not. It is level-triggered: a callback that does not read all that is there is called again.
// The descriptor stays the caller's, should be non-blocking, and is to be unregistered before it is closed. It keeps an
// auto-exit loop alive. When a socket's peer has finished sending, that is EventRead and no hang-up: the peer may still
// read. Bits of events that name no event are ignored.
//
// Systems differ. On macOS and the BSDs, EventHangup without EventError comes only to a registration that asks for EventWrite,
// and also when this side has finished sending; one that asks for neither EventRead nor EventWrite gets no events. Linux may
// refuse, with EINVAL, a descriptor that about a hundred loops watch already, duplicates included, and, with ELOOP, nested epoll
// descriptors. On Windows the descriptor is a socket that no other loop watches, nor this one under a duplicate.
//
// The first registration wakes the loop, which begins to watch; a further one lets the loop sleep on. A call costs a
// system call. It returns ErrNilCallback, ErrLoopTerminated once the loop is ending, ErrFDAlreadyRegistered,
// ErrFastPathIncompatible under FastPathForced, or the system's error, wrapped: for a descriptor that cannot be polled,
// when the system has no room, or errors.ErrUnsupported where it cannot watch any.
func (l *Loop) RegisterFD(fd int, events IOEvents, callback func(IOEvents)) error {
	if callback == nil {
		return ErrNilCallback
	}
	var created *place.Entry
	if l.debug {
		created = &place.Entry{Since: max(l.now(), 1), From: l.here()}
	}
	if err := l.fds.Register(fd, events, callback, created); err != nil {
		return loopapi.Wrap(err, "register descriptor %d", fd)
	}
	return nil
}

// ModifyFD replaces the events that a registered descriptor is watched for. Events that are not asked for any more are not
// delivered from then on, even if they had happened already. It costs a system call, or a lock if the events stay the same.
//
// It returns ErrFDNotRegistered, ErrLoopTerminated once the loop has ended, or the system's error, wrapped; then
// nothing has changed.
func (l *Loop) ModifyFD(fd int, events IOEvents) error {
	if err := l.fds.Modify(fd, events); err != nil {
		return loopapi.Wrap(err, "modify descriptor %d", fd)
	}
	return nil
}

// UnregisterFD ends a registration. After a call on the loop the callback does not start again, whatever events have
// happened. A call on another goroutine does not wait for a callback that the loop is just calling, which may go on to
// use the descriptor: [Loop.UnregisterFDThen] tells when it may be closed. The call costs a system call.
//
// It returns ErrFDNotRegistered, ErrLoopTerminated once the loop has ended, or the system's error, wrapped, with which
// the registration has ended too. That the descriptor was closed before is not an error.
func (l *Loop) UnregisterFD(fd int) error { return l.unregisterThen(fd, nil) }

// UnregisterFDThen is UnregisterFD, and calls fn, once, when the callback is not running any more and cannot start again:
// so fn may close the descriptor. It is for goroutines other than the loop's, and for callbacks that go on to use the
// descriptor. It costs an internal task more.
//
// fn runs on the loop, as SubmitInternal's functions do. If the loop ends before that, by Close as a rule, fn runs all the
// same, on another goroutine, for which Done does not wait. Such functions run one at a time, and their panics are logged.
//
// It returns ErrNilCallback if fn is nil, and otherwise what UnregisterFD returns. If the result is nil or the system's error,
// the registration has ended, and fn is called. If it is ErrFDNotRegistered, fn is not called; nor if it is ErrLoopTerminated,
// which says that no callback will run any more: the descriptor may be closed at once.
func (l *Loop) UnregisterFDThen(fd int, fn func()) error {
	if fn == nil {
		return ErrNilCallback
	}
	return l.unregisterThen(fd, fn)
}

func (l *Loop) unregisterThen(fd int, fn func()) error {
	var then func()
	if fn != nil {
		then = func() { l.follow(fn) }
	}
	err := l.fds.Unregister(fd, then)
	if l.autoExit && !l.watches(l.guest.unneeded(false)) {
		l.park.Wake() // to decide anew whether to end
	}
	if err != nil {
		return loopapi.Wrap(err, "unregister descriptor %d", fd)
	}
	return nil
}

// follow has the loop call fn behind the callback that it may be calling, or callLeft, if the loop ends without having called it.
func (l *Loop) follow(fn func()) {
	e := &endFunc{fn: fn}
	l.left.add(e)
	_ = l.enqueue(internal, func() {
		if l.left.remove(e) {
			fn()
		}
	}, true)
}

// callLeft calls the functions of UnregisterFDThen that a loop which has ended did not call. Each gets a goroutine of its own,
// which runtime.Goexit may end. They run one after the other: they may share state as callbacks of a loop do.
func (l *Loop) callLeft(e *endFunc) {
	fault := &PanicError{Value: ErrGoexit}
	defer func() {
		if e.next != nil {
			sched.Go(func() { l.callLeft(e.next) })
		}
		if fault != nil {
			l.logLater(slog.LevelError, "callback panicked", fault, "kind", observe.Internal.String(), "stack", string(fault.Stack))
		}
	}()
	fault = guarded(e.fn)
}

// closeDescriptors is what the end of the loop does to its descriptors.
func (l *Loop) closeDescriptors() {
	if err := l.fds.Close(); err != nil {
		l.logLater(slog.LevelError, "the poller was not closed properly", err, "kind", "poller")
	}
	if first := l.left.end(); first != nil {
		sched.Go(func() { l.callLeft(first) })
	}
}

// runIO calls the callbacks of collected events, for as long as there is time. If none is left of an earlier tick, it collects
// events first, if there may be some. The registration of an event is looked up right before the call, since it may have ended
// or changed after the event was collected.
func (l *Loop) runIO() {
	d := &l.fds
	if !d.Collected() && !l.bounds.polled {
		l.bounds.polled = true
		if asked, err := d.Collect(l.park.Tick.Load(), l.bounds.full); asked {
			l.collected(err)
		}
	}
	if !d.Collected() {
		return
	}
	l.shared.PassOn()
	for n := 1; d.Collected(); n++ {
		if t := &l.bounds.events; t.Due() && t.Spent(l.now()) {
			l.bounds.full = true // the rest of the batch waits for the next tick
			break
		}
		l.bounds.events.Count()
		for l.foreignDue() {
			l.checkpoint()
		}
		r, events := d.Next()
		if l.state.Load().Ending() { // the last look before a callback
			d.Discard()
			break
		}
		if events != 0 {
			l.current = call{observe.Descriptor, uint64(r.FD)}
			var from *place.Place
			if r.Created != nil {
				from = r.Created.From
			}
			l.probe.Began(observe.Descriptor, 0, from)
			r.Callback(events)
			l.probe.Ended()
		}
		if (l.strictMicrotasks || n%ioBatch == 0) && l.microtasksDue() {
			l.checkpoint()
		}
	}
	l.checkpoint()
}

// collected notes that the tick has asked for events. A loop that cannot be told of events any more ends, gracefully.
func (l *Loop) collected(err error) {
	l.bounds.polled = true
	l.probe.Gap()
	if err != nil {
		l.failure = err
		l.terminate(0)
		l.logLater(slog.LevelError, "the loop ends", err, "kind", observe.Descriptor.String())
	}
}

// FastPathMode says what the loop sleeps in.
type FastPathMode int

const (
	// FastPathAuto parks the loop on a channel and has another goroutine watch descriptors, so that waking it costs the
	// same with and without descriptors. The poller is not touched before the first descriptor is registered.
	FastPathAuto FastPathMode = iota
	// FastPathForced is FastPathAuto without descriptors: to register one is an error.
	FastPathForced
	// FastPathDisabled has the loop block in the system's poller, as event loops usually do: each wake-up is a system
	// call, and takes many times as long. It is meant for debugging and for comparison.
	FastPathDisabled
)

// String is the mode's name: auto, forced or disabled.
func (m FastPathMode) String() string {
	switch m {
	case FastPathAuto:
		return "auto"
	case FastPathForced:
		return "forced"
	case FastPathDisabled:
		return "disabled"
	}
	return fmt.Sprintf("FastPathMode(%d)", int(m))
}

// SetFastPathMode changes the mode, and wakes the loop to take notice. It returns ErrFastPathIncompatible for
// FastPathForced while descriptors are registered, ErrLoopTerminated once the loop is ending, an error for a mode that
// does not exist, or the system's error, wrapped, when it has no poller for FastPathDisabled. With an error nothing has
// changed. Elsewhere than on the loop it lets other goroutines run before it returns.
func (l *Loop) SetFastPathMode(mode FastPathMode) error {
	err := l.setMode(mode)
	if err == nil {
		l.park.Wake()
	}
	l.yieldOffLoop() // a change may have the loop begin a watch, or end one, for which it waits for other goroutines
	if err != nil {
		return loopapi.Wrap(err, "fast path mode %d", mode)
	}
	return nil
}

func (l *Loop) setMode(mode FastPathMode) error {
	if mode < FastPathAuto || mode > FastPathDisabled {
		return errNoSuchMode
	}
	return l.fds.SetMode(fdset.Mode(mode))
}
