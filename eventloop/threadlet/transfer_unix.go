//go:build darwin || dragonfly || freebsd || netbsd || openbsd || (linux && (race || (!amd64 && !arm64)))

package threadlet

// Reads and writes of sockets by the usual system calls.

import "golang.org/x/sys/unix"

func receive(fd int, p []byte) (int, error) { return unix.Read(fd, p) }

func send(fd int, p []byte) (int, error) { return unix.Write(fd, p) }
