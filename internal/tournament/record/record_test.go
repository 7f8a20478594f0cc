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
		r := &Run{Complete: true, Figures: []Figure{{Name: "A"}}, Cells: []Cell{{Cell: bench.Cell{Name: "BenchmarkA/impl=x", Bench: "A", Impl: "x"}}}}
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
		{"cut off after a line", true, raw[:strings.LastIndex(raw, "Bench")], nil, "it has 4 lines, the run had 5"},
		{"another figure", true, strings.Replace(raw, "5 ns", "4 ns", 1), nil, "its SHA-256 is"},
		{"without a seal", false, raw, nil, "it has 5 lines, the run had 0"},
		{"interrupted", false, raw[:strings.LastIndex(raw, "Bench")], func(r *Run) { r.Complete = false }, ""},
		{"no figures", false, raw, func(r *Run) { r.Figures = nil }, "describes no run"},
		{"no cells", false, raw, func(r *Run) { r.Cells = nil }, "describes no run"},
		{"an interrupted one with a strange cell", false, raw + "BenchmarkB/impl=x-2 \t 10\t 5 ns/op\n", func(r *Run) { r.Complete = false }, "the run had no such cell"},
		{"a cell that was struck out", true, raw, func(r *Run) { r.Cells[0].Name = "BenchmarkB/impl=x" }, "the run had no such cell"},
		{"a result twice", false, raw + "BenchmarkA/impl=x-2 \t 10\t 4 ns/op\n", func(r *Run) { r.Complete = false }, "two results of BenchmarkA/impl=x in round 2"},
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

// TestGate: what a suite did not reach has failed, what belongs to the gate cannot be declared, and both keep from being ranked.
func TestGate(t *testing.T) {
	suite := []Requirement{{Name: "order", Gate: true}, {Name: "panics"}, {Name: "late"}}
	for _, c := range []struct {
		what     string
		checks   []bench.Check
		unranked string
	}{
		{"meets all", []bench.Check{{Name: "order", Outcome: bench.Pass}, {Name: "panics", Outcome: bench.Pass}, {Name: "late", Outcome: bench.NotApplicable}}, ""},
		{"declares what it may", []bench.Check{{Name: "order", Outcome: bench.Pass}, {Name: "panics", Outcome: bench.Diverges}, {Name: "late", Outcome: bench.Pass}}, ""},
		{"declares the gate away", []bench.Check{{Name: "order", Outcome: bench.Diverges}, {Name: "panics", Outcome: bench.Pass}, {Name: "late", Outcome: bench.Pass}},
			"it fails order, which belongs to the gate"},
		{"fails", []bench.Check{{Name: "order", Outcome: bench.Pass}, {Name: "panics", Outcome: bench.Fail}, {Name: "late", Outcome: bench.Pass}}, "it fails panics, which it claims to meet"},
		{"crashes", []bench.Check{{Name: "order", Outcome: bench.Pass}, {Name: "panics", Outcome: bench.NoResult}}, "it fails panics, which it claims to meet"},
		{"ends early", []bench.Check{{Name: "order", Outcome: bench.Pass}, {Name: "panics", Outcome: bench.Pass}}, "it fails late, which it claims to meet"},
		{"says nothing", nil, "it fails order, which belongs to the gate"},
	} {
		held := Conformity{Impl: "x", Checks: c.checks}
		held.Hold(suite)
		run := &Run{Impls: []Impl{{Name: "x", Ranked: true}}, Checks: []Conformity{held}}
		if got := run.Unranked("x"); got != c.unranked || len(held.Checks) != len(suite) {
			t.Errorf("who %s: %q with %d checks, want %q", c.what, got, len(held.Checks), c.unranked)
		}
	}
}
