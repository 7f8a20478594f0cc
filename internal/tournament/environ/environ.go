// Package environ records where a run took place: the machine and its limits, the runtime's settings, the load.
package environ

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// An Env is the environment of a run. What could not be found out is empty or zero.
type Env struct {
	GOOS       string   `json:"goos"`
	GOARCH     string   `json:"goarch"`
	CPU        string   `json:"cpu"`
	Cores      int      `json:"cores"`                // logical processors that this process may use
	Processors string   `json:"processors,omitempty"` // which these are, as in "0-1,4"
	Machine    string   `json:"machine,omitempty"`    // a hash that is the same for all runs on this machine, and tells nothing else about it
	MemoryMiB  int64    `json:"memory_mib"`
	Kernel     string   `json:"kernel"`
	Governor   string   `json:"governor,omitempty"`
	Container  string   `json:"container,omitempty"` // which kind, as the variable container says, which container engines set
	CPULimit   string   `json:"cpu_limit,omitempty"` // in processors, from the control group
	MemLimit   string   `json:"memory_limit,omitempty"`
	GOMAXPROCS int      `json:"gomaxprocs"` // the value that the cells run with
	GOGC       string   `json:"gogc"`
	GOMEMLIMIT string   `json:"gomemlimit"`
	GODEBUG    string   `json:"godebug,omitempty"`
	TimeNowNS  float64  `json:"time_now_ns"` // the cost of time.Now
	Unknown    []string `json:"unknown,omitempty"`
}

// Capture records the environment for cells that run with the given GOMAXPROCS.
func Capture(gomaxprocs int) Env {
	e := Env{
		GOOS: runtime.GOOS, GOARCH: runtime.GOARCH, Cores: runtime.NumCPU(), GOMAXPROCS: gomaxprocs,
		GOGC: orDefault("GOGC", "100"), GOMEMLIMIT: orDefault("GOMEMLIMIT", "off"), GODEBUG: os.Getenv("GODEBUG"), Container: os.Getenv("container"),
		TimeNowNS: timeNowCost(),
	}
	e.machine()
	e.Processors = ranges(allowed())
	e.Machine = identity(machineID())
	for what, missing := range map[string]bool{
		"CPU model": e.CPU == "", "kernel": e.Kernel == "", "memory": e.MemoryMiB == 0,
		"identity of the machine": e.Machine == "", "processors": e.Processors == "",
	} {
		if missing {
			e.Unknown = append(e.Unknown, what)
		}
	}
	slices.Sort(e.Unknown)
	return e
}

// Differences lists what makes timings of a and b incomparable: they were not taken on the same machine, or not with the
// same share of it.
func Differences(a, b Env) []string {
	var out []string
	differ := func(what string, x, y any) {
		if x != y {
			out = append(out, fmt.Sprintf("%s: %v and %v", what, x, y))
		}
	}
	known := func(what, x, y string) { // old runs say less of themselves
		if x != "" && y != "" {
			differ(what, x, y)
		}
	}
	known("machine", a.Machine, b.Machine)
	known("processors", a.Processors, b.Processors)
	differ("system", a.GOOS+"/"+a.GOARCH, b.GOOS+"/"+b.GOARCH)
	differ("CPU", a.CPU, b.CPU)
	differ("cores", a.Cores, b.Cores)
	differ("memory in MiB", a.MemoryMiB, b.MemoryMiB)
	differ("kernel", a.Kernel, b.Kernel)
	differ("container", orNone(a.Container), orNone(b.Container))
	differ("CPU limit", orNone(a.CPULimit), orNone(b.CPULimit))
	differ("memory limit", orNone(a.MemLimit), orNone(b.MemLimit))
	differ("GOMAXPROCS", a.GOMAXPROCS, b.GOMAXPROCS)
	return out
}

// Settings lists the runtime's settings that differ. They may differ between two runs, and be what a comparison is about; but
// they must not change within one run.
func Settings(a, b Env) []string {
	var out []string
	for _, s := range [][3]string{
		{"GOGC", a.GOGC, b.GOGC}, {"GOMEMLIMIT", a.GOMEMLIMIT, b.GOMEMLIMIT}, {"GODEBUG", a.GODEBUG, b.GODEBUG},
	} {
		if s[1] != s[2] {
			out = append(out, fmt.Sprintf("%s: %s and %s", s[0], orNone(s[1]), orNone(s[2])))
		}
	}
	return out
}

// identity returns a hash of a machine's identity, which itself should not be published.
func identity(id string) string {
	if id == "" {
		return ""
	}
	mac := hmac.New(sha256.New, []byte("github.com/turnloop/turnloop tournament"))
	mac.Write([]byte(id))
	return hex.EncodeToString(mac.Sum(nil))[:16]
}

// ranges writes ascending numbers as Linux does: "0-3,8".
func ranges(numbers []int) string {
	var out []string
	for i := 0; i < len(numbers); {
		j := i
		for j+1 < len(numbers) && numbers[j+1] == numbers[j]+1 {
			j++
		}
		if i == j {
			out = append(out, strconv.Itoa(numbers[i]))
		} else {
			out = append(out, fmt.Sprintf("%d-%d", numbers[i], numbers[j]))
		}
		i = j + 1
	}
	return strings.Join(out, ",")
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

func orDefault(variable, otherwise string) string {
	if v := os.Getenv(variable); v != "" {
		return v
	}
	return otherwise
}

// timeNowCost returns the median cost of time.Now over a few batches, in nanoseconds.
func timeNowCost() float64 {
	const batches, calls = 9, 20000
	costs := make([]float64, batches)
	for i := range costs {
		start := time.Now()
		for range calls - 1 {
			_ = time.Now()
		}
		costs[i] = float64(time.Since(start)) / calls
	}
	slices.Sort(costs)
	return costs[batches/2]
}

// Stolen returns for how long this machine had work for its processors and its host ran something else on them, summed up over
// all processors. It returns 0 if that is unknown, as on all systems but Linux.
func Stolen() time.Duration { return stolen(firstLine("/proc/stat")) }

// stolen reads the line of all processors, the eighth figure of which counts hundredths of a second.
func stolen(line string) time.Duration {
	fields := strings.Fields(line)
	if len(fields) < 9 || fields[0] != "cpu" {
		return 0
	}
	n, _ := strconv.ParseInt(fields[8], 10, 64)
	return time.Duration(n) * time.Second / 100
}

// firstLine returns the first line of a file, empty if it cannot be read.
func firstLine(path string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(data), "\n")
	return strings.TrimSpace(line)
}
