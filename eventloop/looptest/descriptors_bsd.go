//go:build darwin || dragonfly || freebsd || netbsd || openbsd

// Without a call for one thread, the process gets the signal.
package looptest

import "golang.org/x/sys/unix"

func signalThread(pid, _ int) error { return unix.Kill(pid, unix.SIGURG) }
