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
	e.Container = container()
	e.CPULimit, e.MemLimit = cgroupLimits("/sys/fs/cgroup", ownCgroups())
}

// LoadAverage returns the load of the last 1, 5 and 15 minutes, nil if it is unknown.
func LoadAverage() []float64 {
	fields := strings.Fields(firstLine("/proc/loadavg"))
	if len(fields) < 3 {
		return nil
	}
	out := make([]float64, 3)
	for i := range out {
		v, err := strconv.ParseFloat(fields[i], 64)
		if err != nil {
			return nil
		}
		out[i] = v
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

func container() string {
	for _, c := range []struct{ file, kind string }{
		{"/.dockerenv", "docker"},
		{"/run/.containerenv", "podman"},
		{"/var/run/secrets/kubernetes.io", "kubernetes"},
	} {
		if _, err := os.Stat(c.file); err == nil {
			return c.kind
		}
	}
	cgroups := firstLine("/proc/1/cgroup")
	for _, kind := range []string{"docker", "containerd", "kubepods", "lxc", "libpod"} {
		if strings.Contains(cgroups, kind) {
			return kind
		}
	}
	return ""
}

// ownCgroups returns the path of this process's control group by controller; the unified hierarchy of version 2 has the
// empty name.
func ownCgroups() map[string]string {
	out := map[string]string{}
	data, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return out
	}
	for line := range strings.Lines(string(data)) {
		if fields := strings.SplitN(strings.TrimSpace(line), ":", 3); len(fields) == 3 {
			for controller := range strings.SplitSeq(fields[1], ",") {
				out[controller] = fields[2]
			}
		}
	}
	return out
}

// cgroupLimits returns the tightest limits between this process's group and the root, empty where there is none.
func cgroupLimits(root string, own map[string]string) (cpu, memory string) {
	var cpus float64
	var bytes uint64
	climb(root, own[""], func(dir string) {
		if f := strings.Fields(firstLine(dir + "/cpu.max")); len(f) == 2 {
			tightenCPU(&cpus, f[0], f[1])
		}
		tightenMemory(&bytes, firstLine(dir+"/memory.max"))
	})
	climb(root+"/cpu", own["cpu"], func(dir string) {
		tightenCPU(&cpus, firstLine(dir+"/cpu.cfs_quota_us"), firstLine(dir+"/cpu.cfs_period_us"))
	})
	climb(root+"/memory", own["memory"], func(dir string) {
		tightenMemory(&bytes, firstLine(dir+"/memory.limit_in_bytes"))
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

func tightenMemory(limit *uint64, value string) {
	const unlimited = 1 << 60 // version 1 says "no limit" with a number near the largest
	v, err := strconv.ParseUint(value, 10, 64)
	if err != nil || v >= unlimited {
		return
	}
	if *limit == 0 || v < *limit {
		*limit = v
	}
}
