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

// A suite that fails with all of its checks passed is a failed check: nobody is ranked who does not get through.
func TestSuiteThatFailsOutsideItsChecks(t *testing.T) {
	cfg, _ := config(t, "fail:TestConformance/impl=alpha")
	cfg.Filter = "BenchmarkQuick"
	run, err := Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range [][]string{{"Suite"}, nil} {
		if got := run.Checks[i]; !slices.Equal(got.Failed(), want) || len(got.Checks) != 2+len(want) {
			t.Errorf("%s fails %v of %+v, want %v", got.Impl, got.Failed(), got.Checks, want)
		}
	}
}

// A contestant that takes the suite's process with it has failed, with whatever status that process ends.
func TestSuiteWhoseProcessDies(t *testing.T) {
	for how, fails := range map[string][]string{
		"crash:TestConformance/impl=alpha":           nil, // before the first check: a note says why there is none
		"crash:TestConformance/impl=alpha/D02_Order": {"D02_Order"},
		"kill:TestConformance/impl=alpha/D02_Order":  {"D02_Order"},
		"leave:TestConformance/impl=alpha/D02_Order": {"D02_Order"},
	} {
		t.Run(how, func(t *testing.T) {
			cfg, _ := config(t, how)
			cfg.Filter = "BenchmarkQuick"
			run, err := Run(t.Context(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			for i, want := range [][]string{fails, nil} {
				if got := run.Checks[i]; !slices.Equal(got.Failed(), want) {
					t.Errorf("%s fails %v of %+v, want %v", got.Impl, got.Failed(), got.Checks, want)
				}
			}
			if got := run.Checks[0]; (len(got.Checks) == 0) != (fails == nil) || (got.Note != "") != (fails == nil) {
				t.Errorf("%d checks, note %q", len(got.Checks), got.Note)
			}
		})
	}
}

func TestRunMeasuresEveryCellInEveryRound(t *testing.T) {
	cfg, j := config(t, "na:BenchmarkQuick/impl=beta")
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
	if len(want) != 3*3-1+2 {
		t.Errorf("%d cells, want 8 and two control pairs: %v", len(want), want)
	}
	if na := cell(t, run, "BenchmarkQuick/impl=beta").NA; na != "no TimerScheduler" {
		t.Errorf("n/a reason %q", na)
	}
	first := run.Cells[0]
	if first.Bench != "Slow/op=x/size=1" || first.Impl != "alpha" {
		t.Errorf("cells do not begin in the order of descriptions but with %v", first.Cell)
	}
	var rounds [3][]string
	for _, s := range j.steps {
		var round, of int
		var name string
		if n, _ := fmt.Sscanf(s, "round %d/%d %s", &round, &of, &name); n == 3 {
			rounds[round] = append(rounds[round], name)
		}
	}
	if slices.Equal(rounds[1], rounds[2]) {
		t.Error("both rounds have the same order")
	}
	if _, err := os.Stat(record.Partial(cfg.Out)); !errors.Is(err, os.ErrNotExist) {
		t.Error("the partial folder is still there")
	}
	checks := map[string][]bench.Check{}
	for _, c := range run.Checks {
		checks[c.Impl] = c.Checks
	}
	wantChecks := map[string][]bench.Check{
		"alpha": {{Name: "D01_States", Outcome: "pass"}, {Name: "D02_Order", Outcome: "pass"}},
		"beta": {{Name: "D01_States", Outcome: "pass"},
			{Name: "D02_Order", Outcome: "diverges", Reason: "equal delays run out of order"}},
		"ctl": {},
	}
	if !reflect.DeepEqual(checks, wantChecks) {
		t.Errorf("conformance %v\nwant %v", checks, wantChecks)
	}
}

// Each category has its pairs, each ranked contestant its turn, and who cannot take it leaves it to the next.
func TestControlPairs(t *testing.T) {
	r := &runner{rec: &record.Run{
		Impls: []record.Impl{{Name: "beta", Ranked: true}, {Name: "main", Ranked: true}, {Name: "gamma", Ranked: true}, {Name: "ctl"}},
		Benchmarks: []record.Benchmark{{Name: "A", Category: "X", Unscored: "it is noise"}, {Name: "B", Category: "X"}, {Name: "C", Category: "Y"},
			{Name: "D", Category: "Z"}},
	}}
	for _, b := range []string{"A", "B/n=1", "B/n=2", "B/n=3", "B/n=4", "B/n=5", "B/n=6", "C", "D"} {
		for _, impl := range []string{"beta", "main", "gamma", "ctl"} {
			c := record.Cell{Cell: bench.Cell{Name: "Benchmark" + b + "/impl=" + impl, Bench: b, Impl: impl}}
			if b == "B/n=6" && impl == "main" || b == "D" && impl != "ctl" {
				c.NA = "not possible"
			}
			r.rec.Cells = append(r.rec.Cells, c)
		}
	}
	r.addControlPairs()
	var got []string
	for _, c := range r.rec.Cells {
		if c.Of != "" {
			got = append(got, c.Bench+" "+c.Impl+" of "+c.Of)
		}
	}
	if want := []string{"B/n=1 beta-again of beta", "B/n=6 gamma-again of gamma", "C beta-again of beta"}; !slices.Equal(got, want) {
		t.Errorf("control pairs %v, want %v", got, want)
	}
}

func TestRunRecordsFailures(t *testing.T) {
	cfg, _ := config(t, "fail:BenchmarkQuick/impl=alpha "+
		"crash:BenchmarkSlow/impl=alpha/op=x/size=20 "+
		"hang:BenchmarkSlow/impl=beta/op=x/size=1 hang:TestConformance/impl=alpha/D02_Order")
	const hangs = "BenchmarkSlow/impl=beta/op=x/size=1"
	cfg.Timeout = 100 * time.Millisecond
	var run *record.Run
	var log []byte
	var err error
	for again := true; again && cfg.Timeout < time.Minute; { // a busy machine starts a process slowly, and prints its stacks slowly
		cfg.Timeout, cfg.Out = cfg.Timeout*4, t.TempDir()
		if run, err = Run(t.Context(), cfg); err == nil {
			log, err = os.ReadFile(filepath.Join(cfg.Out, "failures.txt"))
		}
		again = err != nil || !strings.Contains(string(log), "goroutine ") || slices.ContainsFunc(run.Cells, func(c record.Cell) bool {
			return c.Name != hangs && len(c.Failures) > 0 && strings.Contains(c.Failures[0].Reason, "hung")
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	for name, reason := range map[string]string{
		"BenchmarkQuick/impl=alpha":             "the loop lost a task",
		"BenchmarkSlow/impl=alpha/op=x/size=20": "exit status 7: fatal error: all is lost",
		hangs:                                   "hung: killed after ",
	} {
		c := cell(t, run, name)
		if !c.Abandoned || len(c.Failures) != givenUp {
			t.Errorf("%s: %d failures, abandoned %v", name, len(c.Failures), c.Abandoned)
			continue
		}
		if got := c.Failures[0].Reason; !strings.Contains(got, reason) {
			t.Errorf("%s failed because of %q, want %q", name, got, reason)
		}
	}
	if got := measured(t, cfg.Out); len(got["Slow/impl=beta/op=x/size=20"]) != 2 {
		t.Errorf("a healthy cell beside broken ones was not measured: %v", got)
	}
	if !strings.Contains(string(log), "goroutine ") {
		t.Error("the stacks of a hung process are not in failures.txt")
	}
	for _, c := range run.Checks {
		if c.Impl == "alpha" && (!strings.Contains(c.Note, "hung") || !slices.Equal(c.Failed(), []string{"D02_Order"})) {
			t.Errorf("a hung conformance suite is reported as %+v", c)
		}
	}
}

// TestDeclaredAndNotRun: a cell that is declared and does not exist is in the record, with what is the matter.
func TestDeclaredAndNotRun(t *testing.T) {
	cfg, _ := config(t, "")
	cfg.Cells, cfg.Conformance = append(cfg.Cells, "BenchmarkGone/impl=alpha"), false
	cfg.Filter = "BenchmarkQuick|BenchmarkGone"
	run, err := Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	c := cell(t, run, "BenchmarkGone/impl=alpha")
	if c.Runs() || len(c.Failures) != 1 || c.Failures[0].Reason != "it is declared, and did not run" {
		t.Errorf("it is %+v", c)
	}
	if len(run.Benchmarks) != 1 || run.Benchmarks[0].Name != "Quick" || len(run.Impls) != 3 {
		t.Errorf("the filter leaves %+v and %+v", run.Benchmarks, run.Impls)
	}
}

func TestRunResumes(t *testing.T) {
	cfg, j := config(t, "fail-measuring:BenchmarkSlow/impl=beta/op=x/size=20")
	cfg.Rounds, cfg.Conformance = 3, false
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
		{func(t *testing.T, c *Config) { // the budget had no time for a fourth round
			c.Rounds++
			run, err := record.Load(record.Partial(c.Out))
			if run.Dropped = 1; errors.Join(err, record.Save(record.Partial(c.Out), run)) != nil {
				t.Fatal("it has no record")
			}
		}, "", "goes on from here"},
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
	j2.onStep = func(string) {
		if going, err := record.Load(partial); err != nil || going.Raw != (record.Seal{}) {
			t.Errorf("while it is appended to, raw.txt has the seal %+v, %v", going.Raw, err)
		}
	}
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

func TestRunStopsItsChildOnInterrupt(t *testing.T) {
	cfg, j := config(t, "hang-measuring:BenchmarkQuick/impl=beta")
	cfg.Filter, cfg.Conformance = "BenchmarkQuick/impl=beta", false
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	j.onStep = func(step string) {
		if strings.HasPrefix(step, "warm-up") {
			time.AfterFunc(100*time.Millisecond, interrupt)
		}
	}
	start := time.Now()
	if _, err := Run(ctx, cfg); !errors.Is(err, ErrInterrupted) || !strings.Contains(err.Error(), "starts anew") {
		t.Fatalf("interrupted before the plan it returns %v", err)
	}
	if took := time.Since(start); took > cfg.Timeout/2 {
		t.Errorf("it took %v to stop a hung child", took)
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
