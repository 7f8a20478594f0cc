package record

import (
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
