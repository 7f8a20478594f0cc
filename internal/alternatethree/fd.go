//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package alternatethree

// Registration of descriptors, where the system has readiness.

import (
	"errors"

	"golang.org/x/sys/unix"

	"github.com/turnloop/turnloop/internal/loopapi"
)

var _ loopapi.FDRegistrar = (*Loop)(nil)

// RegisterFD calls callback on the loop whenever fd is ready for one of events, and for EventError and EventHangup,
// asked for or not. It is level-triggered: who does not read what is there is called again. Any goroutine may call it,
// also while the loop sleeps, and before Run. The descriptor stays the caller's, who unregisters it before closing it.
//
// It returns ErrNilCallback, ErrLoopTerminated once the end of the loop was asked for, ErrFDAlreadyRegistered, or the
// system's error, wrapped: EBADF, EPERM for what cannot be polled, ENOMEM, ENOSPC. It costs a system call.
func (l *Loop) RegisterFD(fd int, events loopapi.IOEvents, callback func(loopapi.IOEvents)) error {
	if callback == nil {
		return loopapi.ErrNilCallback
	}
	t := &l.table
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.entries == nil || l.state.ending():
		return loopapi.ErrLoopTerminated
	case t.entries[fd] != nil:
		return wrap(loopapi.ErrFDAlreadyRegistered, "register descriptor %d", fd)
	}
	t.lastTag++
	r := &registration{fd: fd, tag: t.lastTag}
	r.call = func() { callback(r.fired) }
	r.ask(events)
	err := l.poller.Add(fd, r.asked, r.tag)
	if errors.Is(err, unix.EEXIST) {
		// Left by a registration that ended while the number meant something else. It is ours now.
		err = l.poller.Modify(fd, 0, r.asked, r.tag)
	}
	if err != nil {
		return wrap(err, "register descriptor %d", fd)
	}
	t.entries[fd] = r
	t.size.Store(int64(len(t.entries)))
	return nil
}

// ModifyFD changes the events that fd is watched for. Events that are not asked for any more are not delivered from
// then on, even if they have been collected already. Any goroutine may call it.
//
// It returns ErrFDNotRegistered, ErrLoopTerminated once the loop has ended, or the system's error, wrapped, in which
// case the registration stays as it was. It costs a system call.
func (l *Loop) ModifyFD(fd int, events loopapi.IOEvents) error {
	t := &l.table
	t.mu.Lock()
	defer t.mu.Unlock()
	r, err := t.find(fd)
	if err == nil {
		if err = l.poller.Modify(fd, r.asked, events, r.tag); err == nil {
			r.ask(events)
		}
	}
	return wrap(err, "modify descriptor %d", fd)
}

// UnregisterFD ends the watch of fd. When it has returned, on the loop, the callback does not start again, also if fd
// was ready already; called from another goroutine it does not wait for a callback that the loop is just calling. Any
// goroutine may call it.
//
// It returns ErrFDNotRegistered, ErrLoopTerminated once the loop has ended, or the system's error, wrapped; the
// registration has ended then nevertheless. That the system does not know fd any more, because it was closed, is not an
// error. It costs a system call.
func (l *Loop) UnregisterFD(fd int) error {
	t := &l.table
	t.mu.Lock()
	defer t.mu.Unlock()
	r, err := t.find(fd)
	if err == nil {
		t.remove(r)
		err = l.poller.Remove(fd, r.asked)
		t.haunted = t.haunted || err != nil
		if errors.Is(err, unix.EBADF) || errors.Is(err, unix.ENOENT) {
			err = nil
		}
	}
	return wrap(err, "unregister descriptor %d", fd)
}

// find returns the registration of fd. The caller holds mu.
func (t *table) find(fd int) (*registration, error) {
	switch r := t.entries[fd]; {
	case t.entries == nil:
		return nil, loopapi.ErrLoopTerminated
	case r == nil:
		return nil, loopapi.ErrFDNotRegistered
	default:
		return r, nil
	}
}
