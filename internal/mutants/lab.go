package main

// The lab: where a mutant is built and tested.

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/turnloop/turnloop/internal/contestants"
	"github.com/turnloop/turnloop/internal/loopapi"
)

// lab is a private folder for what is built, and what is known of the code without a fault.
type lab struct {
	root string // of the module
	dir  string

	mu        sync.Mutex        // guards the maps, and the building of sound programs
	sound     map[string]string // a package's tests without a fault, built, by package and tags
	baselines map[stage]*baseline
}

// stage is one run of some of a package's tests, as "make test" and "make schedules-quick" run them. Those that are likely
// to tell, and those that are fast, go first.
type stage struct{ pkg, run, skip string }

// schedules are the tests of a package that "make schedules-quick" runs.
var schedules = map[string]string{"eventloop": "^TestSchedules$", "eventloop/threadlet": "^TestSchedules$",
	"eventloop/promise": "^TestSchedules$", "internal/park": "^TestSchedules$"}

// tags returns the build tags of the stage's tests.
func (s stage) tags() string {
	if all := schedules[s.pkg]; all != "" && (s.run == all || strings.HasPrefix(s.run, all+"/")) {
		return "schedules"
	}
	return ""
}

// baseline is how the code without a fault does in a stage. The first who needs it finds out.
type baseline struct {
	once  sync.Once
	quiet map[string]int // ticks that a test was quiet at most, without one beginning or ending
	err   error
}

// slowTests are the tests of a package that wait until all others have had their say.
var slowTests = map[string]string{
	"eventloop":       "^(TestConformance|TestConformanceDisabled|TestFaults|TestWakes)$",
	"internal/poller": "^TestWakeNeverReachesAnother$",
}

// slow returns the slow tests of a package. Every contestant has its conformance test, and those of its end race for long.
func slow(pkg string) string {
	if tests := slowTests[pkg]; tests != "" {
		return tests
	}
	if slices.ContainsFunc(contestants.All(), func(c loopapi.Entry) bool { return c.Folder == pkg }) {
		return "^(TestConformance|Test\\w*Shutdown(Races|LosesNothing))$"
	}
	return ""
}

// A test counts as hung when it has printed nothing for patience times as long as it does without a fault, and for leastQuiet
// ticks: other programs may take the processors. The time is counted in ticks and not taken from the clock, so that the time
// in which this process was stopped does not count. Without a fault no test is taken for hung.
const (
	tick       = 100 * time.Millisecond
	patience   = 20
	leastQuiet = 50
	limit      = 3000 // ticks of a stage
)

func newLab() (*lab, error) {
	gomod, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return nil, fmt.Errorf("go env GOMOD: %w", err)
	}
	root := filepath.Dir(strings.TrimSpace(string(gomod)))
	if _, err := os.Stat(filepath.Join(root, "internal", "mutants")); err != nil {
		return nil, errors.New("run it in the root module")
	}
	dir, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return nil, err
	}
	return &lab{root: root, dir: dir, sound: map[string]string{}, baselines: map[stage]*baseline{}}, nil
}

func (l *lab) close() { _ = os.RemoveAll(l.dir) }

// try tells what kills a mutant: "" is nothing.
func (l *lab) try(ctx context.Context, m mutant) (killer string, err error) {
	overlay, err := l.overlay(m)
	if err != nil {
		return "", err
	}
	programs := map[string]string{} // by package and tags
	for _, s := range l.stages(path.Dir(m.file), m.first) {
		key := strings.ReplaceAll(s.pkg, "/", "-") + s.tags()
		program := programs[key]
		if program == "" {
			program = filepath.Join(l.dir, m.name+key+".test")
			defer os.Remove(program)
			if err := l.build(ctx, s, program, "-overlay="+overlay); err != nil {
				return "", fmt.Errorf("it does not compile: %w", err)
			}
			programs[key] = program
		}
		normal, err := l.baseline(ctx, s)
		if err != nil {
			return "", err
		}
		killer, _, err := l.test(ctx, program, s, normal)
		if killer != "" || err != nil {
			return killer, err
		}
	}
	return "", nil
}

// parts are packages whose faults show in what the loop tells: where their own tests notice nothing, those of the loop have to.
var parts = []string{"internal/place", "internal/observe", "internal/fdset", "internal/inbox", "internal/park", "internal/crew",
	"internal/shared", "eventloop/promise"}

// stages are the runs of a fault's tests, in order: first those that the pattern first selects, of the part or of the loop.
func (l *lab) stages(pkg, first string) (all []stage) {
	loop := pkg
	if slices.Contains(parts, pkg) {
		loop = "eventloop"
	}
	switch {
	case first == "":
	case loop != pkg && selects(first, testsOf(l.root, pkg)):
		all = append(all, stage{pkg: pkg, run: first})
	default:
		all = append(all, stage{pkg: loop, run: first})
	}
	if loop != pkg {
		if all = append(all, stage{pkg: pkg}); schedules[pkg] != "" {
			all = append(all, stage{pkg: pkg, run: schedules[pkg]})
		}
	}
	last := slow(loop)
	all = append(all, stage{pkg: loop, skip: last})
	if last != "" {
		all = append(all, stage{pkg: loop, run: last})
	}
	if run := schedules[loop]; run != "" {
		all = append(all, stage{pkg: loop, run: run})
	}
	return all
}

var testFunc = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Example)\w*)\(`)

// testsOf returns the names of a package's tests.
func testsOf(root, pkg string) (names []string) {
	files, _ := filepath.Glob(filepath.Join(root, filepath.FromSlash(pkg), "*_test.go")) // the pattern is none of a user's
	for _, file := range files {
		text, _ := os.ReadFile(file)
		for _, found := range testFunc.FindAllSubmatch(text, -1) {
			names = append(names, string(found[1]))
		}
	}
	return names
}

// selects tells whether a pattern selects one of the tests. Of a pattern that goes on within a test its beginning counts.
func selects(pattern string, tests []string) bool {
	top, _, _ := strings.Cut(pattern, "$/")
	match, err := regexp.Compile(top)
	return err == nil && pattern != "" && slices.ContainsFunc(tests, match.MatchString)
}

// overlay writes the changed file, and a list that tells the go command to take it in place of the original. It returns the
// name of the list, for the flag -overlay.
func (l *lab) overlay(m mutant) (string, error) {
	original := filepath.Join(l.root, filepath.FromSlash(m.file))
	text, err := os.ReadFile(original)
	if err != nil {
		return "", err
	}
	changed, err := m.apply(string(text))
	if err != nil {
		return "", err
	}
	name := filepath.Join(l.dir, m.name)
	description, err := json.Marshal(map[string]map[string]string{"Replace": {original: name + ".go"}})
	if err != nil {
		return "", err
	}
	return name + ".json", errors.Join(
		os.WriteFile(name+".go", []byte(changed), 0o600),
		os.WriteFile(name+".json", description, 0o600))
}

func (l *lab) build(ctx context.Context, s stage, program string, flags ...string) error {
	args := slices.Concat([]string{"test", "-c", "-o", program, "-tags=" + s.tags()}, flags, []string{"./" + s.pkg})
	cmd := l.command(ctx, l.root, "go", args...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}

// command makes a command that leaves what it may leave in the lab, and is ended with all that it has started.
func (l *lab) command(ctx context.Context, dir, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "TMPDIR="+l.dir, "GOTMPDIR="+l.dir, "PWD="+dir, "TURNLOOP_SOAK=")
	cmd.WaitDelay = 5 * time.Second
	killAll(cmd)
	return cmd
}

// baseline returns for how long a stage is quiet without a fault. It is an error if it fails, or has no tests.
func (l *lab) baseline(ctx context.Context, s stage) (quiet map[string]int, err error) {
	l.mu.Lock()
	b := l.baselines[s]
	if b == nil {
		b = &baseline{}
		l.baselines[s] = b
	}
	built := s.pkg + s.tags()
	program := l.sound[built]
	if program == "" {
		program = filepath.Join(l.dir, path.Base(built)+".test")
		if err := l.build(ctx, s, program); err != nil {
			l.mu.Unlock()
			return nil, err
		}
		l.sound[built] = program
	}
	l.mu.Unlock()
	b.once.Do(func() {
		killer, out, err := l.test(ctx, program, s, nil)
		switch {
		case err != nil:
			b.err = err
		case killer != "":
			b.err = fmt.Errorf("the code without a fault fails: %s\n%s", killer, out.text)
		case out.test == "":
			b.err = fmt.Errorf("%s has no tests for -run %q -skip %q", s.pkg, s.run, s.skip)
		}
		b.quiet = out.longest
	})
	return b.quiet, b.err
}

// test runs a stage, and returns the name of the test that failed or hung, "" for none. A test hangs if it is quiet for much
// longer than normal says, or if the stage takes longer than the limit; if normal is nil, none does.
func (l *lab) test(
	ctx context.Context, program string, s stage, normal map[string]int,
) (killer string, out *output, err error) {
	inTime, end := context.WithCancel(ctx)
	defer end()
	cmd := l.command(inTime, filepath.Join(l.root, filepath.FromSlash(s.pkg)), program, "-test.v", "-test.failfast",
		"-test.timeout=0", "-test.run="+s.run, "-test.skip="+s.skip)
	out = &output{longest: map[string]int{}}
	cmd.Stdout, cmd.Stderr = out, out
	ended := make(chan struct{})
	var watch sync.WaitGroup
	watch.Go(func() {
		for n, ticks := 0, time.Tick(tick); ; n++ {
			select {
			case <-ended:
				return
			case <-ticks:
				if name, quiet := out.silence(); normal != nil && (n > limit || quiet > max(leastQuiet, patience*normal[name])) {
					end()
				}
			}
		}
	})
	err = cmd.Run()
	close(ended)
	watch.Wait()
	switch {
	case ctx.Err() != nil:
		return "", out, ctx.Err()
	case err == nil:
		return "", out, nil
	case inTime.Err() != nil:
		return "hangs " + lastRun(out.text), out, nil
	case errors.As(err, new(*exec.ExitError)):
		return "by " + failed(out.text), out, nil
	}
	return "", out, err
}

var (
	runLine  = regexp.MustCompile(`(?m)^=== (?:RUN|CONT|NAME) +(\S+)$`)
	failLine = regexp.MustCompile(`(?m)^ *--- FAIL: (\S+)`)
)

// failed returns the name of the innermost test that failed; if the program crashed, of the one that ran.
func failed(text []byte) (name string) {
	for _, found := range failLine.FindAllSubmatch(text, -1) {
		if name == "" || strings.HasPrefix(string(found[1]), name+"/") {
			name = string(found[1])
		}
	}
	if name == "" {
		return "a crash in " + lastRun(text)
	}
	return name
}

func lastRun(text []byte) string {
	found := runLine.FindAllSubmatch(text, -1)
	if len(found) == 0 {
		return "before the first test"
	}
	return string(found[len(found)-1][1])
}

// output keeps the end of what tests print, and counts the ticks between one of their lines and the next.
type output struct {
	mu      sync.Mutex
	text    []byte
	test    string // that has begun last
	quiet   int    // ticks since a test has begun or ended
	longest map[string]int
}

const outputKept = 1 << 20

var endMark = []byte("--- ")

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if begun := runLine.FindAllSubmatch(p, -1); begun != nil {
		o.test, o.quiet = string(begun[len(begun)-1][1]), 0
	} else if bytes.Contains(p, endMark) {
		o.quiet = 0
	}
	if o.text = append(o.text, p...); len(o.text) > 2*outputKept {
		o.text = append(o.text[:0], o.text[len(o.text)-outputKept:]...)
	}
	return len(p), nil
}

// silence is called each tick. It tells which test is quiet, and for how many ticks.
func (o *output) silence() (test string, ticks int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.quiet++
	o.longest[o.test] = max(o.longest[o.test], o.quiet)
	return o.test, o.quiet
}
