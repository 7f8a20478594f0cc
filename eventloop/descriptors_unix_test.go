//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package eventloop_test

// Raw descriptors for tests: system calls only.

import (
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// epoll goes on reporting what was closed under a duplicate.
const haveGhosts = runtime.GOOS == "linux"

// errnos are errors that the system may give, the most different first.
var errnos = []error{unix.EMFILE, unix.EBADF, unix.EINTR, unix.EAGAIN, unix.ENOSPC, unix.EPERM, unix.ENOMEM}

func needDescriptors(*testing.T) {}

// openPair returns a connected pair of sockets, or what says why not; the system chooses their numbers.
func openPair() (pair [2]int, err error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if pair, err = unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0); err != nil {
		return pair, err
	}
	for _, fd := range pair {
		unix.CloseOnExec(fd)
		if err = unix.SetNonblock(fd, true); err != nil {
			return pair, err
		}
	}
	return pair, nil
}

// newPair returns a pair that is closed with the test.
func newPair(t *testing.T) (near, far int) {
	needDescriptors(t)
	pair, err := openPair()
	require.NoError(t, err)
	t.Cleanup(func() { closeAll(pair[:]...) })
	return pair[0], pair[1]
}

// duplicate returns the lowest free number, from lowest on, for what fd stands for.
func duplicate(fd, lowest int) int {
	d, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, lowest)
	if err != nil {
		return -1
	}
	return d
}

func closeAll(fds ...int) {
	for _, fd := range fds {
		_ = unix.Close(fd)
	}
}

func send(fd int, b byte) bool {
	_, err := unix.Write(fd, []byte{b})
	return err == nil
}

// receive reads what is there, and returns how much that is and its last byte.
func receive(fd int) (n int, last byte) {
	var buf [64]byte
	for {
		got, err := unix.Read(fd, buf[:])
		switch {
		case err == unix.EINTR:
			continue
		case got <= 0:
			return n, last
		}
		n, last = n+got, buf[got-1]
	}
}

func openDescriptors() (n int) {
	time.AfterFunc(time.Hour, func() {}).Stop() // the runtime opens two of its own for the first timer
	for fd := range 1024 {
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil {
			n++
		}
	}
	return n
}
