// The analysis: from samples to rows, categories and standings.

package stats

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"

	"github.com/turnloop/turnloop/internal/tournament/record"
)

// unscored figures are shown but do not count. Whether memory is given back after a burst is a matter of policy, yes or
// no, and the ratio of yes to no would outweigh all others in a geometric mean.
var unscored = map[string]bool{"B/burst": true}

// An Analysis is all that a run shows.
type Analysis struct {
	Run         *record.Run `json:"-"`
	Noise       Noise       `json:"noise"`
	Rows        []*Row      `json:"rows"`
	Categories  []Category  `json:"categories"`
	Overall     Standing    `json:"overall"`               // ratios to the reference, over the benchmarks that it can run
	Wide        Standing    `json:"wide"`                  // without the reference, over all benchmarks that count
	Weightings  []Weighting `json:"weightings"`            // both standings by other weights, those by the declared weights first
	ToBest      []Match     `json:"subject_to_best_other"` // the subject against the best other ranked loop
	ToReference []Match     `json:"subject_to_reference"`
	Bars        []Bar       `json:"bars"`
	Flags       []Flag      `json:"flags"`
	Speed       []Speed     `json:"speed_by_round"`
	Comparisons int         `json:"comparisons"` // significance is corrected for their number

	samples *Samples
}

// A Row is a benchmark's headline figure over all contestants. Lower is better.
type Row struct {
	Bench     string   `json:"benchmark"`
	Category  string   `json:"category"`
	Unit      string   `json:"unit"` // a base unit such as sec/op
	Scored    bool     `json:"scored"`
	Reference string   `json:"reference"` // whom the ratios are to
	Entries   []Entry  `json:"entries"`   // every contestant and control, in the order of the run
	Details   []Detail `json:"details,omitempty"`
}

// An Entry is one contestant's place in a row.
type Entry struct {
	Impl    string   `json:"impl"`
	Absent  string   `json:"absent,omitempty"` // why there is no figure
	NA      bool     `json:"na,omitempty"`     // it is absent because the contestant lacks the capability
	Value   Interval `json:"value"`
	Ratio   Interval `json:"ratio"`
	P       float64  `json:"p"` // p-value of the comparison with the reference, corrected
	Verdict Verdict  `json:"verdict,omitempty"`
	Best    bool     `json:"best,omitempty"` // no ranked contestant is faster beyond noise
	Iters   int      `json:"iterations,omitempty"`
}

// A Verdict is what a comparison with the reference says.
type Verdict string

// The verdicts. Faster and slower are significant and beyond the noise floor; for memory they mean less and more.
const (
	Faster Verdict = "faster"
	Slower Verdict = "slower"
	Same   Verdict = "same"
)

// A Detail is a further unit of a row's benchmark.
type Detail struct {
	Unit     string              `json:"unit"`
	Values   map[string]Interval `json:"values"`             // by contestant
	Ratios   map[string]Interval `json:"ratios,omitempty"`   // to the row's reference, of units that are compared where both are positive
	Verdicts map[string]Verdict  `json:"verdicts,omitempty"` // against the row's reference, of units that are compared
}

// Uncertain tells whether the comparison of a contestant with the reference says nothing: no difference was found, and the ratio
// is not known to within a factor of two either.
func (d *Detail) Uncertain(impl string) bool {
	ratio, ok := d.Ratios[impl]
	return ok && d.Verdicts[impl] == Same && ratio.Hi > 2*ratio.Lo
}

// The details that are compared with the reference: high quantiles; the mean where the headline is a median; and allocations.
const (
	Tail        = "p99-sec/op"
	FarTail     = "p99.9-sec/op"
	Mean        = machineUnit
	Allocations = "allocs/op"
)

// Hides tells whether the row's headline hides what a detail in this unit shows: a high quantile, or the mean where the
// headline is a median. A time beside a headline of another kind, such as processor time, is only a further figure.
func (r *Row) Hides(unit string) bool {
	return unit == Tail || unit == FarTail || unit == Mean && strings.HasPrefix(r.Unit, "p50-")
}

// Compares tells whether a detail of the row is compared with the reference, and so gets a verdict.
func (r *Row) Compares(unit string) bool { return unit == Allocations || r.Hides(unit) }

// Load analyses the run in a folder, if it is sound.
func Load(dir string) (*Analysis, error) {
	run, raw, err := record.Read(dir)
	if err != nil {
		return nil, err
	}
	samples, err := Read(bytes.NewReader(raw), filepath.Join(dir, record.RawFile))
	if err != nil {
		return nil, err
	}
	return Analyse(run, samples), nil
}

// Analyse computes everything.
func Analyse(run *record.Run, samples *Samples) *Analysis {
	a := tabulate(run, samples)
	a.compare()
	a.Categories = a.categories()
	a.Overall = a.overall()
	a.Wide = a.wide()
	a.Weightings = a.weightings()
	if a.knows(a.Run.Subject()) {
		a.ToBest = a.matches(true)
		if a.knows(a.Run.Reference()) && a.Run.Reference() != a.Run.Subject() {
			a.ToReference = a.matches(false)
		}
	}
	a.flag()
	return a
}

// tabulate makes the rows and the noise floors, which is all that a comparison of two runs takes.
func tabulate(run *record.Run, samples *Samples) *Analysis {
	a := &Analysis{Run: run, samples: samples}
	a.Noise = noise(run, samples)
	for _, bench := range benches(run) {
		a.Rows = append(a.Rows, a.headline(bench))
	}
	return a
}

// benches returns the benchmarks of a run in the order of reports.
func benches(run *record.Run) []string {
	var out []string
	for _, c := range run.Cells {
		if !slices.Contains(out, c.Bench) {
			out = append(out, c.Bench)
		}
	}
	return out
}

// headline makes the row of one benchmark, from the first of its units that was measured. The others are details.
func (a *Analysis) headline(bench string) *Row {
	info := a.Run.Benchmark(bench)
	measured := a.samples.units[bench]
	var units []string
	for _, u := range info.Units {
		if unit := tidy(u); slices.Contains(measured, unit) {
			units = append(units, unit)
		}
	}
	if len(units) == 0 {
		units = append(slices.Clone(measured), machineUnit)[:1]
	}
	row := a.row(bench, info.Category, units[0])
	for _, unit := range units[1:] {
		d := Detail{Unit: unit, Values: map[string]Interval{}, Ratios: map[string]Interval{}, Verdicts: map[string]Verdict{}}
		for _, impl := range a.Run.Impls {
			if v := a.series(bench, impl.Name, unit).interval(); v.OK() {
				d.Values[impl.Name] = v
			}
		}
		row.Details = append(row.Details, d)
	}
	return row
}

func (a *Analysis) row(bench, category, unit string) *Row {
	row := &Row{Bench: bench, Category: category, Unit: unit, Scored: !unscored[unit] && a.Run.Benchmark(bench).Unscored == ""}
	row.Reference = a.reference(bench, unit)
	for _, impl := range a.Run.Impls {
		e := Entry{Impl: impl.Name, Value: none, Ratio: none, P: 1}
		if s := a.series(bench, impl.Name, unit); len(s) > 0 {
			e.Value = s.interval()
			e.Ratio = s.ratioTo(a.series(bench, row.Reference, unit)).interval()
		} else {
			e.Absent, e.NA = a.absent(bench, impl.Name)
		}
		if c := a.cell(bench, impl.Name); c != nil {
			e.Iters = c.Iters
		}
		row.Entries = append(row.Entries, e)
	}
	return row
}

// reference returns whom a row's ratios are to: the reference, else a control, else the subject, else whoever is there.
func (a *Analysis) reference(bench, unit string) string {
	has := func(impl string) bool { return len(a.series(bench, impl, unit)) > 0 }
	if has(a.Run.Reference()) {
		return a.Run.Reference()
	}
	for _, impl := range a.Run.Impls {
		if !impl.Ranked && has(impl.Name) {
			return impl.Name
		}
	}
	if has(a.Run.Subject()) {
		return a.Run.Subject()
	}
	for _, impl := range a.Run.Impls {
		if has(impl.Name) {
			return impl.Name
		}
	}
	return ""
}

func (a *Analysis) series(bench, impl, unit string) series {
	return a.samples.series[figure{bench, impl, unit}]
}

func (a *Analysis) cell(bench, impl string) *record.Cell {
	for i := range a.Run.Cells {
		if c := &a.Run.Cells[i]; c.Bench == bench && c.Impl == impl {
			return c
		}
	}
	return nil
}

// absent says why a contestant has no figure. na says that it lacks the capability.
func (a *Analysis) absent(bench, impl string) (why string, na bool) {
	c := a.cell(bench, impl)
	switch {
	case c == nil:
		return "does not take part", true
	case c.NA != "":
		return c.NA, true
	case c.LeftOut != "":
		return c.LeftOut, false
	case len(c.Failures) > 0:
		return "failed: " + c.Failures[len(c.Failures)-1].Reason, false
	}
	return "not measured", false
}

// entry returns a contestant's place in the row.
func (r *Row) entry(impl string) *Entry {
	for i := range r.Entries {
		if r.Entries[i].Impl == impl {
			return &r.Entries[i]
		}
	}
	return nil
}

// Detail returns a further unit of the row, nil if it was not measured.
func (r *Row) Detail(unit string) *Detail {
	for i := range r.Details {
		if r.Details[i].Unit == unit {
			return &r.Details[i]
		}
	}
	return nil
}

// Has tells whether the row has a figure of the contestant.
func (r *Row) Has(impl string) bool {
	e := r.entry(impl)
	return e != nil && e.Value.OK()
}

// compare makes three families of tests, each corrected for its size: every entry against its reference, every ranked entry
// against the fastest of its row, and the compared details against the reference.
func (a *Analysis) compare() {
	var toReference, toFastest []float64
	var entries, rivals []*Entry
	type rivalry struct {
		row  *Row
		best *Entry
	}
	fastest := map[*Entry]rivalry{}
	rows := map[*Entry]*Row{}
	for _, row := range a.Rows {
		values := func(e *Entry) series { return a.series(row.Bench, e.Impl, row.Unit) }
		var best *Entry
		for i := range row.Entries {
			e := &row.Entries[i]
			if !e.Value.OK() {
				continue
			}
			if e.Impl != row.Reference {
				entries = append(entries, e)
				rows[e] = row
				toReference = append(toReference, mannWhitney(values(e), a.series(row.Bench, row.Reference, row.Unit)))
			}
			if a.Ranked(e.Impl) && (best == nil || e.Value.Center < best.Value.Center) {
				best = e
			}
		}
		if best == nil {
			continue
		}
		best.Best = true
		for i := range row.Entries {
			if e := &row.Entries[i]; e != best && e.Value.OK() && a.Ranked(e.Impl) {
				rivals = append(rivals, e)
				toFastest = append(toFastest, mannWhitney(values(e), values(best)))
				fastest[e] = rivalry{row, best}
			}
		}
	}
	a.Comparisons = len(toReference)
	for i, p := range holm(toReference) {
		e := entries[i]
		e.P, e.Verdict = p, a.Noise.In(rows[e].Category).verdict(rows[e].Unit, e.Ratio.Center, p)
	}
	for i, p := range holm(toFastest) {
		e := rivals[i]
		f := fastest[e]
		e.Best = !significant(p) || !a.Noise.In(f.row.Category).Beyond(f.row.Unit, e.Value.Center/f.best.Value.Center)
	}
	a.compareDetails()
}

func (a *Analysis) compareDetails() {
	type comparison struct {
		row    *Row
		detail *Detail
		impl   string
		ratio  float64
	}
	var all []comparison
	var ps []float64
	for _, row := range a.Rows {
		for i := range row.Details {
			d := &row.Details[i]
			reference, ok := d.Values[row.Reference]
			if !ok || !row.Compares(d.Unit) {
				continue
			}
			to := a.series(row.Bench, row.Reference, d.Unit)
			for _, impl := range a.Run.Impls {
				value, ok := d.Values[impl.Name]
				if !ok || impl.Name == row.Reference {
					continue
				}
				s := a.series(row.Bench, impl.Name, d.Unit)
				ratio := value.Center / reference.Center // where there is no allocation, rounds have no ratio
				if r := s.ratioTo(to).interval(); r.OK() && value.Center > 0 && reference.Center > 0 {
					d.Ratios[impl.Name] = r
					ratio = r.Center
				}
				all = append(all, comparison{row, d, impl.Name, ratio})
				ps = append(ps, mannWhitney(s, to))
			}
		}
	}
	for i, p := range holm(ps) {
		c := all[i]
		c.detail.Verdicts[c.impl] = a.Noise.In(c.row.Category).verdict(c.detail.Unit, c.ratio, p)
	}
}

func significant(p float64) bool { return p < 1-confidence }
