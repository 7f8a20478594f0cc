// Weightings: how much each figure counts in a mean, as declared and as others would have it.

package stats

import (
	"slices"
	"strings"
)

// A Weighting is a way to weigh the figures, and the standings that come of it.
type Weighting struct {
	Name    string   `json:"name"`
	Overall Standing `json:"overall"`
	Wide    Standing `json:"wide"`
}

// A weighting says which rows count, for how much, and by which unit.
type weighting struct {
	name   string
	groups func(row *Row) []string // the groups that share their parent's weight alike, the largest first
	other  string                  // a unit that counts in place of the headline where that is a median; empty: the headline counts
	leaves func(row *Row) bool     // tells which rows do not count; nil: all do
}

// declared is the weighting that decides: categories count alike, within them benchmarks, within these variants. So neither a
// category with many benchmarks nor a benchmark with many variants decides by itself.
var declared = weighting{name: "as declared: each category alike, within it each benchmark", groups: byCategory}

func byCategory(row *Row) []string  { return []string{row.Category, benchmarkOf(row)} }
func byBenchmark(row *Row) []string { return []string{benchmarkOf(row)} }
func byFigure(*Row) []string        { return nil }

// wakes are the benchmarks of which each operation wakes a loop that has gone to sleep. Loops that block in the system's poller
// are far behind there, which says much about a mean and little about all else.
var wakes = []string{"PingPongLatency", "WakeFromIdle", "OpenLoopLatency", "CrossLoop", "TimerLateness", "FDRoundTrip"}

// NoWakes is the name of the weighting without them.
const NoWakes = "without wake-ups"

// weightings returns the standings by weightings other than the declared one, to show how much depends on the choice.
func (a *Analysis) weightings() []Weighting {
	all := []weighting{
		{name: "each benchmark alike", groups: byBenchmark},
		{name: "each figure alike", groups: byFigure},
		{name: "99th percentiles instead of medians", groups: byCategory, other: Tail},
		{name: "means instead of medians", groups: byCategory, other: Mean},
		{name: NoWakes, groups: byCategory, leaves: func(row *Row) bool { return slices.Contains(wakes, benchmarkOf(row)) }},
		{name: NoWakes + ", each figure alike", groups: byFigure, leaves: func(row *Row) bool { return slices.Contains(wakes, benchmarkOf(row)) }},
	}
	for _, c := range a.Categories {
		if len(c.Rows) > 0 {
			all = append(all, weighting{name: "without " + c.Name, groups: byCategory, leaves: func(row *Row) bool { return row.Category == c.Name }})
		}
	}
	out := []Weighting{{declared.name, a.Overall, a.Wide}}
	for _, w := range all {
		out = append(out, Weighting{w.name, a.overallBy(w).bare(), a.wideBy(w).bare()})
	}
	return out
}

// bare returns the standing without its rows and weights.
func (s Standing) bare() Standing { return Standing{Reference: s.Reference, Places: s.Places} }

// benchmarkOf is the name of a row's benchmark, without the variant.
func benchmarkOf(row *Row) string {
	name, _, _ := strings.Cut(row.Bench, "/")
	return name
}

// weigh returns the weights of rows, which add up to 1.
func (w weighting) weigh(rows []*Row) []float64 {
	out := make([]float64, len(rows))
	var share func(members []int, depth int, weight float64)
	share = func(members []int, depth int, weight float64) {
		groups := map[string][]int{}
		var names []string
		for _, i := range members {
			name := rows[i].Bench
			if of := w.groups(rows[i]); depth < len(of) {
				name = of[depth]
			}
			if groups[name] == nil {
				names = append(names, name)
			}
			groups[name] = append(groups[name], i)
		}
		for _, name := range names {
			part := weight / float64(len(names))
			if depth >= len(w.groups(rows[groups[name][0]])) {
				out[groups[name][0]] = part
				continue
			}
			share(groups[name], depth+1, part)
		}
	}
	all := make([]int, len(rows))
	for i := range all {
		all[i] = i
	}
	share(all, 0, 1)
	return out
}

// unit returns the unit of a row that counts.
func (w weighting) unit(a *Analysis, row *Row) string {
	if w.other != "" && row.Hides(w.other) && slices.Contains(a.samples.units[row.Bench], w.other) {
		return w.other
	}
	return row.Unit
}
