package tournament

// What a process has used on Linux: processor time and memory.

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// processorTime returns the processor time that this process has used so far. It is exact up to this moment: the clock that
// is read does not wait for the kernel's next tick.
func processorTime(b *testing.B) time.Duration { return processorTimeOf(b, 0) }

// processorTimeOf returns the processor time that another process has used, or this one if pid is 0.
func processorTimeOf(b *testing.B, pid int) time.Duration {
	clock := int32(unix.CLOCK_PROCESS_CPUTIME_ID)
	if pid != 0 {
		const scheduled = 2                // CPUCLOCK_SCHED: as schedstat has it
		clock = ^int32(pid)<<3 | scheduled // a process's clock, as clock_getcpuclockid makes it
	}
	var t unix.Timespec
	if err := unix.ClockGettime(clock, &t); err != nil {
		b.Fatal(err)
	}
	return time.Duration(t.Nano())
}

// residentMemory is how many bytes of this process are in memory, 0 if that is not known.
func residentMemory() uint64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return 0
	}
	pages, err := strconv.ParseUint(fields[1], 10, 64)
	if err != nil {
		return 0
	}
	return pages * uint64(os.Getpagesize())
}
