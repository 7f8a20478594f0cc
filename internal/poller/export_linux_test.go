package poller

import (
	"encoding/binary"
	"math"
	"testing"

	"golang.org/x/sys/unix"
)

// Milliseconds is the timeout that epoll gets.
var Milliseconds = milliseconds

// FillCounter leaves no room for another wake-up in the eventfd's counter.
func (p *Poller) FillCounter(t *testing.T) {
	var most [8]byte
	binary.NativeEndian.PutUint64(most[:], math.MaxUint64-1)
	if _, err := unix.Write(p.wake, most[:]); err != nil {
		t.Fatal(err)
	}
}
