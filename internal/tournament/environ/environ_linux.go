// Linux: what /proc, /sys and the control groups tell.

package environ

import (
	"os"
	"path"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

func (e *Env) machine() {
	e.CPU = cpuModel()
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) == nil {
		e.MemoryMiB = int64(uint64(info.Totalram) * uint64(info.Unit) >> 20)
	}
	var uts unix.Utsname
	if unix.Uname(&uts) == nil {
		e.Kernel = unix.ByteSliceToString(uts.Sysname[:]) + " " + unix.ByteSliceToString(uts.Release[:])
	}
	e.Governor = firstLine("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
	own, _ := strings.CutPrefix(firstLine("/proc/self/cgroup"), "0::")
	e.CPULimit, e.MemLimit = cgroupLimits("/sys/fs/cgroup", own)
}

// machineID returns what distinguishes this machine from others: the identity that the system got when it was installed; in a
// container without one, the identity of the kernel's current boot.
func machineID() string {
	for _, file := range []string{"/etc/machine-id", "/var/lib/dbus/machine-id", "/proc/sys/kernel/random/boot_id"} {
		if id := firstLine(file); id != "" {
			return id
		}
	}
	return ""
}

// allowed returns the processors that this process may run on.
func allowed() []int {
	var set unix.CPUSet
	if unix.SchedGetaffinity(0, &set) != nil {
		return nil
	}
	var out []int
	for i := range len(set) * 64 {
		if set.IsSet(i) {
			out = append(out, i)
		}
	}
	return out
}

func cpuModel() string {
	data, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(data)) {
		key, value, _ := strings.Cut(line, ":")
		switch strings.TrimSpace(key) {
		case "model name", "Model", "cpu model", "uarch":
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// cgroupLimits returns the tightest limits between the control group own and the root, empty where there is none.
func cgroupLimits(root, own string) (cpu, memory string) {
	var cpus float64
	var bytes uint64
	climb(root, own, func(dir string) {
		if f := strings.Fields(firstLine(dir + "/cpu.max")); len(f) == 2 {
			tightenCPU(&cpus, f[0], f[1])
		}
		if v, err := strconv.ParseUint(firstLine(dir+"/memory.max"), 10, 64); err == nil && (bytes == 0 || v < bytes) {
			bytes = v
		}
	})
	if cpus > 0 {
		cpu = strconv.FormatFloat(cpus, 'g', 3, 64)
	}
	if bytes > 0 {
		memory = strconv.FormatUint(bytes>>20, 10) + " MiB"
	}
	return cpu, memory
}

// climb visits the folder of a control group and those above it. Inside a container the path in /proc/self/cgroup may
// belong to the host's view; the mounted root is then the group itself.
func climb(root, own string, visit func(dir string)) {
	for p := path.Clean("/" + own); ; p = path.Dir(p) {
		visit(path.Join(root, p))
		if p == "/" {
			return
		}
	}
}

func tightenCPU(limit *float64, quota, period string) {
	q, err1 := strconv.ParseFloat(quota, 64)
	p, err2 := strconv.ParseFloat(period, 64)
	if err1 != nil || err2 != nil || q <= 0 || p <= 0 {
		return
	}
	if *limit == 0 || q/p < *limit {
		*limit = q / p
	}
}
