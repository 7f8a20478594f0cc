// The figures by category: what each benchmark measures, its table, and further units.

package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/turnloop/turnloop/internal/tournament/stats"
)

// figures is one section per category: its chart, its table, further units.
func (d *document) figures() section {
	out := []block{
		para("Each cell: the median ratio to the row's reference, then the median itself with the half-width of its 95 % interval. " +
			"Ratios are taken within each round, so they may differ a little from the quotient of two medians. " +
			"Bold: the best ranked loop and those not distinguishable from it. “~”: not distinguishable from the reference, by a " +
			"Mann-Whitney test corrected for " + count(d.a.Comparisons, "comparison") + " and the noise floor of its unit. " +
			"Means and high quantiles below a median are shown, and do not count in geometric means."),
	}
	charts := d.charts()
	for _, cat := range d.a.Categories {
		out = append(out, heading{3, cat.Name})
		if i := slices.IndexFunc(charts, func(c *chart) bool { return c.file == slug(cat.Name)+".svg" }); i >= 0 {
			out = append(out, figure{charts[i]})
		}
		out = append(out, d.measures(cat.Name), d.categoryTable(cat.Name))
		if t := d.detailTable(cat.Name); len(t.rows) > 0 {
			out = append(out, details{"Further units: allocations, extremes", []block{t}})
		}
		if t := d.absences(cat.Name); len(t.rows) > 0 {
			out = append(out, details{"Why figures are missing", []block{t}})
		}
	}
	return section{"Figures by category", "What each benchmark measures and why, and every figure with its interval.", out}
}

// measures explains the benchmarks of a category.
func (d *document) measures(category string) bullets {
	var items bullets
	for _, b := range d.a.Run.Benchmarks {
		used := slices.ContainsFunc(d.a.Rows, func(r *stats.Row) bool {
			name, _, _ := strings.Cut(r.Bench, "/")
			return r.Category == category && name == b.Name
		})
		if used {
			item := fmt.Sprintf("**%s** (per %s): %s. %s.", b.Name, b.Op, b.Measures, capital(b.Why))
			if b.Unscored != "" {
				item += " Not scored: " + b.Unscored + "."
			}
			items = append(items, item)
		}
	}
	return items
}

func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

func (d *document) categoryTable(category string) table {
	impls := d.present(category)
	t := table{head: append([]string{"benchmark"}, codes(impls)...)}
	for _, row := range d.a.Rows {
		if row.Category != category || !slices.ContainsFunc(impls, row.Has) {
			continue // the table of absences says why there is none
		}
		name := spaced(row.Bench)
		if unit := unitName(row.Unit); unit != "time" {
			name += ", " + unit
		}
		if row.Reference != d.a.Run.Reference() {
			name += " (to `" + row.Reference + "`)"
		}
		if !row.Scored {
			name += " (not scored)"
		}
		cells := []cell{{text: name}}
		for _, impl := range impls {
			cells = append(cells, entryCell(row, impl))
		}
		t.rows = append(t.rows, cells)
		for i := range row.Details {
			if detail := &row.Details[i]; row.Hides(detail.Unit) {
				unit := unitName(detail.Unit)
				if detail.Unit == stats.Mean {
					unit = "mean"
				}
				cells := words(spaced(row.Bench) + ", " + unit)
				for _, impl := range impls {
					cells = append(cells, detailCell(detail, row.Reference, impl))
				}
				t.rows = append(t.rows, cells)
			}
		}
	}
	return t
}

func detailCell(detail *stats.Detail, reference, impl string) cell {
	v, ok := detail.Values[impl]
	if !ok {
		return cell{text: "–"}
	}
	text := stats.Format(v.Center, detail.Unit) + "\u00a0" + stats.FormatRange(v)
	if ratio, ok := detail.Ratios[impl]; ok && impl != reference {
		mark := ""
		if detail.Verdicts[impl] == stats.Same {
			mark = "~"
		}
		text = mark + stats.FormatRatio(ratio.Center) + " " + text
	}
	return valueCell(text, v.Center, detail.Unit)
}

// present returns the contestants with any figure in a category.
func (d *document) present(category string) []string {
	return slices.DeleteFunc(slices.Clone(d.impls), func(impl string) bool {
		return !slices.ContainsFunc(d.a.Rows, func(r *stats.Row) bool { return r.Category == category && r.Has(impl) })
	})
}

// unitName is a unit as tables name it: "time" for sec/op, "p99" for p99-sec/op, "B/loop".
func unitName(unit string) string {
	unit = strings.TrimSuffix(strings.TrimSuffix(unit, "/op"), "-sec")
	if unit == "sec" {
		return "time"
	}
	return unit
}

func entryCell(row *stats.Row, impl string) cell {
	e := entry(row, impl)
	if e == nil || !e.Value.OK() {
		if e == nil || e.NA {
			return cell{text: "n/a"}
		}
		return cell{text: "none"}
	}
	value := stats.Format(e.Value.Center, row.Unit) + "\u00a0" + stats.FormatRange(e.Value)
	ratio := ""
	if impl != row.Reference && e.Ratio.OK() {
		ratio = stats.FormatRatio(e.Ratio.Center)
		if e.Verdict == stats.Same {
			ratio = "~" + ratio
		}
		ratio += " "
	}
	text := ratio + value
	if e.Best {
		text = "**" + text + "**"
	}
	return valueCell(text, e.Value.Center, row.Unit)
}

func (d *document) detailTable(category string) table {
	impls := d.present(category)
	t := table{words: 2, head: append([]string{"benchmark", "unit"}, codes(impls)...)}
	for _, row := range d.a.Rows {
		if row.Category != category {
			continue
		}
		for _, detail := range row.Details {
			if row.Hides(detail.Unit) {
				continue // stands with the headline
			}
			cells := words(spaced(row.Bench), unitName(detail.Unit))
			for _, impl := range impls {
				v, ok := detail.Values[impl]
				if !ok {
					cells = append(cells, cell{text: "–"})
					continue
				}
				cells = append(cells, valueCell(stats.Format(v.Center, detail.Unit), v.Center, detail.Unit))
			}
			t.rows = append(t.rows, cells)
		}
	}
	return t
}

// absences lists why contestants have no figure, benchmarks with the same reason together.
func (d *document) absences(category string) table {
	type key struct{ impl, why string }
	benches := map[key][]string{}
	var order []key
	for _, row := range d.a.Rows {
		if row.Category != category {
			continue
		}
		for _, e := range row.Entries {
			if e.Value.OK() || e.Absent == "does not take part" {
				continue
			}
			k := key{e.Impl, e.Absent}
			if benches[k] == nil {
				order = append(order, k)
			}
			benches[k] = append(benches[k], spaced(row.Bench))
		}
	}
	t := table{head: []string{"contestant", "reason", "figures"}, words: 3}
	for _, k := range order {
		t.rows = append(t.rows, words("`"+k.impl+"`", plain(k.why), strings.Join(benches[k], ", ")))
	}
	return t
}
