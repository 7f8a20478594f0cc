//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package alternatetwo

// Registration, on systems whose poller supports descriptors. On other systems the loop does not have these methods.

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/turnloop/turnloop/internal/loopapi"
	"github.com/turnloop/turnloop/internal/poller"
	"github.com/turnloop/turnloop/internal/rival"
)

// RegisterFD implements loopapi.FDRegistrar. For a descriptor of 65,536 or more it returns an error that wraps EMFILE. It
// costs the system call, and an allocation for the callback.
func (l *Loop) RegisterFD(fd int, events loopapi.IOEvents, callback func(loopapi.IOEvents)) error {
	switch {
	case callback == nil:
		return loopapi.ErrNilCallback
	case l.state.ending():
		return loopapi.ErrLoopTerminated
	case fd >= tableSize:
		return fmt.Errorf("alternatetwo: descriptor %d is beyond the table of %d: %w", fd, tableSize, syscall.EMFILE)
	case fd < 0:
		return fmt.Errorf("alternatetwo: descriptor %d: %w", fd, syscall.EBADF)
	}
	d := l.table.entry(fd)
	word := d.change()
	if word&liveFlag != 0 {
		d.word.Store(word)
		return loopapi.ErrFDAlreadyRegistered
	}
	version := word >> versionShift
	d.callback.Store(&callback)
	if err := rival.Watch(l.poller, fd, events, uint32(version)); err != nil {
		d.free(word)
		return pollerError("register", fd, err)
	}
	l.table.watched.Add(1)
	d.word.Store(version<<versionShift | liveFlag | uint64(events)&interest)
	return nil
}

// ModifyFD implements loopapi.FDRegistrar. It costs the system call.
func (l *Loop) ModifyFD(fd int, events loopapi.IOEvents) error {
	d, word, err := l.registered(fd)
	if err != nil {
		return err
	}
	err = l.poller.Modify(fd, loopapi.IOEvents(word&interest), events, uint32(word>>versionShift))
	if err == nil {
		word = word&^interest | uint64(events)&interest
	}
	d.word.Store(word)
	return pollerError("modify", fd, err)
}

// UnregisterFD implements loopapi.FDRegistrar: the callback does not start again, except one that the loop was about to enter
// when another goroutine called. If it returns an error of the system, the descriptor is not registered any more either. It
// costs the system call.
func (l *Loop) UnregisterFD(fd int) error {
	d, word, err := l.registered(fd)
	if err != nil {
		return err
	}
	// A descriptor that was closed before has left the set by itself; so may have another one under the same number.
	err = l.poller.Remove(fd, loopapi.IOEvents(word&interest))
	l.table.watched.Add(-1)
	d.free(word)
	if poller.Gone(err) {
		return nil
	}
	return pollerError("unregister", fd, err)
}

// registered returns the live entry of fd with its busyFlag raised, and the word before that.
func (l *Loop) registered(fd int) (*descriptor, uint64, error) {
	if l.state.load()&^causes == terminated {
		return nil, 0, loopapi.ErrLoopTerminated
	}
	d := l.table.find(fd)
	if d == nil {
		return nil, 0, loopapi.ErrFDNotRegistered
	}
	word := d.change()
	if word&liveFlag == 0 {
		d.word.Store(word)
		return nil, 0, loopapi.ErrFDNotRegistered
	}
	return d, word, nil
}

func pollerError(what string, fd int, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, loopapi.ErrPollerClosed):
		return loopapi.ErrLoopTerminated
	}
	return fmt.Errorf("alternatetwo: %s descriptor %d: %w", what, fd, err)
}
