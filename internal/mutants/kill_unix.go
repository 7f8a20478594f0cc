//go:build unix

package main

// The end of a command together with what it has started.

import (
	"os/exec"
	"syscall"
)

// killAll has the end of a command's context end whatever the command has started, too.
func killAll(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
