package record

// Tests of the folder of a run.

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/turnloop/turnloop/internal/tournament/bench"
)

func TestRawSurvivesBeingCutOff(t *testing.T) {
	dir := t.TempDir()
	w, err := CreateRaw(dir, []string{"goos: linux", "commit: abc"})
	if err != nil {
		t.Fatal(err)
	}
	lines := []struct {
		round int
		name  string
	}{{1, "BenchmarkA/impl=x"}, {1, "BenchmarkB/impl=x"}, {2, "BenchmarkB/impl=x"}}
	want := map[Done]bool{}
	for _, l := range lines {
		if err := w.Append(l.round, l.name+"-2 \t 10\t 5 ns/op", []string{"Unit p99-ns/op better=lower"}); err != nil {
			t.Fatal(err)
		}
		want[Done{l.round, l.name}] = true
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, RawFile)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(whole), "Unit "); n != 1 {
		t.Errorf("the unit is described %d times", n)
	}
	for cut := len(whole); cut > len(whole)-len("BenchmarkB/impl=x-2 \t 10\t 5 ns/op\n"); cut-- {
		if err := os.WriteFile(path, whole[:cut], 0o644); err != nil {
			t.Fatal(err)
		}
		again, done, err := ResumeRaw(dir)
		if err != nil {
			t.Fatal(err)
		}
		if cut < len(whole) {
			delete(want, Done{2, "BenchmarkB/impl=x"})
		}
		if !reflect.DeepEqual(done, want) {
			t.Fatalf("cut at %d: done %v, want %v", cut, done, want)
		}
		if err := again.Append(2, "BenchmarkA/impl=x-2 \t 10\t 5 ns/op", nil); err != nil {
			t.Fatal(err)
		}
		if err := again.Close(); err != nil {
			t.Fatal(err)
		}
		_, done, err = ResumeRaw(dir)
		if err != nil {
			t.Fatal(err)
		}
		if !done[Done{2, "BenchmarkA/impl=x"}] || len(done) != len(want)+1 {
			t.Fatalf("cut at %d: after one more result %v", cut, done)
		}
	}
}

// What was measured is read as it was measured, or not at all.
func TestReadRefusesWhatIsNotWhole(t *testing.T) {
	const raw = "goos: linux\nround: 1\nBenchmarkA/impl=x-2 \t 10\t 5 ns/op\nround: 2\nBenchmarkA/impl=x-2 \t 10\t 5 ns/op\n"
	sound := func() *Run {
		r := &Run{Complete: true, Impls: []Impl{{Name: "x"}}, Cells: []Cell{{Cell: bench.Cell{Name: "BenchmarkA/impl=x", Bench: "A", Impl: "x"}}}}
		r.Rounds = 2
		return r
	}
	for _, c := range []struct {
		what   string
		sealed bool
		raw    string
		change func(*Run)
		says   string
	}{
		{"whole and sealed", true, raw, nil, ""},
		{"whole", false, raw, nil, ""},
		{"cut off after a line", true, raw[:strings.LastIndex(raw, "Bench")], nil, "it has 4 lines, the run had 5"},
		{"another figure", true, strings.Replace(raw, "5 ns", "4 ns", 1), nil, "its SHA-256 is"},
		{"cut off, without a seal", false, raw[:strings.LastIndex(raw, "Bench")], nil, "it has 1 results of BenchmarkA/impl=x, and the run had 2 rounds"},
		{"cut off in a line, without a seal", false, raw[:len(raw)-3], nil, "cut off in the middle of a line"},
		{"a round that failed", false, raw[:strings.LastIndex(raw, "Bench")], func(r *Run) { r.Cells[0].Failures = []Failure{{Round: 2}} }, ""},
		{"interrupted", false, raw[:strings.LastIndex(raw, "Bench")], func(r *Run) { r.Complete = false }, ""},
		{"abandoned", false, "goos: linux\n", func(r *Run) { r.Cells[0].Abandoned = true }, ""},
		{"nobody", false, raw, func(r *Run) { r.Impls = nil }, "describes no run"},
		{"no cells", false, raw, func(r *Run) { r.Cells = nil }, "describes no run"},
		{"another cell", false, raw + "BenchmarkB/impl=x-2 \t 10\t 5 ns/op\n", nil, "the run had no such cell"},
		{"a cell that was struck out", true, raw, func(r *Run) { r.Cells[0].Name = "BenchmarkB/impl=x" }, "the run had no such cell"},
		{"a result twice", false, raw + "BenchmarkA/impl=x-2 \t 10\t 4 ns/op\n", nil, "two results of BenchmarkA/impl=x in round 2"},
		{"fewer rounds", true, raw, func(r *Run) { r.Rounds = 1 }, "it has round 2"},
		{"an interrupted one with another cell", false, "round: 1\nBenchmarkB/impl=x-2 \t 10\t 5 ns/op\n", func(r *Run) { r.Complete = false }, "no such cell"},
		{"no rounds", false, raw, func(r *Run) { r.Rounds = 0 }, "describes no run"},
	} {
		dir, r := t.TempDir(), sound()
		path := filepath.Join(dir, RawFile)
		if c.change != nil {
			c.change(r)
		}
		if c.sealed {
			if err := errors.Join(os.WriteFile(path, []byte(raw), 0o644), SealRaw(dir, r)); err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(Save(dir, r), os.WriteFile(path, []byte(c.raw), 0o644)); err != nil {
			t.Fatal(err)
		}
		_, got, err := Read(dir)
		switch {
		case c.says == "" && (err != nil || string(got) != c.raw):
			t.Errorf("%s: %v", c.what, err)
		case c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)):
			t.Errorf("%s: %v, want %q", c.what, err, c.says)
		}
	}
}

func TestRolesOfARunThatNamesNone(t *testing.T) {
	r := &Run{Impls: []Impl{{Name: "own", Ranked: true}, {Name: "rival", Ranked: true}, {Name: "old", Ranked: true}, {Name: "plain"}, {Name: "other"}}}
	if r.Subject() != "own" || r.Reference() != "old" || r.Control() != "plain" {
		t.Errorf("%q, %q and %q", r.Subject(), r.Reference(), r.Control())
	}
	r.Roles = Roles{Subject: "rival"}
	if r.Subject() != "rival" || r.Reference() != "" || r.Control() != "" {
		t.Errorf("given: %q, %q and %q", r.Subject(), r.Reference(), r.Control())
	}
}

func TestPromoteReplacesTheLastRun(t *testing.T) {
	dir := t.TempDir()
	if err := Save(dir, &Run{Seed: 1}); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(Partial(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := Save(Partial(dir), &Run{Seed: 2}); err != nil {
		t.Fatal(err)
	}
	w, err := CreateRaw(Partial(dir), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if got, err := Load(dir); err != nil || got.Seed != 1 {
		t.Fatalf("before the promotion: %v, %v", got, err)
	}
	if err := Promote(dir); err != nil {
		t.Fatal(err)
	}
	if got, err := Load(dir); err != nil || got.Seed != 2 {
		t.Errorf("after the promotion: %v, %v", got, err)
	}
	if _, err := Load(Partial(dir)); !Missing(err) {
		t.Errorf("the partial folder: %v", err)
	}
}

func TestConformity(t *testing.T) {
	c := Conformity{Checks: []bench.Check{
		{Name: "a", Outcome: bench.Pass}, {Name: "b", Outcome: bench.Fail}, {Name: "c", Outcome: bench.Diverges},
		{Name: "d", Outcome: bench.NotApplicable}, {Name: "e", Outcome: bench.NoResult},
	}}
	if got := c.Failed(); !reflect.DeepEqual(got, []string{"b", "e"}) {
		t.Errorf("failed: %v", got)
	}
}

// TestBenchstat: the documented command begins with the base, whoever was measured first, and leaves out who has no figure.
func TestBenchstat(t *testing.T) {
	run := &Run{
		Roles: Roles{Subject: "main", Reference: "baseline"},
		Impls: []Impl{{Name: "main"}, {Name: "other"}, {Name: "baseline"}, {Name: "absent"}},
	}
	for _, impl := range []string{"other", "main", "main-again", "baseline", "absent"} {
		run.Cells = append(run.Cells, Cell{Cell: bench.Cell{Bench: "Submit", Impl: impl}})
	}
	run.Cells[4].NA = "no such thing"
	const want = "go tool benchstat -ignore round -col '/impl@(baseline main other)' results/x/raw.txt"
	if got := run.Benchstat("results/x/raw.txt"); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	run.Cells[3].LeftOut = "this time"
	if got := run.Benchstat("raw.txt"); got != "go tool benchstat -ignore round -col '/impl@(main other)' raw.txt" {
		t.Errorf("without the base: %s", got)
	}
}
