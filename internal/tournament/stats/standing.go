// Standings: weighted geometric means over a set of figures that does not depend on who takes part.

package stats

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/turnloop/turnloop/internal/tournament/record"
)

// A Standing ranks contestants by a geometric mean. What counts is fixed by the benchmarks and the reference: a contestant that
// joins, leaves, or lacks a figure changes nobody else's mean. One that lacks a figure has no rank.
type Standing struct {
	Reference string    `json:"reference"`         // the contestant whose geometric mean is 1
	Rows      []string  `json:"rows,omitempty"`    // the rows that count
	Weights   []float64 `json:"weights,omitempty"` // the weight of each of these rows; 1 in all
	Missing   []string  `json:"missing,omitempty"` // the rows that do not count, and why
	Places    []Place   `json:"places"`            // the ranked, best first, then the others
}

// A Place is one contestant's.
type Place struct {
	Impl    string   `json:"impl"`
	Rank    int      `json:"rank"` // 0: not ranked
	Why     string   `json:"why,omitempty"`
	Lacks   []string `json:"lacks,omitempty"` // the figures without which there is no rank; the mean is over the others
	Score   float64  `json:"score"`           // the mean of the figures themselves, in nanoseconds and bytes: it depends on nobody else
	Mean    Interval `json:"mean"`            // of the ratios to the reference
	ToFirst Interval `json:"to_first"`        // of the ratios to the first
	Tied    bool     `json:"tied"`            // this run does not separate it from the first
}

// A Category is a group of benchmarks with its own geometric means.
type Category struct {
	Name string `json:"name"`
	Standing
}

// FewestRounds is the least number of values for which the median has an interval. A mean over figures needs as many from every
// cell.
const FewestRounds = 6

// Ranked tells whether a contestant takes part in the ranking.
func (a *Analysis) Ranked(impl string) bool { return a.Unranked(impl) == "" }

// Unranked returns why a contestant is not ranked, empty if it is.
func (a *Analysis) Unranked(impl string) string {
	if !a.Run.Impl(impl).Ranked {
		return "a control"
	}
	for _, c := range a.Run.Checks {
		if c.Impl != impl {
			continue
		}
		if failed := c.Failed(); len(failed) > 0 {
			const few = 5 // the most checks that are named here; the report's table of the suite has all
			why := "fails " + strings.Join(failed[:min(few, len(failed))], ", ")
			if more := len(failed) - few; more > 0 {
				why += fmt.Sprintf(" and %d more", more)
			}
			return why
		}
		if len(c.Checks) == 0 {
			return "no conformance result: " + c.Note
		}
	}
	return ""
}

// ranked returns the ranked contestants in the order of the run, those that have any figure at all.
func (a *Analysis) ranked() []string {
	var out []string
	for _, impl := range a.Run.Impls {
		if a.Ranked(impl.Name) && slices.ContainsFunc(a.Rows, func(r *Row) bool { return r.Has(impl.Name) }) {
			out = append(out, impl.Name)
		}
	}
	return out
}

// overall ranks by ratios to the reference, over the rows that the reference has: of the core set, if the run declares one.
func (a *Analysis) overall() Standing { return a.overallBy(declared) }

func (a *Analysis) overallBy(w weighting) Standing {
	if !a.knows(a.Run.Reference()) {
		return Standing{}
	}
	return a.standing(w, a.core(), a.ranked(), a.Run.Reference(), a.Run.Reference())
}

// core returns the rows of the core set, all if none is declared.
func (a *Analysis) core() []*Row {
	if !slices.ContainsFunc(a.Run.Benchmarks, func(b record.Benchmark) bool { return len(b.Core) > 0 }) {
		return a.Rows
	}
	return slices.DeleteFunc(slices.Clone(a.Rows), func(row *Row) bool {
		return !slices.Contains(a.Run.Benchmark(row.Bench).Core, row.Bench)
	})
}

// wide ranks without the reference, by ratios to the subject, over all rows: also those for which the reference lacks the
// capability.
func (a *Analysis) wide() Standing { return a.wideBy(declared) }

func (a *Analysis) wideBy(w weighting) Standing {
	ranked := slices.DeleteFunc(a.ranked(), func(impl string) bool { return impl == a.Run.Reference() })
	if len(ranked) == 0 {
		return Standing{}
	}
	reference := a.Run.Subject()
	if !slices.Contains(ranked, a.Run.Subject()) {
		reference = ranked[0]
	}
	return a.standing(w, a.Rows, ranked, reference, "")
}

// categories ranks within each category, over the rows that the reference has there, and over all where it has none.
func (a *Analysis) categories() []Category {
	var names []string
	for _, row := range a.Rows {
		if !slices.Contains(names, row.Category) {
			names = append(names, row.Category)
		}
	}
	out := make([]Category, 0, len(names))
	for _, name := range names {
		var rows []*Row
		references := map[string]int{}
		for _, row := range a.Rows {
			if row.Category == name {
				rows = append(rows, row)
				if row.Scored {
					references[row.Reference]++
				}
			}
		}
		reference, fixedBy := a.Run.Reference(), a.Run.Reference()
		if references[a.Run.Reference()] == 0 {
			reference, fixedBy = rows[0].Reference, ""
			for _, row := range rows {
				if references[row.Reference] > references[reference] {
					reference = row.Reference
				}
			}
		}
		present := slices.DeleteFunc(a.ranked(), func(impl string) bool {
			return !slices.ContainsFunc(rows, func(r *Row) bool { return r.Scored && r.Has(impl) })
		})
		out = append(out, Category{Name: name, Standing: a.standing(declared, rows, present, reference, fixedBy)})
	}
	return out
}

// standing ranks members over the scored rows that any of them has, or, if fixedBy is given, over those that fixedBy has. Means
// are of ratios to the reference, over the rows that it has.
func (a *Analysis) standing(w weighting, rows []*Row, members []string, reference, fixedBy string) Standing {
	st := Standing{Reference: reference}
	var counted []*Row
	for _, row := range rows {
		if !row.Scored {
			continue
		}
		switch why := a.lacks(row, fixedBy, w.unit(a, row)); {
		case w.leaves != nil && w.leaves(row):
			st.Missing = append(st.Missing, row.Bench+": left out of this weighting")
		case fixedBy != "" && why != "":
			st.Missing = append(st.Missing, row.Bench+": "+fixedBy+": "+why)
		case !slices.ContainsFunc(members, row.Has):
			st.Missing = append(st.Missing, row.Bench+": nobody has a figure")
		default:
			counted = append(counted, row)
			st.Rows = append(st.Rows, row.Bench)
		}
	}
	if len(counted) == 0 {
		return st
	}
	st.Weights = w.weigh(counted)
	for _, impl := range a.Run.Impls {
		p := Place{Impl: impl.Name, Why: a.Unranked(impl.Name), ToFirst: none}
		if p.Why == "" && !slices.Contains(members, impl.Name) {
			continue // without any of these capabilities
		}
		has := make([]bool, len(counted))
		for i, row := range counted {
			why := a.lacks(row, impl.Name, w.unit(a, row))
			if has[i] = why == ""; !has[i] {
				p.Lacks = append(p.Lacks, row.Bench+": "+why)
			}
		}
		if len(p.Lacks) > 0 && !impl.Ranked {
			continue // a control stands beside the contestants only where it does all that they do
		}
		if n := len(p.Lacks); n > 0 && p.Why == "" {
			p.Why = fmt.Sprintf("lacks %d of %d figures", n, len(counted))
		}
		p.Mean = a.mean(w, counted, st.Weights, impl.Name, reference).interval()
		p.Score = a.score(w, counted, st.Weights, impl.Name)
		if p.Mean.OK() {
			st.Places = append(st.Places, p)
		}
	}
	slices.SortStableFunc(st.Places, func(x, y Place) int {
		if (x.Why == "") != (y.Why == "") {
			return cmp.Compare(x.Why, y.Why)
		}
		return cmp.Or(cmp.Compare(x.Mean.Center, y.Mean.Center), cmp.Compare(x.Impl, y.Impl))
	})
	for i := range st.Places {
		p := &st.Places[i]
		if p.Why != "" {
			if st.Places[0].Why == "" && len(p.Lacks) > 0 { // over what it has
				p.ToFirst = a.mean(w, counted, st.Weights, p.Impl, st.Places[0].Impl).interval()
			}
			continue
		}
		p.Rank = i + 1
		p.ToFirst = a.mean(w, counted, st.Weights, p.Impl, st.Places[0].Impl).interval()
		p.Tied = i > 0 && !a.Noise.BeyondMean(counted, p.ToFirst)
	}
	return st
}

// mean returns the weighted geometric mean of a contestant's ratios to another in each round, over the rows that both have.
func (a *Analysis) mean(w weighting, rows []*Row, weights []float64, impl, to string) series {
	var ratios []series
	var shares []float64
	for i, row := range rows {
		if unit := w.unit(a, row); a.lacks(row, impl, unit) == "" && a.lacks(row, to, unit) == "" {
			ratios = append(ratios, a.series(row.Bench, impl, unit).ratioTo(a.series(row.Bench, to, unit)))
			shares = append(shares, weights[i])
		}
	}
	return weightedGeomean(ratios, shares)
}

// score returns the weighted geometric mean of a contestant's own figures, in nanoseconds and bytes.
func (a *Analysis) score(w weighting, rows []*Row, weights []float64, impl string) float64 {
	sum, total := 0.0, 0.0
	for i, row := range rows {
		unit := w.unit(a, row)
		if a.lacks(row, impl, unit) != "" {
			continue
		}
		value := a.series(row.Bench, impl, unit).interval().Center
		if IsTime(unit) {
			value *= 1e9
		}
		sum += weights[i] * math.Log(value)
		total += weights[i]
	}
	return math.Exp(sum / total)
}

// lacks says why a contestant has no usable figure of a unit in the row, nothing if it has one.
func (a *Analysis) lacks(row *Row, impl, unit string) string {
	e := row.entry(impl)
	if e == nil {
		return "does not take part"
	}
	if !e.Value.OK() {
		return e.Absent
	}
	value := e.Value
	if unit != row.Unit {
		value = a.series(row.Bench, impl, unit).interval()
	}
	switch {
	case !value.OK():
		return "has no " + unit
	case value.N < min(FewestRounds, a.Run.Rounds):
		return fmt.Sprintf("was measured in %d of %d rounds only", value.N, a.Run.Rounds)
	case value.Center <= 0:
		return "measures 0, which has no ratio"
	}
	return ""
}

// place returns a contestant's place.
func (s Standing) place(impl string) (Place, bool) {
	for _, p := range s.Places {
		if p.Impl == impl {
			return p, true
		}
	}
	return Place{}, false
}

// First returns the best ranked place.
func (s Standing) First() (Place, bool) {
	if len(s.Places) == 0 || s.Places[0].Rank == 0 {
		return Place{}, false
	}
	return s.Places[0], true
}
