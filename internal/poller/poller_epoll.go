//go:build linux

package poller

import (
	"encoding/binary"
	"errors"
	"math"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

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
	outer  *os.File        // an epoll set with epoll in it, for the runtime's own poller; nil until it is needed
	number int             // of outer
	conn   syscall.RawConn // of outer
	parked atomic.Bool     // Park is going on

	// The owner's.
	raw     [batch]unix.EpollEvent
	events  [batch]Event
	look    func(uintptr) bool // is lookOnce, which returns found and failure
	found   []Event
	failure error
	streak  int  // Waits without a timeout in a row that found something
	muted   bool // outer does not hear of epoll
	crowd   int  // grows while linger brings many events; below zero, how long it is not tried
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
	p.look = p.lookOnce
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
	case p.owns(fd): // a number that the user has closed
		return os.NewSyscallError("epoll_ctl", unix.EBADF)
	}
	return p.control(op, fd, events, tag)
}

func (p *Poller) owns(fd int) bool {
	return fd == p.epoll || fd == p.wake || p.outer != nil && fd == p.number
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
	events, _, err := p.collect(timeout)
	return events, err
}

// collect is a Wait that tells whether a wake-up was among what it found.
func (p *Poller) collect(timeout time.Duration) (events []Event, woken bool, err error) {
	events, woken, err = p.fetch(timeout)
	if p.conn == nil || timeout != 0 || err != nil {
		return events, woken, err
	}
	again, err := p.looked(len(events) > 0)
	if again && err == nil {
		var late bool
		events, late, err = p.fetch(0)
		woken = woken || late
	}
	return events, woken, err
}

func (p *Poller) fetch(timeout time.Duration) (events []Event, woken bool, err error) {
	var n int
	if timeout == 0 {
		n, err = p.glance()
	} else {
		n, err = unix.EpollWait(p.epoll, p.raw[:], milliseconds(timeout))
	}
	if errors.Is(err, unix.EINTR) {
		return nil, true, nil
	}
	if err != nil {
		return nil, false, os.NewSyscallError("epoll_wait", err)
	}
	events = p.events[:0]
	for _, r := range p.raw[:n] {
		if int(r.Fd) == p.wake {
			p.drain()
			woken = true
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
	return events, woken, nil
}

// glance is an epoll_wait that does not wait, and so need not tell the scheduler of it; as the runtime's own does not.
func (p *Poller) glance() (int, error) {
	for {
		n, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT,
			uintptr(p.epoll), uintptr(unsafe.Pointer(&p.raw[0])), batch, 0, 0, 0)
		switch errno {
		case 0:
			return int(n), nil
		case unix.EINTR: // who does not wait wants to know
		default:
			return 0, errno
		}
	}
}

// drain resets the eventfd's counter. EAGAIN would say that it is zero.
func (p *Poller) drain() {
	var counter [8]byte
	_, _ = unix.Read(p.wake, counter[:])
}

// file makes the runtime's own poller, for which an epoll descriptor is a file like any other, watch this one: a
// goroutine that parks there blocks no thread, and hears of an event as fast as a reader of a net.Conn. There is another
// set in between, so that the runtime can be left in peace. Of sets in sets the system allows no more than a hundred to
// watch one thing.
func (p *Poller) file() error {
	if p.conn != nil {
		return nil
	}
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return os.NewSyscallError("epoll_create1", err)
	}
	if err := errors.Join(
		os.NewSyscallError("fcntl", unix.SetNonblock(fd, true)), // or else the runtime would not take it
		hear(fd, unix.EPOLL_CTL_ADD, p.epoll, true),
	); err != nil {
		_ = unix.Close(fd)
		return err
	}
	file := os.NewFile(uintptr(fd), "epoll")
	conn, err := file.SyscallConn()
	if err == nil {
		err = file.SetReadDeadline(time.Time{}) // fails if the runtime did not take it
	}
	if err != nil {
		_ = file.Close()
		return err
	}
	p.mu.Lock()
	p.outer, p.number, p.conn = file, fd, conn
	p.mu.Unlock()
	p.streak, p.muted, p.crowd = 0, false, newCrowd
	return nil
}

// hear sets whether one set hears of another.
func hear(outer, op, inner int, on bool) error {
	e := unix.EpollEvent{Fd: int32(inner)}
	if on {
		e.Events = unix.EPOLLIN
	}
	return os.NewSyscallError("epoll_ctl", unix.EpollCtl(outer, op, inner, &e))
}

// busy is how many looks in a row find something where the owner does not need to be told of events: each would wake a
// thread of the runtime, for nothing.
const busy = 3

// looked follows each look, and mutes the runtime's poller while they find something. When it hears again it is told of
// what comes from then on, and not for sure of what came before: then again is true, for one more look.
func (p *Poller) looked(found bool) (again bool, err error) {
	switch {
	case !found:
		p.streak = 0
		if p.muted {
			p.muted = false
			return true, hear(p.number, unix.EPOLL_CTL_MOD, p.epoll, true)
		}
	case p.streak < busy:
		p.streak++
	case !p.muted:
		p.muted = true
		return false, hear(p.number, unix.EPOLL_CTL_MOD, p.epoll, false)
	}
	return false, nil
}

// Park waits for events, for ever, without blocking a thread for longer than a moment. The runtime asks for edges, and
// forgets what came before a Read has begun; the first look is therefore within it.
func (p *Poller) Park() ([]Event, error) {
	if err := p.file(); err != nil {
		return nil, err
	}
	if p.muted {
		if events, woken, err := p.linger(); len(events) > 0 || woken || err != nil {
			return events, err
		}
	}
	p.parked.Store(true)
	err := p.conn.Read(p.look)
	p.parked.Store(false)
	if err == nil {
		return p.found, p.failure
	}
	return nil, p.interrupted(err)
}

// linger looks for events while the runtime does not hear of them, and blocks the thread for a moment if there are none.
// Where many come from elsewhere, more of them have come until the thread is awake again than until the runtime would have
// run the owner, and each costs less. Where one or two come at a time, they are answers for which the runtime is faster:
// then linger is given up for a while.
func (p *Poller) linger() (events []Event, woken bool, err error) {
	if p.crowd < 0 {
		if p.crowd++; p.crowd == 0 {
			p.crowd = newCrowd
		}
		return nil, false, nil
	}
	events, woken, err = p.fetch(0)
	if len(events) == 0 && !woken && err == nil {
		runtime.Gosched() // who is ready to run has its turn before the thread blocks
		events, woken, err = p.fetch(moment)
	}
	if p.crowd = min(p.crowd+len(events)-few, mostCrowd); p.crowd < 0 {
		p.crowd = noCrowd
	}
	return events, woken, err
}

const (
	moment    = time.Millisecond // the shortest that the system measures
	few       = 3                // events; fewer at a time, on average, are no crowd
	newCrowd  = 16
	mostCrowd = 256
	noCrowd   = -300
)

func (p *Poller) lookOnce(uintptr) (done bool) {
	var woken bool
	p.found, woken, p.failure = p.collect(0)
	return len(p.found) > 0 || woken || p.failure != nil
}

// interrupted tells what ended a Read: nil, if it was a deadline in the past, which somebody who wakes or stops sets.
func (p *Poller) interrupted(err error) error {
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		return err
	}
	return p.outer.SetReadDeadline(time.Time{})
}

// Watch has a goroutine of its own look for edges. Within one Read none is forgotten.
func (p *Poller) Watch(notify func(error)) (stop func(), err error) {
	if err := p.file(); err != nil {
		return nil, err
	}
	var stopping atomic.Bool
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			err := p.conn.Read(func(uintptr) (done bool) {
				notify(nil)
				return false
			})
			err = p.interrupted(err) // also by a wake-up that was late; first, so that it does not undo what stop does
			if stopping.Load() {
				return
			}
			if err != nil {
				notify(err)
				return
			}
		}
	}()
	return func() {
		stopping.Store(true)
		_ = p.outer.SetReadDeadline(longAgo)
		<-ended
		_ = p.outer.SetReadDeadline(time.Time{})
	}, nil
}

// longAgo is a deadline that ends a Read at once.
var longAgo = time.Unix(1, 0)

// Wake ends a Wait.
func (p *Poller) Wake() error {
	p.mu.RLock()
	defer p.mu.RUnlock()
	if p.closed {
		return loopapi.ErrPollerClosed
	}
	if p.parked.Load() {
		return p.outer.SetReadDeadline(longAgo)
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
	err = p.watchWake()
	if err == nil && p.outer != nil {
		err = hear(p.number, unix.EPOLL_CTL_ADD, epoll, true)
	}
	if err != nil {
		p.epoll = old
		_ = unix.Close(epoll)
		return err
	}
	p.streak, p.muted, p.crowd = 0, false, newCrowd
	_ = unix.Close(old) // the new one serves; what this says changes nothing
	return nil
}

// Close closes the sets first, then the descriptor that wakes them.
func (p *Poller) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return loopapi.ErrPollerClosed
	}
	p.closed = true
	var errOuter error
	if p.outer != nil {
		errOuter = p.outer.Close()
		p.outer, p.conn = nil, nil
	}
	return errors.Join(
		errOuter,
		os.NewSyscallError("close", unix.Close(p.epoll)),
		os.NewSyscallError("close", unix.Close(p.wake)))
}

// milliseconds rounds up, so that a Wait is not over too early, and keeps within the 32 bits that the system has for
// it.
func milliseconds(d time.Duration) int {
	switch {
	case d < 0:
		return -1
	case d > math.MaxInt32*time.Millisecond:
		return math.MaxInt32
	}
	return int((d + time.Millisecond - 1) / time.Millisecond)
}
