//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package programs

// The steps of descriptors: a pair of sockets that is registered, written to and unregistered.

import (
	"errors"
	"os"
	"syscall"

	"github.com/turnloop/turnloop/eventloop"
)

func openDescriptors() int {
	entries, _ := os.ReadDir("/dev/fd") // itself among them, always
	return len(entries)
}

// pair returns connected sockets that are non-blocking and closed on exec.
func pair() (fds [2]int, err error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if fds, err = syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0); err != nil {
		return fds, err
	}
	for _, fd := range fds {
		syscall.CloseOnExec(fd)
		_ = syscall.SetNonblock(fd, true)
	}
	return fds, nil
}

// descriptor registers a socket, and has it unregistered at some time, by one of three ways; then it is closed.
func (a *actor) descriptor() {
	s := a.any()
	fds, err := pair()
	if err != nil {
		a.w.errorf("socketpair: %v", err)
		return
	}
	left, seed, depth := 1+a.rng.IntN(3), a.rng.Uint64(), a.depth+1
	closeAll := once(func() { _, _ = syscall.Close(fds[0]), syscall.Close(fds[1]) })
	gone := a.w.hand("what follows a registration of %d", a.source)
	gone.survives = true
	leave := once(func() {
		switch err := s.l.UnregisterFDThen(fds[0], func() { gone.runs.Add(1); closeAll() }); {
		case err == nil:
			gone.due.Store(must)
		case errors.Is(err, eventloop.ErrLoopTerminated):
			gone.due.Store(never)
			closeAll()
		default:
			a.w.errorf("UnregisterFDThen: %v", err)
		}
	})
	err = s.l.RegisterFD(fds[0], eventloop.EventRead, func(events eventloop.IOEvents) {
		s.begin(nil, "", 0)
		if gone.runs.Load() != 0 {
			a.w.errorf("a callback of a descriptor runs behind the end of its registration")
		}
		var b [1]byte
		_, _ = syscall.Read(fds[0], b[:])
		if left--; left <= 0 {
			leave()
		}
		s.actor(seed+uint64(left), depth).perform(2)
	})
	if err != nil {
		closeAll()
		if !errors.Is(err, eventloop.ErrLoopTerminated) && !errors.Is(err, eventloop.ErrFastPathIncompatible) {
			a.w.errorf("RegisterFD: %v", err)
		}
		return
	}
	a.w.lease(leave)
	_, _ = syscall.Write(fds[1], make([]byte, left))
}
