//go:build unix

package threadlet_test

// What counts processor time.

import (
	"syscall"
	"testing"
)

// processorTime returns what the process has used, in nanoseconds: on a shared machine, wall time says little.
func processorTime(tb testing.TB) int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		tb.Fatal(err)
	}
	return u.Utime.Nano() + u.Stime.Nano()
}
