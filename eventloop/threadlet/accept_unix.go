//go:build darwin || dragonfly || netbsd || openbsd

package threadlet

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// acceptNonblock keeps programs from starting in between, which would inherit the descriptor.
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
