package main

// The figures: what the rounds have given, and what they tell.

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"text/tabwriter"

	"github.com/aclements/go-moremath/stats"
	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchunit"
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

// interval is a ratio with its 95 % confidence interval.
type interval struct{ low, ratio, high float64 }

func (i interval) String() string { return fmt.Sprintf("%.3f [%.3f %.3f]", i.ratio, i.low, i.high) }

// to returns how a side compares with the old tree: the geometric mean of the ratios within rounds, by Student's t of their
// logarithms.
func (f *figure) to(side int) (i interval, ok bool) {
	var logs []float64
	for round, before := range f.values[old] {
		after := f.values[side][round]
		switch {
		case before == after: // also 0 and 0: allocations
			logs = append(logs, 0)
		case before <= 0 || after <= 0:
			return i, false
		default:
			logs = append(logs, math.Log(after/before))
		}
	}
	sample := stats.Sample{Xs: logs}
	mean, n := sample.Mean(), float64(len(logs))
	half := stats.InvCDF(stats.TDist{V: n - 1})(0.975) * sample.StdDev() / math.Sqrt(n)
	return interval{math.Exp(mean - half), math.Exp(mean), math.Exp(mean + half)}, true
}

func (f *figure) median(side int) float64 {
	return stats.Sample{Xs: slices.Collect(maps.Values(f.values[side]))}.Quantile(0.5)
}

func (f *figure) text(side int) string {
	return benchunit.Scale(f.median(side), benchunit.ClassOf(f.unit))
}

// tolerance is by how much a figure may be worse.
const tolerance = 1.03

// verdict says what the rounds tell of the new tree. A unit of which more is better is one that counts per second.
func (f *figure) verdict() (word string, worse bool) {
	ratio, ok := f.to(fresh)
	same, okControl := f.to(control)
	switch {
	case !ok || !okControl: // a few bytes in some rounds, none in others
		if worse = f.median(fresh) > 0 && f.median(old) == 0; worse {
			word = "worse"
		}
		return word, worse
	case len(f.unit) > 2 && f.unit[len(f.unit)-2:] == "/s":
		ratio = interval{1 / ratio.high, 1 / ratio.ratio, 1 / ratio.low}
		same = interval{1 / same.high, 1 / same.ratio, 1 / same.low}
	}
	switch {
	case ratio.low > tolerance && ratio.low > same.high:
		return "worse", true
	case ratio.high < 1/tolerance && ratio.high < same.low:
		return "better", false
	}
	return "", false
}

// show prints the table, and tells whether a figure is worse.
func show(w io.Writer, all []*figure) (worse bool) {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "benchmark\tunit\told\tnew\tnew/old, 95 %\tcontrol/old\t")
	for _, f := range all {
		word, bad := f.verdict()
		worse = worse || bad
		ratio, ok := f.to(fresh)
		same, okControl := f.to(control)
		text := [2]string{"-", "-"}
		if ok {
			text[0] = ratio.String()
		}
		if okControl {
			text[1] = same.String()
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", f.name, f.unit, f.text(old), f.text(fresh), text[0], text[1], word)
	}
	table.Flush()
	return worse
}
