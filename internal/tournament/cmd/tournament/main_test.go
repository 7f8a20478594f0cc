package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/turnloop/turnloop/internal/tournament/record"
)

// The test binary is also the command and the benchmark binary that the command runs: AS tells a child which.
func TestMain(m *testing.M) {
	if os.Getenv("AS") == "command" {
		os.Setenv("AS", "benchmarks")
		main()
	}
	os.Exit(m.Run())
}

func BenchmarkSubmit(b *testing.B) {
	if os.Getenv("AS") != "benchmarks" {
		b.Skip("only as a child process")
	}
	for _, impl := range []string{"main", "baseline", "channel"} {
		b.Run("impl="+impl, func(b *testing.B) {
			for range b.N {
				for start := time.Now(); time.Since(start) < 10*time.Microsecond; {
				}
			}
		})
	}
}

// invoke runs the command in a process of its own, which is interrupted when ctx ends.
func invoke(t *testing.T, ctx context.Context, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	return invokeUntil(t, ctx, os.Interrupt, args...)
}

func invokeUntil(t *testing.T, ctx context.Context, end os.Signal, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, exe, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(end) }
	cmd.Env = append(os.Environ(), "AS=command", "GORACE=atexit_sleep_ms=0")
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	if _, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok && ctx.Err() == nil {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

func TestMisuse(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	recorded := filepath.Join("..", "..", "stats", "testdata", "run")
	for _, c := range []struct {
		args []string
		says string
	}{
		{nil, "usage:"},
		{[]string{"dance"}, `no command "dance"`},
		{[]string{"run", "-mode", "slow"}, "-mode is full or quick"},
		{[]string{"run", "-rounds", "-1"}, "-rounds is less than 1"},
		{[]string{"run", "-budget", "soon"}, "invalid value"},
		{[]string{"run", "-rounds", "0"}, "-rounds is less than 1"},
		{[]string{"run", "-budget", "-1s"}, "-budget is not positive"},
		{[]string{"run", "-budget", "0"}, "-budget is not positive"},
		{[]string{"run", "-cpu", "-1"}, "-cpu is less than 1"},
		{[]string{"run", "-cpu", "0"}, "-cpu is less than 1"},
		{[]string{"run", "-cpu", strconv.Itoa(4*runtime.NumCPU() + 1)}, "-cpu is more than 4 times"},
		{[]string{"run", "-bench", exe, "-results", t.TempDir()}, "-results"},
		{[]string{"run", "-bench", exe, "-results", filepath.Join(exe, "R.md")}, "-results"},
		{[]string{"run", "-bench", exe, "-results", "no/such/folder/R.md"}, "-results"},
		{[]string{"run", "-timeout", "0"}, "-timeout is not positive"},
		{[]string{"run", "-filter", "("}, "-filter"},
		{[]string{"run", "-dirty"}, "-commit"},
		{[]string{"run", "-bench", "no/such/file"}, "-bench"},
		{[]string{"run", "-bench", t.TempDir()}, "is a folder"},
		{[]string{"run", "-bench", exe, "extra"}, "takes 0 arguments"},
		{[]string{"report"}, "takes 1 argument"},
		{[]string{"report", t.TempDir()}, "holds no run"},
		{[]string{"compare", recorded}, "takes 2 arguments"},
		{[]string{"compare", recorded, t.TempDir()}, "holds no run"},
		{[]string{"compare", "-impl", "(", recorded, recorded}, "-impl"},
		{[]string{"compare", "-impl", "nobody", recorded, recorded}, "no figure in common"},
	} {
		code, _, stderr := invoke(t, t.Context(), c.args...)
		if code != exitUsage || !strings.Contains(stderr, c.says) {
			t.Errorf("%q exits %d and says %q, want %d and %q", c.args, code, stderr, exitUsage, c.says)
		}
	}
	for _, args := range [][]string{{"help"}, {"-h"}, {"run", "-h"}, {"compare", "-help"}} {
		if code, stdout, _ := invoke(t, t.Context(), args...); code != exitOK || stdout == "" {
			t.Errorf("%q exits %d and prints %q", args, code, stdout)
		}
	}
}

func TestRunReportsAndResumes(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	out, results := filepath.Join(dir, "results", "native"), filepath.Join(dir, "RESULTS.md")
	args := []string{"run", "-bench", exe, "-out", out, "-results", results, "-mode", "quick", "-rounds", "6",
		"-budget", "4s", "-commit", "0123abc", "-conformance=false"}

	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	partial := filepath.Join(record.Partial(out), record.RawFile)
	go func() {
		for ctx.Err() == nil {
			if raw, err := os.ReadFile(partial); err == nil && strings.Contains(string(raw), "round: 2") {
				interrupt()
			}
			time.Sleep(time.Millisecond)
		}
	}()
	code, _, stderr := invoke(t, ctx, args...)
	if code != exitInterrupted || !strings.Contains(stderr, "interrupted") {
		t.Fatalf("interrupted, it exits %d and says %s", code, stderr)
	}
	before, err := os.ReadFile(partial)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(results); !errors.Is(err, os.ErrNotExist) {
		t.Error("an interrupted run leaves a report")
	}

	code, stdout, stderr := invoke(t, t.Context(), args...)
	if code != exitOK || !strings.Contains(stdout, results) || !strings.Contains(stdout, "Quick run") {
		t.Fatalf("resumed, it exits %d and prints %s %s", code, stdout, stderr)
	}
	after, err := os.ReadFile(filepath.Join(out, record.RawFile))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(after), string(before)) {
		t.Error("the resumed run does not continue the interrupted one")
	}
	if n := strings.Count(string(after), "\nBenchmarkSubmit/"); n != 6*4 {
		t.Errorf("%d measurements, want 6 rounds of 3 cells and a control pair", n)
	}

	if code, stdout, stderr := invoke(t, t.Context(), "compare", out, out); code != exitOK {
		t.Errorf("a run compared with itself exits %d: %s %s", code, stdout, stderr)
	}
	if code, _, stderr := invoke(t, t.Context(), "report", "-results", results, out); code != exitOK {
		t.Errorf("report exits %d: %s", code, stderr)
	}
}

// A hang-up before the plan: the run ends in order, and does not promise what it cannot keep.
func TestHangUp(t *testing.T) {
	if signal.Ignored(syscall.SIGHUP) {
		t.Skip("hang-ups are ignored here, as by nohup, and so by the command too")
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	out := t.TempDir()
	ctx, hangUp := context.WithCancel(t.Context())
	defer hangUp()
	go func() {
		for ctx.Err() == nil {
			if _, err := os.Stat(filepath.Join(record.Partial(out), record.RunFile)); err == nil {
				hangUp()
			}
			time.Sleep(time.Millisecond)
		}
	}()
	code, _, stderr := invokeUntil(t, ctx, syscall.SIGHUP, "run", "-bench", exe, "-out", out, "-results", "", "-rounds", "6")
	if code != exitInterrupted || !strings.Contains(stderr, "starts anew") {
		t.Errorf("it exits %d and says %s", code, stderr)
	}
	run, err := record.Load(record.Partial(out))
	if err != nil {
		t.Fatal(err)
	}
	if run.Planned || run.Source != (record.Source{}) {
		t.Errorf("planned %v, source %+v; want a run without a plan, of an unknown commit", run.Planned, run.Source)
	}
}

func TestCommandLineRepeatsTheRun(t *testing.T) {
	for _, c := range []struct{ args, want []string }{
		{nil, nil},
		{[]string{"-out", defaultOut, "-name", "native", "-timeout", "60s"}, nil},
		{[]string{"-out", "results/quick", "-results", ""}, []string{"-out=results/quick", "-results="}},
		{[]string{"-name", "it's", "-timeout", "5s"}, []string{`-name='it'\''s'`, "-timeout=5s"}},
		{[]string{"-filter", "Timer|Wake", "-conformance=false"}, []string{"-filter='Timer|Wake'", "-conformance=false"}},
	} {
		f, err := parseRun(append([]string{"-cpu", "1"}, c.args...), os.Stdout)
		if err != nil {
			t.Fatal(err)
		}
		words := append([]string{"go", "run", "./internal/tournament/cmd/tournament", "run",
			"-mode=full", "-budget=10m0s", "-rounds=10", "-cpu=1"}, c.want...)
		if got, want := commandLine(&f.cfg, f), strings.Join(words, " "); got != want {
			t.Errorf("%q\ngives %s\nwant  %s", c.args, got, want)
		}
	}
}

func TestCompare(t *testing.T) {
	recorded := filepath.Join("..", "..", "stats", "testdata", "run")
	changed := func(change func(*record.Run), replace ...string) string {
		dir := t.TempDir()
		run, err := record.Load(recorded)
		if err != nil {
			t.Fatal(err)
		}
		change(run)
		if err := record.Save(dir, run); err != nil {
			t.Fatal(err)
		}
		raw, err := os.ReadFile(filepath.Join(recorded, record.RawFile))
		if err != nil {
			t.Fatal(err)
		}
		text := strings.NewReplacer(replace...).Replace(string(raw))
		if err := os.WriteFile(filepath.Join(dir, record.RawFile), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	nothing := func(*record.Run) {}
	// Ten times the time of every Submit of 30 to 39 ns, which are those of main and one more.
	slower := changed(nothing, "\t799000\t3", "\t799000\t33")
	moved := changed(func(r *record.Run) { r.Env.CPU = "Other CPU" })
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{recorded, recorded}, exitOK, "0 faster, 0 slower"},
		{[]string{recorded, slower}, exitFailed, "slower"},
		{[]string{slower, recorded}, exitOK, "faster"},
		{[]string{"-impl", "^baseline$", recorded, slower}, exitOK, "0 faster, 0 slower"},
		{[]string{recorded, moved}, exitUsage, "not made on the same machine (CPU: Example CPU and Other CPU)"},
		{[]string{"-force", recorded, moved}, exitOK, "warning: different machines"},
		{[]string{"-all", recorded, recorded}, exitOK, "same"},
	} {
		code, stdout, stderr := invoke(t, t.Context(), append([]string{"compare"}, c.args...)...)
		if code != c.code || !strings.Contains(stdout+stderr, c.says) {
			t.Errorf("compare %q exits %d, want %d with %q:\n%s%s", c.args, code, c.code, c.says, stdout, stderr)
		}
	}
}
