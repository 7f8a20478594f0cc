package main

// Tests of the verdicts.

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"golang.org/x/perf/benchfmt"
)

// TestVerdicts: what differs by more than noise and tolerance is told, and what does not, is not. The machine's speed changes from
// round to round, which says nothing of either tree.
func TestVerdicts(t *testing.T) {
	for _, c := range []struct {
		unit  string
		ratio float64 // new to old
		word  string
	}{
		{"sec/op", 1, ""},
		{"sec/op", 1.02, ""},
		{"sec/op", 1.1, "worse"},
		{"sec/op", 0.9, "better"},
		{"req/s", 0.9, "worse"},
		{"req/s", 1.1, "better"},
		{"allocs/op", 1.5, "worse"},
	} {
		random := rand.New(rand.NewPCG(1, 2))
		found := figures{}
		const rounds = 20
		for round := range rounds {
			machine := math.Exp(random.NormFloat64())
			for side, ratio := range [sides]float64{1, 1, c.ratio} {
				value := 100 * machine * ratio * math.Exp(0.01*random.NormFloat64())
				found.add("p", result("X", c.unit, value), round, side)
			}
		}
		if word := verdict(found.complete(rounds)); word != c.word {
			t.Errorf("%v: %q, want %q", c, word, c.word)
		}
	}
}

// TestZeros: no allocations in either tree is no difference; some where there were none is worse.
func TestZeros(t *testing.T) {
	for _, c := range []struct {
		old, fresh float64
		word       string
	}{{0, 0, ""}, {0, 1, "worse"}, {1, 0, ""}} {
		found := figures{}
		for round := range leastRounds {
			for side, value := range [sides]float64{c.old, c.old, c.fresh} {
				found.add("p", result("X", "allocs/op", value), round, side)
			}
		}
		if word := verdict(found.complete(leastRounds)); word != c.word {
			t.Errorf("%v: %q", c, word)
		}
	}
}

func TestIncomplete(t *testing.T) {
	found := figures{}
	found.add("p", result("X", "sec/op", 1), 0, old)
	if all := found.complete(1); len(all) != 0 {
		t.Errorf("a figure without its control: %v", all)
	}
}

func TestOnly(t *testing.T) {
	for name, want := range map[string]string{
		"Submit/impl=main-2":  "^(Benchmark)?Submit$/^impl=main$",
		"Insert/n=1+2":        `^(Benchmark)?Insert$/^n=1\+2$`,
		"PingPongLatency-128": "^(Benchmark)?PingPongLatency$",
	} {
		if got := only(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

func verdict(all []*figure) string {
	return all[0].word(judge(all, fresh)[all[0]], judge(all, control)[all[0]])
}

func result(name, unit string, value float64) *benchfmt.Result {
	return &benchfmt.Result{Name: benchfmt.Name(name), Iters: 1, Values: []benchfmt.Value{{Value: value, Unit: unit, OrigValue: value, OrigUnit: fmt.Sprint(unit)}}}
}
