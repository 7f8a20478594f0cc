//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package main

// Stations that run the project's own tests: compiled once, run again and again.

import (
	"bytes"
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
	env      []string
	each     []string // run these one by one, each once, at full length; else all, over and over, with -test.short
}

// failuresFolder keeps the output of what failed.
const failuresFolder = "bin/soak-failures"

// stopAtFirst ends a station at its first failure.
var stopAtFirst bool

// tally counts how runs end.
type tally struct {
	passed, failed int
	output         []byte // of the last failure
}

// once runs a program in a folder, and counts it unless it was stopped.
func (t *tally) once(ctx context.Context, folder string, env []string, program string, args ...string) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Env = folder, append(os.Environ(), env...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // an interrupt is for this program to pass on
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	switch {
	case err == nil:
		t.passed++
	case ctx.Err() == nil:
		t.failed++
		t.output = append(out.Bytes(), []byte(err.Error()+"\n")...)
	}
}

// runs returns what compiles a suite's tests, and runs them until the station is over.
func runs(s suite) func(r *run) {
	return func(r *run) {
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
			compile.once(r.ctx, "", s.buildEnv, "go", append(append([]string{"test", "-c", "-o", binary}, s.build...), p)...)
			if compile.failed > 0 {
				r.failf("%s does not compile:\n%s", p, compile.output)
				return
			}
			binaries = append(binaries, binary)
		}
		if s.each != nil {
			for _, test := range s.each {
				args := append([]string{"-test.run=^" + test + "$"}, s.args...)
				if !s.one(r, 0, binaries[0], args) || r.ctx.Err() != nil {
					return
				}
				r.reached.Add(1)
			}
			return
		}
		// A round runs all packages, each in a process of its own; five times as many rounds at a time as there are
		// processors, because tests wait more than they work.
		var round atomic.Uint64
		var all sync.WaitGroup
		for range 5 * runtime.GOMAXPROCS(0) {
			all.Go(func() {
				for !r.over() {
					n := round.Add(1)
					if int64(n) > r.target {
						return
					}
					ok := true
					for i, binary := range binaries {
						shuffle := fmt.Sprintf("-test.shuffle=%d", int64(r.seed>>2+n)) // in another order each time
						ok = s.one(r, i, binary, append([]string{"-test.short", shuffle}, s.args...)) && ok
					}
					if ok && r.ctx.Err() == nil {
						r.reached.Add(1)
					}
				}
			})
		}
		all.Wait()
	}
}

// one runs one package's tests, and tells whether it passed. A failure is kept, and others may follow: how often
// something fails is worth knowing.
func (s suite) one(r *run, i int, binary string, args []string) bool {
	var t tally
	t.once(r.ctx, s.packages[i], s.env, binary, args...)
	if t.failed == 0 {
		return true
	}
	name := strings.NewReplacer("/", "-", " ", "-", ".", "").Replace(fmt.Sprintf("%s-%s-%d", r.name, s.packages[i], time.Now().UnixNano()))
	path := filepath.Join(failuresFolder, name+".txt")
	note := fmt.Sprintf("%s %s\n%s", s.packages[i], strings.Join(args, " "), t.output)
	err := os.MkdirAll(failuresFolder, 0o755)
	if err == nil {
		err = os.WriteFile(path, []byte(note), 0o644)
	}
	if stopAtFirst {
		fmt.Println(note)
		r.failf("%s fails: %s; see %s (%v)", s.packages[i], firstFailure(t.output), path, err)
		return false
	}
	r.missf("%s fails: %s; see %s (%v)", s.packages[i], firstFailure(t.output), path, err)
	return false
}

// firstFailure is the line that tells most.
func firstFailure(output []byte) string {
	best := "it ended badly"
	for line := range strings.Lines(string(output)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "--- FAIL") || strings.HasPrefix(line, "panic: ") || strings.Contains(line, "DATA RACE") {
			best = line
		}
	}
	return best
}
