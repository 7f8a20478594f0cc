// Package poller waits for the readiness of raw descriptors: epoll on Linux, kqueue on macOS and the BSDs, and, of
// sockets, AFD on Windows. Elsewhere a Poller waits for wake-ups only.
//
// It is mechanism: system calls, and the care that they need. Who is registered, what a callback is, when to wait and
// when to wake is for the loop that uses it.
//
// # The contract
//
// One goroutine, the owner, calls Wait, Watch, Reset and Close. Every other method may be called from any goroutine, at
// any time, also while the owner waits, and during and after Close: then it returns ErrPollerClosed and touches no
// descriptor, so a descriptor number that was used again is never reached by mistake.
//
// Readiness is level-triggered. A descriptor is added with a tag, which its events carry: with a fresh tag for each
// Add, an event of a descriptor that was removed, closed or replaced under the same number since tells that it is
// stale. One descriptor may appear more than once in what Wait returns. Error and Hangup are reported whether or not
// they were asked for; by a kqueue, which has a filter each for reading and for writing, nothing if neither was asked
// for, and Hangup without Error only beside Write. A peer of a socket that has finished sending may still read: that
// is Read, and no Hangup.
//
// A closed descriptor that was not removed is forgotten by the system, unless a duplicate of it is open: epoll then
// goes on reporting it, and no call can name it any more. Who sees events with a tag that is not registered, again and
// again, can only Reset and add again what is registered.
package poller

import (
	"time"

	"github.com/turnloop/turnloop/internal/loopapi"
)

// Event tells that a descriptor is ready.
type Event struct {
	FD     int
	Tag    uint32
	Events loopapi.IOEvents
}

// batch is how many events one Wait returns at most.
const batch = 256

// contract is what every system's Poller offers.
type contract interface {
	// Add watches fd. Its errors are the system's: EEXIST when fd is watched, EPERM when it cannot be polled (a regular
	// file; on Windows WSAENOTSOCK), EBADF, ENOSPC, ENOMEM.
	Add(fd int, events loopapi.IOEvents, tag uint32) error
	// Modify replaces what fd is watched for, old, and its tag.
	Modify(fd int, old, events loopapi.IOEvents, tag uint32) error
	// Remove ends the watch. After a closed descriptor's Remove, whose error is Gone, nothing is left to do but for the
	// duplicates that the package comment tells of.
	Remove(fd int, events loopapi.IOEvents) error
	// Wait returns what is ready, at most 256 events, waiting up to timeout for the first: not at all when it is zero,
	// for ever when it is negative. It returns early, with no event, after a Wake or when a signal interrupts it, and
	// late by up to a millisecond, never early, otherwise. The slice is valid until the next Wait.
	Wait(timeout time.Duration) ([]Event, error)
	// Watch is for an owner that parks elsewhere than in Wait. From a goroutine of its own it calls notify when there
	// may be events: at the beginning, and, after a Wait that returned none, when there are some again. It may call
	// more often than that. notify must not block; an error that it is given is the last it is given. While a watch
	// goes on Wait takes no timeout but zero. stop ends the watch: when it returns, notify has returned and is not
	// called any more. It comes before Reset, Close, or another Watch.
	Watch(notify func(error)) (stop func(), err error)
	// Wake makes the Wait that is going on, or else the next one, return. Wake-ups do not add up. Nor does one that was
	// meant for a Park last: if that has ended otherwise, the next Park may end early.
	Wake() error
	// Reset forgets all descriptors that were added, or returns an error and changes nothing.
	Reset() error
	// Close releases the poller's own descriptors. The second one returns ErrPollerClosed.
	Close() error
}

var _ contract = (*Poller)(nil)

// Parker is what a Poller is besides where the runtime's own poller can watch it, which is on Linux.
type Parker interface {
	// Park is Wait without end, but blocks a goroutine only, and a thread for a moment at most, amid many events: it
	// hears of an event as soon as a reader of a net.Conn does, while a Wake of it costs more than a send on a channel
	// and less than that of a blocked thread. Only the owner calls it, and not while a watch goes on.
	Park() ([]Event, error)
}
