package environ

// Tests of what is read of control groups.

import (
	"os"
	"path/filepath"
	"testing"
)

func TestCgroupLimits(t *testing.T) {
	for _, c := range []struct {
		what        string
		files       map[string]string
		own         map[string]string
		cpu, memory string
	}{
		{"version 2, the tightest above wins", map[string]string{
			"a/cpu.max": "300000 100000", "a/b/cpu.max": "max 100000", "a/memory.max": "1073741824", "a/b/memory.max": "2147483648",
		}, map[string]string{"": "/a/b"}, "3", "1024 MiB"},
		{"version 2, the root is the own group", map[string]string{
			"cpu.max": "150000 100000", "memory.max": "max",
		}, map[string]string{"": "/../somewhere/else"}, "1.5", ""},
		{"version 1", map[string]string{
			"cpu/d/cpu.cfs_quota_us": "50000", "cpu/d/cpu.cfs_period_us": "100000", "memory/d/memory.limit_in_bytes": "536870912",
			"memory/memory.limit_in_bytes": "9223372036854771712",
		}, map[string]string{"cpu": "/d", "memory": "/d"}, "0.5", "512 MiB"},
		{"version 1, unlimited", map[string]string{
			"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000",
		}, map[string]string{"cpu": "/"}, "", ""},
		{"nothing", nil, nil, "", ""},
	} {
		root := t.TempDir()
		for name, text := range c.files {
			path := filepath.Join(root, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if cpu, memory := cgroupLimits(root, c.own); cpu != c.cpu || memory != c.memory {
			t.Errorf("%s: %q and %q, want %q and %q", c.what, cpu, memory, c.cpu, c.memory)
		}
	}
}

func TestContainerKind(t *testing.T) {
	const (
		disk    = "22 27 0:21 / /proc rw - proc proc rw\n27 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n"
		overlay = "69 45 0:39 / / rw,relatime master:2 - overlay overlay rw,lowerdir=/a\n70 69 0:41 / /proc rw - proc proc rw\n"
		fuse    = "69 45 0:39 / / rw,nodev master:2 - fuse.fuse-overlayfs fuse-overlayfs rw,user_id=0\n"
		btrfs   = "69 45 0:39 /@/var/lib/docker/btrfs/subvolumes/4f / rw - btrfs /dev/sda2 rw,subvolid=9\n"
		own     = "69 45 0:39 /btrfs/subvolumes/4f / rw - btrfs /dev/sdb rw\n"
		zfs     = "69 45 0:39 / / rw - zfs tank/docker/4f rw\n"
		vfs     = "69 45 254:0 /var/lib/containers/storage/vfs/dir/4f / rw - ext4 /dev/vda rw\n"
		suse    = "27 1 0:30 /@/.snapshots/1/snapshot / rw - btrfs /dev/vda2 rw\n"
		pool    = "27 1 0:30 / / rw - zfs rpool/ROOT/ubuntu rw\n"
		beside  = disk + "90 27 0:50 / /var/lib/docker/overlay2/4f/merged rw - overlay overlay rw\n"
		covered = "26 1 0:39 / / rw - overlay overlay rw\n" + disk
	)
	for _, c := range []struct{ what, marked, mounts, cgroups, want string }{
		{"docker", "docker", overlay, "0::/\n", "docker"},
		{"docker, rootless", "docker", fuse, "0::/\n", "docker"},
		{"docker, version 1 groups", "docker", disk, "9:name=systemd:/docker/16b3\n0::/docker/16b3\n", "docker"},
		{"docker on btrfs", "docker", btrfs, "0::/\n", "docker"},
		{"docker on a btrfs of its own", "docker", own, "0::/\n", "docker"},
		{"docker on zfs", "docker", zfs, "0::/\n", "docker"},
		{"podman on vfs", "podman", vfs, "0::/\n", "podman"},
		{"kubernetes without its secrets", "", overlay, "0::/kubepods.slice/cri-containerd-4f.scope\n", "kubernetes"},
		{"lxc", "", disk, "0::/lxc.payload.box/init.scope\n", "lxc"},
		{"a machine from a container's image", "docker", disk, "9:name=systemd:/\n0::/\n", ""},
		{"one on btrfs", "docker", suse, "0::/user.slice\n", ""},
		{"one on zfs", "docker", pool, "0::/user.slice\n", ""},
		{"one that runs containers", "docker", beside, "0::/system.slice/docker.service\n", ""},
		{"one whose disk covers its first root", "docker", covered, "0::/\n", ""},
		{"one whose files cannot be read", "docker", "", "", ""},
		{"a live image", "", overlay, "0::/init.scope\n", ""},
	} {
		if got := containerKind(c.marked, c.mounts, c.cgroups); got != c.want {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
	}
}
