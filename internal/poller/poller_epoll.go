//go:build linux

package poller

// The poller of Linux: epoll, and an eventfd for wake-ups.

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

// Supported says whether descriptors can be added on this system.
const Supported = true

// Poller is an epoll descriptor and an eventfd that wakes it.
type Poller struct {
	// mu guards the fields up to conn. Goroutines other than the owner hold it for reading while they use a descriptor;
	// it is held for writing to set, replace or close one.
	mu     sync.RWMutex
	closed bool
	epoll  int
	wake   int             // the eventfd
	outer  *os.File        // an epoll set that contains epoll, for the runtime's own poller; nil until Park or Watch
	number int             // the descriptor of outer
	conn   syscall.RawConn // the connection of outer
	parked atomic.Bool     // the owner is in Park

	// The fields below belong to the owner.
	raw     [batch]unix.EpollEvent
	events  [batch]Event
	look    func(uintptr) bool // the method lookOnce, bound once; it leaves its results in found and failure
	found   []Event
	failure error
	streak  int  // the number of consecutive Waits with timeout 0 that found events
	muted   bool // outer does not watch epoll
	crowd   int  // grows while linger finds many events; below zero it counts the calls in which linger does nothing
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
	case p.owns(fd): // the caller means a descriptor that it has closed
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

// collect is Wait, and also returns whether a wake-up or a signal came.
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

// glance is epoll_wait without waiting. It does not block, so it uses a raw system call, which does not tell Go's scheduler;
// the runtime's own poller does the same.
func (p *Poller) glance() (int, error) {
	for {
		n, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT,
			uintptr(p.epoll), uintptr(unsafe.Pointer(&p.raw[0])), batch, 0, 0, 0)
		switch errno {
		case 0:
			return int(n), nil
		case unix.EINTR: // a caller that does not wait needs the answer
		default:
			return 0, errno
		}
	}
}

// drain resets the eventfd's counter. An error could only be EAGAIN: the counter is zero.
func (p *Poller) drain() {
	var counter [8]byte
	_, _ = unix.Read(p.wake, counter[:])
}

// file makes the runtime's own poller watch p.epoll, which it can do as with any other file. A goroutine that waits for such
// a file blocks no thread, and an event resumes it as fast as a reader of a net.Conn. What the runtime watches is an outer
// epoll set that contains p.epoll: so looked can mute it. The system allows at most a hundred nested sets to watch one
// descriptor.
func (p *Poller) file() error {
	if p.conn != nil {
		return nil
	}
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return os.NewSyscallError("epoll_create1", err)
	}
	if err := errors.Join(
		os.NewSyscallError("fcntl", unix.SetNonblock(fd, true)), // the runtime watches non-blocking files only
		setNested(fd, unix.EPOLL_CTL_ADD, p.epoll, true),
	); err != nil {
		_ = unix.Close(fd)
		return err
	}
	file := os.NewFile(uintptr(fd), "epoll")
	conn, err := file.SyscallConn()
	if err == nil {
		err = file.SetReadDeadline(time.Time{}) // fails if the runtime does not watch the file
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

// setNested adds or changes inner in the epoll set outer, which watches inner if on is set.
func setNested(outer, op, inner int, on bool) error {
	e := unix.EpollEvent{Fd: int32(inner)}
	if on {
		e.Events = unix.EPOLLIN
	}
	return os.NewSyscallError("epoll_ctl", unix.EpollCtl(outer, op, inner, &e))
}

// busy is the number of consecutive looks with events after which the runtime's poller is muted. A busy owner finds
// events by itself, and each notification would wake a thread of the runtime for nothing.
const busy = 3

// looked is called after each look, that is, each Wait with timeout 0; found says that it found events. looked mutes the
// runtime's poller after a few looks with events, and unmutes it after a look without. Events that came before it was
// unmuted may not be reported, so looked then returns again, to ask for one more look.
func (p *Poller) looked(found bool) (again bool, err error) {
	switch {
	case !found:
		p.streak = 0
		if p.muted {
			p.muted = false
			return true, setNested(p.number, unix.EPOLL_CTL_MOD, p.epoll, true)
		}
	case p.streak < busy:
		p.streak++
	case !p.muted:
		p.muted = true
		return false, setNested(p.number, unix.EPOLL_CTL_MOD, p.epoll, false)
	}
	return false, nil
}

// Park waits for events without a timeout, and blocks a thread for a moment at most. The runtime's poller is edge-triggered,
// and forgets edges that came before a Read began. So Park must look for events after the Read has begun: Read calls p.look
// first, and waits for an edge only if p.look has found nothing.
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

// linger looks for events while the runtime's poller is muted, and blocks the thread for a moment if there are none.
// When events come in crowds, more of them have come by the time the thread wakes than by the time the runtime would have
// run the owner, so each event costs less. When one or two come at a time, such as answers to what the loop has sent, the
// runtime is faster: linger then does nothing for a while.
func (p *Poller) linger() (events []Event, woken bool, err error) {
	if p.crowd < 0 {
		if p.crowd++; p.crowd == 0 {
			p.crowd = newCrowd
		}
		return nil, false, nil
	}
	events, woken, err = p.fetch(0)
	if len(events) == 0 && !woken && err == nil {
		runtime.Gosched() // lets ready goroutines run before the thread blocks
		events, woken, err = p.fetch(moment)
	}
	if p.crowd = min(p.crowd+len(events)-few, mostCrowd); p.crowd < 0 {
		p.crowd = noCrowd
	}
	return events, woken, err
}

const (
	moment    = time.Millisecond // the shortest timeout of epoll_wait
	few       = 3                // a smaller average of events at a time is no crowd
	newCrowd  = 16
	mostCrowd = 256
	noCrowd   = -300
)

func (p *Poller) lookOnce(uintptr) (done bool) {
	var woken bool
	p.found, woken, p.failure = p.collect(0)
	return len(p.found) > 0 || woken || p.failure != nil
}

// interrupted handles the error of a Read. If Wake or stop has ended the Read by a deadline in the past, interrupted removes
// the deadline, and returns nil unless that fails. It returns any other error.
func (p *Poller) interrupted(err error) error {
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		return err
	}
	return p.outer.SetReadDeadline(time.Time{})
}

// Watch starts a goroutine that calls notify for each edge. It stays in one Read for as long as the watch lasts, since the
// runtime's poller forgets edges that come between two Reads.
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
			err = p.interrupted(err) // before the look at stopping, so that it does not undo the deadline of stop
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

// Wake ends a Wait or a Park.
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

// Reset replaces the epoll set by an empty one.
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
		err = setNested(p.number, unix.EPOLL_CTL_ADD, epoll, true)
	}
	if err != nil {
		p.epoll = old
		_ = unix.Close(epoll)
		return err
	}
	p.streak, p.muted, p.crowd = 0, false, newCrowd
	_ = unix.Close(old) // an error changes nothing: the new set is in use
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

// milliseconds rounds up, so that a Wait does not return early, and stays within 32 bits, as epoll_wait requires.
func milliseconds(d time.Duration) int {
	switch {
	case d < 0:
		return -1
	case d > math.MaxInt32*time.Millisecond:
		return math.MaxInt32
	}
	return int((d + time.Millisecond - 1) / time.Millisecond)
}
