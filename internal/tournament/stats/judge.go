// Package stats decides what the measurements of a run, or of two, tell. There is one procedure for every statement: logarithms of
// ratios within rounds, Student's t with variances shrunk over the family of comparisons (Smyth 2004), and the false discovery rate of
// Benjamini and Hochberg over all of that family.
package stats

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"
)

const (
	// rate is the share of statements that may be wrong.
	rate = 0.05

	// systematic is the standard deviation, as a logarithm, of what sets one program apart from the same one built or started otherwise,
	// such as where its code lies in memory. All rounds of a run have it in common, so no number of them removes it.
	systematic = 0.01

	// finest is the least standard deviation of a ratio that counts when variances are shrunk. Counts and sizes do not vary at all, and
	// a variance of zero has no logarithm.
	finest = 0.002

	// fewest is the least number of rounds with both values that make a comparison.
	fewest = 3
)

// Evidence is what a comparison rests on: logarithms of ratios, one for each round, or the difference of two runs' means of these.
type Evidence struct {
	Mean float64
	Var  float64 // of one round
	DF   float64 // of Var
	Size float64 // Var/Size is the variance of Mean
	Runs float64 // how many runs' systematic differences are in Mean
}

// Within is the evidence of one run.
func Within(logs []float64) (Evidence, bool) {
	mean, squares, n := moments(logs)
	if n < fewest {
		return Evidence{}, false
	}
	return Evidence{Mean: mean, Var: squares / (n - 1), DF: n - 1, Size: n, Runs: 1}, true
}

// Between is the evidence that the logarithms of a run differ from those of an older one. The two have one variance.
func Between(old, new []float64) (Evidence, bool) {
	before, beforeSquares, m := moments(old)
	after, afterSquares, n := moments(new)
	if m < fewest || n < fewest {
		return Evidence{}, false
	}
	return Evidence{Mean: after - before, Var: (beforeSquares + afterSquares) / (m + n - 2), DF: m + n - 2, Size: m * n / (m + n), Runs: 2}, true
}

// moments returns the mean, the sum of squares around it, and the number of those logarithms that there are.
func moments(logs []float64) (mean, squares, n float64) {
	for _, v := range logs {
		if !math.IsNaN(v) {
			mean += v
			n++
		}
	}
	mean /= max(n, 1)
	for _, v := range logs {
		if !math.IsNaN(v) {
			squares += (v - mean) * (v - mean)
		}
	}
	return mean, squares, n
}

// A Verdict is what a comparison tells: a ratio, its interval, and whether the interval excludes 1, which is the same as to be told.
type Verdict struct {
	Ratio float64 `json:"ratio"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	P     float64 `json:"p"`
	Told  bool    `json:"told"`
}

// Above tells whether the ratio is told to be above 1, Below whether it is told to be below.
func (v Verdict) Above() bool { return v.Told && v.Ratio > 1 }
func (v Verdict) Below() bool { return v.Told && v.Ratio < 1 }

// Judge decides a family of comparisons. Those of one group, such as all figures or all means, have variances of one kind, which are
// shrunk towards each other. The whole family, whatever the groups, has one cut: the p up to which Benjamini and Hochberg's procedure
// rejects. The intervals have the confidence of that cut, as Benjamini and Yekutieli's do, so an interval excludes 1 exactly where the
// comparison is told.
func Judge(groups ...[]Evidence) [][]Verdict {
	type judged struct {
		*Verdict
		log, deviation float64
		t              distuv.StudentsT
	}
	var family []judged
	out := make([][]Verdict, len(groups))
	for g, group := range groups {
		out[g] = make([]Verdict, len(group))
		prior := priorOf(group)
		for i, e := range group {
			variance, df := prior.shrink(e)
			j := judged{&out[g][i], e.Mean, math.Sqrt(variance/e.Size + e.Runs*systematic*systematic), distuv.StudentsT{Sigma: 1, Nu: df}}
			j.P = 2 * j.t.CDF(-math.Abs(j.log)/j.deviation)
			j.Ratio = math.Exp(e.Mean)
			family = append(family, j)
		}
	}
	slices.SortStableFunc(family, func(a, b judged) int { return cmp.Compare(a.P, b.P) })
	each, told := rate/float64(max(len(family), 1)), 0
	for i, j := range family {
		if j.P <= float64(i+1)*each {
			told = i + 1
		}
	}
	cut := float64(max(told, 1)) * each
	widths := map[float64]float64{} // by degrees of freedom, most of which are the same
	for i, j := range family {
		if widths[j.t.Nu] == 0 {
			widths[j.t.Nu] = -j.t.Quantile(cut / 2)
		}
		half := widths[j.t.Nu] * j.deviation
		j.Told = i < told
		j.Low, j.High = math.Exp(j.log-half), math.Exp(j.log+half)
	}
	return out
}

// A prior is the distribution of the variances of a group: scaled inverse chi-squared.
type prior struct{ variance, df float64 }

// many stands for infinitely many degrees of freedom: variances that differ by chance only.
const many = 1e4

// priorOf fits the distribution to the variances of a group by the moments of their logarithms (Smyth 2004, section 6.2).
func priorOf(group []Evidence) prior {
	var logs []float64
	var expected float64
	for _, e := range group {
		half := e.DF / 2
		logs = append(logs, math.Log(max(e.Var, finest*finest))-mathext.Digamma(half)+math.Log(half))
		expected += trigamma(half)
	}
	mean, squares, n := moments(logs)
	if n < 3 {
		return prior{}
	}
	excess := squares/(n-1) - expected/n
	if excess <= trigamma(many/2) {
		return prior{math.Exp(mean), many}
	}
	half := inverseTrigamma(excess)
	return prior{math.Exp(mean + mathext.Digamma(half) - math.Log(half)), 2 * half}
}

// shrink returns the variance of a comparison given those of its group, and its degrees of freedom.
func (p prior) shrink(e Evidence) (variance, df float64) {
	df = p.df + e.DF
	return (p.df*p.variance + e.DF*max(e.Var, finest*finest)) / df, df
}

// trigamma is the derivative of the digamma function, which is a zeta function of Hurwitz.
func trigamma(x float64) float64 { return mathext.Zeta(2, x) }

// inverseTrigamma finds where the trigamma function, which falls, has a value.
func inverseTrigamma(value float64) float64 {
	low, high := 1e-3, many
	for range 60 {
		if middle := math.Sqrt(low * high); trigamma(middle) > value {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}
