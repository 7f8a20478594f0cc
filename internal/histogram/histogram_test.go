package histogram_test

// Tests of the histogram: how exact it is, and what it costs.

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/internal/histogram"
)

// distributions are durations as callbacks have them, in nanoseconds.
var distributions = map[string]func(r *rand.Rand, i, n int) float64{
	"uniform":     func(r *rand.Rand, _, _ int) float64 { return 1e6 * r.Float64() },
	"exponential": func(r *rand.Rand, _, _ int) float64 { return 2e5 * r.ExpFloat64() },
	"bimodal": func(r *rand.Rand, _, _ int) float64 {
		if r.IntN(1000) < 902 {
			return 1e3 + 100*r.Float64()
		}
		return 2e7 + 1e6*r.Float64()
	},
	"constant":   func(*rand.Rand, int, int) float64 { return 123_457 },
	"heavy tail": func(r *rand.Rand, _, _ int) float64 { return 1e3 * math.Pow(1-r.Float64(), -1/1.1) },
	"two phases": func(r *rand.Rand, i, n int) float64 {
		if i < n/2 {
			return 1e3 + 50*r.Float64()
		}
		return 5e6 + 1e5*r.Float64()
	},
}

var quantiles = []float64{0.5, 0.9, 0.95, 0.99}

const within = 0.02

func draw(name string, n int) []int64 {
	r := rand.New(rand.NewPCG(1, 2))
	vs := make([]int64, n)
	for i := range vs {
		vs[i] = int64(distributions[name](r, i, n))
	}
	return vs
}

// truth is the smallest of the sorted values that a share q does not exceed.
func truth(sorted []int64, q float64) float64 {
	return float64(sorted[max(int(math.Ceil(q*float64(len(sorted))))-1, 0)])
}

func off(got, want float64) float64 { return math.Abs(got-want) / want }

// Every quantile is within two per cent of what sorting says. P-square, which keeps five markers and no more, is not: that
// is why it is not used. It is off where there is nothing between two modes, and where what it has seen first is over.
func TestQuantiles(t *testing.T) {
	const n = 200_000
	worst := map[string]float64{}
	for name := range distributions {
		vs := draw(name, n)
		var h histogram.Histogram
		for _, v := range vs {
			h.Record(v)
		}
		sorted := slices.Sorted(slices.Values(vs))
		for _, q := range quantiles {
			want := truth(sorted, q)
			require.LessOrEqual(t, off(float64(h.Quantile(q)), want), within, "%s: quantile %v: %d, want %v", name, q, h.Quantile(q), want)
			p := newSquare(q)
			for _, v := range vs {
				p.add(float64(v))
			}
			worst[name] = max(worst[name], off(p.value(), want))
		}
		sum := 0.0
		for _, v := range vs {
			sum += float64(v)
		}
		require.InEpsilon(t, sum/n, float64(h.Mean()), 1e-3, name)
		require.Equal(t, sorted[n-1], h.Max(), name)
		require.EqualValues(t, n, h.Count(), name)
	}
	t.Logf("P-square is off by at most, as a share: %v", worst)
	require.Less(t, worst["uniform"], within, "P-square is written down rightly")
	require.Greater(t, worst["two phases"], 10*within)
	require.Greater(t, worst["bimodal"], within)
	require.Greater(t, worst["heavy tail"], within)
}

// Each value, however large, falls into a bucket that says what it was; and the buckets are in order.
func TestBuckets(t *testing.T) {
	before := int64(-1)
	for v := int64(0); v < 1<<43; v += 1 + v/100 {
		var h histogram.Histogram
		h.Record(v)
		h.Record(2*v + 1000) // so that the answer is not cut off at the largest
		got := h.Quantile(0.5)
		require.LessOrEqual(t, math.Abs(float64(got-v)), within*float64(v), "%d", v)
		require.LessOrEqual(t, before, got)
		require.EqualValues(t, 1, h.AtMost(v), "%d", v)
		before = got
	}
	var h histogram.Histogram
	h.Record(math.MaxInt64)
	h.Record(-5)
	require.EqualValues(t, int64(math.MaxInt64), h.Max())
	require.Zero(t, h.Quantile(0.5))
	require.EqualValues(t, 1, h.AtMost(0))
	require.EqualValues(t, 2, h.AtMost(math.MaxInt64))
	require.Zero(t, h.AtMost(-1))
	require.Zero(t, new(histogram.Histogram).Quantile(0.5))
	require.Zero(t, new(histogram.Histogram).Mean())
}

// Histograms of parts, merged, are the histogram of the whole.
func TestMerge(t *testing.T) {
	for name := range distributions {
		var whole, merged histogram.Histogram
		var parts [3]histogram.Histogram
		for i, v := range draw(name, 9999) {
			whole.Record(v)
			parts[i%7%3].Record(v)
		}
		for i := range parts {
			merged.Merge(&parts[i])
		}
		require.Equal(t, whole.Sum(), merged.Sum())
		require.Equal(t, whole.Count(), merged.Count())
		require.Equal(t, whole.Max(), merged.Max())
		for _, q := range quantiles {
			require.Equal(t, whole.Quantile(q), merged.Quantile(q), name)
		}
	}
}

// What an earlier state is taken off has the values that came since.
func TestSub(t *testing.T) {
	for name := range distributions {
		for _, factor := range []int64{1, 1000} { // later values are as large as the earlier ones, or larger than all
			var all, late histogram.Histogram
			early := draw(name, 5000)
			for _, v := range early {
				all.Record(v)
			}
			before := all
			for _, v := range draw(name, 3000) {
				all.Record(v * factor)
				late.Record(v * factor)
			}
			all.Sub(&before)
			require.Equal(t, late.Count(), all.Count())
			require.Equal(t, late.Sum(), all.Sum())
			require.InEpsilon(t, late.Max()+1, all.Max()+1, 0.02, name)
			for _, q := range quantiles {
				require.InEpsilon(t, late.Quantile(q)+1, all.Quantile(q)+1, 0.02, name)
			}
			same := all
			all.Sub(&same)
			require.Zero(t, all.Max()+all.Sum()+int64(all.Count()))
		}
	}
}

// However large the sum is, the mean is right, also when such sums are merged.
func TestLargeSums(t *testing.T) {
	h := new(histogram.Histogram)
	const v = int64(1 << 43)
	for range 1 << 10 {
		h.Record(v)
	}
	for range 30 {
		again := *h
		h.Merge(&again)
		require.EqualValues(t, v, h.Mean())
		require.Positive(t, h.Sum())
	}
	require.EqualValues(t, int64(math.MaxInt64), h.Sum())
}

// RecordAll and RecordRuns are Record for each, and pass over those that are negative.
func TestRecordAll(t *testing.T) {
	for name := range distributions {
		all, runs, single := new(histogram.Histogram), new(histogram.Histogram), new(histogram.Histogram)
		vs := []int64{-1, math.MinInt64, math.MaxInt64}
		for i, v := range append(draw(name, 1000), vs[2]) {
			for range 1 + i%3 {
				vs = append(vs, v)
				single.Record(v)
			}
			vs = append(vs, -v-1)
		}
		single.Record(vs[2])
		all.RecordAll(vs)
		runs.RecordRuns(vs)
		require.Equal(t, single, all)
		require.Equal(t, single, runs)
	}
}

func TestRecordAllocatesNothing(t *testing.T) {
	h := new(histogram.Histogram)
	require.Zero(t, testing.AllocsPerRun(100, func() { h.Record(12345) }))
}

func BenchmarkRecord(b *testing.B) {
	h := new(histogram.Histogram)
	v := int64(1)
	for b.Loop() {
		h.Record(v)
		v = (v*5 + 1) & (1<<30 - 1)
	}
}

// square is P-square (Jain and Chlamtac, 1985): one quantile from five markers, whose heights are moved along parabolas.
type square struct {
	q       float64
	n       int
	height  [5]float64
	at      [5]float64
	desired [5]float64
	step    [5]float64
}

func newSquare(q float64) *square {
	return &square{q: q, at: [5]float64{0, 1, 2, 3, 4}, desired: [5]float64{0, 2 * q, 4 * q, 2 + 2*q, 4},
		step: [5]float64{0, q / 2, q, (1 + q) / 2, 1}}
}

func (p *square) add(v float64) {
	if p.n < 5 {
		p.height[p.n] = v
		if p.n++; p.n == 5 {
			slices.Sort(p.height[:])
		}
		return
	}
	p.n++
	p.height[0], p.height[4] = min(p.height[0], v), max(p.height[4], v)
	cell := 3
	for i := 1; i < 4; i++ {
		if v < p.height[i] {
			cell = i - 1
			break
		}
	}
	for i := cell + 1; i < 5; i++ {
		p.at[i]++
	}
	for i := range p.desired {
		p.desired[i] += p.step[i]
	}
	for i := 1; i < 4; i++ {
		d := p.desired[i] - p.at[i]
		if d >= 1 && p.at[i+1]-p.at[i] > 1 || d <= -1 && p.at[i-1]-p.at[i] < -1 {
			p.move(i, math.Copysign(1, d))
		}
	}
}

func (p *square) move(i int, d float64) {
	h, n := &p.height, &p.at
	moved := h[i] + d/(n[i+1]-n[i-1])*((n[i]-n[i-1]+d)*(h[i+1]-h[i])/(n[i+1]-n[i])+(n[i+1]-n[i]-d)*(h[i]-h[i-1])/(n[i]-n[i-1]))
	if moved <= h[i-1] || moved >= h[i+1] {
		j := i + int(d)
		moved = h[i] + d*(h[j]-h[i])/(n[j]-n[i])
	}
	h[i] = moved
	n[i] += d
}

func (p *square) value() float64 { return p.height[2] }
