//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package poller

// The code that epoll and kqueue share.

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// writeWake writes token to a wake descriptor. EAGAIN means that the descriptor is full, so that a wake-up waits already.
func writeWake(fd int, token []byte) error {
	for {
		_, err := unix.Write(fd, token)
		switch {
		case err == nil, errors.Is(err, unix.EAGAIN):
			return nil
		case !errors.Is(err, unix.EINTR):
			return os.NewSyscallError("write", err)
		}
	}
}
