package report

// Tests of the advice and of verdicts on close runs.

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/turnloop/turnloop/internal/tournament/bench"
	"github.com/turnloop/turnloop/internal/tournament/record"
	"github.com/turnloop/turnloop/internal/tournament/stats"
)

// measured makes a document of ten rounds from figures in nanoseconds: contestant -> benchmark -> figure. The benchmark's first
// letter is its category.
func measured(t *testing.T, figures map[string]map[string]float64, checks ...record.Conformity) *document {
	t.Helper()
	return measuredUnevenly(t, figures, func(string, int) float64 { return 1 }, checks...)
}

// measuredUnevenly does so with a factor for each contestant in each round.
func measuredUnevenly(
	t *testing.T, figures map[string]map[string]float64, factor func(impl string, round int) float64, checks ...record.Conformity,
) *document {
	t.Helper()
	run := &record.Run{Checks: checks}
	run.Rounds = 10
	for _, name := range []string{"main", "quick", "slow", "baseline"} {
		run.Impls = append(run.Impls, record.Impl{Name: name, Ranked: true, About: "the loop " + name})
	}
	if figures["channel"] != nil {
		run.Impls = append(run.Impls, record.Impl{Name: "channel"})
	}
	known := map[string]bool{}
	for _, of := range figures {
		for b := range of {
			known[b] = true
		}
	}
	var raw strings.Builder
	for b := range known {
		name, _, _ := strings.Cut(b, "/")
		run.Benchmarks = append(run.Benchmarks, record.Benchmark{Name: name, Category: b[:1], Units: []string{"ns/op"}})
	}
	slices.SortFunc(run.Benchmarks, func(a, b record.Benchmark) int { return strings.Compare(a.Name, b.Name) })
	for _, impl := range run.Impls {
		for b := range known {
			c := record.Cell{Cell: bench.Cell{Bench: b, Impl: impl.Name}}
			if _, ok := figures[impl.Name][b]; !ok {
				c.NA = "no such thing"
			}
			run.Cells = append(run.Cells, c)
		}
	}
	slices.SortFunc(run.Cells, func(a, b record.Cell) int { return strings.Compare(a.Bench, b.Bench) })
	for round := 1; round <= run.Rounds; round++ {
		fmt.Fprintf(&raw, "round: %d\n", round)
		for impl, of := range figures {
			for b, ns := range of {
				name, variant, _ := strings.Cut(b+"/", "/")
				fmt.Fprintf(&raw, "Benchmark%s/impl=%s/%s 1 %v ns/op\n", name, impl, variant, ns*(1+0.001*float64(round))*factor(impl, round))
			}
		}
	}
	text := strings.ReplaceAll(raw.String(), "/ 1 ", " 1 ")
	samples, err := stats.Read(strings.NewReader(text), "raw")
	if err != nil {
		t.Fatal(err)
	}
	return newDocument(stats.Analyse(run, samples))
}

func (d *document) portraitOf(name string) string {
	return strings.ReplaceAll(strings.Join(d.portrait(d.a.Run.Impl(name)), "\n"), "\u00a0", " ")
}

func conformity(impl string, outcomes ...string) record.Conformity {
	c := record.Conformity{Impl: impl}
	for i, o := range outcomes {
		c.Checks = append(c.Checks, bench.Check{Name: fmt.Sprintf("D%02d_X", i+1), Outcome: o})
	}
	return c
}

var field = map[string]map[string]float64{
	"main":     {"A1": 100, "A2/n=1": 100, "A2/n=2": 100, "B1": 200},
	"quick":    {"A1": 300, "A2/n=1": 300, "A2/n=2": 99, "B1": 100, "C1": 10},
	"slow":     {"A1": 900, "A2/n=1": 900, "A2/n=2": 900, "B1": 900, "C1": 90},
	"baseline": {"A1": 400, "A2/n=1": 400, "A2/n=2": 400, "B1": 150},
}

func TestAdvice(t *testing.T) {
	d := measured(t, field, conformity("main", bench.Pass, bench.Pass), conformity("quick", bench.Pass, bench.Diverges),
		conformity("slow", bench.Pass, bench.NotApplicable), conformity("baseline", bench.Pass, bench.NotApplicable))
	want := []string{
		"**No special need** (4 figures): `main` and `quick`, which this run does not separate; then `baseline` 1.73×, `slow` 6.36×.",
		"**A** (3 figures): `main`; then `quick` 2.27×, `baseline` 4.00×, `slow` 9.00×.",
		"**B** (1 figure): `quick`; then `baseline` 1.50×, `main` 2.00×, `slow` 9.00×.",
		"**C** (1 figure): `quick`; then `slow` 9.00×. Without any figure here: `main` and `baseline`.",
		"**Every promise that applies, without a divergence**: `main`, `slow` and `baseline`.",
	}
	if got := d.needs(); !slices.Equal(got, want) {
		t.Errorf("needs:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for name, want := range map[string]string{
		"main": `The loop main.
Reason to choose it: first, or not separated from the first, in A.
Best in 3 of its 4 figures, in all but B1.
Furthest behind the best: B1 (2.00× ` + "`quick`" + `).
Without figures: C1, because: no such thing.
Requirements that apply to it: 2 of 2 met.`,
		"quick": `The loop quick.
Reason to choose it: first, or not separated from the first, in B and C.
Best in 3 of its 5 figures, in all but A1; A2 (n=1).
Overall price: 1.07× the cost of the first, ` + "`main`" + `, by geometric mean, which is within noise.
Furthest behind the best: A1 (3.00× ` + "`main`" + `) and A2 n=1 (3.00× ` + "`main`" + `).
Requirements that apply to it: 1 of 2 met; declared divergences, with reasons above: D02_X.`,
		"slow": `The loop slow.
Reason to choose it: none among the figures of this run.
Best at nothing: in each of its 5 figures another loop is measurably ahead.
Overall price: 6.36× the cost of the first, ` + "`main`" + `, by geometric mean.
Furthest behind the best: A2 n=2 (9.09× ` + "`quick`" + `), A1 (9.00× ` + "`main`" + `), A2 n=1 (9.00× ` + "`main`" + `), B1 (9.00× ` + "`quick`" + `) and C1 (9.00× ` + "`quick`" + `).
Last of the ranked loops in 5: A1; A2; B1; C1.
Requirements that apply to it: 1 of 1 met; 1 more do not apply, for want of a capability.`,
	} {
		if got := d.portraitOf(name); got != want {
			t.Errorf("%s:\n%s\nwant:\n%s", name, got, want)
		}
	}
}

// The advice follows the figures: exchange those of two loops, and what is said of them is exchanged.
func TestAdviceFollowsTheFigures(t *testing.T) {
	swapped := map[string]map[string]float64{
		"main": field["slow"], "slow": field["main"], "quick": field["quick"], "baseline": field["baseline"],
	}
	before, after := measured(t, field), measured(t, swapped)
	exchange := strings.NewReplacer("main", "slow", "slow", "main")
	for _, name := range []string{"main", "slow", "quick"} {
		if got, want := after.portraitOf(exchange.Replace(name)), exchange.Replace(before.portraitOf(name)); name != "quick" && got != want {
			t.Errorf("with the figures of %s:\n%s\nwant:\n%s", name, got, want)
		}
	}
}

func TestAdviceOnAFailedLoop(t *testing.T) {
	d := measured(t, field, conformity("main", bench.Pass), conformity("quick", bench.Fail), conformity("slow", bench.Pass),
		conformity("baseline", bench.Pass))
	if got := d.portraitOf("quick"); !strings.Contains(got, "Not ranked: it fails D01_X.") || strings.Contains(got, "Reason to choose it") {
		t.Errorf("of a loop that fails a check:\n%s", got)
	}
	if got := strings.Join(d.needs(), "\n"); strings.Contains(got, "quick") {
		t.Errorf("a loop that fails a check is recommended:\n%s", got)
	}
	if got := d.portraitOf("quick"); !strings.Contains(got, "Furthest behind the best: A1 (3.00× `main`) and A2 n=1 (3.00× `main`).") {
		t.Errorf("a loop that is not ranked is said to be behind where it is ahead:\n%s", got)
	}
	if got := d.portraitOf("main"); !strings.Contains(got, "in A.") || !strings.Contains(got, "B1 (1.33× `baseline`)") {
		t.Errorf("it is held against a loop that fails a check:\n%s", got)
	}
}

// An interval can be so wide that a loop is not separated from the first although the one before it is.
func TestVerdictOnATieAcrossAPlace(t *testing.T) {
	wide := func(impl string, round int) float64 {
		if impl == "slow" && round <= 2 {
			return 0.4
		}
		return 1
	}
	tied := map[string]map[string]float64{
		"main": {"A1": 100, "B1": 100}, "quick": {"A1": 120, "B1": 120}, "slow": {"A1": 150, "B1": 150, "C1": 150}, "baseline": {"A1": 400, "B1": 400},
	}
	verdict := func(figures map[string]map[string]float64) string {
		return strings.ReplaceAll(strings.Join(measuredUnevenly(t, figures, wide).verdict(), "\n"), "\u00a0", " ")
	}
	if got := verdict(tied); !strings.HasPrefix(got, "This run does not separate `main` from `slow`: the geometric means over the 2 figures that "+
		"`baseline` has differ by 50 % or less, within their intervals and noise.") {
		t.Error(got)
	}
	tied["main"]["C1"], tied["quick"]["C1"] = 100, 120
	if got := verdict(tied); strings.Contains(got, "Counting also") || strings.Count(got, "does not separate `main` from `slow`") != 2 {
		t.Error(got)
	}
}

// What costs more only within its interval is not said to cost more.
func TestVerdictOnAnOpenCategory(t *testing.T) {
	figures := map[string]map[string]float64{
		"main": {"A1": 110, "B1": 110}, "quick": {"A1": 900, "B1": 900}, "slow": {"A1": 900, "B1": 900}, "baseline": {"A1": 100, "B1": 50},
	}
	d := measuredUnevenly(t, figures, func(impl string, round int) float64 {
		if impl == "main" && round <= 2 {
			return 0.5
		}
		return 1
	})
	want := " It costs more than `baseline` in B (2.20×). It is not separated from `baseline` in A (1.10×, 0.55–1.10)."
	if got := d.byCategories(); !strings.HasSuffix(got, want) {
		t.Errorf("%s\nwant at the end:\n%s", got, want)
	}
}

func TestVerdictByCategory(t *testing.T) {
	for what, c := range map[string]struct {
		figures map[string]map[string]float64
		want    string
	}{
		"first here, behind and dearer there, absent elsewhere": {field,
			"By category, `main` is first in A; it is not first in B, where `quick` is ahead by 100 %. " +
				"It costs more than `baseline` in B (1.33×). It has no place in C."},
		"nowhere first": {map[string]map[string]float64{"main": {"A1": 200, "B1": 300}, "quick": {"A1": 100, "B1": 100}, "baseline": {"A1": 400, "B1": 400}},
			"By category, `main` is not first in A, where `quick` is ahead by 100 %; nor in B, where `quick` is ahead by 200 %. " +
				"It costs more than `baseline` in no category that both share (2)."},
		"not there": {map[string]map[string]float64{"quick": {"A1": 100}, "baseline": {"A1": 400}}, ""},
	} {
		if got := strings.ReplaceAll(measured(t, c.figures).byCategories(), "\u00a0", " "); got != c.want {
			t.Errorf("%s:\n%s\nwant:\n%s", what, got, c.want)
		}
	}
}

func TestVerdictBesideTheControl(t *testing.T) {
	d := measured(t, map[string]map[string]float64{
		"main": {"A1": 100, "B1": 200, "C1": 100}, "baseline": {"A1": 400, "B1": 400, "C1": 400}, "channel": {"A1": 200, "B1": 100},
	})
	want := "Beside the bare `channel`, which hands functions over and does nothing else, " +
		"`main` costs less in A (0.25× instead of 0.50×) and more in B (0.50× instead of 0.25×)."
	if got := d.besideControl(); got != want {
		t.Errorf("%s\nwant:\n%s", got, want)
	}
	if got := measured(t, field).besideControl(); got != "" {
		t.Errorf("without the control: %s", got)
	}
}

func TestConformanceNamesCodesWithoutACheck(t *testing.T) {
	var groups []string
	for n := 1; n <= 20; n++ {
		if n != 12 && n != 19 {
			groups = append(groups, fmt.Sprintf("D%02d", n))
		}
	}
	if got, want := unchecked(groups), []string{"D12 Promisify: context", "D19 ToChannel"}; !slices.Equal(got, want) {
		t.Errorf("without a check: %v, want %v", got, want)
	}
}
