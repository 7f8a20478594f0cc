// Standings: geometric means of ratios over the cells that contestants have in common.

package stats

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// A Standing ranks contestants by a geometric mean.
type Standing struct {
	Reference string   `json:"reference"` // whose geometric mean is 1
	Rows      []string `json:"rows"`      // what counts
	Missing   []string `json:"missing"`   // what does not, and why
	Places    []Place  `json:"places"`    // the ranked, best first, then the others
}

// A Place is one contestant's.
type Place struct {
	Impl    string   `json:"impl"`
	Rank    int      `json:"rank"` // 0: not ranked
	Why     string   `json:"why,omitempty"`
	Mean    Interval `json:"mean"`     // of the ratios to the reference
	ToFirst Interval `json:"to_first"` // of the ratios to the first
	Tied    bool     `json:"tied"`     // not separated from the first by this run
}

// A Category is a group of benchmarks with its own geometric means.
type Category struct {
	Name string `json:"name"`
	Standing
}

// FewestRounds is how many values an interval of their median needs. A mean over figures needs them from every cell.
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
			const few = 5 // the matrix has them all
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

// overall ranks against the reference, over the rows that every ranked contestant has.
func (a *Analysis) overall() Standing {
	return a.standing(a.Rows, a.ranked(), Reference)
}

// wide ranks the others relative to the subject, over the rows that all of them have: also those for which the reference has
// no capability.
func (a *Analysis) wide() Standing {
	ranked := slices.DeleteFunc(a.ranked(), func(impl string) bool { return impl == Reference })
	if len(ranked) == 0 {
		return Standing{}
	}
	reference := Subject
	if !slices.Contains(ranked, Subject) {
		reference = ranked[0]
	}
	return a.standing(a.Rows, ranked, reference)
}

// categories ranks within each category, over the rows that all ranked contestants have who have any there.
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
				references[row.Reference]++
			}
		}
		reference := Reference
		if references[Reference] == 0 {
			reference = rows[0].Reference
			for _, row := range rows {
				if references[row.Reference] > references[reference] {
					reference = row.Reference
				}
			}
		}
		present := slices.DeleteFunc(a.ranked(), func(impl string) bool {
			return !slices.ContainsFunc(rows, func(r *Row) bool { return r.Scored && r.Has(impl) })
		})
		out = append(out, Category{Name: name, Standing: a.standing(rows, present, reference)})
	}
	return out
}

// standing ranks members over the scored rows that all of them and the reference have with positive values.
func (a *Analysis) standing(rows []*Row, members []string, reference string) Standing {
	st := Standing{Reference: reference}
	var common []*Row
	for _, row := range rows {
		if !row.Scored {
			continue
		}
		if why := a.lacks(row, append(slices.Clone(members), reference)); why != "" {
			st.Missing = append(st.Missing, row.Bench+": "+why)
			continue
		}
		common = append(common, row)
		st.Rows = append(st.Rows, row.Bench)
	}
	if len(common) == 0 {
		return st
	}
	mean := func(impl, to string) series {
		ratios := make([]series, len(common))
		for i, row := range common {
			ratios[i] = a.series(row.Bench, impl, row.Unit).over(a.series(row.Bench, to, row.Unit))
		}
		return geomean(ratios)
	}
	for _, impl := range a.Run.Impls {
		p := Place{Impl: impl.Name, Why: a.Unranked(impl.Name), Mean: mean(impl.Name, reference).interval(), ToFirst: none}
		if p.Why == "" && !slices.Contains(members, impl.Name) {
			continue // without any of these capabilities
		}
		if p.Mean.OK() {
			st.Places = append(st.Places, p)
		}
	}
	slices.SortStableFunc(st.Places, func(x, y Place) int {
		if (x.Why == "") != (y.Why == "") {
			return cmp.Compare(x.Why, y.Why)
		}
		return cmp.Compare(x.Mean.Center, y.Mean.Center)
	})
	for i := range st.Places {
		p := &st.Places[i]
		if p.Why != "" {
			continue
		}
		p.Rank = i + 1
		p.ToFirst = mean(p.Impl, st.Places[0].Impl).interval()
		p.Tied = i > 0 && !a.Noise.BeyondMean(common, p.ToFirst)
	}
	return st
}

// lacks says who of impls has no usable figure in the row, and why.
func (a *Analysis) lacks(row *Row, impls []string) string {
	for _, impl := range impls {
		e := row.entry(impl)
		switch {
		case e == nil:
			return fmt.Sprintf("%s does not take part", impl)
		case !e.Value.OK():
			return fmt.Sprintf("%s: %s", impl, e.Absent)
		case e.Value.N < min(FewestRounds, a.Run.Rounds):
			return fmt.Sprintf("%s was measured in %d of %d rounds only", impl, e.Value.N, a.Run.Rounds)
		case e.Value.Center <= 0 || math.IsNaN(e.Ratio.Center) && row.Reference != "":
			return fmt.Sprintf("%s measures 0, which has no ratio", impl)
		}
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
