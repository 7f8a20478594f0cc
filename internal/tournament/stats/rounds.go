// Single rounds, for those who draw them.

package stats

import (
	"maps"
	"slices"
)

// A Round is what one round measured.
type Round struct {
	Round int
	Value float64
}

// Rounds returns a figure round by round, nothing if it was not measured.
func (a *Analysis) Rounds(bench, impl, unit string) []Round {
	s := a.series(bench, impl, unit)
	var out []Round
	for _, round := range slices.Sorted(maps.Keys(s)) {
		out = append(out, Round{round, s[round]})
	}
	return out
}

// Ratio returns the ratio of one contestant's figure to another's, taken within rounds. If the analysis was not made from samples,
// there is no ratio.
func (a *Analysis) Ratio(bench, unit, impl, to string) Interval {
	if a.samples == nil {
		return none
	}
	return a.series(bench, impl, unit).ratioTo(a.series(bench, to, unit)).interval()
}
