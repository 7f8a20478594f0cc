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
		own         string
		cpu, memory string
	}{
		{"the tightest above wins", map[string]string{
			"a/cpu.max": "300000 100000", "a/b/cpu.max": "max 100000", "a/memory.max": "1073741824", "a/b/memory.max": "2147483648",
		}, "/a/b", "3", "1024 MiB"},
		{"the root is the own group", map[string]string{
			"cpu.max": "150000 100000", "memory.max": "max",
		}, "/../somewhere/else", "1.5", ""},
		{"nothing", nil, "", "", ""},
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
