package tournament_test

// Tests of the list of benchmarks.

import (
	"slices"
	"strings"
	"testing"

	"github.com/turnloop/turnloop/internal/tournament"
)

// TestBenchmarks: descriptions have no gaps, no two cells share a name, and what a benchmark says of its variants is about some that
// exist.
func TestBenchmarks(t *testing.T) {
	field := tournament.Own()
	cells := field.Cells()
	unique := slices.Sorted(slices.Values(cells))
	if len(slices.Compact(unique)) != len(cells) {
		t.Error("two cells share a name")
	}
	for i, name := range unique[1:] {
		if strings.HasPrefix(name, unique[i]+"/") {
			t.Errorf("%s is what a pattern that selects %s selects too", name, unique[i])
		}
	}
	controls := map[string]bool{}
	for _, c := range field.Contestants {
		controls[c.Name] = true
	}
	for _, b := range tournament.Benchmarks() {
		if b.Category == "" || len(b.Units) == 0 || b.Op == "" || b.Measures == "" || b.Why == "" || len(b.Variants) == 0 {
			t.Errorf("%s: the description has gaps", b.Name)
		}
		var variants []string
		for _, v := range b.Variants {
			variants = append(variants, v.Name)
			if v.Run == nil || v.Name == "" && len(b.Variants) > 1 {
				t.Errorf("%s: variant %q is incomplete", b.Name, v.Name)
			}
			for control := range v.Controls {
				if !controls[control] {
					t.Errorf("%s: there is no control %q", b.Name, control)
				}
			}
		}
		for _, need := range b.Needs {
			if need.Variant != "" && !slices.Contains(variants, need.Variant) {
				t.Errorf("%s: the variant %q, which does not exist, needs something", b.Name, need.Variant)
			}
		}
	}
	// The reference can be measured in all of the core set, so every contestant has a ratio to it there.
	for _, b := range tournament.Benchmarks() {
		for _, core := range b.Core {
			variant := strings.TrimPrefix(strings.TrimPrefix(core, b.Name), "/")
			want := strings.TrimSuffix("Benchmark"+b.Name+"/impl="+field.Reference+"/"+variant, "/")
			if !slices.Contains(cells, want) {
				t.Errorf("%s is in the core set, and there is no %s", core, want)
			}
		}
	}
}
