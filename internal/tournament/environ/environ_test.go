package environ

import "testing"

func TestCapture(t *testing.T) {
	t.Setenv("GOGC", "50")
	t.Setenv("GOMEMLIMIT", "")
	e := Capture(3)
	if e.GOMAXPROCS != 3 || e.GOGC != "50" || e.GOMEMLIMIT != "off" || e.Cores < 1 {
		t.Errorf("captured %+v", e)
	}
	if e.TimeNowNS < 1 || e.TimeNowNS > 1e5 {
		t.Errorf("time.Now takes %v ns", e.TimeNowNS)
	}
	if again := Capture(3); len(Differences(e, again)) != 0 {
		t.Errorf("the same machine differs: %v", Differences(e, again))
	}
}

func TestDifferences(t *testing.T) {
	base := Env{GOOS: "linux", GOARCH: "amd64", CPU: "x", Cores: 2, MemoryMiB: 1, Kernel: "k", GOMAXPROCS: 2}
	for what, change := range map[string]func(*Env){
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
	same := base
	same.TimeNowNS, same.GOGC = 99, "50"
	if got := Differences(base, same); len(got) != 0 {
		t.Errorf("what is no property of the machine counts: %v", got)
	}
}
