package main

// The figures: what the rounds have given, and what they tell.

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchunit"

	"github.com/turnloop/turnloop/internal/tournament/stats"
)

// figure is one unit of one benchmark. Of each side it has a value a round; 0 stands for a value that is missing.
type figure struct {
	folder, name, unit string
	values             [sides]map[int]float64
}

type figures map[string]*figure

func (fs figures) add(folder string, r *benchfmt.Result, round, side int) {
	for _, v := range r.Values {
		if v.Unit == "MB/s" { // the same as the time
			continue
		}
		key := folder + " " + r.Name.String() + " " + v.Unit
		f := fs[key]
		if f == nil {
			f = &figure{folder: folder, name: r.Name.String(), unit: v.Unit}
			for i := range f.values {
				f.values[i] = map[int]float64{}
			}
			fs[key] = f
		}
		f.values[side][round] = v.Value
	}
}

// complete returns the figures that have all their values, in the order of their names.
func (fs figures) complete(rounds int) []*figure {
	var all []*figure
	for _, f := range fs {
		if !slices.ContainsFunc(f.values[:], func(v map[int]float64) bool { return len(v) != rounds }) {
			all = append(all, f)
		}
	}
	slices.SortFunc(all, func(a, b *figure) int {
		return cmp.Or(cmp.Compare(a.folder, b.folder), cmp.Compare(a.name, b.name), cmp.Compare(a.unit, b.unit))
	})
	return all
}

// logs returns the logarithms of the ratios of a side to the old tree, one for each round. There are none if a value is 0 where the
// other is not, as a few bytes in some rounds are.
func (f *figure) logs(side int) (logs []float64) {
	for round, before := range f.values[old] {
		switch after := f.values[side][round]; {
		case before == after: // also 0 and 0: allocations
			logs = append(logs, 0)
		case before <= 0 || after <= 0:
			return nil
		case higherIsBetter(f.unit):
			logs = append(logs, math.Log(before/after))
		default:
			logs = append(logs, math.Log(after/before))
		}
	}
	return logs
}

// higherIsBetter tells whether more of a unit is better: such a unit counts per second.
func higherIsBetter(unit string) bool { return strings.HasSuffix(unit, "/s") }

// judge decides all figures of a side as one family.
func judge(all []*figure, side int) map[*figure]stats.Verdict {
	var family []stats.Evidence
	var of []*figure
	for _, f := range all {
		if e, ok := stats.Within(f.logs(side)); ok {
			family, of = append(family, e), append(of, f)
		}
	}
	verdicts := map[*figure]stats.Verdict{}
	for i, v := range stats.Judge(family)[0] {
		verdicts[of[i]] = v
	}
	return verdicts
}

func (f *figure) median(side int) float64 {
	values := slices.Sorted(maps.Values(f.values[side]))
	return (values[(len(values)-1)/2] + values[len(values)/2]) / 2
}

func (f *figure) text(side int) string {
	return benchunit.Scale(f.median(side), benchunit.ClassOf(f.unit))
}

// tolerance is by how much a figure may be worse.
const tolerance = 1.03

// word says what the rounds tell of a figure, given what they tell of the new tree and of the control pair.
func (f *figure) word(ratio, same stats.Verdict) string {
	switch {
	case ratio.Above() && ratio.Low > tolerance && ratio.Low > same.High:
		return "worse"
	case ratio.Below() && ratio.High < 1/tolerance && ratio.High < same.Low:
		return "better"
	case ratio == (stats.Verdict{}) && f.median(old) == 0 && f.median(fresh) > 0:
		return "worse"
	}
	return ""
}

// show prints the table, and tells whether a figure is worse. A ratio above 1 is worse, whatever the unit.
func show(w io.Writer, all []*figure) (worse bool) {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "benchmark\tunit\told\tnew\tnew to old\tcontrol to old\t")
	ratios, same := judge(all, fresh), judge(all, control)
	for _, f := range all {
		word := f.word(ratios[f], same[f])
		worse = worse || word == "worse"
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", f.name, f.unit, f.text(old), f.text(fresh), interval(ratios[f]), interval(same[f]), word)
	}
	table.Flush()
	return worse
}

func interval(v stats.Verdict) string {
	if v == (stats.Verdict{}) {
		return "-"
	}
	return fmt.Sprintf("%.3f [%.3f %.3f]", v.Ratio, v.Low, v.High)
}
