// macOS: what sysctl tells.

package environ

import (
	"encoding/binary"

	"golang.org/x/sys/unix"
)

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

// LoadAverage returns the load of the last 1, 5 and 15 minutes, nil if it is unknown.
func LoadAverage() []float64 {
	// struct loadavg { fixpt_t ldavg[3]; long fscale; }
	raw, err := unix.SysctlRaw("vm.loadavg")
	if err != nil || len(raw) < 24 {
		return nil
	}
	scale := float64(binary.LittleEndian.Uint64(raw[16:]))
	if scale == 0 {
		return nil
	}
	out := make([]float64, 3)
	for i := range out {
		out[i] = float64(binary.LittleEndian.Uint32(raw[4*i:])) / scale
	}
	return out
}
