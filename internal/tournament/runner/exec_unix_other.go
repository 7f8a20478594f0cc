// Elsewhere a child may outlive a runner that is killed, until its work is done.

//go:build unix && !linux

package runner

import "syscall"

func bindLife(*syscall.SysProcAttr) {}
