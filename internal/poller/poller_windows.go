package poller

// The poller of Windows: AFD, on a completion port.

import (
	"errors"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/windows"

	"github.com/turnloop/turnloop/internal/loopapi"
)

// Supported says whether descriptors can be added on this system. Here these are sockets, named by their handles.
const Supported = true

// Poller is a completion port, and a handle to AFD whose polls of sockets complete there. A poll reports once that a
// socket is ready. So Wait polls the sockets again that the previous Wait has returned: a socket that is still ready is
// reported at once.
//
// When the peer has finished sending, EventRead is reported. A connection that was reset or refused is reported with
// EventError, EventHangup and all wanted events, because no call on it would block.
type Poller struct {
	mu       sync.Mutex // guards the fields up to failure; not held while waiting
	closed   bool
	port     windows.Handle
	afd      windows.Handle
	sockets  map[int]*socket            // registered sockets, by descriptor
	leaving  map[windows.Handle]*socket // removed sockets that are still being polled, by base handle
	slots    []*socket                  // the sockets in sockets and leaving, by slot; nil where free
	free     []int                      // free slots
	polls    int                        // the number of polls that have not ended
	ready    []*socket                  // ready sockets that no Wait has returned yet
	returned []*socket                  // sockets that the last Wait has returned
	woken    bool                       // there is a Wake that no Wait has answered yet
	posted   bool                       // a packet that post has sent is at the port
	failure  error                      // the error that the next Wait returns

	drained chan struct{} // of capacity one: tells the watch that Wait has found nothing

	// The fields below belong to the owner.
	raw    completions
	events [batch]Event
}

// socket is a registration. At any time a socket is either being polled, or in Poller.ready, or in Poller.returned.
type socket struct {
	request
	fd      int
	base    windows.Handle // the handle by which AFD knows the socket
	slot    int
	tag     uint32
	wanted  loopapi.IOEvents
	asked   uint32 // the events of AFD that the poll asks for
	found   uint32 // the events of AFD that the last poll has found; zero after a change of the tag
	polled  bool
	stale   bool // the result of the poll is to be ignored
	removed bool
}

// active keeps each Poller from being collected until its last poll has ended, as the system writes to memory in its
// slots.
var active sync.Map

// New makes a poller. It holds two handles until Close.
func New() (*Poller, error) {
	if err := errors.Join(deviceIoControlFile.Find(), queuedCompletionStatuses.Find()); err != nil {
		return nil, err
	}
	port, err := windows.CreateIoCompletionPort(windows.InvalidHandle, 0, 0, 0)
	if err != nil {
		return nil, os.NewSyscallError("CreateIoCompletionPort", err)
	}
	afd, err := openAFD(port)
	if err != nil {
		_ = windows.CloseHandle(port)
		return nil, err
	}
	p := &Poller{
		port: port, afd: afd, sockets: map[int]*socket{}, leaving: map[windows.Handle]*socket{},
		drained: make(chan struct{}, 1),
	}
	active.Store(p, nil)
	return p, nil
}

// Add watches the socket fd. The error is WSAENOTSOCK if fd is no socket.
func (p *Poller) Add(fd int, events loopapi.IOEvents, tag uint32) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.refuse(fd); err != nil {
		return err
	}
	if p.sockets[fd] != nil {
		return os.NewSyscallError("NtDeviceIoControlFile", windows.ERROR_ALREADY_EXISTS)
	}
	base, err := baseHandle(fd)
	if err != nil {
		return err
	}
	if s := p.leaving[base]; s != nil { // AFD confuses two polls of one socket, so the next poll begins when this one has ended
		delete(p.leaving, base)
		s.fd, s.tag, s.wanted, s.stale, s.removed = fd, tag, events, true, false
		p.sockets[fd] = s
		return nil
	}
	s := &socket{fd: fd, base: base, tag: tag, wanted: events}
	if n := len(p.free); n > 0 {
		s.slot, p.free = p.free[n-1], p.free[:n-1]
		p.slots[s.slot] = s
	} else {
		s.slot, p.slots = len(p.slots), append(p.slots, s)
	}
	p.sockets[fd] = s
	if err := p.poll(s); err != nil {
		p.forget(s)
		return err
	}
	return nil
}

// Modify changes what fd is watched for. A poll that asks for fewer events is cancelled, and processEnds begins another one.
func (p *Poller) Modify(fd int, _, events loopapi.IOEvents, tag uint32) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	s, err := p.find(fd)
	if err != nil {
		return err
	}
	if tag != s.tag { // the number may belong to another socket, if the previous one was closed
		base, err := baseHandle(fd)
		if err != nil {
			return err
		}
		s.base, s.tag, s.found, s.stale = base, tag, 0, s.polled
	}
	s.wanted = events
	if s.polled && (s.stale || s.interest()&^s.asked != 0) {
		s.stale = true
		s.cancel(p.afd)
	}
	return nil
}

// Remove ends the watch of fd.
func (p *Poller) Remove(fd int, _ loopapi.IOEvents) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	s, err := p.find(fd)
	if err == nil {
		p.forget(s)
	}
	return err
}

func (p *Poller) find(fd int) (*socket, error) {
	if err := p.refuse(fd); err != nil {
		return nil, err
	}
	if s := p.sockets[fd]; s != nil {
		return s, nil
	}
	return nil, os.NewSyscallError("NtDeviceIoControlFile", syscall.ENOENT)
}

func (p *Poller) refuse(fd int) error {
	switch {
	case p.closed:
		return loopapi.ErrPollerClosed
	case fd == int(p.port) || fd == int(p.afd): // the caller means a socket that it has closed
		return os.NewSyscallError("NtDeviceIoControlFile", syscall.EBADF)
	}
	return nil
}

// The events of AFD for reading, and for a broken connection.
const (
	readable = afdReceive | afdAccept | afdDisconnect
	broken   = afdAbort | afdConnectFail
)

// interest returns the events of AFD to poll for.
func (s *socket) interest() uint32 {
	asked := uint32(broken | afdLocalClose)
	if s.wanted&loopapi.EventRead != 0 {
		asked |= readable
	}
	if s.wanted&loopapi.EventWrite != 0 {
		asked |= afdSend
	}
	return asked
}

// ready returns the found events that are wanted now, and errors.
func (s *socket) ready() (events loopapi.IOEvents) {
	if s.found&(readable|broken) != 0 {
		events |= loopapi.EventRead
	}
	if s.found&(afdSend|broken) != 0 {
		events |= loopapi.EventWrite
	}
	events &= s.wanted
	if s.found&broken != 0 {
		events |= loopapi.EventError | loopapi.EventHangup
	}
	return events
}

func (p *Poller) poll(s *socket) error {
	s.asked, s.found, s.stale = s.interest(), 0, false
	err := s.begin(p.afd, s.base, s.asked, uintptr(s.slot+1))
	if s.polled = err == nil; s.polled {
		p.polls++
	}
	return err
}

// forget ends a registration. A socket that is being polled keeps its slot until processEnds sees the end of the poll. The
// caller holds mu.
func (p *Poller) forget(s *socket) {
	delete(p.sockets, s.fd)
	s.removed = true
	if s.polled {
		p.leaving[s.base] = s
		s.cancel(p.afd)
	} else {
		p.release(s)
	}
}

func (p *Poller) release(s *socket) {
	p.slots[s.slot] = nil
	p.free = append(p.free, s.slot)
}

// pollAgain polls a socket unless it was removed. It forgets a socket that cannot be polled. The usual reason is that the
// socket was closed. Any other error is not the socket's fault, and the next Wait returns it. The caller holds mu.
func (p *Poller) pollAgain(s *socket) {
	if s.removed {
		return
	}
	err := p.poll(s)
	if err == nil {
		return
	}
	if !errors.Is(err, windows.WSAENOTSOCK) {
		p.failure = err
	}
	p.forget(s)
}

// Reset forgets all sockets.
func (p *Poller) Reset() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.reset()
}

func (p *Poller) reset() error {
	if p.closed {
		return loopapi.ErrPollerClosed
	}
	for _, s := range p.sockets {
		p.forget(s)
	}
	return nil
}

// Close cancels all polls, and waits for their ends for up to a second, so that their memory can be collected.
func (p *Poller) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.reset(); err != nil {
		return err
	}
	p.closed = true
	for deadline := time.Now().Add(time.Second); p.polls > 0 && time.Now().Before(deadline); {
		if p.raw.wait(p.port, max(time.Until(deadline), 0)) != nil {
			break
		}
		p.processEnds(&p.raw)
	}
	if p.polls == 0 {
		active.Delete(p)
	}
	return errors.Join(
		os.NewSyscallError("CloseHandle", windows.CloseHandle(p.afd)),
		os.NewSyscallError("CloseHandle", windows.CloseHandle(p.port)))
}
