// Package stats computes what a run shows: medians with intervals, ratios, what differs beyond noise, who ranks where. It
// reads raw.txt through golang.org/x/perf, which also provides medians, their intervals and the rank test of samples. It knows
// no contestant's name: who is the subject, the reference and the control is said by the run.
//
// Ratios are taken within a round, where contestants ran back to back, so that what slows the machine down slows both sides.
//
// A score is a weighted geometric mean of ratios to the reference. Which figures count, and for how much, is fixed by the benchmarks
// and the reference: categories count alike, within them benchmarks, within these variants (weighting.go). So nobody's score
// depends on who else takes part. Who lacks a figure has no rank.
//
// The subject is compared with the best other ranked loop, and with the reference, figure by figure (match.go). A signed-rank
// test shows that two differ; two one-sided tests show that they are no further apart than a margin. Each is corrected within
// its family by the method of Benjamini and Hochberg. If neither shows anything, the result is open, which is not level.
//
// Two runs are compared (compare.go) contestant by contestant, by category, and figure by figure, relative to contestants that are
// taken to be unchanged. The three families share the chance of a false alarm. A comparison tells the smallest slowdown that
// it finds nine times in ten.
//
// The noise floor of a category is found from control pairs, which are one contestant under two labels. A difference smaller than
// the floor does not count, however certain it is.
package stats

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchmath"
	"golang.org/x/perf/benchproc"
	"golang.org/x/perf/benchunit"
)

const confidence = 0.95

// A series is one figure of one cell over the rounds: round -> value.
type series map[int]float64

// A figure names a series.
type figure struct{ bench, impl, unit string }

// Samples are all figures of a run.
type Samples struct {
	series  map[figure]series
	rounds  []int
	units   map[string][]string // benchmark -> units in order of appearance
	benches []string            // in order of appearance
}

// Read reads raw.txt. Figures come in base units: seconds, bytes.
func Read(raw io.Reader, name string) (*Samples, error) {
	s := &Samples{series: map[figure]series{}, units: map[string][]string{}}
	var parser benchproc.ProjectionParser
	filter, err := benchproc.NewFilter("*")
	if err != nil {
		return nil, err
	}
	project := func(key string) func(*benchfmt.Result) string {
		p, perr := parser.Parse(key, filter)
		if perr != nil {
			err = perr
			return nil
		}
		return func(r *benchfmt.Result) string { return p.Project(r).Get(p.Fields()[0]) }
	}
	// .fullname is projected last: it then has what /impl, /gomaxprocs and round have left of the name.
	impl, _, round, bench := project("/impl"), project("/gomaxprocs"), project("round"), project(".fullname")
	if err != nil {
		return nil, err
	}
	r := benchfmt.NewReader(raw, name)
	for r.Scan() {
		switch rec := r.Result().(type) {
		case *benchfmt.SyntaxError:
			return nil, rec
		case *benchfmt.Result:
			n, err := strconv.Atoi(round(rec))
			if err != nil {
				return nil, fmt.Errorf("%s: a result has no round: %s", name, rec.Name)
			}
			for _, v := range rec.Values {
				if !(v.Value >= 0) || math.IsInf(v.Value, 0) {
					return nil, fmt.Errorf("%s: %v %s is nothing that %s can have measured", name, v.Value, v.Unit, rec.Name)
				}
			}
			s.add(n, bench(rec), impl(rec), rec.Values)
		}
	}
	slices.Sort(s.rounds)
	return s, r.Err()
}

func (s *Samples) add(round int, bench, impl string, values []benchfmt.Value) {
	if !slices.Contains(s.rounds, round) {
		s.rounds = append(s.rounds, round)
	}
	if !slices.Contains(s.benches, bench) {
		s.benches = append(s.benches, bench)
	}
	for _, v := range values {
		f := figure{bench, impl, v.Unit}
		if s.series[f] == nil {
			s.series[f] = series{}
		}
		s.series[f][round] = v.Value
		if !slices.Contains(s.units[bench], v.Unit) {
			s.units[bench] = append(s.units[bench], v.Unit)
		}
	}
}

// tidy returns the base unit of a unit as benchmarks name it.
func tidy(unit string) string {
	_, t := benchunit.Tidy(1, unit)
	return t
}

// An Interval is a median with its confidence interval. The bounds are infinite when there are too few values; a Center
// that is not a number says that there is none.
type Interval struct {
	Center, Lo, Hi float64
	N              int
}

var none = Interval{Center: math.NaN(), Lo: math.NaN(), Hi: math.NaN()}

// OK tells whether there is a value.
func (i Interval) OK() bool { return !math.IsNaN(i.Center) }

// Bounded tells whether there is an interval around the value.
func (i Interval) Bounded() bool {
	return i.OK() && !math.IsInf(i.Lo, 0) && !math.IsInf(i.Hi, 0)
}

// Inverse returns the interval of the reciprocal.
func (i Interval) Inverse() Interval {
	lo, hi := 1/i.Hi, 1/i.Lo
	if !i.Bounded() {
		lo, hi = math.Inf(-1), math.Inf(1)
	}
	return Interval{Center: 1 / i.Center, Lo: lo, Hi: hi, N: i.N}
}

// MarshalJSON writes what is not a finite number as null.
func (i Interval) MarshalJSON() ([]byte, error) {
	finite := func(v float64) *float64 {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil
		}
		return &v
	}
	return json.Marshal(struct {
		Center *float64 `json:"median"`
		Lo     *float64 `json:"lo"`
		Hi     *float64 `json:"hi"`
		N      int      `json:"n"`
	}{finite(i.Center), finite(i.Lo), finite(i.Hi), i.N})
}

// sample returns the values of a series.
func (s series) sample() *benchmath.Sample {
	values := make([]float64, 0, len(s))
	for _, v := range s {
		values = append(values, v)
	}
	return benchmath.NewSample(values, &benchmath.DefaultThresholds)
}

func (s series) interval() Interval {
	if len(s) == 0 {
		return none
	}
	sum := benchmath.AssumeNothing.Summary(s.sample(), confidence)
	return Interval{Center: sum.Center, Lo: sum.Lo, Hi: sum.Hi, N: len(s)}
}

// ratioTo returns the ratio of s to other in each round that both have. Values that are not positive have no ratio.
//
// Ratios are taken within a round because what slows the machine down for a while then slows both sides.
func (s series) ratioTo(other series) series {
	out := series{}
	for round, v := range s {
		if o, ok := other[round]; ok && v > 0 && o > 0 {
			out[round] = v / o
		}
	}
	return out
}

// geomean returns the geometric mean of the series in each round that all of them have.
func geomean(all []series) series {
	weights := make([]float64, len(all))
	for i := range weights {
		weights[i] = 1
	}
	return weightedGeomean(all, weights)
}

// weightedGeomean is a geometric mean in which some count for more than others.
func weightedGeomean(all []series, weights []float64) series {
	out := series{}
	if len(all) == 0 {
		return out
	}
rounds:
	for round := range all[0] {
		sum, total := 0.0, 0.0
		for i, s := range all {
			v, ok := s[round]
			if !ok || v <= 0 {
				continue rounds
			}
			sum += weights[i] * math.Log(v)
			total += weights[i]
		}
		out[round] = math.Exp(sum / total)
	}
	return out
}

// holm adjusts p-values of a family of comparisons for their number, by Holm's method.
func holm(p []float64) []float64 {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case p[a] < p[b]:
			return -1
		case p[a] > p[b]:
			return 1
		}
		return 0
	})
	out := make([]float64, len(p))
	running := 0.0
	for rank, i := range order {
		running = math.Max(running, math.Min(1, p[i]*float64(len(p)-rank)))
		out[i] = running
	}
	return out
}
