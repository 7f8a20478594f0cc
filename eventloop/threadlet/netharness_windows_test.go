package threadlet_test

// What the tests ask of the system.

import (
	"errors"
	"net"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/windows"
)

// descriptors would count those of the process; handles are of many kinds here, and come and go with the runtime's threads.
func descriptors(*testing.T) int { return 0 }

// local is the network that the tests have besides TCP: not every Windows has Unix sockets.
const local = "tcp"

// isSocket returns an error if the handle is no socket.
func isSocket(fd uintptr) error {
	_, err := windows.Getsockname(windows.Handle(fd))
	return err
}

// isReset tells whether err says that the peer has reset the connection.
func isReset(err error) bool {
	return errors.Is(err, windows.WSAECONNRESET) || errors.Is(err, windows.WSAECONNABORTED)
}

// socketpair returns two connected sockets.
func socketpair(t *testing.T) (near, far *net.TCPConn) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer ln.Close()
	a, err := net.Dial("tcp", ln.Addr().String())
	require.NoError(t, err)
	b, err := ln.Accept()
	require.NoError(t, err)
	return a.(*net.TCPConn), b.(*net.TCPConn)
}
