//go:build unix

package gojaloop

// The signals that scripts can listen to, of Unix systems.

import "syscall"

// signalOf returns the signal of a name, if scripts can listen to it.
func signalOf(name string) (s syscall.Signal, ok bool) {
	s, ok = map[string]syscall.Signal{
		"SIGINT": syscall.SIGINT, "SIGTERM": syscall.SIGTERM, "SIGHUP": syscall.SIGHUP, "SIGQUIT": syscall.SIGQUIT, "SIGUSR1": syscall.SIGUSR1,
		"SIGUSR2": syscall.SIGUSR2, "SIGALRM": syscall.SIGALRM, "SIGCONT": syscall.SIGCONT, "SIGCHLD": syscall.SIGCHLD, "SIGWINCH": syscall.SIGWINCH,
	}[name]
	return s, ok
}
