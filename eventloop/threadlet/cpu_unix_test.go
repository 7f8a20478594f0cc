//go:build unix

package threadlet_test

// The clock of benchmarks that count processor time.

import (
	"syscall"
	"testing"
)

// processorTime returns what the process has used, in nanoseconds: on a shared machine, wall time says little.
func processorTime(b *testing.B) int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return u.Utime.Nano() + u.Stime.Nano()
}
