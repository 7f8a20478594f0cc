// Linux can end a child together with its parent.

package runner

import "syscall"

// bindLife has the kernel kill the child when the runner dies before it can do so itself: the timeout of package testing does
// not cover benchmarks. The kernel sends the signal when the thread ends that started the child. No goroutine here is locked
// to its thread, so that is at the end of the process.
func bindLife(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }
