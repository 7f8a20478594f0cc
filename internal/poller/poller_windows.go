package poller

import (
	"errors"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/windows"

	"github.com/turnloop/turnloop/internal/loopapi"
)

// Supported tells whether descriptors can be added on this system: sockets, by their handles.
const Supported = true

// Poller is a completion port, and a handle to AFD whose polls of sockets complete there. A poll tells once that a
// socket is ready. So a socket that Wait has returned is polled again by the next Wait: it comes at once if it is still
// ready.
//
// A peer that has finished sending is EventRead. A connection that was reset, or refused, is EventError and
// EventHangup, and what was asked for, because nothing would block.
type Poller struct {
	mu       sync.Mutex // guards what follows down to failure; not held while waiting
	closed   bool
	port     windows.Handle
	afd      windows.Handle
	sockets  map[int]*socket            // those that are registered
	leaving  map[windows.Handle]*socket // those that are not, and are being polled
	slots    []*socket                  // those that are registered, and those that are being polled
	free     []int                      // places in slots
	polls    int                        // going on
	ready    []*socket                  // not returned yet
	returned []*socket                  // by the last Wait
	woken    bool                       // by a Wake that no Wait has answered
	posted   bool                       // a packet for it is at the port
	failure  error                      // that the next Wait returns

	drained chan struct{} // of capacity one: to the watch, that Wait has found nothing

	// The owner's.
	raw    completions
	events [batch]Event
}

// socket is a registration. It is being polled, among the ready, or among the returned.
type socket struct {
	request
	fd      int
	base    windows.Handle
	slot    int
	tag     uint32
	wanted  loopapi.IOEvents
	asked   uint32 // AFD's events, of the poll
	found   uint32 // the same, and not of a former tag
	polled  bool
	stale   bool // what the poll finds is not to count
	removed bool
}

// active keeps each Poller until its last poll is over, as the system knows addresses in its slots.
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

// Add watches the socket fd. What is none gets WSAENOTSOCK.
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
	if s := p.leaving[base]; s != nil { // AFD mixes up two polls of one socket: the next begins when the last is over
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

// Modify changes what fd is watched for. A poll that asks for less is cancelled, and begun anew when the port has told.
func (p *Poller) Modify(fd int, _, events loopapi.IOEvents, tag uint32) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	s, err := p.find(fd)
	if err != nil {
		return err
	}
	if tag != s.tag { // maybe another socket, if the one of before was closed
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
	case fd == int(p.port) || fd == int(p.afd): // a number that the user has closed
		return os.NewSyscallError("NtDeviceIoControlFile", syscall.EBADF)
	}
	return nil
}

// How events are AFD's.
const (
	readable = afdReceive | afdAccept | afdDisconnect
	broken   = afdAbort | afdConnectFail
)

// interest is what to poll for.
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

// ready is what was found and is wanted now.
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

// forget ends a registration. The slot of one that is being polled gets free later.
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

// pollAgain polls what is still registered, and forgets what has been closed. What else keeps a poll from beginning is
// no matter of the socket's, and the owner must know.
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

// Close waits until the polls that it has cancelled are over: not for long, as it is only for the sake of memory.
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
		p.settle(&p.raw)
	}
	if p.polls == 0 {
		active.Delete(p)
	}
	return errors.Join(
		os.NewSyscallError("CloseHandle", windows.CloseHandle(p.afd)),
		os.NewSyscallError("CloseHandle", windows.CloseHandle(p.port)))
}
