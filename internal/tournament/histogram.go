// Latencies in constant memory: buckets that widen with the value, so that every quantile is right within 1/64.

package tournament

import (
	"math/bits"
	"slices"
	"testing"
	"time"
)

const subBuckets = 64 // per power of two

// histogram collects durations. It is not safe for concurrent use.
type histogram struct {
	counts [subBuckets * (64 - 5)]int
	n      int
	sum    time.Duration
	max    time.Duration
}

func (h *histogram) record(d time.Duration) {
	d = max(d, 0)
	h.counts[bucket(uint64(d))]++
	h.n++
	h.sum += d
	h.max = max(h.max, d)
}

// bucket: values below subBuckets have one bucket each; above, each power of two has subBuckets of equal width.
func bucket(v uint64) int {
	shift := max(0, bits.Len64(v)-bits.Len64(subBuckets))
	return shift*subBuckets + int(v>>shift)
}

// top is the largest value of a bucket.
func top(i int) uint64 {
	shift := max(0, i/subBuckets-1)
	return uint64(i-shift*subBuckets+1)<<shift - 1
}

// quantile returns the smallest bound that at least the share q of all values does not exceed.
func (h *histogram) quantile(q float64) time.Duration {
	need, seen := int(q*float64(h.n)+0.999999), 0
	for i, count := range h.counts {
		if seen += count; seen >= need && seen > 0 {
			return min(time.Duration(top(i)), h.max)
		}
	}
	return h.max
}

// report reports the mean as the benchmark's ns/op, and those quantiles beyond which there are enough values. Each value
// contains the time that one reading of the clock takes, which is subtracted; nothing takes less than a nanosecond.
func (h *histogram) report(b *testing.B) {
	const beyond = 10 // values
	clock := clockReading()
	report := func(ns float64, unit string) { b.ReportMetric(max(1, ns-float64(clock)), unit) }
	report(float64(h.sum)/float64(h.n), "ns/op")
	report(float64(h.quantile(0.5)), "p50-ns/op")
	if h.n >= 100*beyond {
		report(float64(h.quantile(0.99)), "p99-ns/op")
	}
	if h.n >= 1000*beyond {
		report(float64(h.quantile(0.999)), "p99.9-ns/op")
	}
	report(float64(h.max), "max-ns/op")
}

// clockReading returns the median time between two readings of the clock with nothing between them.
func clockReading() time.Duration {
	var gaps [1001]time.Duration
	for i := range gaps {
		begin := time.Now()
		gaps[i] = time.Since(begin)
	}
	slices.Sort(gaps[:])
	return gaps[len(gaps)/2]
}
