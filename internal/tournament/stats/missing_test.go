package stats

// Tests of what a run lacks.

import (
	"slices"
	"testing"

	"github.com/turnloop/turnloop/internal/tournament/record"
)

func TestUnmeasured(t *testing.T) {
	a := &Analysis{samples: &Samples{units: map[string][]string{
		"Wake/fd=0": {"p50-sec/op", "sec/op"}, "Wake/fd=1": {"p50-sec/op", "B/op"}, "Wakes": {"p99-sec/op"},
	}}}
	for _, c := range []struct {
		b    record.Benchmark
		want []string
	}{
		{record.Benchmark{Name: "Wake", Units: []string{"p50-ns/op", "p99-ns/op", "ns/op", "B/op"}}, []string{"p99-ns/op"}},
		{record.Benchmark{Name: "Gone", Units: []string{"ns/op"}}, nil},
	} {
		if got := a.Unmeasured(c.b); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.b.Name, got, c.want)
		}
	}
}
