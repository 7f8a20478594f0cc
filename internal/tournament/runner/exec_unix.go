// Process groups where they exist.

//go:build unix

package runner

import (
	"os/exec"
	"syscall"
)

// isolate gives cmd a process group of its own. A terminal's interrupt then reaches the runner only, which decides about
// its children.
func isolate(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	bindLife(cmd.SysProcAttr)
}

// kill ends the process group. At worst the group has ended by itself a moment ago.
func kill(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

// askForStacks makes a Go program print all stacks and exit.
func askForStacks(cmd *exec.Cmd) { _ = syscall.Kill(cmd.Process.Pid, syscall.SIGQUIT) }
