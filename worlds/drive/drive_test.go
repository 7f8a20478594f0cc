// Package drive_test drives the programs that "make worlds" has built, as a tournament does. What is not built is skipped.
package drive_test

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

const clientName = "echo-client"

var (
	built, _ = filepath.Abs("../../bin/worlds")
	client   = filepath.Join(filepath.Dir(built), clientName) // which the programs find beside their folder
)

var (
	anywhere = slices.Concat([]string{"Submit", "PingPongLatency/fd=0", "PingPongLatency/fd=1"}, timers("cancel"),
		[]string{"Echo/conns=64", "Echo/conns=512", "Echo/conns=1"})
	script = []string{"SetTimeout", "Microtask/kind=chain", "Microtask/kind=fanout",
		"Promise/op=then", "Promise/op=fanout", "Promise/op=all", "Promise/op=race",
		"Script/op=storm", "Script/op=chain", "Script/op=clear", "Script/op=immediate", "Script/op=await", "Script/op=submit"}
)

// timers are the cells of an operation. None has a million timers pending: these programs take seconds to make them, in every
// process.
func timers(op string) (names []string) {
	for _, pending := range []int{0, 1_000, 100_000} {
		names = append(names, fmt.Sprintf("Timer/op=%s/pending=%d", op, pending))
	}
	return names
}

// A world is a program.
type world struct {
	lists []string
	skips []string // of what it lists
	// withFaults returns the program, and what its environment needs, such that FAULT in the environment breaks what it runs on.
	withFaults func(t *testing.T) (program string, env []string)
	faults     []string
}

var worlds = map[string]world{
	"libuv": {
		lists:      slices.Concat(anywhere, timers("fire")),
		withFaults: compiled("CC", "cc", "../libuv.c", "testdata/libuv_faults.h", "-std=gnu11", "-luv"),
		faults:     []string{lost, "timers are not scheduled", uncancelled, atOnce, wrongEcho},
	},
	"asio": {
		lists:      slices.Concat(anywhere, timers("fire")),
		withFaults: compiled("CXX", "c++", "../asio.cpp", "testdata/asio_faults.h", "-std=c++17", "-DASIO_STANDALONE"),
		faults:     []string{lost, twice, uncancelled, atOnce, wrongEcho},
	},
	"node": {
		lists:      slices.Concat(anywhere, timers("fire"), script),
		skips:      append(timers("fire"), "Script/op=chain"),
		withFaults: interpreted("node", "NODE_OPTIONS=--require ", "testdata/node_faults.js"),
		faults:     []string{twice, "microtasks run twice", "timers are not scheduled", uncancelled, atOnce, "promises settle wrong", wrongEcho},
	},
	"uvloop": {
		lists:      anywhere,
		withFaults: interpreted("uvloop", "PYTHONPATH=", "testdata"),
		faults:     []string{twice, uncancelled, atOnce, wrongEcho},
	},
}

const (
	lost        = "wakes are lost"
	twice       = "tasks run twice"
	uncancelled = "timers are not cancelled"
	atOnce      = "timers fire at once"
	wrongEcho   = "echoes are wrong"
)

// exposed are the cells that must notice a fault, and what they say of it.
var exposed = map[string]map[string]string{
	lost:                       {"Submit": "gave up waiting"},
	twice:                      {"Submit": "tasks that have not run: -"},
	"microtasks run twice":     {"Microtask/kind=fanout": "microtasks: "},
	"timers are not scheduled": {"Timer/op=cancel/pending=1000": "timers that are active: "},
	uncancelled:                {"Timer/op=cancel/pending=1000": "cancelled|active", "Script/op=clear": "active"},
	atOnce:                     {"Timer/op=cancel/pending=1000": "fires|active"},
	"promises settle wrong": {
		"Promise/op=then": "wrong value", "Promise/op=fanout": "wrong value", "Promise/op=all": "wrong value", "Promise/op=race": "wrong value",
	},
	wrongEcho: {"Echo/conns=64": `the echo of request 1 is wrong|(?i:reset|pipe)`}, // the client has ended by then, or will
}

// each runs test on every program that is built.
func each(t *testing.T, test func(t *testing.T, name string, w world)) {
	for name, w := range worlds {
		t.Run(name, func(t *testing.T) {
			if !exists(filepath.Join(built, name)) {
				t.Skip("not built: make worlds")
			}
			test(t, name, w)
		})
	}
}

// A program is one that runs.
type program struct {
	t     *testing.T
	cmd   *exec.Cmd
	stdin io.WriteCloser
	lines *bufio.Scanner
}

func start(t *testing.T, path string, env ...string) *program {
	cmd := exec.Command(path)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it has mostly ended by itself
		_ = cmd.Wait()         // which end has told of, or the kill
	})
	return &program{t: t, cmd: cmd, stdin: stdin, lines: bufio.NewScanner(stdout)}
}

func (p *program) ask(command string) (answer string) {
	p.t.Helper()
	if _, err := fmt.Fprintln(p.stdin, command); err != nil {
		p.t.Fatalf("%s: %v", command, err)
	}
	return p.line()
}

func (p *program) line() string {
	p.t.Helper()
	if !p.lines.Scan() {
		p.t.Fatal("the program has ended without an answer")
	}
	return p.lines.Text()
}

// end closes the program's input, and returns how it exits when it has nothing more to say.
func (p *program) end() error {
	p.t.Helper()
	_ = p.stdin.Close() // it may have ended already
	for p.lines.Scan() {
		p.t.Errorf("an answer to no command: %s", p.lines.Text())
	}
	return p.cmd.Wait()
}

// TestProtocol: each program lists what it has and answers every run with a result of that many operations, whose time
// is not longer than the answer took.
func TestProtocol(t *testing.T) {
	each(t, func(t *testing.T, name string, w world) {
		p := start(t, filepath.Join(built, name))
		var lists []string
		for line := p.ask("list"); line != "end"; line = p.line() {
			cell, ok := strings.CutPrefix(line, "bench ")
			if !ok {
				t.Fatalf("list: %q", line)
			}
			lists = append(lists, cell)
		}
		if got, want := slices.Sorted(slices.Values(lists)), slices.Sorted(slices.Values(w.lists)); !slices.Equal(got, want) {
			t.Errorf("it lists %q, want %q", got, want)
		}
		for _, cell := range lists {
			skips := slices.Contains(w.skips, cell) || strings.HasPrefix(cell, "Echo/") && !exists(client)
			counts := []int{1, 2, 128, 1300}
			if strings.HasSuffix(cell, "00000") {
				counts = counts[3:] // so many timers take their time to be made
			}
			for _, count := range counts {
				p.check(cell, count, skips)
			}
		}
		for _, command := range []string{
			"", "halt", "list all", "run", "run ", "run Submit", "run Submit ", "run Submit 0", "run Submit -1", "run Submit 1x",
			"run Submit 1 1", "run Nothing 1", "run submit 1",
		} {
			if answer := p.ask(command); !strings.HasPrefix(answer, "error ") {
				t.Errorf("%q is answered by %q, want an error", command, answer)
			}
		}
		p.check("Submit", 3, false)
		if err := p.end(); err != nil {
			t.Errorf("at the end of its input it exits with %v", err)
		}
	})
}

var result = regexp.MustCompile(`^Benchmark(\S+) (\d+) (\d+\.\d+) ns/op$`)

func (p *program) check(cell string, count int, skips bool) {
	p.t.Helper()
	begin := time.Now()
	answer := p.ask(fmt.Sprintf("run %s %d", cell, count))
	limit := time.Since(begin)
	if skips {
		if !regexp.MustCompile(`^skip ` + regexp.QuoteMeta(cell) + ` \S`).MatchString(answer) {
			p.t.Errorf("%s: %q, want a skip", cell, answer)
		}
		return
	}
	match := result.FindStringSubmatch(answer)
	if match == nil || match[1] != cell || match[2] != strconv.Itoa(count) {
		p.t.Errorf("run %s %d is answered by %q", cell, count, answer)
		return
	}
	value, err := strconv.ParseFloat(match[3], 64)
	if took := time.Duration(value * float64(count)); err != nil || took <= 0 || took > limit {
		p.t.Errorf("%q: the answer itself took %v (%v)", answer, limit, err)
	}
}

// TestFaultyClient: a program believes its client only if its own counts agree.
func TestFaultyClient(t *testing.T) {
	clients := map[string]struct{ script, answer string }{
		"missing":   {"", `^skip Echo/conns=64 `},
		"silent":    {"exit 0", `^error client: has ended without an answer`},
		"failed":    {"echo failed: why not; exit 1", `^error client: failed: why not$`},
		"absent":    {"echo through 1000", `^error connections: 0, want 64$`},
		"too few":   {`exec "` + client + `" "$1" "$2" $(($3 - 1))`, `^error bytes: \d+, want \d+$`},
		"one less":  {`exec "` + client + `" "$1" $(($2 - 1)) $3`, `^error connections: 63, want 64$`},
		"correctly": {`exec "` + client + `" "$@"`, `^BenchmarkEcho/conns=64 100 `},
	}
	if !exists(client) {
		t.Skip("the client is not built: make worlds")
	}
	each(t, func(t *testing.T, name string, _ world) {
		for how, c := range clients {
			t.Run(how, func(t *testing.T) {
				dir := t.TempDir()
				write(t, filepath.Join(dir, "worlds", name), read(t, filepath.Join(built, name)))
				if c.script != "" {
					write(t, filepath.Join(dir, clientName), []byte("#!/bin/sh\n"+c.script+"\n"))
				}
				p := start(t, filepath.Join(dir, "worlds", name))
				p.expect("Echo/conns=64", 100, c.answer)
			})
		}
	})
}

// TestFaults: whatever breaks what a program runs on, it has no result.
func TestFaults(t *testing.T) {
	each(t, func(t *testing.T, name string, w world) {
		path, env := w.withFaults(t)
		for _, fault := range w.faults {
			for cell, says := range exposed[fault] {
				if !slices.Contains(w.lists, cell) {
					continue
				}
				t.Run(fault+"/"+cell, func(t *testing.T) {
					if strings.HasPrefix(cell, "Echo/") && !exists(client) {
						t.Skip("the client is not built: make worlds")
					}
					p := start(t, path, append(env, "FAULT="+fault)...)
					p.expect(cell, 200, "^error .*("+says+")")
				})
			}
		}
	})
}

// expect asks for a run. A program that answers with an error of its own ends.
func (p *program) expect(cell string, count int, pattern string) {
	p.t.Helper()
	answer := p.ask(fmt.Sprintf("run %s %d", cell, count))
	if !regexp.MustCompile(pattern).MatchString(answer) {
		p.t.Errorf("%s: %q, want %s", cell, answer, pattern)
	}
	if err := p.end(); (err != nil) != strings.HasPrefix(answer, "error ") {
		p.t.Errorf("after %q it exits with %v", answer, err)
	}
}

// compiled builds a program into which the faults are included first.
func compiled(variable, compiler, source, faults string, flags ...string) func(*testing.T) (string, []string) {
	return func(t *testing.T) (string, []string) {
		out := filepath.Join(t.TempDir(), "worlds", "program")
		if err := os.MkdirAll(filepath.Dir(out), 0o777); err != nil {
			t.Fatal(err)
		}
		command := append(strings.Fields(cmp.Or(os.Getenv(variable), compiler)), "-include", faults, "-o", out, source, "-pthread")
		command = append(command, flags...)
		if output, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%q: %v\n%s", command, err, output)
		}
		if exists(client) {
			write(t, filepath.Join(filepath.Dir(out), "..", clientName), read(t, client))
		}
		return out, nil
	}
}

// interpreted runs a program with a variable by which its interpreter finds the faults.
func interpreted(name, variable, faults string) func(*testing.T) (string, []string) {
	return func(t *testing.T) (string, []string) {
		path, err := filepath.Abs(faults)
		if err != nil {
			t.Fatal(err)
		}
		return filepath.Join(built, name), []string{variable + path, "PYTHONDONTWRITEBYTECODE=1"}
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// write makes an executable file.
func write(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o777); err != nil {
		t.Fatal(err)
	}
}
