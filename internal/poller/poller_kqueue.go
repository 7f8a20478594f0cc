//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package poller

// The poller of macOS and the BSDs: kqueue.

import (
	"errors"
	"math"
	"os"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/turnloop/turnloop/internal/loopapi"
)

// Supported says whether descriptors can be added on this system.
const Supported = true

// Poller is a kqueue and a pipe that wakes it. A pipe works alike on all of these systems.
//
// The filter for reading reports EV_EOF when the peer has finished sending. The filter for writing reports it when written
// bytes would not arrive, also because this side has finished sending. So only EV_EOF for writing, or with an error, is a
// Hangup.
type Poller struct {
	// mu guards the fields up to wake. Goroutines other than the owner hold it for reading while they use a descriptor;
	// it is held for writing to replace or close one.
	mu     sync.RWMutex
	closed bool
	queue  int
	wake   [2]int // the pipe: the reading end, the writing end

	drained chan struct{} // of capacity one: tells the watch that Wait has found nothing

	// The fields below belong to the owner.
	raw    [batch]words
	events [batch]Event
}

// words is the memory of a Kevent_t without pointers. In a Kevent_t the field for the tag is a pointer on most of these
// systems, and neither the garbage collector nor a growing stack may take a tag for a pointer.
type words [unsafe.Sizeof(unix.Kevent_t{}) / unsafe.Sizeof(uintptr(0))]uintptr

func (w *words) kevent() *unix.Kevent_t { return (*unix.Kevent_t)(unsafe.Pointer(w)) }

// tag returns the field that the system returns with each event.
func (w *words) tag() *uintptr { return (*uintptr)(unsafe.Pointer(&w.kevent().Udata)) }

func kevents(w []words) []unix.Kevent_t { return unsafe.Slice(w[0].kevent(), len(w)) }

// New makes a poller. It holds three descriptors until Close.
func New() (*Poller, error) {
	queue, err := kqueue()
	if err != nil {
		return nil, err
	}
	p := &Poller{queue: queue, wake: [2]int{-1, -1}, drained: make(chan struct{}, 1)}
	if err := p.openPipe(); err != nil {
		_ = p.Close()
		return nil, err
	}
	return p, nil
}

func kqueue() (int, error) {
	queue, err := unix.Kqueue()
	if err != nil {
		return -1, os.NewSyscallError("kqueue", err)
	}
	unix.CloseOnExec(queue)
	return queue, nil
}

// openPipe makes the pipe. It holds ForkLock until the pipe is marked as closed on exec, because macOS cannot make a pipe
// that is marked from the start.
func (p *Poller) openPipe() error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := unix.Pipe(p.wake[:]); err != nil {
		p.wake = [2]int{-1, -1}
		return os.NewSyscallError("pipe", err)
	}
	for _, fd := range p.wake {
		unix.CloseOnExec(fd)
		if err := unix.SetNonblock(fd, true); err != nil {
			return os.NewSyscallError("fcntl", err)
		}
	}
	return p.change(p.wake[0], unix.EVFILT_READ, unix.EV_ADD, 0)
}

// Add watches fd.
func (p *Poller) Add(fd int, events loopapi.IOEvents, tag uint32) error {
	return p.replace(fd, 0, events, tag)
}

// Modify changes what fd is watched for.
func (p *Poller) Modify(fd int, old, events loopapi.IOEvents, tag uint32) error {
	return p.replace(fd, old, events, tag)
}

// Remove ends the watch of fd.
func (p *Poller) Remove(fd int, events loopapi.IOEvents) error { return p.replace(fd, events, 0, 0) }

// replace changes the filters of fd, one for reading and one for writing, from old to events. After an error fd has no
// filter that it did not have before.
func (p *Poller) replace(fd int, old, events loopapi.IOEvents, tag uint32) error {
	p.mu.RLock()
	defer p.mu.RUnlock()
	switch {
	case p.closed:
		return loopapi.ErrPollerClosed
	case fd < 0 || fd > math.MaxInt32:
		return os.NewSyscallError("kevent", unix.EBADF)
	case fd == p.queue || fd == p.wake[0] || fd == p.wake[1]: // the caller means a descriptor that it has closed
		return os.NewSyscallError("kevent", unix.EBADF)
	}
	if (old|events)&(loopapi.EventRead|loopapi.EventWrite) == 0 { // no filter to change: only check that fd is open
		_, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
		return os.NewSyscallError("fcntl", err)
	}
	err := p.changeAll(fd, events, unix.EV_ADD, tag)
	if err == nil {
		err = p.changeAll(fd, old&^events, unix.EV_DELETE, 0)
	}
	if err != nil { // no filter may be left of a failed call
		_ = p.changeAll(fd, events&^old, unix.EV_DELETE, 0)
	}
	return err
}

// changeAll applies flags to the filters for events.
func (p *Poller) changeAll(fd int, events loopapi.IOEvents, flags int, tag uint32) error {
	var errs [len(filters)]error
	for i, f := range filters {
		if events&f.event != 0 {
			errs[i] = p.change(fd, f.filter, flags, tag)
		}
	}
	return errors.Join(errs[:]...)
}

// filters are the filters for reading and for writing.
var filters = [2]struct {
	event  loopapi.IOEvents
	filter int
}{{loopapi.EventRead, unix.EVFILT_READ}, {loopapi.EventWrite, unix.EVFILT_WRITE}}

func (p *Poller) change(fd, filter, flags int, tag uint32) error {
	var w [1]words
	unix.SetKevent(w[0].kevent(), fd, filter, flags)
	*w[0].tag() = uintptr(tag)
	for {
		_, err := unix.Kevent(p.queue, kevents(w[:]), nil, nil)
		if !errors.Is(err, unix.EINTR) {
			return os.NewSyscallError("kevent", err)
		}
	}
}

// Wait waits for events.
func (p *Poller) Wait(timeout time.Duration) ([]Event, error) {
	var limit *unix.Timespec
	if timeout >= 0 {
		ts := unix.NsecToTimespec(int64(min(timeout, 24*time.Hour)))
		limit = &ts
	}
	n, err := unix.Kevent(p.queue, nil, kevents(p.raw[:]), limit)
	for timeout == 0 && errors.Is(err, unix.EINTR) { // a caller that does not wait needs the answer
		n, err = unix.Kevent(p.queue, nil, kevents(p.raw[:]), limit)
	}
	if errors.Is(err, unix.EINTR) {
		return nil, nil
	}
	if err != nil {
		return nil, os.NewSyscallError("kevent", err)
	}
	events := p.events[:0]
	for i := range p.raw[:n] {
		r := p.raw[i].kevent()
		if int(r.Ident) == p.wake[0] {
			p.drain()
			continue
		}
		e := Event{FD: int(r.Ident), Tag: uint32(*p.raw[i].tag())}
		ended := r.Flags&unix.EV_EOF != 0
		switch r.Filter {
		case unix.EVFILT_READ:
			e.Events |= loopapi.EventRead
		case unix.EVFILT_WRITE:
			e.Events |= loopapi.EventWrite
			if ended {
				e.Events |= loopapi.EventHangup
			}
		}
		if ended && r.Fflags != 0 { // the socket's error
			e.Events |= loopapi.EventError | loopapi.EventHangup
		}
		if r.Flags&unix.EV_ERROR != 0 {
			e.Events |= loopapi.EventError
		}
		events = append(events, e)
	}
	if len(events) == 0 {
		select {
		case p.drained <- struct{}{}:
		default:
		}
	}
	return events, nil
}

// Watch blocks a thread in kevent, as the runtime's own poller cannot watch a kqueue. Ready descriptors stay ready until
// the owner has served them, so the watch blocks again only after a Wait that has found nothing.
func (p *Poller) Watch(notify func(error)) (stop func(), err error) {
	stopping, ended := make(chan struct{}), make(chan struct{})
	select {
	case <-p.drained: // left from before the watch
	default:
	}
	go func() {
		defer close(ended)
		for one := make([]words, 1); ; {
			notify(nil)
			select {
			case <-stopping:
				return
			case <-p.drained:
			}
			if _, err := unix.Kevent(p.queue, nil, kevents(one), nil); err != nil && !errors.Is(err, unix.EINTR) {
				notify(os.NewSyscallError("kevent", err))
				return
			}
		}
	}()
	return func() {
		close(stopping)
		for {
			_ = p.Wake() // the pipe stays readable until the next Wait
			select {
			case <-ended:
				return
			case <-time.After(time.Second): // the wake-up has failed
			}
		}
	}, nil
}

// drain empties the pipe. An error could only be EAGAIN: the pipe is empty.
func (p *Poller) drain() {
	var bytes [64]byte
	for {
		if n, _ := unix.Read(p.wake[0], bytes[:]); n < len(bytes) {
			return
		}
	}
}

// Wake ends a Wait.
func (p *Poller) Wake() error {
	p.mu.RLock()
	defer p.mu.RUnlock()
	if p.closed {
		return loopapi.ErrPollerClosed
	}
	return writeWake(p.wake[1], []byte{1})
}

// Reset replaces the kqueue by an empty one.
func (p *Poller) Reset() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return loopapi.ErrPollerClosed
	}
	queue, err := kqueue()
	if err != nil {
		return err
	}
	old := p.queue
	p.queue = queue
	if err := p.change(p.wake[0], unix.EVFILT_READ, unix.EV_ADD, 0); err != nil {
		p.queue = old
		_ = unix.Close(queue)
		return err
	}
	_ = unix.Close(old) // an error changes nothing: the new queue is in use
	return nil
}

// Close closes the queue first, then the pipe that wakes it.
func (p *Poller) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return loopapi.ErrPollerClosed
	}
	p.closed = true
	errs := []error{os.NewSyscallError("close", unix.Close(p.queue))}
	for _, fd := range p.wake {
		if fd >= 0 {
			errs = append(errs, os.NewSyscallError("close", unix.Close(fd)))
		}
	}
	return errors.Join(errs...)
}
