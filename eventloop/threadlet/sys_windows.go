package threadlet

// System calls of sockets on Windows. Sockets are non-blocking; again means that the call would block now.

import (
	"net"
	"os"
	"slices"
	"strconv"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

const (
	shutRead  = windows.SHUT_RD
	shutWrite = windows.SHUT_WR
)

// A call without an OVERLAPPED is synchronous. It posts nothing to a completion port, even if package net has associated
// the socket with its own port.

func sysRead(fd int, p []byte) (n int, again bool, err error) {
	var got, flags uint32
	buf := windows.WSABuf{Len: uint32(min(len(p), 1<<30)), Buf: unsafe.SliceData(p)}
	err = windows.WSARecv(windows.Handle(fd), &buf, 1, &got, &flags, nil, nil)
	if err == windows.WSAESHUTDOWN { // by CloseRead
		return 0, false, nil
	}
	return verdict(int(got), err)
}

// mostWritten is how many bytes one write may pass to the system. Without a limit, a system that has room for one byte
// would take and buffer all of them.
const mostWritten = 64 << 10

func sysWrite(fd int, p []byte) (n int, again bool, err error) {
	var sent uint32
	buf := windows.WSABuf{Len: uint32(min(len(p), mostWritten)), Buf: unsafe.SliceData(p)}
	err = windows.WSASend(windows.Handle(fd), &buf, 1, &sent, 0, nil, nil)
	return verdict(int(sent), err)
}

func verdict(n int, err error) (int, bool, error) {
	switch err {
	case nil:
		return n, false, nil
	case windows.WSAEWOULDBLOCK:
		return 0, true, nil
	}
	return 0, false, err
}

var acceptSocket = windows.NewLazySystemDLL("ws2_32.dll").NewProc("accept")

// sysAccept accepts a connection, and sets the addresses of c.
func sysAccept(fd int, c *Conn) (accepted int, again bool, err error) {
	for {
		s, from, err := accept(fd)
		switch err {
		case nil:
			if err := prepare(s); err != nil {
				_ = windows.Closesocket(s)
				return 0, false, err
			}
			c.remote = addressOf(from)
			if unspecified(c.local) {
				if sa, err := windows.Getsockname(s); err == nil {
					c.local = addressOf(sa)
				}
			}
			if _, tcp := c.local.(*net.TCPAddr); tcp {
				_ = windows.SetsockoptInt(s, windows.IPPROTO_TCP, windows.TCP_NODELAY, 1) // as package net does
			}
			return int(s), false, nil
		case windows.WSAEWOULDBLOCK:
			return 0, true, nil
		case windows.WSAECONNRESET, windows.WSAECONNABORTED, windows.WSAENOTCONN: // a client has reset its connection before
		default:
			return 0, false, err
		}
	}
}

// accept accepts a connection. A program that is started before the socket is marked would inherit it, so the lock keeps this
// process from starting one in between.
func accept(fd int) (s windows.Handle, from windows.Sockaddr, err error) {
	var name windows.RawSockaddrAny
	size := int32(unsafe.Sizeof(name))
	syscall.ForkLock.RLock()
	r, _, err := acceptSocket.Call(uintptr(fd), uintptr(unsafe.Pointer(&name)), uintptr(unsafe.Pointer(&size)))
	if s = windows.Handle(r); s != windows.InvalidHandle {
		_ = windows.SetHandleInformation(s, windows.HANDLE_FLAG_INHERIT, 0)
		err = nil
	}
	syscall.ForkLock.RUnlock()
	if err == nil {
		from, _ = name.Sockaddr() // nil for a Unix socket without a name
	}
	return s, from, err
}

// prepare makes a socket non-blocking.
func prepare(s windows.Handle) error {
	const fionbio = 0x8004667e
	yes, n := uint32(1), uint32(0)
	return os.NewSyscallError("ioctlsocket", windows.WSAIoctl(s, fionbio, (*byte)(unsafe.Pointer(&yes)), 4, nil, 0, &n, nil, 0))
}

// passes tells whether an error of accepting passes: sockets or memory may come back, and other errors are those of one
// connection that has failed before it was accepted.
func passes(err error) bool {
	return slices.Contains([]error{windows.WSAEMFILE, windows.WSAENOBUFS, windows.WSAENETDOWN, windows.WSAEHOSTUNREACH,
		windows.WSAENETUNREACH, windows.WSAETIMEDOUT}, err)
}

// keepAlive says on a listening socket how connections are kept alive, and those that it accepts inherit that.
func keepAlive(ln *net.TCPListener, how net.KeepAliveConfig) {
	raw, err := ln.SyscallConn()
	if err != nil {
		return
	}
	seconds := func(d time.Duration) int {
		if d == 0 {
			d = 15 * time.Second // as package net has it
		}
		return int((d + time.Second - 1) / time.Second)
	}
	_ = raw.Control(func(fd uintptr) {
		_ = windows.SetsockoptInt(windows.Handle(fd), windows.SOL_SOCKET, windows.SO_KEEPALIVE, 1)
		_ = windows.SetsockoptInt(windows.Handle(fd), windows.IPPROTO_TCP, windows.TCP_KEEPIDLE, seconds(how.Idle))
		_ = windows.SetsockoptInt(windows.Handle(fd), windows.IPPROTO_TCP, windows.TCP_KEEPINTVL, seconds(how.Interval))
	})
}

func sysShutdown(fd, how int) error { return windows.Shutdown(windows.Handle(fd), how) }

func sysClose(fd int) error { return windows.Closesocket(windows.Handle(fd)) }

const typeOption = 0x1008 // SO_TYPE

// sysDup duplicates the handle of a stream socket, and makes the duplicate non-blocking.
func sysDup(of uintptr) (int, error) {
	kind, err := windows.GetsockoptInt(windows.Handle(of), windows.SOL_SOCKET, typeOption)
	if err != nil {
		return 0, err
	}
	if kind != windows.SOCK_STREAM {
		return 0, windows.WSAEPROTOTYPE
	}
	var info windows.WSAProtocolInfo
	if err := windows.WSADuplicateSocket(windows.Handle(of), windows.GetCurrentProcessId(), &info); err != nil {
		return 0, os.NewSyscallError("WSADuplicateSocket", err)
	}
	const same = -1 // FROM_PROTOCOL_INFO: as info says
	s, err := windows.WSASocket(same, same, same, &info, 0, windows.WSA_FLAG_OVERLAPPED|windows.WSA_FLAG_NO_HANDLE_INHERIT)
	if err != nil {
		return 0, os.NewSyscallError("WSASocket", err)
	}
	if err := prepare(s); err != nil {
		_ = windows.Closesocket(s)
		return 0, err
	}
	return int(s), nil
}

func addressOf(sa windows.Sockaddr) net.Addr {
	switch sa := sa.(type) {
	case *windows.SockaddrInet4:
		return &net.TCPAddr{IP: sa.Addr[:], Port: sa.Port}
	case *windows.SockaddrInet6:
		a := &net.TCPAddr{IP: sa.Addr[:], Port: sa.Port}
		if sa.ZoneId != 0 {
			a.Zone = strconv.Itoa(int(sa.ZoneId))
		}
		return a
	case *windows.SockaddrUnix:
		return &net.UnixAddr{Name: sa.Name, Net: "unix"}
	}
	return &net.UnixAddr{Net: "unix"}
}
