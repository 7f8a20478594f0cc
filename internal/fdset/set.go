// Package fdset has the descriptors of a loop: the registrations, and where a loop that has some sleeps. It knows no loop: a
// Host tells it what it has to know, and the goroutine that it calls the owner collects events and calls callbacks.
package fdset

// The set: its fields, and how registrations begin, change and end.

import (
	"cmp"
	"errors"
	"io/fs"
	"log/slog"
	"runtime"
	"slices"
	"time"

	"github.com/turnloop/turnloop/internal/loopapi"
	"github.com/turnloop/turnloop/internal/place"
	"github.com/turnloop/turnloop/internal/poller"
	"github.com/turnloop/turnloop/internal/sched"
	"github.com/turnloop/turnloop/internal/sched/atomic"
	"github.com/turnloop/turnloop/internal/slim"
)

// Host is the loop, as far as its descriptors need one. Any goroutine calls it.
type Host interface {
	Ending() bool // new registrations are refused
	Wake()        // wakes the owner, if it sleeps: there is something that it has to look at
	// Log writes a record, with err unless it is nil. It does not block, whatever the logger does.
	Log(level slog.Level, msg string, err error, args ...any)
}

// Poller is a poller (see package poller). Not every loop needs one, and a test may replace it.
type Poller interface {
	Add(fd int, events loopapi.IOEvents, tag uint32) error
	Modify(fd int, old, events loopapi.IOEvents, tag uint32) error
	Remove(fd int, events loopapi.IOEvents) error
	Wait(timeout time.Duration) ([]poller.Event, error)
	Watch(notify func(error)) (stop func(), err error)
	Wake() error
	Reset() error
	Close() error
}

// Open makes a poller of the system.
func Open() (Poller, error) {
	p, err := poller.New()
	if err != nil {
		return nil, err // and not an interface that holds a nil poller
	}
	return p, nil
}

// Set is the descriptors of one loop. Any goroutine calls the methods of this file; what the owner alone calls is in park.go.
type Set struct {
	host Host
	open func() (Poller, error)

	// mu guards these three, and every change of table, mode, poller and size. It is held over the poller's call that goes
	// with a change, so that registrations and poller agree, and never over a wait or a callback. Where many goroutines
	// register, the owner would have to wait long for mu: so what it reads for each event and before each sleep is atomic.
	mu      sched.Mutex
	fds     slim.Map[int, *Registration] // by descriptor
	cleanup runtime.Cleanup              // closes the poller if the loop is garbage before its end
	closed  bool                         // the loop has ended, and so have all registrations

	table  table                  // the registrations, by the tags of events
	mode   atomic.Int32           // a Mode
	poller atomic.Pointer[Poller] // made when it is first needed, kept until the end
	size   atomic.Int32           // registrations

	// A goroutine that sets changed or ready wakes the owner afterwards; the owner looks at both flags before it parks. The
	// owner clears changed before it reads mode and poller, and ready before it asks the poller.
	changed atomic.Bool            // the owner has to look at mode, poller, size and fault
	ready   atomic.Bool            // the watch has reported events
	fault   atomic.Pointer[error]  // the error that ended the watch; the watch sets it before changed, the owner takes it
	blocked atomic.Pointer[Poller] // the poller that the owner sleeps in; nil: elsewhere; the awake owner writes it, Signal reads it

	seat // the owner alone touches it
}

// Registration is one watched descriptor, from Register to Unregister.
type Registration struct {
	FD       int
	Callback func(loopapi.IOEvents)
	Created  *place.Entry // when and where, in debug mode
	tag      uint32       // events carry it, and not the descriptor's number, which may be closed and used again
	events   atomic.Uint32
}

// Events returns the events that were asked for.
func (r *Registration) Events() loopapi.IOEvents { return loopapi.IOEvents(r.events.Load()) }

// Mode says what the owner sleeps in.
type Mode int32

// The modes: see eventloop.FastPathMode.
const (
	Auto Mode = iota
	Forced
	Disabled
	Modes
)

// Init makes an empty set. The poller that open returns is closed by Close, or when s is garbage.
func (s *Set) Init(host Host, open func() (Poller, error)) { s.host, s.open = host, open }

// Len returns how many descriptors are registered. For a caller that holds the lock, it is exact.
func (s *Set) Len() int { return int(s.size.Load()) }

// Lock keeps others from beginning and ending registrations until Unlock. It may wait for calls of the system.
func (s *Set) Lock() { s.mu.Lock() }

// Unlock releases the lock.
func (s *Set) Unlock() { s.mu.Unlock() }

// Register begins to watch a descriptor. The owner is woken if it has to look: a further registration lets it sleep on.
func (s *Set) Register(fd int, events loopapi.IOEvents, callback func(loopapi.IOEvents), created *place.Entry) error {
	err := s.register(&Registration{FD: fd, Callback: callback, Created: created}, events)
	if err == nil && s.changed.Load() {
		s.host.Wake() // to begin the watch
	}
	return err
}

func (s *Set) register(r *Registration, events loopapi.IOEvents) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.host.Ending():
		return loopapi.ErrLoopTerminated
	case s.mode.Load() == int32(Forced):
		return loopapi.ErrFastPathIncompatible
	case s.fds.Of[r.FD] != nil:
		return loopapi.ErrFDAlreadyRegistered
	}
	p, err := s.opened()
	if err != nil {
		return err
	}
	r.events.Store(uint32(events))
	s.table.put(r, len(s.fds.Of)) // before the poller knows of it, since events may come at once
	err = p.Add(r.FD, events, r.tag)
	if errors.Is(err, fs.ErrExist) {
		// The poller has kept the number of a registration that ended after its descriptor was closed and the number reused.
		err = p.Modify(r.FD, 0, events, r.tag)
	}
	if err != nil {
		s.table.remove(r)
		return err
	}
	s.fds.Put(r.FD, r)
	s.resized()
	return nil
}

// resized updates size. The caller holds mu.
func (s *Set) resized() {
	n := int32(len(s.fds.Of))
	if before := s.size.Swap(n); n == 0 || before == 0 {
		s.changed.Store(true) // there is something to watch, or nothing any more
	}
}

// Modify replaces the events that a registered descriptor is watched for.
func (s *Set) Modify(fd int, events loopapi.IOEvents) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.registered(fd)
	if err != nil {
		return err
	}
	before := r.Events()
	if before == events {
		return nil
	}
	r.events.Store(uint32(before | events)) // while the poller changes, an event may belong to either set
	if err := (*s.poller.Load()).Modify(fd, before, events, r.tag); err != nil {
		r.events.Store(uint32(before))
		return err
	}
	r.events.Store(uint32(events))
	return nil
}

// Unregister ends a registration. If then is not nil, the set calls it meanwhile, under the lock: what it queues comes behind the
// callback that the owner may be calling.
func (s *Set) Unregister(fd int, then func()) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.registered(fd)
	if err != nil {
		return err
	}
	s.table.remove(r)
	s.fds.Delete(fd)
	s.resized()
	if then != nil {
		then()
	}
	if err := (*s.poller.Load()).Remove(fd, r.Events()); err != nil && !poller.Gone(err) {
		return err
	}
	return nil
}

// registered finds a registration. The caller holds mu.
func (s *Set) registered(fd int) (*Registration, error) {
	r := s.fds.Of[fd]
	switch {
	case r != nil:
		return r, nil
	case s.closed:
		return nil, loopapi.ErrLoopTerminated
	}
	return nil, loopapi.ErrFDNotRegistered
}

// SetMode changes the mode; the owner is to be woken then.
func (s *Set) SetMode(mode Mode) error {
	if s.host.Ending() { // looked at before the lock too, since the end takes the lock
		return loopapi.ErrLoopTerminated
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.host.Ending():
		return loopapi.ErrLoopTerminated
	case mode == Forced && len(s.fds.Of) > 0:
		return loopapi.ErrFastPathIncompatible
	case mode == Disabled:
		if _, err := s.opened(); err != nil {
			return err
		}
	}
	s.mode.Store(int32(mode))
	s.changed.Store(true)
	return nil
}

// opened returns the poller, which it makes if there is none. The caller holds mu and has seen that the loop is not ending. The
// cleanup is for a loop that is garbage and has not ended: it never ran, so its poller is not in use.
func (s *Set) opened() (Poller, error) {
	if p := s.poller.Load(); p != nil {
		return *p, nil
	}
	p, err := s.open()
	if err != nil {
		return nil, err
	}
	s.poller.Store(&p)
	s.cleanup = runtime.AddCleanup(s, func(p Poller) { _ = p.Close() }, p)
	s.changed.Store(true)
	return p, nil
}

// Each calls f for each registration, the oldest first, while it holds the lock. It calls none if there are more than most.
func (s *Set) Each(most int, f func(*Registration)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.fds.Of) > most {
		return
	}
	var all []*Registration
	for _, r := range s.fds.Of {
		all = append(all, r)
	}
	last := s.table.last // tags count up, and wrap
	slices.SortFunc(all, func(a, b *Registration) int { return cmp.Compare(last-b.tag, last-a.tag) })
	for _, r := range all {
		f(r)
	}
}

// Close ends all registrations for good, and closes the poller. The owner calls it.
func (s *Set) Close() error {
	s.endWatch()
	s.Discard()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fds, s.closed = slim.Map[int, *Registration]{}, true
	s.table.pages.Store(nil)
	s.size.Store(0)
	if p := s.poller.Load(); p != nil {
		s.cleanup.Stop()
		return (*p).Close()
	}
	return nil
}
