package environ

// Tests of what is recorded of the machine.

import (
	"strings"
	"testing"
	"time"
)

func TestCapture(t *testing.T) {
	t.Setenv("GOGC", "50")
	t.Setenv("GOMEMLIMIT", "")
	t.Setenv("GODEBUG", "gctrace=0")
	e := Capture(3)
	if e.GOMAXPROCS != 3 || e.GOGC != "50" || e.GOMEMLIMIT != "off" || e.GODEBUG != "gctrace=0" || e.Cores < 1 {
		t.Errorf("captured %+v", e)
	}
	if e.TimeNowNS < 1 || e.TimeNowNS > 1e5 {
		t.Errorf("time.Now takes %v ns", e.TimeNowNS)
	}
	if again := Capture(3); len(Differences(e, again)) != 0 {
		t.Errorf("the same machine differs: %v", Differences(e, again))
	}
}

func TestRanges(t *testing.T) {
	for want, numbers := range map[string][]int{"": nil, "0": {0}, "0-3,8": {0, 1, 2, 3, 8}, "1,3,5-6": {1, 3, 5, 6}} {
		if got := ranges(numbers); got != want {
			t.Errorf("%v is written %q, want %q", numbers, got, want)
		}
	}
}

func TestIdentityTellsMachinesApartAndNothingElse(t *testing.T) {
	const id = "0123456789abcdef"
	if a := identity(id); len(a) != 16 || a == id || a != identity(id) || a == identity(id+"0") {
		t.Errorf("the identity made of %s is %s", id, a)
	}
	if identity("") != "" {
		t.Error("what is unknown has an identity")
	}
}

func TestDifferences(t *testing.T) {
	base := Env{Machine: "m", Processors: "0-1", GOOS: "linux", GOARCH: "amd64", CPU: "x", Cores: 2, MemoryMiB: 1, Kernel: "k", GOMAXPROCS: 2}
	for what, change := range map[string]func(*Env){
		"machine": func(e *Env) { e.Machine = "n" }, "processors": func(e *Env) { e.Processors = "2-3" },
		"system": func(e *Env) { e.GOARCH = "arm64" }, "CPU": func(e *Env) { e.CPU = "y" }, "cores": func(e *Env) { e.Cores = 4 },
		"memory": func(e *Env) { e.MemoryMiB = 2 }, "kernel": func(e *Env) { e.Kernel = "l" },
		"container": func(e *Env) { e.Container = "docker" }, "CPU limit": func(e *Env) { e.CPULimit = "1" },
		"memory limit": func(e *Env) { e.MemLimit = "1 MiB" }, "GOMAXPROCS": func(e *Env) { e.GOMAXPROCS = 1 },
	} {
		other := base
		change(&other)
		if got := Differences(base, other); len(got) != 1 {
			t.Errorf("%s: differences %v", what, got)
		}
	}
	old := base
	old.Machine, old.Processors = "", ""
	if got := Differences(old, base); len(got) != 0 {
		t.Errorf("what an old run does not say differs: %v", got)
	}
	for what, change := range map[string]func(*Env){
		"GOGC": func(e *Env) { e.GOGC = "off" }, "GOMEMLIMIT": func(e *Env) { e.GOMEMLIMIT = "1GiB" },
		"GODEBUG": func(e *Env) { e.GODEBUG = "asyncpreemptoff=1" },
	} {
		other := base
		change(&other)
		if got := Settings(base, other); len(got) != 1 || !strings.HasPrefix(got[0], what+": none and ") {
			t.Errorf("%s: different settings %v", what, got)
		}
		if got := Differences(base, other); len(got) != 0 {
			t.Errorf("%s is taken for a property of the machine: %v", what, got)
		}
	}
	same := base
	same.TimeNowNS = 99
	if got := append(Differences(base, same), Settings(base, same)...); len(got) != 0 {
		t.Errorf("a measured cost counts: %v", got)
	}
}

func TestStolen(t *testing.T) {
	for line, want := range map[string]time.Duration{
		"cpu  719221 13583 93416 377159 2682 0 7845 25976 0 0": 259760 * time.Millisecond,
		"cpu  719221 13583 93416 377159":                       0, // of an old kernel
		"intr 1 2 3 4 5 6 7 8 9":                               0,
		"":                                                     0,
	} {
		if got := stolen(line); got != want {
			t.Errorf("%q: %v, want %v", line, got, want)
		}
	}
}
