//go:build unix && !linux

package tournament

// What a process has used on other Unix systems.

import (
	"syscall"
	"testing"
	"time"
)

// processorTime is what this process has used so far.
func processorTime(b *testing.B) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// residentMemory is how many bytes of this process are in memory, 0 if that is not known.
func residentMemory() uint64 { return 0 }
