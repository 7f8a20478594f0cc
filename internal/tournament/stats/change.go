// The change of a series between two runs: relative to contestants that did not change, its size, and the smallest change that
// would have been found.

package stats

import (
	"cmp"
	"maps"
	"math"
	"regexp"
	"slices"
	"sort"

	"golang.org/x/perf/benchmath"

	"github.com/turnloop/turnloop/internal/tournament/record"
)

// anchors are the contestants that are taken to be the same in both runs. They show how fast the machine was in each round.
type anchors struct {
	impls         []string
	before, after *Analysis
	machine       map[string][2]series // by contestant: how fast all other anchors were, over all their benchmarks
}

// newAnchors finds the anchors: the contestants that are in both runs and match the pattern; without a pattern the reference
// and the controls.
func newAnchors(before, after *Analysis, unchanged *regexp.Regexp) *anchors {
	a := &anchors{before: before, after: after, machine: map[string][2]series{}}
	for _, impl := range after.Run.Impls {
		is := !impl.Ranked || impl.Name == after.Run.Reference()
		if unchanged != nil {
			is = unchanged.MatchString(impl.Name)
		}
		measured := func(r *Row) bool { return r.Has(impl.Name) }
		if is && slices.ContainsFunc(before.Rows, measured) && slices.ContainsFunc(after.Rows, measured) {
			a.impls = append(a.impls, impl.Name)
		}
	}
	return a
}

// relative returns the logarithms of a figure of time in both runs, relative to those of the anchors in the same benchmark and
// round. If no anchor has the benchmark, they are relative to what the anchors do in all benchmarks of that round. If there are
// no anchors, they are as measured.
func (a *anchors) relative(f figure) (before, after series) {
	was, is := a.before.samples.series[f], a.after.samples.series[f]
	if old, new := a.beside(f); old != nil {
		return was.ratioTo(old).log(), is.ratioTo(new).log()
	}
	machine := a.speed(f.impl)
	return was.log().minus(machine[0]), is.log().minus(machine[1])
}

// beside returns the geometric means, in f's benchmark, of the anchors that both runs have there, without f's own contestant.
func (a *anchors) beside(f figure) (before, after series) {
	var old, new []series
	for _, impl := range a.impls {
		g := figure{f.bench, impl, f.unit}
		was, is := a.before.samples.series[g], a.after.samples.series[g]
		if impl != f.impl && impl != ownLabel(f.impl) && min(len(was), len(is)) >= FewestRounds {
			old, new = append(old, was), append(new, is)
		}
	}
	if len(old) == 0 {
		return nil, nil
	}
	return geomean(old), geomean(new)
}

// ownLabel returns the contestant that a control pair's label stands for.
func ownLabel(label string) string {
	if n := len(label) - len(record.Again); n > 0 && label[n:] == record.Again {
		return label[:n]
	}
	return label
}

// speed returns how slow the anchors, without the one named by but, were in each round of both runs, as logarithms. It
// returns nothing if no anchor is left.
func (a *anchors) speed(but string) [2]series {
	if got, ok := a.machine[but]; ok {
		return got
	}
	var all []Delta
	for _, row := range a.after.Rows {
		for _, impl := range a.impls {
			f := figure{row.Bench, impl, row.Unit}
			d := Delta{old: a.before.samples.series[f].log(), new: a.after.samples.series[f].log()}
			if impl != but && impl != ownLabel(but) && IsTime(row.Unit) && min(len(d.old), len(d.new)) >= FewestRounds {
				all = append(all, d)
			}
		}
	}
	mean := newSteadyMean(all)
	out := [2]series{mean.before, mean.after}
	a.machine[but] = out
	return out
}

// log returns the logarithms of the positive values.
func (s series) log() series {
	out := series{}
	for round, v := range s {
		if v > 0 {
			out[round] = math.Log(v)
		}
	}
	return out
}

// minus subtracts other from s in the rounds that both have. If other is empty, it returns s.
func (s series) minus(other series) series {
	if len(other) == 0 {
		return s
	}
	out := series{}
	for round, v := range s {
		if o, ok := other[round]; ok {
			out[round] = v - o
		}
	}
	return out
}

// A steadyMean is the mean of the logarithms of several figures, for each round of both runs. It is made to show what the
// figures have in common: a figure that was measured more precisely has more weight, and a value that is far from its figure's
// median counts as if it were at a limit. Otherwise a few figures that vary much would hide a change of all others.
//
// Weights and limits are computed from both runs together, so they are the same for each round of either run. A test of such
// means is therefore as exact as one of single figures.
type steadyMean struct {
	before, after series
	weights       []float64 // of the figures; 1 in all
}

func newSteadyMean(of []Delta) steadyMean {
	const (
		steadiest = 0.01 // no figure is taken to be more precise
		far       = 2    // normal deviations
	)
	type part struct {
		values        [2]series
		median, limit float64
		weight        float64
	}
	parts := make([]part, len(of))
	m := steadyMean{before: series{}, after: series{}}
	means := [2]series{m.before, m.after}
	total := 0.0
	for i, d := range of {
		median, deviation := spread(d.old, d.new)
		deviation = math.Max(deviation, steadiest)
		parts[i] = part{[2]series{d.old, d.new}, median, far * deviation, 1 / deviation}
		total += 1 / deviation
		for run, values := range parts[i].values {
			for round := range values {
				means[run][round] = 0
			}
		}
	}
	for _, p := range parts {
		weight := p.weight / total
		m.weights = append(m.weights, weight)
		for run, mean := range means {
			for round := range mean {
				off := 0.0 // a figure without a value in this round counts as its median
				if v, ok := p.values[run][round]; ok {
					off = math.Max(-p.limit, math.Min(p.limit, v-p.median))
				}
				mean[round] += weight * (p.median + off)
			}
		}
	}
	return m
}

// spread returns the median of all values of two series, and a robust estimate of their standard deviation.
func spread(a, b series) (median, deviation float64) {
	values := slices.AppendSeq(slices.Collect(maps.Values(a)), maps.Values(b))
	slices.Sort(values)
	median = middle(values)
	for i, v := range values {
		values[i] = math.Abs(v - median)
	}
	slices.Sort(values)
	return median, madToSigma * middle(values)
}

// middle returns the median of sorted values, 0 of none.
func middle(sorted []float64) float64 {
	n := len(sorted)
	if n == 0 {
		return 0
	}
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// shift returns by how much the values of one series lie above those of another: the median of all differences between the two,
// which belongs to the test (Hodges and Lehmann).
func shift(from, to series) float64 { return middle(differences(from, to)) }

// differences returns all differences between values of two series, in ascending order.
func differences(from, to series) []float64 {
	out := make([]float64, 0, len(from)*len(to))
	for _, t := range to {
		for _, f := range from {
			out = append(out, t-f)
		}
	}
	slices.Sort(out)
	return out
}

// raised adds to all values.
func (s series) raised(by float64) series {
	out := series{}
	for round, v := range s {
		out[round] = v + by
	}
	return out
}

// needed returns two bounds for a shift between two series of logarithms, which are at the same level: chance is what a measured
// shift has to exceed to be significant at the level alpha; short is by how much a measured shift is below the true one, at
// most, nine times in ten. chance is infinite if no shift, however large, would be significant.
//
// chance is the larger of two estimates: what the spread of both series makes likely, and the shift that these very values need
// to pass the test. Both bounds use Student's distribution, since the spread itself is only an estimate.
func needed(old, level series, alpha float64) (chance, short float64) {
	steps := differences(level, old) // by which the new values have to rise to pass the old ones
	const beyond = 1e-9              // so that rounding makes no tie
	i := sort.Search(len(steps), func(i int) bool {
		return steps[i] > 0 && mannWhitney(old, level.raised(steps[i]+beyond)) <= alpha
	})
	if i == len(steps) {
		return math.Inf(1), 0
	}
	n, m := float64(len(old)), float64(len(level))
	freedom := n + m - 2
	deviation := math.Sqrt((old.squares() + level.squares()) / freedom * (1/n + 1/m))
	return math.Max(steps[i], studentQuantile(1-alpha/2, freedom)*deviation), studentQuantile(0.95, freedom) * deviation
}

// seesInMean returns the smallest slowdown that, if it affects all figures alike, is found in their steady mean nine times in
// ten. How much of a slowdown the mean shows depends on its size, since values far from the median are limited. So sizes are
// tried, up to a doubling.
func seesInMean(of []Delta, alpha, floor float64) float64 {
	seen := func(by float64) bool {
		moved := make([]Delta, len(of))
		for i, d := range of {
			moved[i] = Delta{old: d.old, new: d.new.raised(by - d.shift)}
		}
		m := newSteadyMean(moved)
		shows := shift(m.before, m.after)
		chance, short := needed(m.before, m.after.raised(-shows), alpha)
		return shows > chance+short && by > math.Log1p(floor)+short
	}
	low, high := math.Log1p(floor), math.Log1p(Blind)
	if !seen(high) {
		return math.Inf(1)
	}
	for high-low > 1e-3 {
		if middle := (low + high) / 2; seen(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	return math.Expm1(high)
}

// squares returns the sum of the squares of the distances from the mean.
func (s series) squares() float64 {
	mean, sum := 0.0, 0.0
	for _, v := range s {
		mean += v / float64(len(s))
	}
	for _, v := range s {
		sum += (v - mean) * (v - mean)
	}
	return sum
}

// studentQuantile is the inverse of Student's distribution, nearly.
func studentQuantile(p, freedom float64) float64 {
	z := normalQuantile(p)
	return z + (z*z*z+z)/(4*freedom)
}

// normalQuantile is the inverse of the normal distribution.
func normalQuantile(p float64) float64 { return math.Sqrt2 * math.Erfinv(2*p-1) }

// mannWhitney returns the probability of a difference like that between two series if there were none.
func mannWhitney(a, b series) float64 {
	if len(a) == 0 || len(b) == 0 {
		return 1
	}
	return benchmath.AssumeNothing.Compare(a.sample(), b.sample()).P
}

// benjaminiHochberg adjusts the p-values of a family so that, of those below a level, the share expected to be there by chance is
// at most that level. If nothing differs, the chance that any is below the level is the level.
func benjaminiHochberg(p []float64) []float64 {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p[b], p[a]) })
	out := make([]float64, len(p))
	running := 1.0
	for i, at := range order { // from the largest
		running = math.Min(running, p[at]*float64(len(p))/float64(len(p)-i))
		out[at] = running
	}
	return out
}
