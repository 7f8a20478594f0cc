//go:build !unix

package main

// The end of the process where no signal can end it.

import (
	"os"

	"github.com/turnloop/turnloop/gojaloop/modules"
)

// quit ends the process with an exit code.
func quit(code int) {
	modules.RestoreTerminals()
	if code == interruptedCode {
		code = 130
	}
	os.Exit(code)
}
