package runner

// Tests of the runner: rounds, failures, runs that are resumed.

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/perf/benchfmt"

	"github.com/turnloop/turnloop/internal/beat"
	"github.com/turnloop/turnloop/internal/tournament/bench"
	"github.com/turnloop/turnloop/internal/tournament/record"
)

// measured reads raw.txt as name -> rounds.
func measured(t *testing.T, dir string) map[string][]string {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, record.RawFile))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	out := map[string][]string{}
	r := benchfmt.NewReader(f, "raw")
	for r.Scan() {
		switch rec := r.Result().(type) {
		case *benchfmt.Result:
			if rec.GetConfig("commit") != "0123abc" || rec.GetConfig("gomaxprocs") != "1" {
				t.Fatalf("%s has no configuration", rec.Name)
			}
			out[rec.Name.String()] = append(out[rec.Name.String()], rec.GetConfig("round"))
		case *benchfmt.SyntaxError:
			t.Fatal(rec)
		}
	}
	return out
}

func cell(t *testing.T, run *record.Run, name string) record.Cell {
	t.Helper()
	for _, c := range run.Cells {
		if c.Name == name {
			return c
		}
	}
	t.Fatalf("no cell %s", name)
	return record.Cell{}
}

func TestRunMeasuresEveryCellInEveryRound(t *testing.T) {
	cfg, j := config(t, "na:BenchmarkQuick/impl=beta")
	cfg.Conformance = false
	run, err := Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if !run.Complete {
		t.Error("the run is not marked complete")
	}
	got := measured(t, cfg.Out)
	want := map[string][]string{}
	for _, c := range run.Cells {
		if c.Runs() {
			want[strings.TrimPrefix(c.Name, "Benchmark")] = []string{"1", "2"}
		}
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("measured %v\nwant %v", got, want)
	}
	if len(want) != 3*3-1+1 {
		t.Errorf("%d cells, want 8 and a control pair: %v", len(want), want)
	}
	if na := cell(t, run, "BenchmarkQuick/impl=beta").NA; na != "no TimerScheduler" {
		t.Errorf("n/a reason %q", na)
	}
	var rounds [3][]string
	for _, s := range j.steps {
		var round, of int
		var name string
		if n, _ := fmt.Sscanf(s, "round %d/%d %s", &round, &of, &name); n == 3 {
			rounds[round] = append(rounds[round], name)
		}
	}
	if slices.Equal(rounds[1], rounds[2]) || len(rounds[0]) != 10 {
		t.Errorf("both rounds have the same order, or %d cells were in the discarded one", len(rounds[0]))
	}
	if _, err := os.Stat(record.Partial(cfg.Out)); !errors.Is(err, os.ErrNotExist) {
		t.Error("the partial folder is still there")
	}
	if _, _, err := record.Read(cfg.Out); err != nil {
		t.Errorf("the record is not whole: %v", err)
	}
}

// TestRounds: whatever the time, a run has the least number of rounds or more; a budget costs figures and never rounds.
func TestRounds(t *testing.T) {
	for _, c := range []struct {
		what                string
		asked               int
		budget, aim, each   time.Duration
		rounds, figuresLeft int
	}{
		{"time for many", 0, 0, 10 * time.Minute, 5 * time.Second, mostRounds, 3},
		{"time for some", 0, 0, 10 * time.Minute, 30 * time.Second, 20, 3},
		{"time for few", 0, 0, 10 * time.Minute, time.Minute, 10, 3},
		{"as many as asked", 40, 0, 10 * time.Minute, time.Minute, 40, 3},
		{"a budget for two figures", 0, 10 * time.Minute, 10 * time.Minute, 80 * time.Second, 11, 2},
		{"a budget for nothing", 0, time.Millisecond, 10 * time.Minute, time.Minute, 10, 1},
	} {
		r := &runner{Config: Config{Aim: c.aim, Progress: &journal{}}, from: time.Now(), rec: &record.Run{}, took: map[string]time.Duration{}}
		r.Budget, r.Asked = c.budget, c.asked
		for _, name := range []string{"A", "B", "C"} {
			r.rec.Figures = append(r.rec.Figures, record.Figure{Name: name})
			r.rec.Cells = append(r.rec.Cells, record.Cell{Cell: bench.Cell{Name: name, Bench: name}})
			r.took[name] = c.each / 3
		}
		if err := r.fix(); err != nil {
			t.Fatal(err)
		}
		left := 0
		for _, f := range r.rec.Figures {
			if f.LeftOut == "" {
				left++
			}
		}
		if near := r.rec.Rounds - c.rounds; near < -1 || near > 0 || r.rec.Rounds < 10 || left != c.figuresLeft {
			t.Errorf("%s: %d rounds of %d figures, want %d of %d", c.what, r.rec.Rounds, left, c.rounds, c.figuresLeft)
		}
	}
}

// TestBadCells: a cell that fails, hangs, crashes or has a value that cannot be is told as such, and loses its place and no other.
func TestBadCells(t *testing.T) {
	const hangs = "BenchmarkSlow/impl=beta/op=x/size=1"
	cfg, _ := config(t, "fail:BenchmarkQuick/impl=alpha crash:BenchmarkSlow/impl=alpha/op=x/size=20 huge:BenchmarkQuick/impl=beta hang:"+hangs)
	cfg.Conformance, cfg.Timeout = false, 400*time.Millisecond
	run := patiently(t, &cfg, hangs)
	for name, reason := range map[string]string{
		"BenchmarkQuick/impl=alpha":             "the loop lost a task",
		"BenchmarkQuick/impl=beta":              "1e+300 ns/op is more than there was",
		"BenchmarkSlow/impl=alpha/op=x/size=20": "exit status 7: fatal error: all is lost",
		hangs:                                   "hung: killed after ",
	} {
		c := cell(t, run, name)
		if !c.Abandoned || len(c.Failures) != givenUp || !strings.Contains(c.Failures[0].Reason, reason) {
			t.Errorf("%s: %+v, want %q", name, c, reason)
		}
	}
	if got := measured(t, cfg.Out); len(got["Slow/impl=beta/op=x/size=20"]) != run.Rounds {
		t.Errorf("a healthy cell beside broken ones was not measured: %v", got)
	}
	if log, err := os.ReadFile(filepath.Join(cfg.Out, "failures.txt")); err != nil || !strings.Contains(string(log), "goroutine ") {
		t.Errorf("the stacks of a hung process are not in failures.txt: %v", err)
	}
}

func TestRunResumes(t *testing.T) {
	cfg, j := config(t, "fail:BenchmarkSlow/impl=beta/op=x/size=20")
	cfg.Asked, cfg.Conformance = 3, false
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	j.onStep = func(step string) {
		if strings.HasPrefix(step, "round 2/3") && len(measured(t, record.Partial(cfg.Out))) > 5 {
			interrupt()
		}
	}
	if _, err := Run(ctx, cfg); !errors.Is(err, ErrInterrupted) || !strings.Contains(err.Error(), "command goes on from here") {
		t.Fatalf("an interrupted run returns %v", err)
	}
	partial := record.Partial(cfg.Out)
	before, err := os.ReadFile(filepath.Join(partial, record.RawFile))
	if err != nil {
		t.Fatal(err)
	}
	// As if the machine had gone down in the middle of a line.
	if err := os.WriteFile(filepath.Join(partial, record.RawFile), append(before, "BenchmarkQui"...), 0o644); err != nil {
		t.Fatal(err)
	}

	dead, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		change        func(*testing.T, *Config)
		reason, again string
	}{
		{func(_ *testing.T, c *Config) { c.Filter = "Quick" }, "other flags", "starts anew"},
		{func(_ *testing.T, c *Config) { c.Fresh = true }, "as asked", "starts anew"},
		{func(t *testing.T, _ *Config) { t.Setenv("GOGC", "37") }, "GOGC: ", "starts anew"},
		{func(t *testing.T, _ *Config) { t.Setenv("GOMEMLIMIT", "37GiB") }, "GOMEMLIMIT: ", "starts anew"},
		{func(t *testing.T, _ *Config) { t.Setenv("GODEBUG", "gctrace=0") }, "GODEBUG: ", "starts anew"},
		{func(*testing.T, *Config) {}, "", "goes on from here"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			other, oj := cfg, &journal{}
			other.Out, other.Progress = t.TempDir(), oj
			if err := os.CopyFS(other.Out, os.DirFS(cfg.Out)); err != nil {
				t.Fatal(err)
			}
			c.change(t, &other)
			_, err := Run(dead, other)
			if !errors.Is(err, ErrInterrupted) || !strings.Contains(err.Error(), c.again) {
				t.Errorf("interrupted again it returns %v, want %q", err, c.again)
			}
			if said := strings.Join(oj.said, "\n"); !strings.Contains(said, c.reason) || (said == "") != (c.reason == "") {
				t.Errorf("it says %q, want %q", said, c.reason)
			}
		})
	}

	j2 := &journal{}
	cfg.Progress = j2
	run, err := Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if sealed, _, err := record.Read(cfg.Out); err != nil || sealed.Raw == (record.Seal{}) {
		t.Errorf("when it is complete, it is not sealed: %v", err)
	}
	if len(run.Sessions) != 2 {
		t.Errorf("%d sessions, want 2", len(run.Sessions))
	}
	if !strings.HasPrefix(j2.steps[0], "round 2/3") {
		t.Errorf("resumes with %q", j2.steps[0])
	}
	after, err := os.ReadFile(filepath.Join(cfg.Out, record.RawFile))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(after), string(before)) {
		t.Error("what was measured before the interruption is gone")
	}
	for name, rounds := range measured(t, cfg.Out) {
		if !slices.Equal(rounds, []string{"1", "2", "3"}) {
			t.Errorf("%s was measured in rounds %v", name, rounds)
		}
	}
}

// TestRunStopsItsChildOnInterrupt: the run ends although its child would hang for an hour.
func TestRunStopsItsChildOnInterrupt(t *testing.T) {
	cfg, _ := config(t, "hang:BenchmarkQuick/impl=beta")
	cfg.Filter, cfg.Conformance = "BenchmarkQuick/impl=beta", false
	hangs := filepath.Join(t.TempDir(), "hangs")
	cfg.Env = append(cfg.Env, "HANGS="+hangs)
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	ended := make(chan error, 1)
	go func() { _, err := Run(ctx, cfg); ended <- err }()
	beat.Eventually(t, func() bool { _, err := os.Stat(hangs); return err == nil }, "a child that hangs")
	interrupt()
	if err := beat.Receive(t, ended, "the end of the run"); !errors.Is(err, ErrInterrupted) || !strings.Contains(err.Error(), "starts anew") {
		t.Fatalf("interrupted before the rounds it returns %v", err)
	}
}

func TestOrder(t *testing.T) {
	var cells []record.Cell
	for b := range 12 {
		for impl := range 5 {
			cells = append(cells, record.Cell{Cell: bench.Cell{Bench: fmt.Sprintf("%02d", b), Impl: fmt.Sprint(impl)}})
		}
	}
	one := order(1, 2, cells)
	if !slices.Equal(one, order(1, 2, cells)) {
		t.Error("the same seed and round give two orders")
	}
	if slices.Equal(one, order(1, 3, cells)) || slices.Equal(one, order(2, 2, cells)) {
		t.Error("another round or seed gives the same order")
	}
	var blocks []string
	within := map[string]bool{}
	for i, at := range one {
		if b := cells[at].Bench; i%5 == 0 {
			blocks = append(blocks, b)
		} else if b != blocks[len(blocks)-1] {
			t.Fatalf("the contestants of benchmark %s are not back to back: %v", blocks[len(blocks)-1], one)
		}
	}
	for b := 0; b < len(one); b += 5 {
		var impls string
		for _, at := range one[b : b+5] {
			impls += cells[at].Impl
		}
		within[impls] = true
	}
	if slices.IsSorted(blocks) || len(within) < 5 {
		t.Errorf("benchmarks come as %v, contestants within them as %v", blocks, within)
	}
	if slices.Sort(one); one[0] != 0 || one[59] != 59 || len(slices.Compact(one)) != 60 {
		t.Errorf("not every cell has one place: %v", one)
	}
}
