// Package histogram counts durations in buckets whose width grows with the duration. Any quantile is known within two per
// cent, time and memory are constant, and the histograms of several sources can be merged.
package histogram

import (
	"math"
	"math/bits"
)

// An octave, from one power of two to the next, has 2 to the power of fineness buckets. A reported value is the middle of
// a bucket, and so is off by at most half its width: 1 in 64 of the recorded value. Values below fine have a bucket each.
const (
	fineness = 5
	fine     = 1 << fineness

	largest = 1<<44 - 1 // nearly five hours; a longer duration counts as this, except in Max
	buckets = (44-fineness)*fine + fine
)

// Histogram is a set of recorded values, in nanoseconds. The zero value is empty and ready. It is not safe for concurrent
// use.
type Histogram struct {
	counts [buckets]uint64
	count  uint64
	sum    [2]uint64 // the low word and the high one: a day of long queues exceeds one word
	max    int64
}

// Record adds a value; a negative one counts as 0.
func (h *Histogram) Record(v int64) { h.RecordAll([]int64{max(v, 0)}) }

// RecordAll adds the values, at most half a million, and skips negative ones.
func (h *Histogram) RecordAll(vs []int64) {
	n, sum, most := uint64(0), uint64(0), h.max
	for _, v := range vs {
		if uint64(v) > largest {
			if v < 0 {
				continue
			}
			most = max(most, v)
			v = largest
		}
		most = max(most, v)
		n++
		sum += uint64(v) // does not overflow with half a million values
		h.counts[bucketOf(v)]++
	}
	h.count += n
	h.add(sum, 0)
	h.max = most
}

// RecordRuns is RecordAll for values of which many in a row are the same: such a row costs little more than one value.
func (h *Histogram) RecordRuns(vs []int64) {
	for len(vs) != 0 {
		v, n := vs[0], 1
		for n < len(vs) && vs[n] == v {
			n++
		}
		if vs = vs[n:]; v >= 0 {
			h.max = max(h.max, v)
			v = min(v, largest)
			h.counts[bucketOf(v)] += uint64(n)
			h.count += uint64(n)
			h.add(uint64(v)*uint64(n), 0)
		}
	}
}

func (h *Histogram) add(low, high uint64) {
	var carry uint64
	h.sum[0], carry = bits.Add64(h.sum[0], low, 0)
	h.sum[1] += high + carry
}

// Merge adds all values of another histogram.
func (h *Histogram) Merge(o *Histogram) {
	for i, n := range o.counts {
		h.counts[i] += n
	}
	h.count += o.count
	h.add(o.sum[0], o.sum[1])
	h.max = max(h.max, o.max)
}

// Sub removes the values that h had at an earlier time. Max is then exact only if it has grown since, and else within two per cent.
func (h *Histogram) Sub(earlier *Histogram) {
	largest := int64(0)
	for i, n := range earlier.counts {
		if h.counts[i] -= n; h.counts[i] != 0 {
			largest = middle(i)
		}
	}
	if h.max == earlier.max {
		h.max = min(h.max, largest)
	}
	h.count -= earlier.count
	var borrow uint64
	h.sum[0], borrow = bits.Sub64(h.sum[0], earlier.sum[0], 0)
	h.sum[1] -= earlier.sum[1] + borrow
}

// Count returns the number of recorded values.
func (h *Histogram) Count() uint64 { return h.count }

// Sum returns the sum of the recorded values, or the largest int64 if the sum is larger.
func (h *Histogram) Sum() int64 {
	if h.sum[1] != 0 || h.sum[0] > math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(h.sum[0])
}

// Max returns the largest value, exactly.
func (h *Histogram) Max() int64 { return h.max }

// Mean returns the mean of the recorded values, 0 if there are none.
func (h *Histogram) Mean() int64 {
	if h.count == 0 {
		return 0
	}
	mean, _ := bits.Div64(h.sum[1], h.sum[0], h.count) // no value exceeds largest, so the mean fits a word
	return int64(mean)
}

// Quantile returns, within two per cent, the smallest value that at least a share q of the recorded values do not exceed;
// 0 if there are none.
func (h *Histogram) Quantile(q float64) int64 {
	rank := uint64(math.Ceil(q * float64(h.count)))
	rank = min(max(rank, 1), h.count)
	for i, n := range h.counts {
		if n >= rank && n > 0 {
			return min(middle(i), h.max)
		}
		rank -= n
	}
	return h.max
}

// AtMost returns the number of recorded values that do not exceed the upper end of v's bucket.
func (h *Histogram) AtMost(v int64) (n uint64) {
	if v < 0 {
		return 0
	}
	for _, count := range h.counts[:bucketOf(min(v, largest))+1] {
		n += count
	}
	return n
}

// bucketOf returns the index of the bucket of a value from 0 to largest.
func bucketOf(v int64) int {
	e := (bits.Len64(uint64(v)|fine) - fineness - 1) & 63
	return e<<fineness + int(uint64(v)>>e)
}

func middle(bucket int) int64 {
	e := max(bucket>>fineness-1, 0)
	return int64(bucket-e<<fineness)<<e + int64(1)<<e>>1
}
