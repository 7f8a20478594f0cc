package environ

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
