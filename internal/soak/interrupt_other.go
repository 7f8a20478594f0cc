//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package main

// Signals to the process, where threads cannot be named.

import (
	"os"
	"syscall"
)

// interrupt sends a signal to this process.
func interrupt(kind syscall.Signal) (n int64) {
	if syscall.Kill(os.Getpid(), kind) == nil {
		n = 1
	}
	return n
}
