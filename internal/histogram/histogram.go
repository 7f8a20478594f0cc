// Package histogram counts durations in buckets whose width grows with them, so that any quantile is known within two per
// cent, in constant time and memory, and so that the histograms of several sources add up to one.
package histogram

import (
	"math"
	"math/bits"
)

// An octave, from one power of two to the next, has 2 to the power of fineness buckets. What is reported is the middle of
// a bucket, which is off by at most half its width: 1 in 64 of what was recorded. Below one octave's number of buckets
// each value has its own.
const (
	fineness = 5
	fine     = 1 << fineness

	largest = 1<<44 - 1 // nearly five hours; what lasts longer counts as this, but for Max
	buckets = (44-fineness)*fine + fine
)

// Histogram is a set of recorded values, in nanoseconds. The zero value is empty and ready. It is not safe for concurrent
// use.
type Histogram struct {
	counts [buckets]uint64
	count  uint64
	sum    int64
	max    int64
}

// Record adds a value; a negative one counts as 0.
func (h *Histogram) Record(v int64) {
	if uint64(v) > largest {
		v = h.clamp(v)
	}
	if v > h.max {
		h.max = v
	}
	h.count++
	h.sum += v
	h.counts[bucketOf(v)]++
}

// clamp is for what is out of range.
func (h *Histogram) clamp(v int64) int64 {
	h.max = max(h.max, v)
	return min(max(v, 0), largest)
}

// Merge adds what another histogram has recorded.
func (h *Histogram) Merge(o *Histogram) {
	for i, n := range o.counts {
		h.counts[i] += n
	}
	h.count += o.count
	h.sum += o.sum
	h.max = max(h.max, o.max)
}

// Count returns how many values were recorded.
func (h *Histogram) Count() uint64 { return h.count }

// Sum returns the sum of what was recorded.
func (h *Histogram) Sum() int64 { return h.sum }

// Max returns the largest value, exactly.
func (h *Histogram) Max() int64 { return h.max }

// Mean returns the mean of what was recorded, 0 if there is none.
func (h *Histogram) Mean() int64 {
	if h.count == 0 {
		return 0
	}
	return h.sum / int64(h.count)
}

// Quantile returns the smallest value that at least a share q of what was recorded does not exceed, within two per cent;
// 0 if there is none.
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

// AtMost returns how many of the values do not exceed v, where v counts as the end of its bucket.
func (h *Histogram) AtMost(v int64) (n uint64) {
	if v < 0 {
		return 0
	}
	for _, count := range h.counts[:bucketOf(min(v, largest))+1] {
		n += count
	}
	return n
}

// bucketOf is for values from 0 to largest.
func bucketOf(v int64) int {
	e := (bits.Len64(uint64(v)|fine) - fineness - 1) & 63
	return e<<fineness + int(uint64(v)>>e)
}

func middle(bucket int) int64 {
	e := max(bucket>>fineness-1, 0)
	return int64(bucket-e<<fineness)<<e + int64(1)<<e>>1
}
