//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package main

// Stations that run the project's own tests: compiled once, run again and again.

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// suite is a way to run tests.
type suite struct {
	packages []string
	build    []string // flags of go test -c
	buildEnv []string
	args     []string // flags of the tests
	long     bool     // without -test.short
	env      []string
	atOnce   int           // rounds that run at the same time, for each processor
	each     []string      // tests to run one by one, each once, at full length; nil: all tests, over and over, with -test.short unless long
	missing  func() string // what this machine does not have for it
}

// failuresFolder keeps the output of failures.
const failuresFolder = "bin/soak-failures"

// goCommand is the go command, which the Makefile may choose.
var goCommand = cmp.Or(os.Getenv("GO"), "go")

// stopAtFirst ends a station at its first failure.
var stopAtFirst bool

// tally counts how runs end.
type tally struct {
	passed, failed int
	output         []byte // of the last run
}

// mostTime is far longer than any process takes on a busy machine, mostTimeOfLong than any long test: a process that takes
// longer hangs. mostTimeOfHung is for the canary.
const mostTime, mostTimeOfLong, mostTimeOfHung = 10 * time.Minute, time.Hour, time.Second

// once runs a program in a folder, and counts it unless it was stopped. A program that takes longer than limit has failed.
func (t *tally) once(ctx context.Context, limit time.Duration, folder string, env []string, program string, args ...string) {
	limited, stop := context.WithTimeout(ctx, limit)
	defer stop()
	cmd := exec.CommandContext(limited, program, args...)
	cmd.Dir, cmd.Env = folder, append(os.Environ(), env...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // an interrupt is for this program to pass on
	// At this signal a Go program prints its stacks.
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGQUIT) }
	cmd.WaitDelay = 5 * time.Second
	err := cmd.Run()
	if limited.Err() != nil && cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // the whole process group: a test may have started others
	}
	switch {
	case err == nil:
		t.passed++
		t.output = out.Bytes()
	case ctx.Err() != nil:
	case limited.Err() != nil:
		err = fmt.Errorf("it hangs: there was no end after %v", limit)
		fallthrough
	default:
		t.failed++
		t.output = append(out.Bytes(), []byte(err.Error()+"\n")...)
	}
}

// runs returns a function that compiles a suite's tests, and runs them until the station is over.
func runs(s suite) func(r *run) {
	return func(r *run) {
		if s.missing != nil {
			r.skipped = s.missing()
		}
		if r.skipped != "" || r.finished() {
			return
		}
		folder, err := os.MkdirTemp("", "soak")
		if err != nil {
			r.failf("%v", err)
			return
		}
		defer os.RemoveAll(folder)
		var binaries []string
		for i, p := range s.packages {
			binary := filepath.Join(folder, fmt.Sprintf("%d.test", i))
			var compile tally
			args := append(append([]string{"test", "-c", "-o", binary}, s.build...), p)
			compile.once(r.begun, mostTime, "", s.buildEnv, goCommand, args...)
			if compile.failed > 0 {
				r.failf("%s does not compile:\n%s", p, compile.output)
			}
			if compile.passed == 0 {
				return
			}
			binaries = append(binaries, binary)
		}
		s.work(r, binaries)
	}
}

// work runs tests until the station is over, and once at least. What has begun is finished, however long the station
// has been over: a test that hangs must not be taken for one that had too little time.
func (s suite) work(r *run, binaries []string) {
	if s.each != nil {
		for _, test := range s.each {
			if s.one(r, mostTimeOfLong, 0, binaries[0], append([]string{"-test.run=^" + test + "$"}, s.args...)) {
				r.reached.Add(1)
			}
			if r.finished() {
				return
			}
		}
		return
	}
	// A round runs all packages, each in a process of its own; more rounds at a time than there are processors, because
	// tests wait more than they work.
	var round atomic.Uint64
	var all sync.WaitGroup
	for range s.atOnce * runtime.GOMAXPROCS(0) {
		all.Go(func() {
			for n := round.Add(1); int64(n) <= r.target; n = round.Add(1) {
				ok := true
				for i, binary := range binaries {
					shuffle := fmt.Sprintf("-test.shuffle=%d", int64(r.seed>>2+n)) // in another order each time
					ok = s.one(r, mostTime, i, binary, append([]string{fmt.Sprintf("-test.short=%t", !s.long), shuffle}, s.args...)) && ok
				}
				if ok {
					r.reached.Add(1)
				}
				if r.finished() {
					return
				}
			}
		})
	}
	all.Wait()
}

// one runs one package's tests, and tells whether they passed. A failure is kept, and others may follow: how often
// something fails is worth knowing.
func (s suite) one(r *run, limit time.Duration, i int, binary string, args []string) bool {
	var t tally
	t.once(r.begun, limit, s.packages[i], s.env, binary, args...)
	if t.failed == 0 {
		return t.passed > 0
	}
	name := strings.NewReplacer("/", "-", " ", "-", ".", "").Replace(fmt.Sprintf("%s-%s-%d", r.name, s.packages[i], time.Now().UnixNano()))
	path := filepath.Join(failuresFolder, name+".txt")
	note := fmt.Sprintf("%s %s\n%s", s.packages[i], strings.Join(args, " "), t.output)
	message := fmt.Sprintf("%s fails: %s; see %s", s.packages[i], firstFailure(t.output), path)
	err := os.MkdirAll(failuresFolder, 0o755)
	if err == nil {
		err = os.WriteFile(path, []byte(note), 0o644)
	}
	if err != nil {
		message += fmt.Sprintf(", which could not be written: %v", err)
	}
	if stopAtFirst {
		fmt.Println(note)
		r.failf("%s", message)
	} else {
		r.missf("%s", message)
	}
	return false
}

// firstFailure returns the line that says most: the last one if none looks like a failure.
func firstFailure(output []byte) string {
	best, last := "", ""
	for line := range strings.Lines(string(output)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "--- FAIL") || strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") ||
			strings.Contains(line, "DATA RACE") {
			best = line
		}
		last = line
	}
	return cmp.Or(best, last)
}

// no386 tells why 32-bit x86 programs do not run here.
func no386() string {
	switch platform := runtime.GOOS + "/" + runtime.GOARCH; platform {
	case "linux/amd64", "linux/386":
		return ""
	default:
		return "32-bit x86 programs do not run on " + platform
	}
}

// noRace tells why there is no race detector here.
func noRace() string {
	out, err := exec.Command(goCommand, "list", "-race", "errors").CombinedOutput()
	if err == nil {
		return ""
	}
	why, _, _ := strings.Cut(string(out), "\n")
	return cmp.Or(why, err.Error())
}
