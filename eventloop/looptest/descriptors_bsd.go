//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package looptest

// Without a call for one thread, the process gets the signal; and not every system polls whatever there is.

import "golang.org/x/sys/unix"

func signalThread(pid, _ int) error { return unix.Kill(pid, unix.SIGURG) }

// listDescriptors returns the numbers of this process's open descriptors.
func listDescriptors() []int { return listEach(0, scanned) }
