package tournament_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/turnloop/turnloop/internal/tournament"
)

// TestBenchmarksAreDescribed: the table and the source name the same benchmarks.
func TestBenchmarksAreDescribed(t *testing.T) {
	files, err := filepath.Glob("bench_*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	var written []string
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range parsed.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if name, ok := strings.CutPrefix(f.Name.Name, "Benchmark"); ok {
				written = append(written, name)
			}
		}
	}
	var described []string
	for _, b := range tournament.Benchmarks() {
		described = append(described, b.Name)
		if b.Category == "" || len(b.Units) == 0 || b.Op == "" || b.Measures == "" || b.Why == "" {
			t.Errorf("%s: the description has gaps", b.Name)
		}
	}
	slices.Sort(written)
	slices.Sort(described)
	if !slices.Equal(written, described) {
		t.Errorf("benchmarks in the source:  %v\nbenchmarks in the table: %v", written, described)
	}
}

func TestCategory(t *testing.T) {
	for name, want := range map[string]string{
		"Timer": tournament.Timers,
		"BenchmarkTimer/impl=main/op=fire/pending=0-2": tournament.Timers,
		"Submit/impl=main":                     tournament.Throughput,
		"BenchmarkPromise/impl=goja/op=then-2": tournament.Promises,
		"BenchmarkSubmit-2":                    tournament.Throughput,
		"Unknown":                              "",
		"":                                     "",
	} {
		if got := tournament.Category(name); got != want {
			t.Errorf("Category(%q) = %q, want %q", name, got, want)
		}
	}
}
