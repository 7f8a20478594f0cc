//go:build !unix

package gojaloop

// The signals that scripts can listen to, of other systems.

import "syscall"

// signalOf returns the signal of a name, if scripts can listen to it.
func signalOf(name string) (s syscall.Signal, ok bool) {
	s, ok = map[string]syscall.Signal{"SIGINT": syscall.SIGINT, "SIGTERM": syscall.SIGTERM, "SIGHUP": syscall.SIGHUP}[name]
	return s, ok
}
