// Flags: what a reader should know before trusting a figure.

package stats

import (
	"fmt"
	"math"
	"slices"
)

// The kinds of flags.
const (
	Failed      = "failed"
	Outlier     = "outlier"
	Drift       = "drift"
	TooFast     = "too fast"
	Imprecise   = "wide interval"
	FewRounds   = "few rounds"
	OtherCounts = "other iteration count"
)

// A Flag is a doubt about one figure.
type Flag struct {
	Kind  string `json:"kind"`
	Bench string `json:"benchmark"`
	Impl  string `json:"impl"`
	Text  string `json:"text"`
}

// A Speed is how a round compares with the others, over all cells that measure time: above 1 the machine was slower.
type Speed struct {
	Round  int     `json:"round"`
	Factor float64 `json:"factor"`
}

const (
	outlierMADs  = 8        // normal deviations from the median, estimated robustly
	outlierShare = 0.25     // and at least so much of the median
	wideShare    = 0.20     // half-width of an interval
	tooShort     = 0.5e-9   // seconds: less than an instruction that depends on another takes
	tooFarBelow  = 0.1      // of the control
	machineUnit  = "sec/op" // what flags about time look at
	minTrend     = 8        // rounds that a trend needs
	madToSigma   = 1.4826   // normal deviation per median absolute deviation
)

func (a *Analysis) flag() {
	type trend struct {
		row   *Row
		impl  string
		slope float64
	}
	var trends []trend
	var ps []float64
	add := func(kind, bench, impl, format string, args ...any) {
		a.Flags = append(a.Flags, Flag{kind, bench, impl, fmt.Sprintf(format, args...)})
	}
	for _, c := range a.Run.Cells {
		for _, f := range c.Failures {
			where := fmt.Sprintf("round %d", f.Round)
			if f.Round == 0 {
				where = "before the first round"
			}
			add(Failed, c.Bench, c.Impl, "%s: %s", where, f.Reason)
		}
	}
	for _, row := range a.Rows {
		counts := map[int]int{}
		for i := range row.Entries {
			e := &row.Entries[i]
			if !e.Value.OK() {
				continue
			}
			counts[e.Iters]++
			s := a.series(row.Bench, e.Impl, row.Unit)
			for _, round := range outliers(s) {
				add(Outlier, row.Bench, e.Impl, "round %d: %s, %s the median", round,
					Format(s[round], row.Unit), FormatRatio(s[round]/e.Value.Center))
			}
			if e.Value.N < a.Run.Rounds {
				add(FewRounds, row.Bench, e.Impl, "measured in %d of %d rounds", e.Value.N, a.Run.Rounds)
			}
			if e.Value.Bounded() && e.Value.Center > 0 &&
				math.Max(e.Value.Hi/e.Value.Center-1, 1-e.Value.Lo/e.Value.Center) > wideShare {
				add(Imprecise, row.Bench, e.Impl, "%s %s", Format(e.Value.Center, row.Unit), FormatRange(e.Value))
			}
			if row.Unit != machineUnit {
				continue
			}
			if e.Value.Center < tooShort {
				add(TooFast, row.Bench, e.Impl, "%s per operation", Format(e.Value.Center, row.Unit))
			} else if c := row.entry(a.Run.Control()); c != nil && e.Impl != a.Run.Control() && c.Value.OK() &&
				e.Value.Center < tooFarBelow*c.Value.Center {
				add(TooFast, row.Bench, e.Impl, "%s of %s", FormatRatio(e.Value.Center/c.Value.Center), a.Run.Control())
			}
			if p, slope := mannKendall(s); len(s) >= minTrend {
				trends, ps = append(trends, trend{row, e.Impl, slope}), append(ps, p)
			}
		}
		if len(counts) > 1 {
			usual := 0
			for n, k := range counts {
				if k > counts[usual] || k == counts[usual] && n < usual {
					usual = n
				}
			}
			for _, e := range row.Entries {
				if e.Value.OK() && e.Iters != usual {
					why := "so fast that it was measured longer"
					if e.Iters < usual {
						why = "so slow that it was cut short"
					}
					add(OtherCounts, row.Bench, e.Impl, "%d iterations, the others %d: %s", e.Iters, usual, why)
				}
			}
		}
	}
	for i, p := range holm(ps) {
		t := trends[i]
		s := a.series(t.row.Bench, t.impl, t.row.Unit)
		change := t.slope * float64(len(s)-1) / s.interval().Center
		if significant(p) && math.Abs(change) > a.Noise.In(t.row.Category).Floor {
			add(Drift, t.row.Bench, t.impl, "%+.0f %% from the first round to the last", change*100)
		}
	}
	a.Speed = a.speed()
}

// outliers returns the rounds whose value is far from the median, by the median absolute deviation.
func outliers(s series) []int {
	if len(s) < 5 {
		return nil
	}
	median := s.interval().Center
	deviations := series{}
	for round, v := range s {
		deviations[round] = math.Abs(v - median)
	}
	limit := math.Max(outlierMADs*madToSigma*deviations.interval().Center, outlierShare*median)
	var out []int
	for round, d := range deviations {
		if d > limit {
			out = append(out, round)
		}
	}
	slices.Sort(out)
	return out
}

// mannKendall tests a series for a trend over the rounds. It returns the probability of such a trend by chance and the
// median slope per round.
func mannKendall(s series) (p, slope float64) {
	rounds := make([]int, 0, len(s))
	for round := range s {
		rounds = append(rounds, round)
	}
	slices.Sort(rounds)
	n := float64(len(rounds))
	if n < 3 {
		return 1, 0
	}
	score := 0.0
	slopes := series{}
	for i, from := range rounds {
		for _, to := range rounds[i+1:] {
			switch d := s[to] - s[from]; {
			case d > 0:
				score++
			case d < 0:
				score--
			}
			slopes[len(slopes)] = (s[to] - s[from]) / float64(to-from)
		}
	}
	sigma := math.Sqrt(n * (n - 1) * (2*n + 5) / 18)
	z := math.Max(math.Abs(score)-1, 0) / sigma
	return math.Erfc(z / math.Sqrt2), slopes.interval().Center
}

// speed compares the rounds by the geometric mean of all times relative to their medians.
func (a *Analysis) speed() []Speed {
	var all []series
	for _, row := range a.Rows {
		if row.Unit != machineUnit || !row.Scored {
			continue
		}
		for _, e := range row.Entries {
			s := a.series(row.Bench, e.Impl, row.Unit)
			if len(s) < a.Run.Rounds || e.Value.Center <= 0 {
				continue
			}
			relative := series{}
			for round, v := range s {
				relative[round] = v / e.Value.Center
			}
			all = append(all, relative)
		}
	}
	mean := geomean(all)
	var out []Speed
	for _, round := range a.samples.rounds {
		if v, ok := mean[round]; ok {
			out = append(out, Speed{round, v})
		}
	}
	return out
}
