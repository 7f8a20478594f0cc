// Package poller waits for the readiness of raw descriptors: with epoll on Linux, with kqueue on macOS and the BSDs, and
// with AFD on Windows, for sockets only. On other systems a Poller waits for wake-ups only.
//
// The package makes system calls and nothing else. The loop that uses it owns the registrations and their callbacks, and
// decides when to wait and when to wake.
//
// # The contract
//
// One goroutine, the owner, calls Wait, Watch, Reset and Close. Every other method may be called from any goroutine, at
// any time, also while the owner waits, and during and after Close. After Close it returns ErrPollerClosed and touches no
// descriptor, so that it never reaches a number that was used again.
//
// Readiness is level-triggered. A descriptor is added with a tag, which its events carry. With a fresh tag for each Add
// the owner recognises a stale event: its descriptor was removed, closed or replaced under the same number. The events of
// one Wait may contain a descriptor more than once. Error and Hangup are reported whatever events are watched, except by
// a kqueue. That has one filter for reading and one for writing: it reports nothing if neither is watched, and Hangup
// without Error only beside Write. When the peer of a socket has finished sending it may still read: this is reported as
// Read, not as Hangup.
//
// The system forgets a closed descriptor that was not removed, unless a duplicate of it is open. epoll then goes on
// reporting the closed one, and no call can name it any more. An owner that keeps seeing events with an unknown tag must
// Reset and add all its descriptors again.
package poller

import (
	"time"

	"github.com/turnloop/turnloop/internal/loopapi"
)

// Event reports that a descriptor is ready.
type Event struct {
	FD     int
	Tag    uint32
	Events loopapi.IOEvents
}

// batch is the most events that one Wait returns: little more than an owner serves until the next, which tells of the rest again.
const batch = 64

// contract is the interface of the Poller of every system.
type contract interface {
	// Add watches fd. Its errors are the system's: EEXIST when fd is watched, EPERM when it cannot be polled (a regular
	// file; on Windows WSAENOTSOCK), EBADF, ENOSPC, ENOMEM.
	Add(fd int, events loopapi.IOEvents, tag uint32) error
	// Modify replaces the watched events of fd, which are old, by events, and its tag by tag.
	Modify(fd int, old, events loopapi.IOEvents, tag uint32) error
	// Remove ends the watch of fd, whose watched events are events. If fd is closed, Gone reports true for the error,
	// and nothing is left to do, except for the duplicates described in the package comment.
	Remove(fd int, events loopapi.IOEvents) error
	// Wait returns the ready events, at most 256. It waits up to timeout for the first: not at all when timeout is zero,
	// for ever when it is negative. After a Wake, or when a signal interrupts it, it returns early with no event.
	// Otherwise it never returns early, and up to a millisecond late. The slice is valid until the next Wait.
	Wait(timeout time.Duration) ([]Event, error)
	// Watch is for an owner that parks elsewhere than in Wait. From a goroutine of its own it calls notify when there
	// may be events: at the beginning, and, after a Wait that returned none, when there are some again. It may call
	// more often than that. notify must not block; a call with an error is the last one. During a watch the timeout of
	// Wait must be zero. stop ends the watch: when it returns, notify has returned and is not called any more. Call
	// stop before Reset, Close, or another Watch.
	Watch(notify func(error)) (stop func(), err error)
	// Wake makes the current Wait or Park return, or else the next one. Several wake-ups before that count as one. A
	// wake-up meant for a Park that has ended otherwise may be lost, or may end the next Park early.
	Wake() error
	// Reset removes all descriptors that were added, or returns an error and changes nothing.
	Reset() error
	// Close releases the poller's own descriptors. A second Close returns ErrPollerClosed.
	Close() error
}

var _ contract = (*Poller)(nil)

// Parker is an interface that a Poller also has where the runtime's own poller can watch it, which is on Linux.
type Parker interface {
	// Park is like Wait without a timeout, but blocks the goroutine and not its thread. (While many events come it may block
	// the thread for a moment.) An event ends a Park as fast as it resumes a reader of a net.Conn. A Wake that ends a Park
	// costs more than a send on a channel, and less than waking a blocked thread. Only the owner may call Park, and not
	// during a watch.
	Park() ([]Event, error)
}
