//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package poller

// What epoll and kqueue have in common.

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// writeWake writes to a wake descriptor. EAGAIN says that it has no room, so a wake-up is there already.
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
