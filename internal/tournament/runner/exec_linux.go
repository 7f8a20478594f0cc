// Linux can end a child together with its parent.

package runner

import "syscall"

// bindLife has the kernel kill the child when the runner dies without the chance to do so: testing's own timeout does not
// cover benchmarks. The signal comes when the starting thread ends; no goroutine here locks its thread, so that is the end of
// the process.
func bindLife(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }
