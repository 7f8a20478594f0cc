//go:build darwin || dragonfly || netbsd || openbsd

package threadlet

// Accepting a connection where it takes several system calls.

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// acceptNonblock accepts a connection. A program that is started before the descriptor is close-on-exec would inherit it, so
// the lock keeps this process from starting one in between.
func acceptNonblock(fd int) (int, unix.Sockaddr, error) {
	syscall.ForkLock.RLock()
	accepted, from, err := unix.Accept(fd)
	if err == nil {
		unix.CloseOnExec(accepted)
	}
	syscall.ForkLock.RUnlock()
	if err == nil {
		if err = unix.SetNonblock(accepted, true); err != nil {
			_ = unix.Close(accepted)
		}
	}
	return accepted, from, err
}
