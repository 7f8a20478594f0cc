//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package looptest

// The BSD systems: the signal goes to the process, as no call signals one thread, and descriptors are listed one by one,
// as poll does not work on every kind of file.

import "golang.org/x/sys/unix"

func signalThread(pid, _ int) error { return unix.Kill(pid, unix.SIGURG) }

// listDescriptors returns the numbers of this process's open descriptors.
func listDescriptors() []int { return listEach(0, scanned) }
