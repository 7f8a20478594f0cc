// Noise: how far the same contestant under two labels differs from itself. Smaller differences are not believed.

package stats

import (
	"math"
	"slices"
	"strings"

	"github.com/turnloop/turnloop/internal/tournament/record"
)

// A Noise is what the control pairs show: how far two labels of the same contestant lie apart. It is a noise of times; bytes
// and counts do not depend on how busy the machine is and have the floor CountFloor.
type Noise struct {
	Categories map[string]float64 `json:"by_category"` // Floor, by category

	Floor  float64 `json:"floor"`         // largest deviation of a pair's ratio from 1; if there is one pair, of the far end of its interval
	Mean   float64 `json:"geomean_floor"` // deviation from 1 of the far end of the interval of the geometric mean over the pairs
	Steady float64 `json:"steady_floor"`  // deviation of the steadyMean over the pairs
	Pairs  []Pair  `json:"pairs"`         // empty: the floors are assumed
}

// In returns the noise of one category. Its Floor is the largest deviation among the category's pairs, but at least Mean: a category
// has few pairs, which may agree by chance. A category without a pair has the Floor of the whole run.
func (n Noise) In(category string) Noise {
	if floor, ok := n.Categories[category]; ok {
		n.Floor = floor
	}
	return n
}

// A Pair is a benchmark that one contestant ran under two labels.
type Pair struct {
	Bench string   `json:"benchmark"`
	Impl  string   `json:"impl"`
	Ratio Interval `json:"ratio"`
}

const (
	assumedFloor = 0.10 // stands in when a run has no control pairs

	// CountFloor is the noise floor of figures that are not times.
	CountFloor = 0.01
)

func noise(run *record.Run, samples *Samples) Noise {
	n := Noise{Categories: map[string]float64{}}
	var all []series
	for _, c := range run.Cells {
		if c.Of == "" {
			continue
		}
		unit := "sec/op"
		for _, u := range run.Benchmark(c.Bench).Units {
			if IsTime(tidy(u)) {
				unit = tidy(u)
				break
			}
		}
		ratio := samples.series[figure{c.Bench, c.Impl, unit}].ratioTo(samples.series[figure{c.Bench, c.Of, unit}])
		if len(ratio) == 0 {
			continue
		}
		p := Pair{Bench: c.Bench, Impl: c.Of, Ratio: ratio.interval()}
		n.Pairs = append(n.Pairs, p)
		n.Floor = math.Max(n.Floor, deviation(p.Ratio.Center))
		all = append(all, ratio)
		category := run.Benchmark(c.Bench).Category
		n.Categories[category] = math.Max(n.Categories[category], deviation(p.Ratio.Center))
	}
	if len(n.Pairs) == 0 {
		n.Floor, n.Mean, n.Steady = assumedFloor, assumedFloor, assumedFloor
		return n
	}
	if only := n.Pairs[0]; len(n.Pairs) == 1 && only.Ratio.Bounded() { // a single pair may agree by chance, so its whole interval counts as noise
		n.Floor = math.Max(deviation(only.Ratio.Lo), deviation(only.Ratio.Hi))
	}
	n.Mean, n.Steady = n.Floor, n.Floor
	if mean := geomean(all).interval(); mean.Bounded() {
		n.Mean = math.Min(n.Floor, math.Max(deviation(mean.Lo), deviation(mean.Hi)))
	}
	for category, floor := range n.Categories {
		n.Categories[category] = math.Max(floor, n.Mean)
	}
	logs := make([]Delta, len(all))
	for i, ratio := range all {
		logs[i] = Delta{old: ratio.log(), new: ratio.log()}
	}
	if mean := newSteadyMean(logs).before.interval(); mean.Bounded() {
		n.Steady = math.Max(math.Expm1(math.Abs(mean.Center)), CountFloor)
	}
	return n
}

// deviation returns how far a ratio is from 1, the same for a ratio and its reciprocal.
func deviation(ratio float64) float64 { return math.Exp(math.Abs(math.Log(ratio))) - 1 }

// IsTime tells whether figures of a base unit are times: sec/op, p99-sec/op.
func IsTime(unit string) bool {
	name, _, _ := strings.Cut(unit, "/")
	return name == "sec" || strings.HasSuffix(name, "-sec")
}

// floor returns by how much a ratio of single cells has to deviate from 1 to count.
func (n Noise) floor(unit string) float64 {
	if IsTime(unit) {
		return n.Floor
	}
	return CountFloor
}

// Beyond tells whether a ratio of single cells is further from 1 than noise.
func (n Noise) Beyond(unit string, ratio float64) bool { return deviation(ratio) > n.floor(unit) }

// verdict returns what a ratio and the corrected probability of its chance say.
func (n Noise) verdict(unit string, ratio, p float64) Verdict {
	return verdictOn(ratio, significant(p), n.floor(unit))
}

// BeyondMean tells whether a geometric mean of ratios over rows is beyond noise, and so is its whole interval. The mean of one
// row is a single cell.
func (n Noise) BeyondMean(rows []*Row, ratio Interval) bool {
	floor := n.Mean
	switch {
	case len(rows) == 1:
		floor = n.In(rows[0].Category).floor(rows[0].Unit)
	case !slices.ContainsFunc(rows, func(r *Row) bool { return IsTime(r.Unit) }):
		floor = CountFloor
	}
	return ratio.Bounded() && deviation(ratio.Center) > floor && (ratio.Lo > 1 || ratio.Hi < 1)
}
