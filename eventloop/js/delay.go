package js

// Delays: how the numbers that programs give become durations.

import (
	"math"
	"time"
)

const (
	// freeLevels is how deep timers nest before their delays are clamped. The HTML standard, which counts from zero, says
	// "a nesting level greater than five".
	freeLevels = 6
	// leastNested is the least delay of timers that nest deeper.
	leastNested = 4 * time.Millisecond
)

// coerce turns milliseconds into a delay as Web IDL converts a number to a long: not-a-number and infinities are zero,
// fractions are cut off, the rest is taken modulo 2^32; and then, as the HTML standard says, negative ones are zero.
func coerce(ms float64) time.Duration {
	if math.IsNaN(ms) || math.IsInf(ms, 0) {
		return 0
	}
	n := int32(int64(math.Mod(math.Trunc(ms), 1<<32)))
	return time.Duration(max(0, n)) * time.Millisecond
}

// coerceNode turns milliseconds into a delay as Node does: fractions are cut off, and what is less than one millisecond,
// more than 2^31-1 or no number is one millisecond.
func coerceNode(ms float64) time.Duration {
	if !(ms >= 1 && ms <= math.MaxInt32) {
		return time.Millisecond
	}
	return time.Duration(ms) * time.Millisecond
}

// coerce turns milliseconds into a delay by the rule of the adapter's timers.
func (j *JS) coerce(ms float64) time.Duration {
	if j.nodeTimers {
		return coerceNode(ms)
	}
	return coerce(ms)
}

// clamp returns the delay of a timer at a nesting level.
func (j *JS) clamp(delay time.Duration, level int) time.Duration {
	if level > freeLevels && !j.nodeTimers {
		return max(delay, leastNested)
	}
	return delay
}

// following returns the first time that is not before now and is one or more whole periods after due.
func following(due, now time.Time, period time.Duration) time.Time {
	due = due.Add(period)
	missed := now.Sub(due)
	if missed <= 0 {
		return due
	}
	if period == 0 {
		return now
	}
	return due.Add((missed + period - 1) / period * period)
}
