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
	var marked string
	for _, m := range []struct{ file, kind string }{
		{"/var/run/secrets/kubernetes.io", "kubernetes"},
		{"/run/.containerenv", "podman"},
		{"/.dockerenv", "docker"},
	} {
		if _, err := os.Stat(m.file); err == nil {
			marked = m.kind
			break
		}
	}
	mounts, _ := os.ReadFile("/proc/self/mountinfo")
	groups, _ := os.ReadFile("/proc/self/cgroup")
	return containerKind(marked, string(mounts), string(groups))
}

// containerKind returns the kind that a marker file claims if the mounts or the control groups agree that there is a
// container, and otherwise what the control groups alone say. A marker proves little: a virtual machine whose image was made
// from a container's still has it.
func containerKind(marked, mountinfo, cgroups string) string {
	kind := cgroupKind(cgroups)
	if marked != "" && (kind != "" || layeredRoot(mountinfo)) {
		return marked
	}
	return kind
}

// cgroupKind reads /proc/self/cgroup for the groups that container engines make.
func cgroupKind(cgroups string) string {
	for _, k := range []struct{ mark, kind string }{
		{"kubepods", "kubernetes"}, {"libpod", "podman"}, {"docker", "docker"}, {"containerd", "containerd"}, {"lxc", "lxc"},
	} {
		for line := range strings.Lines(cgroups) {
			fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
			for dir := range strings.SplitSeq(fields[len(fields)-1], "/") {
				// The group of the engine's own service belongs to the host, not to a container.
				if strings.Contains(dir, k.mark) && !strings.HasSuffix(dir, ".service") {
					return k.kind
				}
			}
		}
	}
	return ""
}

// layeredRoot reads /proc/self/mountinfo and tells whether / is what container engines mount there: layers, or a folder of
// the engine's storage.
func layeredRoot(mountinfo string) bool {
	layered := false
	for line := range strings.Lines(mountinfo) {
		mount, fs, ok := strings.Cut(line, " - ")
		m, f := strings.Fields(mount), strings.Fields(fs)
		if !ok || len(m) < 5 || len(f) < 2 || m[4] != "/" {
			continue
		}
		// A later mount covers an earlier one.
		root, source := m[3], f[1]
		switch f[0] {
		case "overlay", "fuse.fuse-overlayfs", "fuse-overlayfs", "aufs":
			layered = true
		default:
			layered = inStorage(root) || inStorage(source)
		}
	}
	return layered
}

// inStorage tells whether a path is in the storage of a container engine, as with its btrfs, zfs, devicemapper and vfs
// drivers.
func inStorage(path string) bool {
	for _, mark := range []string{"/docker/", "/containers/storage/", "/containerd/", "/dev/mapper/docker-"} {
		if strings.Contains(path, mark) {
			return true
		}
	}
	// A storage folder that is a file system of its own shows only the driver's part of the path.
	return strings.HasPrefix(path, "/btrfs/subvolumes/") || strings.HasPrefix(path, "/vfs/dir/")
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
