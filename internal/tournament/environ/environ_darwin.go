// macOS: what sysctl tells.

package environ

import "golang.org/x/sys/unix"

func (e *Env) machine() {
	e.CPU, _ = unix.Sysctl("machdep.cpu.brand_string")
	if release, err := unix.Sysctl("kern.osrelease"); err == nil {
		e.Kernel = "Darwin " + release
	}
	if n, err := unix.SysctlUint64("hw.memsize"); err == nil {
		e.MemoryMiB = int64(n >> 20)
	}
}

func machineID() string { return hardwareAddress() }

// allowed returns nothing: macOS pins no process to processors.
func allowed() []int { return nil }
