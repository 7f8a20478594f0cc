//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package threadlet

// System calls of sockets on Unix. Descriptors are non-blocking; again means that the call would block now.

import (
	"errors"
	"net"
	"strconv"

	"golang.org/x/sys/unix"
)

const (
	shutRead  = unix.SHUT_RD
	shutWrite = unix.SHUT_WR
)

func sysRead(fd int, p []byte) (n int, again bool, err error) {
	for {
		n, err = receive(fd, p)
		if err != unix.EINTR {
			return verdict(n, err)
		}
	}
}

func sysWrite(fd int, p []byte) (n int, again bool, err error) {
	for {
		n, err = send(fd, p)
		if err != unix.EINTR {
			return verdict(n, err)
		}
	}
}

func verdict(n int, err error) (int, bool, error) {
	if err == unix.EAGAIN {
		return 0, true, nil
	}
	return max(n, 0), false, err
}

// sysAccept accepts a connection, and sets the addresses of c.
func sysAccept(fd int, c *Conn) (accepted int, again bool, err error) {
	for {
		accepted, from, err := acceptNonblock(fd)
		switch err {
		case nil:
			c.remote = addressOf(from)
			if unspecified(c.local) {
				if sa, err := unix.Getsockname(accepted); err == nil {
					c.local = addressOf(sa)
				}
			}
			if _, tcp := c.local.(*net.TCPAddr); tcp {
				_ = unix.SetsockoptInt(accepted, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1) // as package net does
			}
			return accepted, false, nil
		case unix.EAGAIN:
			return 0, true, nil
		case unix.EINTR, unix.ECONNABORTED:
		default:
			return 0, false, err
		}
	}
}

// passes tells whether an error of accepting, or of watching, passes: descriptors (ENOSPC: watched ones) or memory may come
// back, and other errors are those of one connection that has failed before it was accepted, as accept(2) has it.
func passes(err error) bool {
	var errno unix.Errno
	if !errors.As(err, &errno) {
		return false
	}
	switch unix.ErrnoName(errno) { // some systems do not have all
	case "EMFILE", "ENFILE", "ENOBUFS", "ENOMEM", "ENOSPC", "EPERM", "EPROTO", "ENETDOWN", "ENOPROTOOPT", "EHOSTDOWN", "ENONET", "EHOSTUNREACH",
		"EOPNOTSUPP", "ENOTSUP", "ENETUNREACH", "ETIMEDOUT", "ECONNRESET":
		return true
	}
	return false
}

// keepAlive says on a listening socket how connections are kept alive, and those that it accepts inherit that. Package net knows
// the options of each system, and sets them on what it takes for a connection.
func keepAlive(ln *net.TCPListener, how net.KeepAliveConfig) {
	file, err := ln.File()
	if err != nil {
		return
	}
	defer file.Close()
	if c, err := net.FileConn(file); err == nil {
		if c, is := c.(*net.TCPConn); is {
			_ = c.SetKeepAliveConfig(how)
		}
		_ = c.Close()
	}
}

func sysShutdown(fd, how int) error { return unix.Shutdown(fd, how) }

func sysClose(fd int) error { return unix.Close(fd) }

// sysDup duplicates the descriptor of a stream socket. The duplicate is non-blocking if the original is.
func sysDup(of uintptr) (int, error) {
	kind, err := unix.GetsockoptInt(int(of), unix.SOL_SOCKET, unix.SO_TYPE)
	if err != nil {
		return 0, err
	}
	if kind != unix.SOCK_STREAM {
		return 0, unix.EPROTOTYPE
	}
	return unix.FcntlInt(of, unix.F_DUPFD_CLOEXEC, 0)
}

func addressOf(sa unix.Sockaddr) net.Addr {
	switch sa := sa.(type) {
	case *unix.SockaddrInet4:
		ip := make(net.IP, len(sa.Addr)) // a slice of sa.Addr would keep all of sa alive
		copy(ip, sa.Addr[:])
		return &net.TCPAddr{IP: ip, Port: sa.Port}
	case *unix.SockaddrInet6:
		a := &net.TCPAddr{IP: sa.Addr[:], Port: sa.Port}
		if sa.ZoneId != 0 {
			a.Zone = strconv.Itoa(int(sa.ZoneId))
		}
		return a
	case *unix.SockaddrUnix:
		return &net.UnixAddr{Name: sa.Name, Net: "unix"}
	}
	return &net.UnixAddr{Net: "unix"}
}
