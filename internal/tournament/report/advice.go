// When to choose which loop: what each is best at and gives up, and the rules that follow, all from the figures of the run.

package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/turnloop/turnloop/internal/tournament/bench"
	"github.com/turnloop/turnloop/internal/tournament/record"
	"github.com/turnloop/turnloop/internal/tournament/stats"
)

// advice is the section.
func (d *document) advice() section {
	loops := table{words: 2, head: []string{"loop", "what the figures say of it"}}
	for _, impl := range d.a.Run.Impls {
		if impl.Ranked {
			loops.rows = append(loops.rows, words("`"+impl.Name+"`", strings.Join(d.portrait(impl), " ")))
		}
	}
	return section{"When to choose which loop", "By need and by loop, from nothing but the figures.", []block{
		para("By need; a multiple is of the best."),
		d.needs(),
		para("By loop. “Best” includes what is not distinguishable from the best ranked loop; figures that are not scored do not count here."),
		loops,
	}}
}

// needs says for each need which loops serve it best.
func (d *document) needs() bullets {
	var out bullets
	if names, behind := contenders(d.a.Overall); len(names) > 0 {
		out = append(out, rule("No special need", names, behind, count(len(d.a.Overall.Rows), "figure")))
	}
	for _, c := range d.a.Categories {
		names, behind := contenders(c.Standing)
		if len(names) == 0 {
			continue
		}
		item := rule(c.Name, names, behind, count(len(c.Rows), "figure"))
		var without []string
		for _, impl := range d.a.Run.Impls {
			if d.a.Ranked(impl.Name) && !slices.ContainsFunc(c.Places, func(p stats.Place) bool { return p.Impl == impl.Name }) {
				without = append(without, "`"+impl.Name+"`")
			}
		}
		if len(without) > 0 {
			item += " Without any figure here: " + list(without) + "."
		}
		out = append(out, item)
	}
	var faithful []string
	for _, impl := range d.a.Run.Impls {
		if passed, total, _ := d.conformity(impl.Name); impl.Ranked && total > 0 && passed == total {
			faithful = append(faithful, "`"+impl.Name+"`")
		}
	}
	if len(faithful) > 0 {
		out = append(out, "**Every promise that applies, without a divergence**: "+list(faithful)+".")
	}
	return out
}

// contenders returns the names of the first loop and of those that the run does not separate from it, and those of the others
// with how far behind they are.
func contenders(st stats.Standing) (names, behind []string) {
	for i, p := range st.Places {
		switch {
		case p.Rank == 0:
		case i == 0 || p.Tied:
			names = append(names, "`"+p.Impl+"`")
		default:
			behind = append(behind, fmt.Sprintf("`%s` %s", p.Impl, stats.FormatRatio(p.ToFirst.Center)))
		}
	}
	return names, behind
}

func rule(need string, names, behind []string, figures string) string {
	s := fmt.Sprintf("**%s** (%s): %s", need, figures, list(names))
	if len(names) > 1 {
		s += ", which this run does not separate"
	}
	if len(behind) > 0 {
		s += "; then " + strings.Join(behind, ", ")
	}
	return s + "."
}

// portrait says what a loop is best at and what it gives up.
func (d *document) portrait(impl record.Impl) bullets {
	out := bullets{capital(plain(impl.About)) + "."}
	if !d.a.Ranked(impl.Name) {
		out = append(out, fmt.Sprintf("Not ranked: it %s. Nothing below is a reason to choose it before that is mended.", plain(d.a.Unranked(impl.Name))))
	}
	var best, other, last []*stats.Row
	var behind []distance
	total := 0
	for _, row := range d.a.Rows {
		e := entry(row, impl.Name)
		if e == nil || !e.Value.OK() || !row.Scored {
			continue
		}
		total++
		if e.Best {
			best = append(best, row)
			continue
		}
		other = append(other, row)
		if far, ok := d.distance(row, e); ok {
			behind = append(behind, far)
		}
		if d.a.Ranked(impl.Name) && d.last(row, e) {
			last = append(last, row)
		}
	}
	if total == 0 {
		return append(out, "No figure was measured.")
	}
	if d.a.Ranked(impl.Name) {
		out = append(out, d.reason(impl.Name, len(best)))
	}
	switch {
	case !d.a.Ranked(impl.Name):
	case len(best) == 0:
		out = append(out, fmt.Sprintf("Best at nothing: in each of its %s another loop is measurably ahead.", count(total, "figure")))
	case len(best) == total:
		out = append(out, fmt.Sprintf("Best in all of its %s.", count(total, "figure")))
	case len(best) > len(other):
		out = append(out, fmt.Sprintf("Best in %d of its %s, in all but %s.", len(best), count(total, "figure"), strings.Join(d.grouped(other), "; ")))
	default:
		out = append(out, fmt.Sprintf("Best in %d of its %s: %s.", len(best), count(total, "figure"), strings.Join(d.grouped(best), "; ")))
	}
	for _, p := range d.a.Overall.Places {
		if p.Impl == impl.Name && p.Rank > 1 {
			level := ""
			if p.Tied {
				level = ", which is within noise"
			}
			out = append(out, fmt.Sprintf("Overall price: %s the cost of the first, `%s`, by geometric mean%s.",
				stats.FormatRatio(p.ToFirst.Center), d.a.Overall.Places[0].Impl, level))
		}
	}
	if len(behind) > 0 {
		out = append(out, fmt.Sprintf("Furthest behind the best: %s.", furthest(behind, 5)))
	}
	if len(last) > 0 {
		out = append(out, fmt.Sprintf("Last of the ranked loops in %d: %s.", len(last), strings.Join(d.grouped(last), "; ")))
	}
	out = append(out, d.cannot(impl.Name)...)
	return append(out, d.promises(impl.Name)...)
}

// reason says for what the figures speak in favour of a loop.
func (d *document) reason(impl string, best int) string {
	var first []string
	for _, c := range d.a.Categories {
		if i := slices.IndexFunc(c.Places, func(p stats.Place) bool { return p.Impl == impl }); i >= 0 && (i == 0 || c.Places[i].Tied) {
			first = append(first, c.Name)
		}
	}
	switch {
	case len(first) > 0:
		return "Reason to choose it: first, or not separated from the first, in " + list(first) + "."
	case best > 0:
		return "Reason to choose it: single figures only. It is first in no category."
	}
	return "Reason to choose it: none among the figures of this run."
}

// A distance is how far a loop is behind the best in a row.
type distance struct {
	row   *stats.Row
	best  string
	ratio float64
}

// distance returns how far e is behind the best ranked loop, and false if it is not behind beyond noise. A contestant that is
// not ranked may be ahead of all ranked ones.
func (d *document) distance(row *stats.Row, e *stats.Entry) (distance, bool) {
	far := distance{row: row}
	least := 0.0
	for i := range row.Entries {
		o := &row.Entries[i]
		if o.Value.OK() && d.a.Ranked(o.Impl) && (far.best == "" || o.Value.Center < least) {
			far.best, least = o.Impl, o.Value.Center
		}
	}
	if far.best == "" || far.best == e.Impl || least <= 0 {
		return far, false
	}
	far.ratio = e.Value.Center / least
	if within := d.a.Ratio(row.Bench, row.Unit, e.Impl, far.best); within.OK() {
		far.ratio = within.Center // as the grid has it
	}
	return far, far.ratio > 1 && d.a.Noise.In(row.Category).Beyond(row.Unit, far.ratio)
}

// last tells whether all other ranked loops are ahead of e beyond noise.
func (d *document) last(row *stats.Row, e *stats.Entry) bool {
	others := 0
	for i := range row.Entries {
		o := &row.Entries[i]
		if o.Impl == e.Impl || !o.Value.OK() || !d.a.Ranked(o.Impl) {
			continue
		}
		others++
		if o.Value.Center >= e.Value.Center || o.Value.Center > 0 && !d.a.Noise.In(row.Category).Beyond(row.Unit, e.Value.Center/o.Value.Center) {
			return false
		}
	}
	return others > 0
}

// furthest lists the greatest distances.
func furthest(all []distance, most int) string {
	rounded := func(far distance) float64 { return math.Round(far.ratio * 1000) } // so that equals keep their order
	slices.SortStableFunc(all, func(a, b distance) int { return cmp.Compare(rounded(b), rounded(a)) })
	var items []string
	for _, far := range all[:min(most, len(all))] {
		items = append(items, fmt.Sprintf("%s (%s `%s`)", figureName(far.row), stats.FormatRatio(far.ratio), far.best))
	}
	if rest := len(all) - len(items); rest > 0 {
		items = append(items, fmt.Sprintf("%d more", rest))
	}
	return list(items)
}

// figureName is a row's name, with its unit where that is not the usual one.
func figureName(row *stats.Row) string {
	if unit := unitName(row.Unit); unit != "time" && unit != "p50" {
		return spaced(row.Bench) + " " + unit
	}
	return spaced(row.Bench)
}

// grouped names rows by their benchmarks. It adds the variants where not all scored rows of a benchmark are among the rows.
func (d *document) grouped(rows []*stats.Row) []string {
	variants := map[string][]string{}
	var names []string
	for _, row := range rows {
		name, variant, _ := strings.Cut(row.Bench, "/")
		if variants[name] == nil {
			names = append(names, name)
		}
		variants[name] = append(variants[name], spaced(variant))
	}
	for i, name := range names {
		all := 0
		for _, row := range d.a.Rows {
			if of, _, _ := strings.Cut(row.Bench, "/"); of == name && row.Scored {
				all++
			}
		}
		if len(variants[name]) < all {
			names[i] += " (" + strings.Join(variants[name], ", ") + ")"
		}
	}
	return names
}

// cannot lists, reason by reason, the benchmarks for which a contestant lacks the capability.
func (d *document) cannot(impl string) bullets {
	missing := map[string][]*stats.Row{}
	var reasons []string
	for _, row := range d.a.Rows {
		if e := entry(row, impl); e != nil && e.NA && row.Scored {
			if missing[e.Absent] == nil {
				reasons = append(reasons, e.Absent)
			}
			missing[e.Absent] = append(missing[e.Absent], row)
		}
	}
	var out bullets
	for _, why := range reasons {
		out = append(out, fmt.Sprintf("Without figures: %s, because: %s.", strings.Join(d.grouped(missing[why]), "; "), plain(why)))
	}
	return out
}

// promises says how a loop stands against the conformance suite.
func (d *document) promises(impl string) bullets {
	passed, total, _ := d.conformity(impl)
	if total == 0 {
		return nil
	}
	var diverges []string
	without := 0
	for _, c := range d.a.Run.Checks {
		for _, ch := range c.Checks {
			switch {
			case c.Impl != impl:
			case ch.Outcome == bench.Diverges:
				diverges = append(diverges, plain(ch.Name))
			case ch.Outcome == bench.NotApplicable:
				without++
			}
		}
	}
	rest := ""
	if without > 0 {
		rest = fmt.Sprintf("; %d more do not apply, for want of a capability", without)
	}
	const few = 8
	names := ""
	if n := len(diverges); n > 0 {
		names = fmt.Sprintf("; declared divergences, with reasons above: %s", strings.Join(diverges[:min(n, few)], ", "))
		if n > few {
			names += fmt.Sprintf(" and %d more", n-few)
		}
	}
	return bullets{fmt.Sprintf("Requirements that apply to it: %d of %d met%s%s.", passed, total, rest, names)}
}
