package poller

import (
	"encoding/binary"
	"math"
	"testing"

	"golang.org/x/sys/unix"
)

// Milliseconds is the timeout that epoll gets.
var Milliseconds = milliseconds

// LookInVain is a look that finds nothing, with what comes right behind it, before anybody can be told. It tells whether
// there is to be another look.
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

// BreakWake puts a descriptor that cannot be written in the place of the eventfd.
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

// FillCounter leaves no room for another wake-up in the eventfd's counter.
func (p *Poller) FillCounter(t *testing.T) {
	var most [8]byte
	binary.NativeEndian.PutUint64(most[:], math.MaxUint64-1)
	if _, err := unix.Write(p.wake, most[:]); err != nil {
		t.Fatal(err)
	}
}
