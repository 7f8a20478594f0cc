// Matches: the subject against the best other ranked loop and against the reference, figure by figure, with what that shows.

package stats

import (
	"cmp"
	"math"
	"slices"
)

// An Outcome is what a match shows.
type Outcome string

// The outcomes. Each but Open is the result of a test: that two loops differ, or that they do not differ by more than Margin.
const (
	Ahead  Outcome = "ahead"
	Within Outcome = "within 10 %"
	Open   Outcome = "not shown"
	Behind Outcome = "behind"
)

// Margin is how far apart two loops may be and still count as level.
const Margin = 0.10

// A Match is one figure of the subject against that of another.
type Match struct {
	Bench    string   `json:"benchmark"`
	Unit     string   `json:"unit"`
	Scored   bool     `json:"scored"`
	Headline bool     `json:"headline"` // not a further unit of its row
	To       string   `json:"to"`
	Ratio    Interval `json:"ratio"`    // within rounds
	Differ   float64  `json:"p_differ"` // p-value of the test that the two differ, corrected
	Level    float64  `json:"p_within"` // p-value of the test that they differ by less than Margin, corrected
	Outcome  Outcome  `json:"outcome"`
}

// Large tells whether, by the median ratio, the subject takes more than Margin more. The difference need not be significant.
func (m Match) Large() bool { return m.Ratio.Center > 1+Margin }

// matches compares the subject with the best other ranked loop if best is set, and otherwise with the reference. The p-values of
// headlines are corrected as one family, those of details as another.
func (a *Analysis) matches(best bool) []Match {
	var headlines, details []Match
	for _, row := range a.Rows {
		if m, ok := a.match(row, row.Unit, best); ok {
			m.Headline = true
			headlines = append(headlines, m)
		}
		for _, d := range row.Details {
			if row.Hides(d.Unit) {
				if m, ok := a.match(row, d.Unit, best); ok {
					details = append(details, m)
				}
			}
		}
	}
	a.decide(headlines)
	a.decide(details)
	return append(headlines, details...)
}

// match makes one match. Differ and Level are not corrected yet.
func (a *Analysis) match(row *Row, unit string, best bool) (Match, bool) {
	m := Match{Bench: row.Bench, Unit: unit, Scored: row.Scored, To: a.Run.Reference()}
	if best {
		m.To = ""
		least := math.Inf(1)
		for _, impl := range a.ranked() {
			if v := a.series(row.Bench, impl, unit).interval(); impl != a.Run.Subject() && v.OK() && v.Center < least {
				m.To, least = impl, v.Center
			}
		}
	}
	ratio := a.series(row.Bench, a.Run.Subject(), unit).ratioTo(a.series(row.Bench, m.To, unit))
	if len(ratio) == 0 || m.To == a.Run.Subject() {
		return m, false
	}
	m.Ratio = ratio.interval()
	logs := ratio.log()
	m.Differ = 2 * math.Min(signedRank(logs, 0), signedRank(logs.negative(), 0))
	margin := math.Log1p(Margin)
	m.Level = math.Max(signedRank(logs, margin), signedRank(logs.negative(), margin))
	return m, true
}

// decide corrects the p-values of a family, and sets what each match shows. A match that is shown to be level counts as level
// also if a difference is shown.
func (a *Analysis) decide(family []Match) {
	differ, level := make([]float64, len(family)), make([]float64, len(family))
	for i, m := range family {
		differ[i], level[i] = math.Min(m.Differ, 1), m.Level
	}
	differ, level = benjaminiHochberg(differ), benjaminiHochberg(level)
	for i := range family {
		m := &family[i]
		m.Differ, m.Level, m.Outcome = differ[i], level[i], Open
		switch {
		case significant(m.Level):
			m.Outcome = Within
		case !significant(m.Differ) || !a.Noise.In(a.Run.Benchmark(m.Bench).Category).Beyond(m.Unit, m.Ratio.Center):
		case m.Ratio.Center < 1:
			m.Outcome = Ahead
		default:
			m.Outcome = Behind
		}
	}
}

// negative returns the values with the other sign.
func (s series) negative() series {
	out := series{}
	for round, v := range s {
		out[round] = -v
	}
	return out
}

// signedRank is Wilcoxon's signed-rank test, one-sided and exact. It returns the probability that the values are so far below
// the limit, if they were as likely to be above it.
func signedRank(values series, limit float64) float64 {
	var off []float64
	for _, v := range values {
		if v != limit {
			off = append(off, v-limit)
		}
	}
	if len(off) == 0 {
		return 1
	}
	slices.SortFunc(off, func(x, y float64) int { return cmp.Compare(math.Abs(x), math.Abs(y)) })
	ranks := make([]int, len(off)) // twice the rank, so that ties have whole numbers
	above, total := 0, 0
	for i := 0; i < len(off); {
		j := i
		for j < len(off) && math.Abs(off[j]) == math.Abs(off[i]) {
			j++
		}
		for k := i; k < j; k++ {
			ranks[k] = i + j + 1
			total += ranks[k]
			if off[k] > 0 {
				above += ranks[k]
			}
		}
		i = j
	}
	ways := make([]float64, total+1) // for each sum, the share of all combinations of signs that give it
	ways[0] = 1
	for _, r := range ranks {
		for sum := total; sum >= 0; sum-- {
			ways[sum] /= 2
			if sum >= r {
				ways[sum] += ways[sum-r] / 2
			}
		}
	}
	p := 0.0
	for sum := 0; sum <= above; sum++ {
		p += ways[sum]
	}
	return math.Min(p, 1)
}
