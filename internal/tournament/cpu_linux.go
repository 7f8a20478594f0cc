package tournament

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// processorTime is what this process has used so far. The kernel accounts for it at this moment, and not only once in each of its
// ticks.
func processorTime(b *testing.B) time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t); err != nil {
		b.Fatal(err)
	}
	return time.Duration(t.Nano())
}
