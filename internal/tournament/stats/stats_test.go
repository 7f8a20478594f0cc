package stats

// Tests of the statistics, on figures whose answer is known.

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/turnloop/turnloop/internal/tournament/bench"
	"github.com/turnloop/turnloop/internal/tournament/record"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func smallRun(t *testing.T) *Analysis {
	t.Helper()
	a, err := Load("testdata/run")
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestAnalysisOfARecordedRun(t *testing.T) {
	got, err := json.MarshalIndent(smallRun(t), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join("testdata", "results.golden.json")
	if *update {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !same(decode(t, got), decode(t, want)) {
		t.Errorf("the analysis differs from %s; if that is intended, run with -update", golden)
	}
}

func decode(t *testing.T, text []byte) (v any) {
	t.Helper()
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// same compares decoded JSON. Architectures that fuse or widen floating-point operations differ in the last digits.
func same(a, b any) bool {
	switch a := a.(type) {
	case float64:
		b, ok := b.(float64)
		return ok && math.Abs(a-b) <= 1e-9*math.Max(math.Abs(a), math.Abs(b))
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, same)
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && maps.EqualFunc(a, b, same)
	}
	return a == b
}

// run describes a run of cells, each written as benchmark@contestant.
func run(cells ...string) *record.Run {
	r := &record.Run{
		Impls: []record.Impl{{Name: "main", Ranked: true}, {Name: "rival", Ranked: true}, {Name: "baseline", Ranked: true}, {Name: "channel"}},
	}
	r.Rounds, r.Complete = 10, true
	for _, name := range cells {
		var c record.Cell
		bench, impl, _ := strings.Cut(name, "@")
		c.Bench, c.Impl, c.Iters = bench, impl, 1000
		if of, ok := strings.CutSuffix(impl, record.Again); ok {
			c.Of = of
		}
		r.Cells = append(r.Cells, c)
	}
	return r
}

// jitter returns ten times around ns nanoseconds, none equal, the same for the same arguments.
func jitter(ns, spread float64) []float64 {
	out := make([]float64, 10)
	for i := range out {
		out[i] = ns * 1e-9 * (1 + spread*(float64(i*7%10)-4.5)/10)
	}
	return out
}

// flat returns ten equal values.
func flat(v float64) []float64 { return slices.Repeat([]float64{v}, 10) }

// split takes benchmark@contestant@unit apart; the unit is the time unless it is given.
func split(name string) figure {
	parts := append(strings.Split(name, "@"), "sec/op")
	return figure{parts[0], parts[1], parts[2]}
}

func samples(values map[string][]float64) *Samples {
	s := &Samples{series: map[figure]series{}, units: map[string][]string{}}
	for name, vs := range values {
		key := split(name)
		if !slices.Contains(s.units[key.bench], key.unit) {
			s.units[key.bench] = append(s.units[key.bench], key.unit)
		}
		f := series{}
		for i, v := range vs {
			f[i+1] = v
			if !slices.Contains(s.rounds, i+1) {
				s.rounds = append(s.rounds, i+1)
			}
		}
		s.series[key] = f
	}
	slices.Sort(s.rounds)
	return s
}

func analyse(values map[string][]float64) *Analysis {
	var names, benches []string
	for name := range values {
		f := split(name)
		names = append(names, f.bench+"@"+f.impl)
		benches = append(benches, f.bench)
	}
	slices.Sort(names)
	slices.Sort(benches)
	r := run(slices.Compact(names)...)
	for _, bench := range slices.Compact(benches) {
		r.Benchmarks = append(r.Benchmarks, record.Benchmark{
			Name: bench, Category: "Other", Units: []string{"ns/op", "p99-ns/op", "B/op", "allocs/op", "B/timer"}})
	}
	return Analyse(r, samples(values))
}

func TestVerdictNeedsSignificanceAndSize(t *testing.T) {
	a := analyse(map[string][]float64{
		"A@baseline": jitter(100, 0.01), "A@main": jitter(50, 0.01), "A@main-again": jitter(52, 0.01),
		"B@baseline": jitter(100, 0.001), "B@main": jitter(102, 0.001),
		"C@baseline": jitter(100, 0.8), "C@main": jitter(115, 0.8),
		"D@baseline": jitter(100, 0.01), "D@main": jitter(120, 0.01),
	})
	if math.Abs(a.Noise.Floor-0.04) > 1e-9 {
		t.Errorf("noise floor %v, want the pair's 4 %%", a.Noise.Floor)
	}
	for bench, want := range map[string]Verdict{
		"A": Faster,
		"B": Same, // certain, but smaller than the floor
		"C": Same, // larger than the floor, but not certain
		"D": Slower,
	} {
		i := slices.IndexFunc(a.Rows, func(r *Row) bool { return r.Bench == bench })
		if got := a.Rows[i].entry("main").Verdict; got != want {
			t.Errorf("%s: %q, want %q", bench, got, want)
		}
	}
}

// What the noise of times would hide counts where bytes are concerned.
func TestBytesHaveAFloorOfTheirOwn(t *testing.T) {
	values := map[string][]float64{
		"T@baseline": jitter(100, 0.01), "T@main": jitter(100, 0.01), "T@main-again": jitter(150, 0.01),
		"M@baseline@B/timer": flat(100), "M@main@B/timer": flat(140), "M@rival@B/timer": flat(100.5),
	}
	a := analyse(values)
	row := a.Rows[slices.IndexFunc(a.Rows, func(r *Row) bool { return r.Bench == "M" })]
	if main, rival := row.entry("main"), row.entry("rival"); main.Verdict != Slower || main.Best || rival.Verdict != Same || !rival.Best {
		t.Errorf("with a floor of %v for times: %+v, %+v", a.Noise.Floor, main, rival)
	}
	only := analyse(map[string][]float64{"M@baseline@B/timer": jitter(1e11, 0.001), "M@main@B/timer": jitter(1.05e11, 0.001)})
	if p, _ := only.Categories[0].place("main"); p.Tied {
		t.Errorf("a mean of bytes is held against the floor of times: %+v", p)
	}
	for unit, want := range map[string]bool{"sec/op": true, "p99.9-sec/op": true, "B/timer": false, "allocs/op": false} {
		if IsTime(unit) != want {
			t.Errorf("IsTime(%s) = %v", unit, !want)
		}
	}
}

// Each category has the floor of its own pairs, and none is smaller than that of the mean over all.
func TestNoiseByCategory(t *testing.T) {
	values := map[string][]float64{
		"A@main": jitter(100, 0.01), "A@main-again": jitter(130, 0.01), "A@rival": jitter(115, 0.01),
		"B@rival": jitter(100, 0.01), "B@rival-again": jitter(100, 0.01), "B@main": jitter(87, 0.01),
		"C@rival": jitter(100, 0.01), "C@main": jitter(120, 0.01),
	}
	a := analyse(values)
	for i, name := range []string{"A", "B", "C"} {
		a.Run.Benchmarks[i].Category = "of " + name
	}
	a = Analyse(a.Run, a.samples)
	mean := math.Sqrt(1.3) - 1
	for category, want := range map[string]float64{"of A": 0.3, "of B": mean, "of C": 0.3} {
		if got := a.Noise.In(category).Floor; math.Abs(got-want) > 1e-9 {
			t.Errorf("the floor %s is %v, want %v", category, got, want)
		}
	}
	for i, best := range []bool{true, false, true} { // 15 % within noise, 15 % beyond, 20 % within
		slower := map[bool]string{true: "rival", false: "main"}[i < 2]
		if e := a.Rows[i].entry(slower); e.Best != best {
			t.Errorf("%s: %+v", a.Rows[i].Bench, e)
		}
	}
}

// A mean is steadier than a cell, but not where one cell is all there is.
func TestAMeanOfOneCellHasTheFloorOfACell(t *testing.T) {
	values := map[string][]float64{
		"A@main": jitter(100, 0.01), "A@main-again": jitter(110, 0.01), "A@rival": jitter(107, 0.01),
		"P@channel": jitter(100, 0.01), "P@channel-again": jitter(100, 0.01),
	}
	tied := func() bool {
		a := analyse(values)
		p, ok := a.Categories[0].place("rival")
		if !ok || a.Noise.Mean > 0.06 || a.Noise.Floor < 0.09 {
			t.Fatalf("%+v, floors %+v", p, a.Noise)
		}
		return p.Tied
	}
	if !tied() {
		t.Error("a category of one cell: 7 % are beyond noise, though the cell's floor is 10 %")
	}
	values["B@main"], values["B@rival"] = jitter(100, 0.01), jitter(107, 0.01)
	if tied() {
		t.Error("a category of two cells: 7 % are within noise, though the mean's floor is 5 %")
	}
}

func TestComparedDetails(t *testing.T) {
	a := analyse(map[string][]float64{
		"A@baseline": jitter(100, 0.01), "A@main": jitter(50, 0.01), "A@main-again": jitter(51, 0.01), "A@rival": jitter(50, 0.01),
		"A@baseline@p99-sec/op": jitter(500, 0.01), "A@main@p99-sec/op": jitter(700, 0.01), "A@rival@p99-sec/op": jitter(505, 0.01),
		"A@baseline@allocs/op": flat(0), "A@main@allocs/op": flat(0), "A@rival@allocs/op": flat(1),
	})
	for unit, want := range map[string]map[string]Verdict{
		Tail:        {"main": Slower, "rival": Same},
		Allocations: {"main": Same, "rival": Slower},
	} {
		if d := a.Rows[0].Detail(unit); d == nil || !maps.Equal(d.Verdicts, want) {
			t.Errorf("%s: %+v, want %v", unit, d, want)
		}
	}
}

func TestRatiosAreTakenWithinRounds(t *testing.T) {
	// A machine that gets slower all the time: the values overlap, the ratios do not.
	slowing := func(ns float64) []float64 {
		out := make([]float64, 10)
		for i := range out {
			out[i] = ns * 1e-9 * float64(1+i)
		}
		return out
	}
	a := analyse(map[string][]float64{"A@baseline": slowing(100), "A@main": slowing(90)})
	if got := a.Rows[0].entry("main").Ratio; math.Abs(got.Lo-0.9) > 1e-9 || math.Abs(got.Hi-0.9) > 1e-9 {
		t.Errorf("ratio %v, want exactly 0.9", got)
	}
}

func TestStandingCountsWhatTheReferenceHas(t *testing.T) {
	a := analyse(map[string][]float64{
		"A@baseline": jitter(100, 0.01), "A@main": jitter(50, 0.01), "A@rival": jitter(25, 0.01), "A@channel": jitter(10, 0.01),
		"B@baseline": jitter(100, 0.01), "B@main": jitter(1, 0.01), "B@rival": jitter(100, 0.01),
		"C@main": jitter(10, 0.01), "C@rival": jitter(10000, 0.01), "C@channel": jitter(10, 0.01),
	})
	if !slices.Equal(a.Overall.Rows, []string{"A", "B"}) || !slices.Equal(a.Overall.Missing, []string{"C: baseline: does not take part"}) {
		t.Errorf("overall counts %v and not %v", a.Overall.Rows, a.Overall.Missing)
	}
	var order []string
	for _, p := range a.Overall.Places {
		order = append(order, p.Impl)
	}
	if want := []string{"main", "rival", "baseline"}; !slices.Equal(order, want) {
		t.Errorf("places %v, want the ranked by mean, and no control that lacks a figure", order)
	}
	if p := a.Overall.Places[1]; p.Rank != 2 || p.Tied || math.Abs(p.Mean.Center-0.5) > 1e-9 || math.Abs(p.ToFirst.Center-math.Sqrt(50)) > 1e-9 {
		t.Errorf("second place %+v", p)
	}
	if !slices.Equal(a.Wide.Rows, []string{"A", "B", "C"}) || a.Wide.Places[0].Impl != "main" {
		t.Errorf("without the reference: %v, %+v", a.Wide.Rows, a.Wide.Places)
	}
}

// The core set is what a run declares to be it.
func TestStandingCountsTheCore(t *testing.T) {
	a := analyse(map[string][]float64{
		"A/n=1@baseline": jitter(100, 0.01), "A/n=1@main": jitter(50, 0.01), "A/n=2@baseline": jitter(100, 0.01), "A/n=2@main": jitter(1, 0.01),
		"B@baseline": jitter(100, 0.01), "B@main": jitter(1, 0.01),
	})
	for i := range a.Run.Benchmarks {
		if name, _, _ := strings.Cut(a.Run.Benchmarks[i].Name, "/"); name == "A" {
			a.Run.Benchmarks[i].Name, a.Run.Benchmarks[i].Core = "A", []string{"A/n=1"}
		}
	}
	a = Analyse(a.Run, a.samples)
	if !slices.Equal(a.Overall.Rows, []string{"A/n=1"}) || len(a.Wide.Rows) != 3 {
		t.Errorf("overall counts %v, all in all %v", a.Overall.Rows, a.Wide.Rows)
	}
}

// Who lacks a figure has no rank, and leaves that figure to the others.
func TestWhoLacksAFigureHasNoRank(t *testing.T) {
	a := analyse(map[string][]float64{
		"A@baseline": jitter(100, 0.01), "A@main": jitter(50, 0.01), "A@rival": jitter(25, 0.01),
		"B@baseline": jitter(100, 0.01), "B@main": jitter(10, 0.01),
	})
	if !slices.Equal(a.Overall.Rows, []string{"A", "B"}) {
		t.Errorf("overall counts %v", a.Overall.Rows)
	}
	p := a.Overall.Places[len(a.Overall.Places)-1]
	if p.Impl != "rival" || p.Rank != 0 || p.Why != "lacks 1 of 2 figures" || !slices.Equal(p.Lacks, []string{"B: does not take part"}) ||
		math.Abs(p.Mean.Center-0.25) > 1e-9 {
		t.Errorf("%+v", p)
	}
}

func TestFailedConformanceIsNotRanked(t *testing.T) {
	r := run("A@baseline", "A@main", "A@rival")
	r.Checks = []record.Conformity{{Impl: "rival"}}
	for i := range 7 {
		r.Checks[0].Checks = append(r.Checks[0].Checks, bench.Check{Name: fmt.Sprintf("D0%d_X", i), Outcome: bench.Fail})
	}
	a := Analyse(r, samples(map[string][]float64{
		"A@baseline": jitter(100, 0.01), "A@main": jitter(50, 0.01), "A@rival": jitter(5, 0.01)}))
	first, _ := a.Overall.First()
	last := a.Overall.Places[len(a.Overall.Places)-1]
	if first.Impl != "main" || last.Impl != "rival" || last.Rank != 0 || last.Why != "fails D00_X, D01_X, D02_X, D03_X, D04_X and 2 more" {
		t.Errorf("places %+v", a.Overall.Places)
	}
	if a.Rows[0].entry("rival").Best || !a.Rows[0].entry("main").Best {
		t.Error("a contestant that is not ranked counts as the best")
	}
}

func TestUnscoredBenchmarksAreShownOnly(t *testing.T) {
	values := map[string][]float64{
		"A@main": jitter(50, 0.01), "A@baseline": jitter(100, 0.01), "N@main": jitter(100, 0.01), "N@baseline": jitter(1, 0.01),
	}
	a := analyse(values)
	a.Run.Benchmarks[1].Unscored = "it is noise"
	a = Analyse(a.Run, a.samples)
	if row := a.Rows[1]; row.Scored || row.entry("main").Verdict != Slower {
		t.Errorf("%+v", row)
	}
	if !slices.Equal(a.Overall.Rows, []string{"A"}) || !slices.Equal(a.Categories[0].Rows, []string{"A"}) {
		t.Errorf("means count %v and %v", a.Overall.Rows, a.Categories[0].Rows)
	}
}

func TestFlags(t *testing.T) {
	outlying := jitter(100, 0.01)
	outlying[4] *= 3
	drifting := make([]float64, 10)
	for i := range drifting {
		drifting[i] = 1e-7 * (1 + 0.05*float64(i))
	}
	a := analyse(map[string][]float64{
		"A@baseline": outlying, "B@baseline": drifting, "C@baseline": jitter(0.2, 0.01), "D@baseline": jitter(1, 0.01),
		"D@channel": jitter(50, 0.01), "E@baseline": jitter(100, 0.01)[:7], "F@baseline": jitter(100, 0.9),
		"G@baseline": jitter(100, 0.01), "G@main-again": jitter(1, 0.01),
		"P@main": jitter(100, 0.01), "P@main-again": jitter(101, 0.01),
	})
	got := map[string]string{}
	for _, f := range a.Flags {
		got[f.Bench] = strings.TrimPrefix(got[f.Bench]+","+f.Kind, ",")
	}
	want := map[string]string{"A": Outlier, "B": Drift, "C": TooFast, "D": TooFast, "E": FewRounds, "F": Imprecise}
	for bench, kinds := range want {
		if !strings.Contains(got[bench], kinds) {
			t.Errorf("%s is flagged %q, want %q", bench, got[bench], kinds)
		}
	}
	if got["G"] != "" {
		t.Errorf("an inconspicuous cell is flagged %q", got["G"])
	}
}

func TestHolm(t *testing.T) {
	got := holm([]float64{0.01, 0.04, 0.03, 0.005})
	want := []float64{0.03, 0.06, 0.06, 0.02}
	for i := range want {
		if math.Abs(got[i]-want[i]) > 1e-12 {
			t.Fatalf("holm = %v, want %v", got, want)
		}
	}
}

func TestMannKendall(t *testing.T) {
	rising := series{1: 1, 2: 2, 3: 3, 4: 4, 5: 5, 6: 6, 7: 7, 8: 8}
	if p, slope := mannKendall(rising); p > 0.01 || slope != 1 {
		t.Errorf("a rising series: p %v, slope %v", p, slope)
	}
	level := series{1: 1, 2: 3, 3: 2, 4: 4, 5: 1.5, 6: 3.5, 7: 2.5, 8: 2}
	if p, _ := mannKendall(level); p < 0.3 {
		t.Errorf("a level series: p %v", p)
	}
}

func TestFormat(t *testing.T) {
	for _, c := range []struct {
		value float64
		unit  string
		want  string
	}{
		{1.7e-8, "sec/op", "17.0 ns"}, {2.5e-6, "p99-sec/op", "2.50 µs"}, {1, "sec/op", "1.00 s"}, {0, "sec/op", "0 s"},
		{96, "B/timer", "96 B"}, {16384, "B/loop", "16.0 KiB"}, {2, "allocs/op", "2"}, {math.NaN(), "sec/op", "–"},
	} {
		if got := strings.ReplaceAll(Format(c.value, c.unit), nbsp, " "); got != c.want {
			t.Errorf("%v %s is %q, want %q", c.value, c.unit, got, c.want)
		}
	}
	for r, want := range map[float64]string{0.0023: "0.0023×", 0.0543: "0.054×", 1: "1.00×", 12.34: "12.3×", 1234: "1234×"} {
		if got := FormatRatio(r); got != want {
			t.Errorf("ratio %v is %q, want %q", r, got, want)
		}
	}
	if got := FormatRange(Interval{Center: 1, Lo: math.Inf(-1), Hi: math.Inf(1)}); got != "±∞" {
		t.Errorf("a range without bounds is %q", got)
	}
}
