package poller

// What the tests on Linux need of the package.

import (
	"encoding/binary"
	"math"
	"testing"

	"golang.org/x/sys/unix"
)

// Milliseconds returns the timeout passed to epoll_wait.
var Milliseconds = milliseconds

// LookInVain looks and must find nothing, calls behind, and only then lets the runtime's poller be unmuted. It
// reports whether there must be another look.
func (p *Poller) LookInVain(t *testing.T, behind func()) (again bool) {
	events, _, err := p.fetch(0)
	if len(events) != 0 || err != nil {
		t.Fatalf("%v, %v", events, err)
	}
	behind()
	again, err = p.looked(false)
	if err != nil {
		t.Fatal(err)
	}
	return again
}

// BreakWake replaces the eventfd by a descriptor that cannot be written.
func (p *Poller) BreakWake(t *testing.T) {
	fd, err := unix.Open("/dev/null", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	if err := unix.Dup3(fd, p.wake, unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
}

// FillCounter fills the eventfd's counter, so that it has no room for another wake-up.
func (p *Poller) FillCounter(t *testing.T) {
	var most [8]byte
	binary.NativeEndian.PutUint64(most[:], math.MaxUint64-1)
	if _, err := unix.Write(p.wake, most[:]); err != nil {
		t.Fatal(err)
	}
}
