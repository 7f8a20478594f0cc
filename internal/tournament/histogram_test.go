package tournament

// Tests of the benchmarks' histogram.

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// TestClockIsTakenOff: what takes no time is reported as next to none, in each quantile of the bulk.
func TestClockIsTakenOff(t *testing.T) {
	var p50 float64
	var clock time.Duration
	for range 3 { // the clock may become slower in the midst of one
		if p50, clock = ofNothing(); clock > 0 && p50 <= float64(clock)/2 {
			return
		}
	}
	t.Errorf("the median of nothing is %v ns, a reading of the clock takes %v", p50, clock)
}

func ofNothing() (p50 float64, clock time.Duration) {
	result := testing.Benchmark(func(b *testing.B) {
		var h histogram
		for range 10_000 {
			begin := time.Now()
			h.record(time.Since(begin))
		}
		h.report(b)
	})
	return result.Extra["p50-ns/op"], clockReading()
}

// TestHistogram holds the histogram to a sorted list of the same values.
func TestHistogram(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 2, 3, 100, 5000} {
		var h histogram
		values := make([]time.Duration, n)
		for i := range values {
			values[i] = time.Duration(rng.Uint64() >> (1 + rng.IntN(63)))
			h.record(values[i])
		}
		slices.Sort(values)
		for _, q := range []float64{0, 0.5, 0.9, 0.99, 0.999, 1} {
			exact := values[max(0, int(q*float64(n)+0.999999)-1)]
			got := h.quantile(q)
			if got < exact || float64(got) > float64(exact)*(1+1.0/subBuckets)+1 {
				t.Errorf("n=%d: quantile %v is %d, exact is %d", n, q, got, exact)
			}
		}
	}
}
