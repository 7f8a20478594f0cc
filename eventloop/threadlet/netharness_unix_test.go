//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package threadlet_test

// What the tests ask of the system.

import (
	"errors"
	"net"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// descriptors counts those of the process.
func descriptors(t *testing.T) int {
	t.Helper()
	n := 0
	for fd := range 4096 {
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil {
			n++
		}
	}
	return n
}

// local is the network that needs no ports, of which a machine has only so many a minute.
const local = "unix"

// isSocket returns an error if the descriptor is no socket.
func isSocket(fd uintptr) error {
	_, err := unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TYPE)
	return err
}

// isReset tells whether err says that the peer has reset the connection.
func isReset(err error) bool { return errors.Is(err, unix.ECONNRESET) }

// socketpair returns two connected sockets without ports, of which a machine has only so many a minute.
func socketpair(t *testing.T) (near, far *net.UnixConn) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	require.NoError(t, err)
	var conns [2]net.Conn
	for i, fd := range fds {
		file := os.NewFile(uintptr(fd), "")
		conns[i], err = net.FileConn(file)
		require.NoError(t, err)
		require.NoError(t, file.Close())
	}
	return conns[0].(*net.UnixConn), conns[1].(*net.UnixConn)
}
