//go:build unix

package main

// The end by a signal, as shells and other parents expect it: one that runs programs in a loop ends with the one that Ctrl-C ends.

import (
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/turnloop/turnloop/gojaloop/modules"
)

// quit ends the process with an exit code, or by SIGINT.
func quit(code int) {
	modules.RestoreTerminals()
	if code == interruptedCode {
		signal.Reset(syscall.SIGINT)
		if syscall.Kill(os.Getpid(), syscall.SIGINT) == nil {
			time.Sleep(time.Second) // the signal comes soon; it does not come where the parent ignores it
		}
		code = 128 + int(syscall.SIGINT)
	}
	os.Exit(code)
}
