//go:build darwin || dragonfly || netbsd || openbsd

package threadlet

// Accepting a connection where it takes several system calls.

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// acceptNonblock accepts a connection. The lock keeps the process from forking before the descriptor is close-on-exec: the
// new program would inherit it.
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
