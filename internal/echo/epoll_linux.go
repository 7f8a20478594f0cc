// The lean client: one thread, epoll, no allocation, and reads and writes as raw system calls, which the Go scheduler does
// not see. They return at once, as no socket blocks. Ordinary system calls would leave and take the processor each time,
// which makes this client so slow that the fastest servers would wait for it.

package echo

import (
	"errors"
	"fmt"
	"io"
	"net/netip"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Usual is the name of the leanest client.
const Usual = "epoll"

func init() { Dialers[Usual] = dialEpoll }

// epollClient holds non-blocking sockets, which stay open until the process ends.
type epollClient struct {
	poller    int
	fds       []int
	dialogues []dialogue
	events    []unix.EpollEvent
}

func dialEpoll(addr string, conns int) (Client, error) {
	to, err := netip.ParseAddrPort(addr)
	if err != nil {
		return nil, err
	}
	server := &unix.SockaddrInet4{Addr: to.Addr().As4(), Port: int(to.Port())}
	c := &epollClient{dialogues: make([]dialogue, conns), events: make([]unix.EpollEvent, conns)}
	if c.poller, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return nil, fmt.Errorf("epoll_create1: %w", err)
	}
	for i := range conns {
		fd, err := dialRaw(server)
		if err != nil {
			return nil, fmt.Errorf("connection %d: %w", i, err)
		}
		event := unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(i)} // the index finds the dialogue, too
		if err := unix.EpollCtl(c.poller, unix.EPOLL_CTL_ADD, fd, &event); err != nil {
			return nil, fmt.Errorf("connection %d: epoll_ctl: %w", i, err)
		}
		c.fds = append(c.fds, fd)
		c.dialogues[i].conn = i
	}
	return c, nil
}

func dialRaw(server unix.Sockaddr) (fd int, err error) {
	fd, err = unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("socket: %w", err)
	}
	err = unix.Connect(fd, server)
	if err == nil {
		err = errors.Join(unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1), unix.SetNonblock(fd, true))
	}
	if err != nil {
		return -1, fmt.Errorf("connect: %w", err)
	}
	return fd, nil
}

func (c *epollClient) Exchange(n int) error {
	sent, done := 0, 0
	for ; sent < min(n, len(c.fds)); sent++ {
		if err := c.send(sent); err != nil {
			return err
		}
	}
	for done < n {
		ready, err := unix.EpollWait(c.poller, c.events, -1)
		if err != nil && !errors.Is(err, unix.EINTR) {
			return fmt.Errorf("epoll_wait: %w", err)
		}
		for _, event := range c.events[:max(ready, 0)] {
			i := int(event.Fd)
			answered, err := c.receive(i)
			if err != nil {
				return err
			}
			if !answered {
				continue
			}
			done++
			if sent < n {
				sent++
				if err := c.send(i); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (c *epollClient) send(i int) error {
	request := c.dialogues[i].next()
	n, errno := raw(unix.SYS_WRITE, c.fds[i], request)
	switch {
	case errno != 0:
		return c.dialogues[i].lost(fmt.Errorf("write: %w", errno))
	case n < len(request): // the socket's buffer is empty, so it has room for all
		return c.dialogues[i].lost(io.ErrShortWrite)
	}
	return nil
}

// raw reads or writes p.
func raw(call uintptr, fd int, p []byte) (n int, errno unix.Errno) {
	r, _, errno := unix.RawSyscall(call, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)))
	return int(r), errno
}

// receive reads the bytes that have arrived on a connection, and reports whether the echo is complete.
func (c *epollClient) receive(i int) (answered bool, err error) {
	d := &c.dialogues[i]
	n, errno := raw(unix.SYS_READ, c.fds[i], d.response[d.received:])
	switch {
	case errno == unix.EAGAIN, errno == unix.EINTR:
		return false, nil // epoll reports the socket again when it has bytes
	case errno != 0:
		return false, d.lost(fmt.Errorf("read: %w", errno))
	case n == 0:
		return false, d.lost(io.EOF)
	}
	if d.received += n; d.received < MessageSize {
		return false, nil
	}
	return true, d.check()
}
