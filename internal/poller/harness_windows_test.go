package poller_test

// Sockets for the tests on Windows, and what the poller says of them.

import (
	"os"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/windows"
)

func TestMain(m *testing.M) {
	if err := windows.WSAStartup(0x202, new(windows.WSAData)); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

var loopback = [4]byte{127, 0, 0, 1}

func socket(t *testing.T) windows.Handle {
	s, err := windows.Socket(windows.AF_INET, windows.SOCK_STREAM, windows.IPPROTO_TCP)
	require.NoError(t, err)
	return s
}

// listen makes a listening socket.
func listen(t *testing.T) (windows.Handle, windows.Sockaddr) {
	s := socket(t)
	t.Cleanup(func() { _ = windows.Closesocket(s) })
	require.NoError(t, windows.Bind(s, &windows.SockaddrInet4{Addr: loopback}))
	require.NoError(t, windows.Listen(s, 1))
	address, err := windows.Getsockname(s)
	require.NoError(t, err)
	return s, address
}

// pair makes a connected pair of non-blocking stream sockets.
func pair(t *testing.T) (a, b int) {
	listener, address := listen(t)
	defer windows.Closesocket(listener)
	near := socket(t)
	require.NoError(t, windows.Connect(near, address))
	far, _, err := accept.Call(uintptr(listener), 0, 0)
	require.NotEqual(t, ^uintptr(0), far, "accept: %v", err)
	for _, s := range []windows.Handle{near, windows.Handle(far)} {
		unblock(t, s)
		t.Cleanup(func() { _ = windows.Closesocket(s) })
	}
	return int(near), int(far)
}

func unblock(t *testing.T, s windows.Handle) {
	const fionbio = 0x8004667e
	yes := uint32(1)
	result, _, err := ioctlsocket.Call(uintptr(s), fionbio, uintptr(unsafe.Pointer(&yes)))
	require.Zero(t, result, "ioctlsocket: %v", err)
}

// send writes a byte. Any goroutine may call it.
func send(fd int) error {
	var n uint32
	return windows.WSASend(windows.Handle(fd), &windows.WSABuf{Len: 1, Buf: new(byte)}, 1, &n, 0, nil, nil)
}

func receive(fd int) error {
	var n, flags uint32
	return windows.WSARecv(windows.Handle(fd), &windows.WSABuf{Len: 1, Buf: new(byte)}, 1, &n, &flags, nil, nil)
}

func shut(t *testing.T, fd int) { require.NoError(t, windows.Closesocket(windows.Handle(fd))) }

func reset(t *testing.T, fd int) { linger(t, fd); shut(t, fd) }

// linger makes the close of a socket reset its connection.
func linger(t *testing.T, fd int) {
	option := [2]uint16{1, 0}
	result, _, err := setsockopt.Call(uintptr(fd), windows.SOL_SOCKET, windows.SO_LINGER,
		uintptr(unsafe.Pointer(&option)), unsafe.Sizeof(option))
	require.Zero(t, result, "setsockopt: %v", err)
}
