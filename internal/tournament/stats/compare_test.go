package stats

// Tests of the comparison of two runs.

import (
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/turnloop/turnloop/internal/tournament/record"
)

// anyone matches every contestant.
var anyone = regexp.MustCompile("")

func TestCompare(t *testing.T) {
	before := analyse(map[string][]float64{
		"A@main": jitter(100, 0.01), "A@main-again": jitter(103, 0.01), "B@main": jitter(100, 0.01), "C@main": jitter(100, 0.01), "D@main": jitter(5, 0.1),
	})
	after := analyse(map[string][]float64{
		"A@main": jitter(110, 0.01), "A@main-again": jitter(110, 0.01), "B@main": jitter(90, 0.01), "C@main": jitter(102, 0.01), "D@rival": jitter(5, 0.1), "E@main": jitter(5, 0.1),
	})
	c := Compare(before, after, regexp.MustCompile("^main$"), nil)
	var got []string
	for _, d := range c.Deltas {
		got = append(got, d.Bench+" "+string(d.Verdict))
	}
	if want := []string{"A slower", "B faster", "C same"}; !slices.Equal(got, want) {
		t.Errorf("deltas %v, want %v", got, want)
	}
	if c.Regressions() != 2 || len(c.Missing) != 1 || len(c.Losses) != 1 || !strings.HasPrefix(c.Losses[0], "D, main, sec/op") {
		t.Errorf("%d regressions, missing %v, lost %v", c.Regressions(), c.Missing, c.Losses)
	}
	if same := Compare(before, before, regexp.MustCompile(""), nil); same.Regressions() != 0 {
		t.Errorf("a run regressed against itself: %+v", same.Deltas)
	}
	if moved := *after.Run; len(Machines(before.Run, &moved)) != 0 {
		t.Error("the same machine counts as another")
	} else if moved.Env.CPU = "other"; len(Machines(before.Run, &moved)) != 1 {
		t.Error("another CPU does not count as another machine")
	}
}

// A slowdown that is lost in the noise of each figure shows in what they have in common.
func TestMeansShowWhatFiguresDoNot(t *testing.T) {
	with := func(factor float64) *Analysis {
		values := map[string][]float64{"P@main": jitter(100, 0.3), "P@main-again": jitter(110, 0.3), "Q@rival": jitter(100, 0.3), "Q@rival-again": jitter(91, 0.3)}
		for i := range 12 {
			noise := func(ns float64) []float64 { // each figure jumps in rounds of its own
				v := jitter(ns, 0.3)
				return slices.Concat(v[i%10:], v[:i%10])
			}
			name := string(rune('A' + i))
			values[name+"@main"], values[name+"@rival"], values[name+"@baseline"] = noise(100*factor), noise(100), jitter(300, 0.01)
		}
		return analyse(values)
	}
	c := Compare(with(1), with(1.08), anyone, nil)
	for _, d := range slices.Concat(c.Overall, c.Deltas) {
		want := Same
		if d.Bench == "" && d.Impl == "main" {
			want = Slower
		}
		if d.Verdict != want {
			t.Errorf("%s of %s: %s by %.1f %% (p = %.2g), want %s", d.Bench, d.Impl, d.Verdict, d.Change*100, d.P, want)
		}
	}
	if d := c.Overall[0]; d.Impl != "main" || math.Abs(d.Change-0.08) > 0.01 || d.Figures != 13 {
		t.Errorf("%+v", d)
	}
}

func TestCompareDetails(t *testing.T) {
	values := func(p99, allocs, bytes float64) map[string][]float64 {
		return map[string][]float64{"A@main": jitter(100, 0.01), "A@main-again": jitter(120, 0.01),
			"A@main@p99-sec/op": jitter(p99, 0.01), "A@main@allocs/op": flat(allocs), "A@main@B/op": flat(bytes)}
	}
	before := analyse(values(500, 0, 40))
	for _, c := range []struct {
		what  string
		after *Analysis
		want  []string
	}{
		{"a longer tail", analyse(values(700, 0, 40)), []string{Tail}},
		{"an allocation", analyse(values(500, 1, 56)), []string{"B/op", Allocations}},
		{"noise and rounding", analyse(values(510, 0, 41)), nil},
	} {
		var got []string
		comparison := Compare(before, c.after, regexp.MustCompile("^main$"), nil)
		for _, d := range comparison.Deltas {
			if d.Verdict == Slower {
				got = append(got, d.Unit)
			}
		}
		slices.Sort(got)
		slices.Sort(c.want)
		if !slices.Equal(got, c.want) || comparison.Regressions() != len(c.want) {
			t.Errorf("%s: worse in %v, want %v: %+v", c.what, got, c.want, comparison)
		}
	}
}

// A figure that is gone is a regression unless the new run left it out by choice.
func TestCompareTellsLossesFromChoices(t *testing.T) {
	all := map[string][]float64{"A@main": jitter(100, 0.01), "B@main": jitter(100, 0.01), "B@main@p99-sec/op": jitter(100, 0.01)}
	before := analyse(all)
	for _, c := range []struct {
		what         string
		change       func(*Analysis)
		lost, listed int
	}{
		{"failed", func(a *Analysis) { a.Run.Cells[1].Failures = []record.Failure{{Reason: "crash"}} }, 2, 0},
		{"gone", func(a *Analysis) { a.Run.Cells[1].Impl = "rival" }, 2, 0},
		{"no such benchmark", func(a *Analysis) { a.Run.Cells = a.Run.Cells[:1] }, 0, 2},
		{"no such contestant", func(a *Analysis) { a.Run.Cells[1].Impl, a.Run.Impls = "rival", a.Run.Impls[1:] }, 0, 2},
		{"not applicable", func(a *Analysis) { a.Run.Cells[1].NA = "no capability" }, 0, 2},
		{"left out", func(a *Analysis) { a.Run.Cells[1].LeftOut = "quick" }, 0, 2},
		{"filtered", func(a *Analysis) { a.Run.Cells, a.Run.Filter = a.Run.Cells[:1], "A" }, 0, 2},
		{"another mode", func(a *Analysis) { a.Run.Mode = record.Quick }, 0, 2},
	} {
		after := analyse(all)
		for _, unit := range []string{"sec/op", Tail} {
			delete(after.samples.series, figure{"B", "main", unit})
		}
		c.change(after)
		got := Compare(before, after, regexp.MustCompile(""), nil)
		if got.Regressions() != c.lost || len(got.Losses) != c.lost || len(got.Missing) != c.listed {
			t.Errorf("%s: lost %v, listed %v", c.what, got.Losses, got.Missing)
		}
	}
	tail := analyse(all)
	delete(tail.samples.series, figure{"B", "main", Tail})
	if got := Compare(before, tail, regexp.MustCompile(""), nil); len(got.Losses) != 1 || !slices.Contains(got.Warnings, got.Losses[0]) {
		t.Errorf("without the quantile: lost %v, warnings %v", got.Losses, got.Warnings)
	}
	tail.Rows[1].Scored = false
	if got := Compare(before, tail, regexp.MustCompile(""), nil); got.Regressions() != 0 || len(got.Missing) != 1 {
		t.Errorf("without the quantile of what is not scored: lost %v, listed %v", got.Losses, got.Missing)
	}
	delete(tail.samples.series, figure{"B", "main", "sec/op"})
	if got := Compare(before, tail, regexp.MustCompile(""), nil); len(got.Losses) != 1 || len(got.Missing) != 1 {
		t.Errorf("without the headline of what is not scored: lost %v, listed %v", got.Losses, got.Missing)
	}
}

func TestCompareConformance(t *testing.T) {
	with := func(outcomes string) *Analysis {
		a := analyse(map[string][]float64{"A@main": jitter(100, 0.01)})
		if err := json.Unmarshal([]byte(`[{"impl":"main","checks":[`+outcomes+`]}]`), &a.Run.Checks); err != nil {
			t.Fatal(err)
		}
		return a
	}
	before := with(`{"name":"X","outcome":"pass"},{"name":"Y","outcome":"fail"}`)
	after := with(`{"name":"X","outcome":"fail"},{"name":"Y","outcome":"fail"},{"name":"Z","outcome":"fail"}`)
	got := Compare(before, after, regexp.MustCompile(""), nil)
	if got.Regressions() != 1 || !strings.Contains(got.Losses[0], "X") {
		t.Errorf("lost %v, want X alone", got.Losses)
	}
	if got := Compare(before, after, regexp.MustCompile("rival"), nil); got.Regressions() != 0 {
		t.Errorf("a contestant that is not looked at lost %v", got.Losses)
	}
}
