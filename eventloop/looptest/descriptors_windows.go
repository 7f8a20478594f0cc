package looptest

// Descriptors for the checks on Windows: sockets, connected through the loopback interface. Their numbers are the
// system's choice, only sockets can be polled, and there are no signals.

import (
	"errors"
	"io"
	"os"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

const (
	canOpen          = true
	canChooseNumbers = false
	canInterrupt     = false
	filesArePolled   = false
	hangupIsImplicit = true
	bytesTravel      = true
	aside            = 0
)

var (
	errBadDescriptor error = windows.WSAENOTSOCK
	errNotPollable   error = windows.WSAENOTSOCK
)

var (
	winsock     = windows.NewLazySystemDLL("ws2_32.dll")
	accept      = winsock.NewProc("accept")
	ioctlsocket = winsock.NewProc("ioctlsocket")

	startWinsock = sync.OnceValue(func() error { return windows.WSAStartup(0x202, new(windows.WSAData)) })
)

// newSockets returns a connected pair of stream sockets, non-blocking, with small buffers.
func newSockets() (pair [2]int, err error) {
	if err := startWinsock(); err != nil {
		return pair, os.NewSyscallError("WSAStartup", err)
	}
	listener, err := newSocket()
	if err != nil {
		return pair, err
	}
	defer windows.Closesocket(listener)
	if err := windows.Bind(listener, &windows.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return pair, os.NewSyscallError("bind", err)
	}
	if err := windows.Listen(listener, 1); err != nil {
		return pair, os.NewSyscallError("listen", err)
	}
	address, err := windows.Getsockname(listener)
	if err != nil {
		return pair, os.NewSyscallError("getsockname", err)
	}
	near, err := newSocket()
	if err != nil {
		return pair, err
	}
	if err := windows.Connect(near, address); err != nil {
		return pair, errors.Join(os.NewSyscallError("connect", err), windows.Closesocket(near))
	}
	result, _, err := accept.Call(uintptr(listener), 0, 0)
	far := windows.Handle(result)
	if far == windows.InvalidHandle {
		return pair, errors.Join(os.NewSyscallError("accept", err), windows.Closesocket(near))
	}
	if err := errors.Join(unblock(near), unblock(far)); err != nil {
		return pair, errors.Join(err, windows.Closesocket(near), windows.Closesocket(far))
	}
	return [2]int{int(near), int(far)}, nil
}

// newSocket returns a socket with small buffers. A connection that it accepts inherits their sizes.
func newSocket() (windows.Handle, error) {
	const room = 32 << 10
	s, err := windows.WSASocket(windows.AF_INET, windows.SOCK_STREAM, windows.IPPROTO_TCP, nil, 0,
		windows.WSA_FLAG_OVERLAPPED|windows.WSA_FLAG_NO_HANDLE_INHERIT)
	if err != nil {
		return windows.InvalidHandle, os.NewSyscallError("WSASocket", err)
	}
	for _, option := range []int{windows.SO_SNDBUF, windows.SO_RCVBUF} {
		if err := windows.SetsockoptInt(s, windows.SOL_SOCKET, option, room); err != nil {
			return windows.InvalidHandle, errors.Join(os.NewSyscallError("setsockopt", err), windows.Closesocket(s))
		}
	}
	return s, nil
}

func unblock(s windows.Handle) error {
	const fionbio = 0x8004667e
	yes := uint32(1)
	if failed, _, err := ioctlsocket.Call(uintptr(s), fionbio, uintptr(unsafe.Pointer(&yes))); failed != 0 {
		return os.NewSyscallError("ioctlsocket", err)
	}
	return nil
}

// newPipe returns sockets, as the system does not report when a pipe is ready.
func newPipe() (pair [2]int, err error) { return newSockets() }

func duplicate(int, int) (int, error) { return -1, errors.ErrUnsupported }
func moveTo(int, int) error           { return errors.ErrUnsupported }

func closeDescriptor(fd int) error {
	return os.NewSyscallError("closesocket", windows.Closesocket(windows.Handle(fd)))
}

// read reads without waiting. It returns 0 and nil when no bytes are there, io.EOF at the end.
func read(fd int, buf []byte) (int, error) {
	var n, flags uint32
	err := windows.WSARecv(windows.Handle(fd), buffer(buf), 1, &n, &flags, nil, nil)
	switch {
	case errors.Is(err, windows.WSAEWOULDBLOCK):
		return 0, nil
	case err == nil && n == 0:
		return 0, io.EOF
	}
	return int(n), os.NewSyscallError("WSARecv", err)
}

// write writes without waiting as many bytes as fit; it returns 0 and nil when none fits.
func write(fd int, data []byte) (int, error) {
	var n uint32
	err := windows.WSASend(windows.Handle(fd), buffer(data), 1, &n, 0, nil, nil)
	if errors.Is(err, windows.WSAEWOULDBLOCK) {
		return 0, nil
	}
	return int(n), os.NewSyscallError("WSASend", err)
}

func buffer(b []byte) *windows.WSABuf { return &windows.WSABuf{Len: uint32(len(b)), Buf: &b[0]} }

// listDescriptors returns nil: a handle does not say whether it is a descriptor.
func listDescriptors() []int { return nil }

func staysOpenOnExec(int) bool { return false }

// processorTime returns the processor time of this process, or 0 if the system does not say.
func processorTime() time.Duration {
	var created, ended, kernel, user windows.Filetime
	if windows.GetProcessTimes(windows.CurrentProcess(), &created, &ended, &kernel, &user) != nil {
		return 0
	}
	return ticks(kernel) + ticks(user)
}

// ticks converts a Filetime, which counts units of 100 nanoseconds.
func ticks(t windows.Filetime) time.Duration {
	return time.Duration(uint64(t.HighDateTime)<<32|uint64(t.LowDateTime)) * 100
}

func interrupt() {}
