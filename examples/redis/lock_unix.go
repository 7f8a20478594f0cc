//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package main

// The lock of the append-only file, where the system has one that ends with the process.

import (
	"fmt"
	"os"
	"syscall"
)

// lock takes a file for this process, until it is closed. A second server would cut off what the first is just writing.
func lock(file *os.File) error {
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return fmt.Errorf("%s is not for this server alone: %w", file.Name(), err)
	}
	return nil
}
