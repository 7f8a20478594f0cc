//go:build linux

package poller

import (
	"encoding/binary"
	"errors"
	"math"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/turnloop/turnloop/internal/loopapi"
)

// Supported tells whether descriptors can be added on this system.
const Supported = true

// Poller is an epoll descriptor and an eventfd to wake it by.
type Poller struct {
	mu     sync.RWMutex // held for reading over each use of the descriptors but the owner's, for writing to close them
	closed bool
	epoll  int
	wake   int

	// The owner's.
	raw    [batch]unix.EpollEvent
	events [batch]Event
}

// New makes a poller. It holds two descriptors until Close.
func New() (*Poller, error) {
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("epoll_create1", err)
	}
	wake, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		_ = unix.Close(epoll)
		return nil, os.NewSyscallError("eventfd", err)
	}
	p := &Poller{epoll: epoll, wake: wake}
	if err := p.watchWake(); err != nil {
		_ = p.Close()
		return nil, err
	}
	return p, nil
}

func (p *Poller) watchWake() error {
	return p.control(unix.EPOLL_CTL_ADD, p.wake, loopapi.EventRead, 0)
}

// Add watches fd.
func (p *Poller) Add(fd int, events loopapi.IOEvents, tag uint32) error {
	return p.lockedControl(unix.EPOLL_CTL_ADD, fd, events, tag)
}

// Modify changes what fd is watched for.
func (p *Poller) Modify(fd int, _, events loopapi.IOEvents, tag uint32) error {
	return p.lockedControl(unix.EPOLL_CTL_MOD, fd, events, tag)
}

// Remove ends the watch of fd.
func (p *Poller) Remove(fd int, _ loopapi.IOEvents) error {
	return p.lockedControl(unix.EPOLL_CTL_DEL, fd, 0, 0)
}

func (p *Poller) lockedControl(op, fd int, events loopapi.IOEvents, tag uint32) error {
	p.mu.RLock()
	defer p.mu.RUnlock()
	switch {
	case p.closed:
		return loopapi.ErrPollerClosed
	case fd < 0 || fd > math.MaxInt32:
		return os.NewSyscallError("epoll_ctl", unix.EBADF)
	case fd == p.epoll || fd == p.wake: // a number that the user does not own
		return os.NewSyscallError("epoll_ctl", unix.EINVAL)
	}
	return p.control(op, fd, events, tag)
}

func (p *Poller) control(op, fd int, events loopapi.IOEvents, tag uint32) error {
	e := unix.EpollEvent{Fd: int32(fd), Pad: int32(tag)}
	if events&loopapi.EventRead != 0 {
		e.Events |= unix.EPOLLIN
	}
	if events&loopapi.EventWrite != 0 {
		e.Events |= unix.EPOLLOUT
	}
	return os.NewSyscallError("epoll_ctl", unix.EpollCtl(p.epoll, op, fd, &e))
}

// Wait waits for events.
func (p *Poller) Wait(timeout time.Duration) ([]Event, error) {
	n, err := unix.EpollWait(p.epoll, p.raw[:], milliseconds(timeout))
	if errors.Is(err, unix.EINTR) {
		return nil, nil
	}
	if err != nil {
		return nil, os.NewSyscallError("epoll_wait", err)
	}
	events := p.events[:0]
	for _, r := range p.raw[:n] {
		if int(r.Fd) == p.wake {
			p.drain()
			continue
		}
		e := Event{FD: int(r.Fd), Tag: uint32(r.Pad)}
		if r.Events&unix.EPOLLIN != 0 {
			e.Events |= loopapi.EventRead
		}
		if r.Events&unix.EPOLLOUT != 0 {
			e.Events |= loopapi.EventWrite
		}
		if r.Events&unix.EPOLLERR != 0 {
			e.Events |= loopapi.EventError
		}
		if r.Events&unix.EPOLLHUP != 0 {
			e.Events |= loopapi.EventHangup
		}
		events = append(events, e)
	}
	return events, nil
}

// drain resets the eventfd's counter. EAGAIN would say that it is zero.
func (p *Poller) drain() {
	var counter [8]byte
	_, _ = unix.Read(p.wake, counter[:])
}

// Watch parks a goroutine in the runtime's own poller, for which an epoll descriptor is a file like any other: no thread
// blocks, and hearing of an event costs what it costs a reader of a net.Conn. The runtime asks for edges, and within one
// Read it forgets none.
func (p *Poller) Watch(notify func(error)) (stop func(), err error) {
	fd, err := unix.FcntlInt(uintptr(p.epoll), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("fcntl", err)
	}
	if err := unix.SetNonblock(fd, true); err != nil { // or else the runtime would not poll it
		_ = unix.Close(fd)
		return nil, os.NewSyscallError("fcntl", err)
	}
	file := os.NewFile(uintptr(fd), "epoll")
	conn, err := file.SyscallConn()
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	var stopping atomic.Bool
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		err := conn.Read(func(uintptr) (done bool) {
			notify(nil)
			return false
		})
		if !stopping.Load() {
			notify(err)
		}
	}()
	return func() {
		stopping.Store(true)
		_ = file.Close() // ends the Read; a duplicate has nothing to lose by it
		<-ended
	}, nil
}

// Wake ends a Wait.
func (p *Poller) Wake() error {
	p.mu.RLock()
	defer p.mu.RUnlock()
	if p.closed {
		return loopapi.ErrPollerClosed
	}
	var one [8]byte
	binary.NativeEndian.PutUint64(one[:], 1)
	return writeWake(p.wake, one[:])
}

// Reset begins anew with an empty set.
func (p *Poller) Reset() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return loopapi.ErrPollerClosed
	}
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return os.NewSyscallError("epoll_create1", err)
	}
	old := p.epoll
	p.epoll = epoll
	if err := p.watchWake(); err != nil {
		p.epoll = old
		_ = unix.Close(epoll)
		return err
	}
	_ = unix.Close(old) // the new one serves; what this says changes nothing
	return nil
}

// Close closes the set first, then the descriptor that wakes it.
func (p *Poller) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return loopapi.ErrPollerClosed
	}
	p.closed = true
	return errors.Join(
		os.NewSyscallError("close", unix.Close(p.epoll)),
		os.NewSyscallError("close", unix.Close(p.wake)))
}

// milliseconds rounds up, so that a Wait is not over too early, and keeps within the 32 bits that the system has for it.
func milliseconds(d time.Duration) int {
	switch {
	case d < 0:
		return -1
	case d > math.MaxInt32*time.Millisecond:
		return math.MaxInt32
	}
	return int((d + time.Millisecond - 1) / time.Millisecond)
}
