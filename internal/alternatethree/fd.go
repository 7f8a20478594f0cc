//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package alternatethree

// Registration of descriptors, on systems that report readiness.

import (
	"github.com/turnloop/turnloop/internal/loopapi"
	"github.com/turnloop/turnloop/internal/poller"
	"github.com/turnloop/turnloop/internal/rival"
)

// RegisterFD implements loopapi.FDRegistrar. It costs a system call.
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
	err := rival.Watch(l.poller, fd, r.asked, r.tag)
	if err != nil {
		return wrap(err, "register descriptor %d", fd)
	}
	t.entries[fd] = r
	t.size.Store(int64(len(t.entries)))
	return nil
}

// ModifyFD implements loopapi.FDRegistrar. Events that are not watched any more are not delivered from then on, even if they have
// been collected already. When the system refuses the change, the registration stays as it was. It costs a system call.
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

// UnregisterFD implements loopapi.FDRegistrar. After a call on the loop the callback does not start again, even if fd was ready
// already; a call from another goroutine does not wait for a callback that the loop is just calling. When the system refuses, the
// registration has ended all the same; a descriptor that was closed before is not an error. It costs a system call.
func (l *Loop) UnregisterFD(fd int) error {
	t := &l.table
	t.mu.Lock()
	defer t.mu.Unlock()
	r, err := t.find(fd)
	if err == nil {
		t.remove(r)
		err = l.poller.Remove(fd, r.asked)
		t.mayHaveGhost = t.mayHaveGhost || err != nil
		if poller.Gone(err) {
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
