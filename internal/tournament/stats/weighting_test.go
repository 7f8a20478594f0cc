package stats

// Tests of the weights of categories and benchmarks.

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/turnloop/turnloop/internal/tournament/record"
	"github.com/turnloop/turnloop/internal/tournament/recorded"
)

func TestCategoriesWeighAlikeAndBenchmarksWithinThem(t *testing.T) {
	var rows []*Row
	for _, name := range []string{"A/1", "A/2", "A/3", "B", "C/x"} {
		rows = append(rows, &Row{Bench: name, Category: map[bool]string{true: "one", false: "two"}[name != "C/x"]})
	}
	for _, c := range []struct {
		w    weighting
		want []float64
	}{
		{declared, []float64{1. / 12, 1. / 12, 1. / 12, 1. / 4, 1. / 2}},
		{weighting{groups: byBenchmark}, []float64{1. / 9, 1. / 9, 1. / 9, 1. / 3, 1. / 3}},
		{weighting{groups: byFigure}, []float64{.2, .2, .2, .2, .2}},
	} {
		got := c.w.weigh(rows)
		if !slices.EqualFunc(got, c.want, func(x, y float64) bool { return math.Abs(x-y) < 1e-12 }) {
			t.Errorf("weights %v, want %v", got, c.want)
		}
	}
}

// scores returns all that a contestant's place owes to its own figures, and to the reference's.
func scores(a *Analysis, impl string) map[string]float64 {
	out := map[string]float64{}
	add := func(name string, st Standing) {
		if p, ok := st.place(impl); ok {
			out[name] = p.Score
			if st.Reference == "baseline" {
				out[name+" to the reference"] = p.Mean.Center
				out[name+" to the reference, lower end"] = p.Mean.Lo
			}
		}
	}
	add("overall", a.Overall)
	add("wide", a.Wide)
	for _, c := range a.Categories {
		add(c.Name, c.Standing)
	}
	for _, w := range a.Weightings {
		add("overall, "+w.Name, w.Overall)
		add("wide, "+w.Name, w.Wide)
	}
	return out
}

// only analyses a run of those of another who are to take part.
func only(run *record.Run, samples *Samples, impls []record.Impl) *Analysis {
	part, with := *run, *samples
	part.Roles = record.Roles{Subject: run.Subject(), Reference: run.Reference(), Control: run.Control()}
	part.Impls, part.Cells, with.series = impls, nil, map[figure]series{}
	takesPart := func(label string) bool {
		return slices.ContainsFunc(impls, func(i record.Impl) bool { return i.Name == ownLabel(label) })
	}
	for _, c := range run.Cells {
		if takesPart(c.Impl) {
			part.Cells = append(part.Cells, c)
		}
	}
	for f, values := range samples.series {
		if takesPart(f.impl) {
			with.series[f] = values
		}
	}
	return Analyse(&part, &with)
}

func TestNobodysScoreDependsOnWhoElseEnters(t *testing.T) {
	run, samples := measured(t, recorded.Full)
	before := only(run, samples, run.Impls)
	check := func(what string, after *Analysis) {
		t.Helper()
		compared := 0
		for _, impl := range after.Run.Impls {
			if !impl.Ranked || impl.Name == "entrant" {
				continue
			}
			want, got := scores(before, impl.Name), scores(after, impl.Name)
			if !after.knows("baseline") { // what is relative to it is gone
				maps.DeleteFunc(want, func(name string, _ float64) bool { return !strings.HasPrefix(name, "wide") })
			}
			for name, score := range want {
				if math.Abs(got[name]-score) > 1e-9*score {
					t.Errorf("%s: %s of %s goes from %v to %v", what, name, impl.Name, score, got[name])
				}
				compared++
			}
		}
		if compared < 20 {
			t.Errorf("%s: only %d scores", what, compared)
		}
	}
	rng := rand.New(rand.NewPCG(5, 24))
	for range 3 {
		impls := slices.Clone(run.Impls)
		rng.Shuffle(len(impls), func(i, j int) { impls[i], impls[j] = impls[j], impls[i] })
		check("in another order", only(run, samples, impls))
	}
	for i, impl := range run.Impls {
		check("without "+impl.Name, only(run, samples, slices.Delete(slices.Clone(run.Impls), i, i+1)))
	}

	// An entrant that has no timers, and is faster or slower than everybody.
	for _, factor := range []float64{0.1, 10} {
		with := &Samples{series: maps.Clone(samples.series), units: samples.units, rounds: samples.rounds, benches: samples.benches}
		entered := *run
		entered.Roles = before.Run.Roles
		entered.Impls = append(slices.Clone(run.Impls), record.Impl{Name: "entrant", Ranked: true})
		entered.Cells = slices.Clone(run.Cells)
		for _, c := range run.Cells {
			if c.Impl != "main" || strings.HasPrefix(c.Bench, "Timer/") {
				continue
			}
			entry := c
			entry.Impl, entry.Name = "entrant", strings.Replace(c.Name, "impl=main", "impl=entrant", 1)
			entered.Cells = append(entered.Cells, entry)
			for _, unit := range samples.units[c.Bench] {
				s := series{}
				for round, v := range samples.series[figure{c.Bench, "main", unit}] {
					s[round] = v * factor
				}
				with.series[figure{c.Bench, "entrant", unit}] = s
			}
		}
		after := Analyse(&entered, with)
		check(fmt.Sprintf("with an entrant at %v", factor), after)
		if p, _ := after.Overall.place("entrant"); p.Rank != 0 || p.Why == "" {
			t.Errorf("an entrant without timers ranks: %+v", p)
		}
	}
}

// The table of weightings follows the figures.
func TestWeightings(t *testing.T) {
	values := map[string][]float64{
		"WakeFromIdle@baseline": jitter(1000, 0.01), "WakeFromIdle@main": jitter(10, 0.01), "WakeFromIdle@rival": jitter(1000, 0.01),
		"A@baseline": jitter(100, 0.01), "A@main": jitter(100, 0.01), "A@rival": jitter(50, 0.01),
		"A@baseline@p99-sec/op": jitter(100, 0.01), "A@main@p99-sec/op": jitter(100, 0.01), "A@rival@p99-sec/op": jitter(100000, 0.01),
	}
	a := analyse(values)
	first := map[string]string{}
	for _, w := range a.Weightings {
		if p, ok := w.Overall.First(); ok {
			first[w.Name] = p.Impl
		}
	}
	want := map[string]string{
		declared.name: "main", "each benchmark alike": "main", "each figure alike": "main", "99th percentiles instead of medians": "main",
		"means instead of medians": "main",
		NoWakes:                    "rival", NoWakes + ", each figure alike": "rival",
	}
	if !maps.Equal(first, want) {
		t.Errorf("first by weighting %v, want %v", first, want)
	}
	tails := a.Weightings[slices.IndexFunc(a.Weightings, func(w Weighting) bool { return strings.HasPrefix(w.Name, "99th") })]
	if p, _ := tails.Overall.place("rival"); math.Abs(p.Mean.Center-math.Sqrt(1000)) > 1e-6 {
		t.Errorf("by the 99th percentile: %+v", p)
	}
}
