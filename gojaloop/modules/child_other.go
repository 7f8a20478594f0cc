//go:build !unix

package modules

// Children and inputs where the system is not a Unix.

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"syscall"
)

// setCredentials does nothing: these systems have no such users, and groups of processes are of another kind.
func setCredentials(*exec.Cmd, bool, int64, int64) {}

// ended returns the exit code of a process.
func ended(s *os.ProcessState) (code, signal int) { return s.ExitCode(), 0 }

var continued []os.Signal // there are none

// EndBy ends the process where no signal can, with the exit code that stands for one.
func EndBy(s syscall.Signal) {
	RestoreTerminals()
	os.Exit(128 + int(s))
}

func isAgain(error) bool { return false }

// atEnd returns nil for the end of an input; a pipe whose writer is gone is at its end too.
func atEnd(err error) error {
	if err == io.EOF || errors.Is(err, os.ErrClosed) {
		return nil
	}
	return err
}

// awaitInput cannot wait without reading here: a read that is no longer wanted stays, and gets what comes next.
func awaitInput(ctx context.Context, f *os.File) (bool, error) {
	interruptReads(ctx, f)
	return ctx.Err() == nil, nil
}
