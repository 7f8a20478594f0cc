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

// FillCounter leaves no room for another wake-up in the eventfd's counter.
func (p *Poller) FillCounter(t *testing.T) {
	var most [8]byte
	binary.NativeEndian.PutUint64(most[:], math.MaxUint64-1)
	if _, err := unix.Write(p.wake, most[:]); err != nil {
		t.Fatal(err)
	}
}
