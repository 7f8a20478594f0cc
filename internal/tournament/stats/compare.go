// The comparison of two runs: what became slower or faster between them, beyond chance and noise, how small a change could
// have been seen, and what was lost.

package stats

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/turnloop/turnloop/internal/tournament/bench"
	"github.com/turnloop/turnloop/internal/tournament/environ"
	"github.com/turnloop/turnloop/internal/tournament/record"
)

// A Comparison holds two runs against each other, in three families of tests: each contestant as a whole, each in every
// category, and every figure of each.
type Comparison struct {
	Floor      float64  // the largest noise floor of times in the two runs; single figures have that of their category
	MeanFloor  float64  // the noise floor of geometric means
	Unchanged  []string // the contestants that show how fast the machine was
	Overall    []Delta  // by contestant
	Categories []Delta  // by contestant and category
	Deltas     []Delta  // by figure, in the order of the new run
	Missing    []string // figures that only one of the runs has, for a reason that is no fault
	Losses     []string // figures that the new run ought to have, and checks that it ought to pass
	Warnings   []string // what differs besides the code, and the losses
}

// A Delta is the change of one figure, or of a geometric mean over figures.
type Delta struct {
	Bench    string // empty for a mean
	Category string // empty for the mean over all
	Impl     string
	Unit     string
	Old, New Interval // of single figures, as measured
	Figures  int      // figures in a mean
	Change   float64  // new / old - 1; for times, relative to the change of the unchanged contestants
	P        float64  // corrected within the family
	Verdict  Verdict

	old, new series  // the values that are tested; for times, logarithms of ratios within rounds
	shift    float64 // for times, by how much the new values are above the old ones
	of       []Delta // the figures of a mean
	alpha    float64 // the significance level of this single test
	floor    float64 // changes up to this are noise
}

// A comparison of two equal runs may raise an alarm with a chance of five per cent, which the three families share. For the
// overall means this bounds the chance of any false alarm. For categories and for figures it bounds the expected share of false
// alarms among those that are listed; if nothing has changed, it bounds the chance that anything is listed.
const (
	overallShare  = 0.02
	categoryShare = 0.01
	figureShare   = 0.02
)

// Blind is the change that a comparison must be able to find in at least one contestant, a doubling. A comparison that would
// miss even that is refused.
const Blind = 1.0

// Machines returns why timings of two runs must not be compared, nothing if they may.
func Machines(before, after *record.Run) []string { return environ.Differences(before.Env, after.Env) }

// Compare compares the figures and the conformance of the contestants that match impls. Times are taken relative to those of
// the contestants that match unchanged in the same round, nil for the reference and the controls: what slows the machine
// down then slows both sides.
func Compare(before, after *Analysis, impls, unchanged *regexp.Regexp) Comparison {
	noise := before.Noise.or(after.Noise)
	c := Comparison{Floor: noise.Floor, MeanFloor: noise.Steady}
	anchors := newAnchors(before, after, unchanged)
	c.Unchanged = anchors.impls
	var times []Delta // headlines, of which there are means
	for _, f := range after.figures(impls) {
		was, is := before.samples.series[f], after.samples.series[f]
		if len(was) == 0 {
			c.Missing = append(c.Missing, f.String()+": only in the new run")
			continue
		}
		d := Delta{Bench: f.bench, Category: after.Run.Benchmark(f.bench).Category, Impl: f.impl, Unit: f.unit,
			Old: was.interval(), New: is.interval(), Figures: 1}
		if IsTime(f.unit) {
			d.old, d.new = anchors.relative(f)
			d.shift = shift(d.old, d.new)
			d.Change = math.Expm1(d.shift)
		} else {
			d.old, d.new = was, is
			d.Change = d.New.Center/d.Old.Center - 1
			if d.New.Center == d.Old.Center {
				d.Change = 0 // also when both are 0
			}
		}
		c.Deltas = append(c.Deltas, d)
		if IsTime(f.unit) && after.headlineUnit(f.bench) == f.unit && min(len(d.old), len(d.new)) >= FewestRounds {
			times = append(times, d)
		}
	}
	c.Overall, c.Categories = means(after.Run, times)
	decideMeans(c.Overall, holm, overallShare, noise)
	decideMeans(c.Categories, benjaminiHochberg, categoryShare, noise)
	decideFigures(c.Deltas, noise)
	for _, f := range before.figures(impls) {
		if len(after.samples.series[f]) > 0 {
			continue
		}
		if why, excused := after.lost(f, before.Run); excused {
			c.Missing = append(c.Missing, fmt.Sprintf("%v: only in the old run: %s", f, why))
		} else {
			c.Losses = append(c.Losses, fmt.Sprintf("%v: no figure any more: %s", f, why))
		}
	}
	c.Losses = append(c.Losses, broken(before.Run, after.Run, impls)...)
	c.Warnings = append(conditions(before.Run, after.Run), c.Losses...)
	return c
}

// or returns the larger floor of two runs, for each kind of floor.
func (n Noise) or(other Noise) Noise {
	out := Noise{Floor: math.Max(n.Floor, other.Floor), Steady: math.Max(n.Steady, other.Steady), Categories: map[string]float64{}}
	for _, categories := range []map[string]float64{n.Categories, other.Categories} {
		for name := range categories {
			out.Categories[name] = math.Max(n.In(name).Floor, other.In(name).Floor)
		}
	}
	return out
}

// means makes the geometric means by contestant, and by contestant and category.
func means(run *record.Run, times []Delta) (overall, categories []Delta) {
	pick := func(impl, category string) (Delta, bool) {
		var of []Delta
		for _, d := range times {
			if d.Impl == impl && (category == "" || d.Category == category) {
				of = append(of, d)
			}
		}
		m := Delta{Category: category, Impl: impl, Unit: machineUnit, Figures: len(of), Old: none, New: none}
		if len(of) == 0 {
			return m, false
		}
		mean := newSteadyMean(of)
		m.old, m.new, m.of = mean.before, mean.after, of
		for i, d := range of {
			m.Change += mean.weights[i] * d.shift
		}
		m.Change = math.Expm1(m.Change)
		return m, true
	}
	var names []string
	for _, d := range times {
		if !slices.Contains(names, d.Category) {
			names = append(names, d.Category)
		}
	}
	for _, impl := range labels(run) {
		m, ok := pick(impl, "")
		if !ok {
			continue
		}
		overall = append(overall, m)
		for _, name := range names {
			if m, ok := pick(impl, name); ok {
				categories = append(categories, m)
			}
		}
	}
	return overall, categories
}

// labels returns the contestants and controls of a run.
func labels(run *record.Run) []string {
	out := make([]string, len(run.Impls))
	for i, impl := range run.Impls {
		out[i] = impl.Name
	}
	return out
}

// decideMeans decides on a family of means. A mean of a single figure has the floor of that figure.
func decideMeans(family []Delta, correct func([]float64) []float64, share float64, noise Noise) {
	ps := make([]float64, len(family))
	for i, d := range family {
		ps[i] = mannWhitney(d.old, d.new)
	}
	for i, p := range correct(ps) {
		d := &family[i]
		floor := noise.Steady
		if d.Figures == 1 {
			floor = noise.In(d.Category).Floor
		}
		d.P, d.Verdict = p, verdictOn(1+d.Change, p <= share, floor)
		d.alpha, d.floor = share/float64(len(family)), floor
	}
}

// decideFigures decides on the figures.
func decideFigures(family []Delta, noise Noise) {
	ps := make([]float64, len(family))
	for i, d := range family {
		ps[i] = mannWhitney(d.old, d.new)
	}
	for i, p := range benjaminiHochberg(ps) {
		d := &family[i]
		d.P, d.Verdict = p, verdictOn(1+d.Change, p <= figureShare, noise.In(d.Category).floor(d.Unit))
		if d.Unit == "B/op" && math.Abs(d.New.Center-d.Old.Center) <= 1 {
			d.Verdict = Same // the figure is a whole number, and a difference of one may come from rounding
		}
		d.alpha, d.floor = figureShare/float64(len(family)), noise.In(d.Category).floor(d.Unit)
	}
}

// Sees returns the smallest slowdown of this figure or mean that the comparison would find nine times in ten, infinite if it
// could find none. It is defined for times only.
func (d Delta) Sees() float64 {
	if !IsTime(d.Unit) {
		return math.Inf(1)
	}
	if len(d.of) > 1 {
		return seesInMean(d.of, d.alpha, d.floor)
	}
	there := shift(d.old, d.new)
	chance, short := needed(d.old, d.new.raised(-there), d.alpha)
	return math.Expm1(math.Max(chance, math.Log1p(d.floor)) + short)
}

// verdictOn returns the verdict on a ratio. certain says that the ratio is beyond chance.
func verdictOn(ratio float64, certain bool, floor float64) Verdict {
	switch {
	case !certain || deviation(ratio) <= floor:
		return Same
	case ratio < 1:
		return Faster
	}
	return Slower
}

// Blind tells whether the comparison could see nothing: neither a mean nor a time would have shown a doubling.
func (c Comparison) Blind() bool {
	for _, family := range [][]Delta{c.Overall, c.Categories, c.Deltas} {
		if slices.ContainsFunc(family, func(d Delta) bool { return d.Sees() <= Blind }) {
			return false
		}
	}
	return true
}

// Regressions counts what became slower or larger and what was lost.
func (c Comparison) Regressions() int {
	n := len(c.Losses)
	for _, family := range [][]Delta{c.Overall, c.Categories, c.Deltas} {
		for _, d := range family {
			if d.Verdict == Slower {
				n++
			}
		}
	}
	return n
}

// figures returns what a comparison looks at: of each row the headline and some details.
func (a *Analysis) figures(impls *regexp.Regexp) []figure {
	var out []figure
	for _, row := range a.Rows {
		units := []string{row.Unit}
		for _, d := range row.Details {
			if d.Unit == "B/op" || row.Compares(d.Unit) { // these are compared like headlines
				units = append(units, d.Unit)
			}
		}
		for _, e := range row.Entries {
			for _, unit := range units {
				if impls.MatchString(e.Impl) && len(a.series(row.Bench, e.Impl, unit)) > 0 {
					out = append(out, figure{row.Bench, e.Impl, unit})
				}
			}
		}
	}
	return out
}

// headlineUnit returns the unit of a benchmark's row, empty if there is none.
func (a *Analysis) headlineUnit(bench string) string {
	for _, row := range a.Rows {
		if row.Bench == bench {
			return row.Unit
		}
	}
	return ""
}

func (f figure) String() string { return fmt.Sprintf("%s, %s, %s", f.bench, f.impl, f.unit) }

// lost returns why a run lacks a figure that an older one has. excused says that it was left out by choice.
func (a *Analysis) lost(f figure, old *record.Run) (why string, excused bool) {
	cell := a.cell(f.bench, f.impl)
	switch {
	case cell != nil && (cell.NA != "" || cell.LeftOut != ""):
		why, _ = a.absent(f.bench, f.impl)
		return why, true
	case cell == nil && a.Run.Filter != "" && a.Run.Filter != old.Filter:
		return "left out by the filter " + a.Run.Filter, true
	case a.Run.Mode != old.Mode:
		return "the mode differs", true
	case !a.knows(f.impl), !a.exists(f.bench):
		return "the new run does not have it", true
	case a.aside(f):
		return "a detail of what is not scored", true
	}
	why, _ = a.absent(f.bench, f.impl)
	return why, false
}

// aside tells whether a figure is a detail of a row that is not scored.
func (a *Analysis) aside(f figure) bool {
	return slices.ContainsFunc(a.Rows, func(r *Row) bool { return r.Bench == f.bench && !r.Scored && r.Unit != f.unit })
}

// broken lists the checks that passed in the old run and fail in the new one.
func broken(before, after *record.Run, impls *regexp.Regexp) []string {
	passed := map[[2]string]bool{}
	for _, c := range before.Checks {
		for _, check := range c.Checks {
			passed[[2]string{c.Impl, check.Name}] = check.Outcome == bench.Pass
		}
	}
	var out []string
	for _, c := range after.Checks {
		for _, name := range c.Failed() {
			if impls.MatchString(c.Impl) && passed[[2]string{c.Impl, name}] {
				out = append(out, fmt.Sprintf("%s: the check %s passed and now fails", c.Impl, name))
			}
		}
	}
	return out
}

// taking names everyone who takes part.
func taking(r *record.Run) string {
	var names []string
	for _, i := range r.Impls {
		names = append(names, i.Name)
	}
	return strings.Join(names, ", ")
}

// conditions lists what differs between two runs besides the code.
func conditions(before, after *record.Run) []string {
	var out []string
	differ := func(what string, x, y any) {
		if x != y {
			out = append(out, fmt.Sprintf("%s differs: %v and %v", what, x, y))
		}
	}
	differ("the mode", before.Mode, after.Mode)
	differ("the field", taking(before), taking(after))
	differ("the Go version", before.Binary.Go, after.Binary.Go)
	differ("GOGC", before.Env.GOGC, after.Env.GOGC)
	differ("GOMEMLIMIT", before.Env.GOMEMLIMIT, after.Env.GOMEMLIMIT)
	differ("GODEBUG", before.Env.GODEBUG, after.Env.GODEBUG)
	for _, r := range []*record.Run{before, after} {
		if !r.Complete {
			out = append(out, fmt.Sprintf("run %s is incomplete", r.Name))
		}
	}
	return out
}
