package main

// Signals to every thread of the process.

import (
	"os"
	"strconv"
	"syscall"
)

// interrupt sends a signal to every thread of this process, and returns to how many.
func interrupt(kind syscall.Signal) (n int64) {
	threads, _ := os.ReadDir("/proc/self/task")
	for _, t := range threads {
		if id, err := strconv.Atoi(t.Name()); err == nil {
			if _, _, errno := syscall.RawSyscall(syscall.SYS_TGKILL, uintptr(os.Getpid()), uintptr(id), uintptr(kind)); errno == 0 {
				n++
			}
		}
	}
	return n
}
