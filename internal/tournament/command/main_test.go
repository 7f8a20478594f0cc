package command

// Tests of the command: its runs, its refusals, its comparisons.

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/turnloop/turnloop/internal/tournament"
	"github.com/turnloop/turnloop/internal/tournament/record"
	"github.com/turnloop/turnloop/internal/tournament/recorded"
	"github.com/turnloop/turnloop/internal/tournament/report"
)

// The test binary is also the command, and what the command starts: AS tells a child.
func TestMain(m *testing.M) {
	if os.Getenv("AS") == "command" {
		Main(tournament.Own(), "tournament")
	}
	os.Exit(m.Run())
}

// invoke runs the command in a process of its own, which is interrupted when ctx ends.
func invoke(t *testing.T, ctx context.Context, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, exe, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
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
	whole := recorded.Run(t, recorded.Rows(t, recorded.Container))
	for _, c := range []struct {
		args []string
		says string
	}{
		{nil, "usage:"},
		{[]string{"dance"}, `no command "dance"`},
		{[]string{"run", "-mode", "slow"}, "-mode is full or quick"},
		{[]string{"run", "-rounds", "9"}, "-rounds is less than 10"},
		{[]string{"run", "-budget", "soon"}, "invalid value"},
		{[]string{"run", "-rounds", "0"}, "-rounds is less than 10"},
		{[]string{"run", "-budget", "-1s"}, "-budget is not positive"},
		{[]string{"run", "-budget", "0"}, "-budget is not positive"},
		{[]string{"run", "-cpu", "-1"}, "-cpu is less than 1"},
		{[]string{"run", "-cpu", "0"}, "-cpu is less than 1"},
		{[]string{"run", "-cpu", strconv.Itoa(4*runtime.NumCPU() + 1)}, "-cpu is more than 4 times"},
		{[]string{"run", "-results", t.TempDir()}, "-results"},
		{[]string{"run", "-results", filepath.Join(exe, "R.md")}, "-results"},
		{[]string{"run", "-results", "no/such/folder/R.md"}, "-results"},
		{[]string{"run", "-timeout", "0"}, "-timeout is not positive"},
		{[]string{"run", "-filter", "("}, "-filter"},
		{[]string{"run", "-dirty"}, "-commit"},
		{[]string{"run", "extra"}, "takes no argument"},
		{[]string{"run", "-programs", "no/such/folder"}, "-programs"},
		{[]string{"run", "-program", "node"}, "want NAME=COMMAND"},
		{[]string{"run", "-program", "main=node"}, `two contestants are called "main"`},
		{[]string{"run", "-program", "x-1=node"}, "no number behind a dash"},
		{[]string{"report"}, "takes one argument"},
		{[]string{"report", t.TempDir()}, "holds no run"},
		{[]string{"report", whole, "-results", ""}, "flags come first, and -results does not"},
		{[]string{"check"}, "takes one argument"},
		{[]string{"check", t.TempDir()}, "holds no run"},
		{[]string{"site"}, "takes the folders"},
		{[]string{"site", whole, t.TempDir()}, "holds no run"},
		{[]string{"site", "-out", t.TempDir(), whole}, "-out"},
		{[]string{"compare", whole}, "takes two arguments"},
		{[]string{"compare", whole, t.TempDir()}, "holds no run"},
		{[]string{"compare", "-impl", "nobody", whole, whole}, "no figure of nobody in common"},
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
	dir := t.TempDir()
	out, results := filepath.Join(dir, "results", "native"), filepath.Join(dir, "RESULTS.md")
	args := []string{"run", "-filter", "BenchmarkSubmit/impl=(main|baseline|channel)$", "-out", out, "-results", results,
		"-mode", "quick", "-commit", "0123abc"}

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
	if code != exitOK || !strings.Contains(stdout, results) || !strings.Contains(stdout, "A glance makes no ranking") {
		t.Fatalf("resumed, it exits %d and prints %s %s", code, stdout, stderr)
	}
	after, err := os.ReadFile(filepath.Join(out, record.RawFile))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(after), string(before)) {
		t.Error("the resumed run does not continue the interrupted one")
	}
	if run, _, err := record.Read(out); err != nil || run.Raw == (record.Seal{}) || run.Roles != tournament.Own().Roles {
		t.Errorf("the run carries no seal or no roles: %v", err)
	}
	if n := strings.Count(string(after), "\nBenchmarkSubmit/"); n != record.FewestRounds*4 {
		t.Errorf("%d measurements, want 10 rounds of 3 cells and a control pair", n)
	}

	if code, stdout, stderr := invoke(t, t.Context(), "compare", out, out); code != exitOK || strings.Contains(stdout, "slower\n") {
		t.Errorf("a short run compared with itself exits %d: %s %s", code, stdout, stderr)
	}
	if code, _, stderr := invoke(t, t.Context(), "report", "-results", results, out); code != exitOK {
		t.Errorf("report exits %d: %s", code, stderr)
	}
	if code, stdout, stderr := invoke(t, t.Context(), "check", out); code != exitOK || !strings.Contains(stdout, "4 cells with 10 values each") {
		t.Errorf("check exits %d: %s %s", code, stdout, stderr)
	}
	if err := os.Remove(filepath.Join(out, report.PictureFile)); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := invoke(t, t.Context(), "check", out); code != exitFailed || !strings.Contains(stderr, "ranking.svg is missing") {
		t.Errorf("check without a picture exits %d: %s", code, stderr)
	}
	site := filepath.Join(dir, "site.html")
	if code, stdout, stderr := invoke(t, t.Context(), "site", "-out", site, out, out); code != exitOK || strings.TrimSpace(stdout) != site {
		t.Errorf("site exits %d and prints %s %s", code, stdout, stderr)
	}
	if page, err := os.ReadFile(site); err != nil || strings.Count(string(page), "<h2><a href=") != 2 {
		t.Errorf("the page of two runs: %v, %d bytes", err, len(page))
	}
}

func TestCommandLineRepeatsTheRun(t *testing.T) {
	for _, c := range []struct{ args, want []string }{
		{nil, nil},
		{[]string{"-out", defaultOut, "-name", "native", "-timeout", "60s"}, nil},
		{[]string{"-out", "results/quick", "-results", ""}, []string{"-out=results/quick", "-results="}},
		{[]string{"-filter", "Timer", "-results", ""}, []string{"-filter=Timer"}},
		{[]string{"-filter", "Timer", "-results", "RESULTS.md"}, []string{"-results=RESULTS.md", "-filter=Timer"}},
		{[]string{"-name", "it's", "-timeout", "5s"}, []string{`-name='it'\''s'`, "-timeout=5s"}},
		{[]string{"-filter", "Timer|Wake"}, []string{"-filter='Timer|Wake'"}},
		{[]string{"-filter", "Timer", "-conformance"}, []string{"-filter=Timer", "-conformance=true"}},
		{[]string{"-rounds", "40", "-budget", "1h"}, []string{"-budget=1h0m0s", "-rounds=40"}},
		{[]string{"-programs", "."}, []string{"-programs=."}},
		{[]string{"-conformance=false"}, []string{"-conformance=false"}},
		{[]string{"-program", "js=node echo.js"}, []string{"-program='js=node echo.js'"}},
	} {
		f, err := parseRun(append([]string{"-cpu", "1"}, c.args...), os.Stdout)
		if err != nil {
			t.Fatal(err)
		}
		words := strings.Split(commandLine(&f.cfg, f, "go run ."), " -")
		got, want := strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "cpu=1" }), " -"), strings.Join(append([]string{"go run . run -mode=full"}, c.want...), " ")
		if got != want {
			t.Errorf("%q\ngives %s\nwant  %s", c.args, got, want)
		}
	}
}

func TestGlancesLeaveTheReportAlone(t *testing.T) {
	for results, args := range map[string][]string{
		"RESULTS.md": {"-mode", "full"},
		"":           {"-mode", "quick"},
		"R.md":       {"-mode", "quick", "-results", "R.md"},
	} {
		if f, err := parseRun(args, os.Stdout); err != nil || f.results != results {
			t.Errorf("run %q writes %q (%v), want %q", args, f.results, err, results)
		}
	}
	if f, err := parseRun([]string{"-filter", "Submit"}, os.Stdout); err != nil || f.results != "" {
		t.Errorf("a run of a part writes %q (%v)", f.results, err)
	}
}

func TestCompare(t *testing.T) {
	rows := recorded.Rows(t, recorded.Container)
	slow := slices.Clone(rows)
	for i, row := range slow {
		if row.Impl == "main" && row.Figure == "Submit" {
			slow[i].Values = slices.Clone(row.Values)
			for k := range slow[i].Values {
				slow[i].Values[k] *= 10
			}
		}
	}
	before, slower, short := recorded.Run(t, rows), recorded.Run(t, slow), recorded.Run(t, recorded.Rows(t, recorded.Six))
	moved := recorded.Run(t, rows)
	run, err := record.Load(moved)
	if err != nil {
		t.Fatal(err)
	}
	if run.Env.CPU = "Other CPU"; record.Save(moved, run) != nil {
		t.Fatal("it has no record")
	}
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{before, before}, exitOK, "geometric mean of"},
		{[]string{before, slower}, exitFailed, "slower"},
		{[]string{slower, before}, exitOK, "faster"},
		{[]string{before, short}, exitUsage, "6 rounds; two runs are compared by at least 10"},
		{[]string{"-impl", "baseline", before, slower}, exitOK, "geometric mean of"},
		{[]string{before, moved}, exitUsage, "not made on the same machine (CPU: a processor and Other CPU)"},
		{[]string{"-force", before, moved}, exitOK, "warning: different machines"},
	} {
		code, stdout, stderr := invoke(t, t.Context(), append([]string{"compare"}, c.args...)...)
		if code != c.code || !strings.Contains(stdout+stderr, c.says) {
			t.Errorf("compare %q exits %d, want %d with %q:\n%s%s", c.args, code, c.code, c.says, stdout, stderr)
		}
	}
}
