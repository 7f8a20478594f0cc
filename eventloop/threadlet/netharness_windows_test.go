package threadlet_test

// What the tests ask of the system.

import (
	"errors"
	"net"
	"testing"

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

// socketpair is tcpPair: there are no others here.
func socketpair(t *testing.T) (near, far *net.TCPConn) { return tcpPair(t) }
