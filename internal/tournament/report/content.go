// The content of the report, section by section, the verdict first.

package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/turnloop/turnloop/internal/tournament/record"
	"github.com/turnloop/turnloop/internal/tournament/stats"
)

// blocks returns the whole report. base leads to the run's folder, runs are other runs to point to.
func (d *document) blocks(base string, runs []link) []block {
	out := []block{heading{1, d.title()}}
	if label := d.label(); label != "" {
		out = append(out, para("**"+plain(label)+"**"))
	}
	for _, s := range d.verdict() {
		out = append(out, para(s))
	}
	out = append(out, para(d.summary(base)))
	out = append(out, d.bars()...)
	out = append(out, d.ranking()...)
	out = append(out, d.conformance()...)
	out = append(out, d.figures()...)
	out = append(out, d.advice()...)
	out = append(out, d.caveats()...)
	out = append(out, d.environment()...)
	return append(out, d.reproduce(base, runs)...)
}

// summary is one line on what the figures come from.
func (d *document) summary(base string) string {
	run := d.a.Run
	when := ""
	if len(run.Sessions) > 0 {
		when = " on " + run.Sessions[0].Started.UTC().Format("2 January 2006")
	}
	s := fmt.Sprintf("Measured%s in %s, each cell in a process of its own, on %s with %s and GOMAXPROCS=%d; commit %s.", when,
		count(run.Rounds, "round"), cmp.Or(plain(run.Env.CPU), "an unknown CPU"), run.Binary.Go, run.Env.GOMAXPROCS, d.commit())
	if run.Blocks {
		s += " Every round takes the benchmarks in a new random order, and within one all contestants back to back, again in random order."
	}
	if base != "" {
		s += fmt.Sprintf(" All of this with sortable tables: [%sindex.html](%sindex.html).", base, base)
	}
	return s
}

func (d *document) bars() []block {
	if len(d.a.Bars) == 0 {
		return nil
	}
	counts := map[bool]map[stats.State]int{true: {}, false: {}} // of the subject, of others
	t := table{words: 4, head: []string{"what", "bar", "measured", "result"}}
	for _, b := range d.a.Bars {
		subject := b.Of == stats.Subject
		counts[subject][b.State]++
		result := string(b.State)
		if b.State == stats.Missed {
			result = "**missed**"
		}
		if b.Note != "" {
			result += ": " + plain(b.Note)
			if b.State == stats.Missed && strings.HasPrefix(b.Note, "by ") {
				result = "**missed** " + plain(b.Note)
			}
		}
		what := b.What
		if !subject {
			what = fmt.Sprintf("`%s` in %s", b.Of, what)
		}
		t.rows = append(t.rows, words(what, b.Demand, cmp.Or(b.Measured, "–"), result))
	}
	tally := func(n map[stats.State]int) string {
		return fmt.Sprintf("%d met, %d missed, %d not measured", n[stats.Met], n[stats.Missed], n[stats.NotMeasured])
	}
	intro := fmt.Sprintf("What the specification demands of `%s`: %s.", stats.Subject, tally(counts[true]))
	if len(counts[false]) > 0 {
		intro += fmt.Sprintf(" What is expected among the rivals, at the end of the table: %s.", tally(counts[false]))
	}
	return []block{
		heading{2, "Bars"},
		para(intro + " Values are medians with their 95 % intervals; a bar is met or missed by the median."),
		t,
	}
}

func (d *document) ranking() []block {
	out := []block{heading{2, "Ranking"}}
	charts := d.charts()
	if len(d.a.Overall.Places) > 0 {
		out = append(out, figure{charts[0]})
	}
	out = append(out, d.standing(d.a.Overall, "The geometric mean of a loop's ratios to `%s`, over %s that all ranked loops have in common.")...)
	if d.wider() {
		out = append(out, d.standing(d.a.Wide, "Relative to `%s`, over %s that all ranked loops but `"+stats.Reference+"` have in common.")...)
	}
	return append(out, d.byCategory()...)
}

func (d *document) standing(st stats.Standing, intro string) []block {
	if len(st.Places) == 0 {
		return []block{para("No figure was measured for all ranked loops" + missingNote(st) + ".")}
	}
	t := table{words: 2, head: []string{"", "loop", "geometric mean", "95 % interval", "to the first"}}
	if slices.ContainsFunc(st.Places, func(p stats.Place) bool { return p.Rank == 0 || p.Tied }) {
		t.head = append(t.head, "")
	}
	for _, p := range st.Places {
		rank, note, toFirst := fmt.Sprint(p.Rank), "", stats.FormatRatio(p.ToFirst.Center)
		if p.Rank == 0 {
			rank, toFirst = "–", "–"
			note = "not ranked: " + plain(p.Why)
		}
		if p.Tied {
			note = "not separated from the first"
		}
		row := []cell{{text: rank}, {text: "`" + p.Impl + "`"},
			{text: stats.FormatRatio(p.Mean.Center), key: p.Mean.Center, by: true},
			{text: stats.FormatRatioRange(p.Mean)}, {text: toFirst}, {text: note}}
		t.rows = append(t.rows, row[:len(t.head)])
	}
	out := []block{para(fmt.Sprintf(intro, st.Reference, count(len(st.Rows), "figure"))), t}
	if len(st.Missing) > 0 {
		var items bullets
		for _, m := range st.Missing {
			items = append(items, plain(m))
		}
		out = append(out, details{fmt.Sprintf("Not counted here: %s, and why", count(len(st.Missing), "figure")), []block{items}})
	}
	return out
}

func missingNote(st stats.Standing) string {
	if len(st.Missing) == 0 {
		return ""
	}
	return " (" + plain(st.Missing[0]) + ")"
}

// byCategory is the table of geometric means by category.
func (d *document) byCategory() []block {
	var ranked []string
	for _, impl := range d.impls {
		if d.a.Ranked(impl) {
			ranked = append(ranked, impl)
		}
	}
	t := table{head: append([]string{"category", "figures"}, codes(ranked)...)}
	for _, c := range d.a.Categories {
		if len(c.Rows) == 0 {
			continue
		}
		name := c.Name
		if c.Reference != stats.Reference {
			name += " (to `" + c.Reference + "`)"
		}
		row := []cell{{text: name}, {text: fmt.Sprint(len(c.Rows))}}
		for _, impl := range ranked {
			i := slices.IndexFunc(c.Places, func(p stats.Place) bool { return p.Impl == impl })
			if i < 0 {
				row = append(row, cell{text: "n/a"})
				continue
			}
			p := c.Places[i]
			text := stats.FormatRatio(p.Mean.Center)
			if p.Rank == 1 || p.Tied {
				text = "**" + text + "**"
			}
			row = append(row, cell{text: text, key: p.Mean.Center, by: true})
		}
		t.rows = append(t.rows, row)
	}
	if len(t.rows) == 0 {
		return nil
	}
	return []block{
		para("By category, again as geometric means of ratios to `" + stats.Reference + "`, over what all ranked loops with any figure in the category have in common. " +
			"Bold: the best, and what this run does not separate from it."), t,
	}
}

func codes(names []string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = "`" + n + "`"
	}
	return out
}

// figures is one section per category: its chart, its table, further units.
func (d *document) figures() []block {
	out := []block{
		heading{2, "Figures by category"},
		para("Each cell: the median ratio to the row's reference, then the median itself with the half-width of its 95 % interval. " +
			"Ratios are taken within each round, so they may differ a little from the quotient of two medians. " +
			"Bold: the best ranked loop and those not distinguishable from it. “~”: not distinguishable from the reference, by a " +
			"Mann-Whitney test corrected for " + count(d.a.Comparisons, "comparison") + " and the noise floor of its unit. " +
			"Means and high quantiles below a median are shown, and do not count in geometric means."),
	}
	charts := d.charts()
	for _, cat := range d.a.Categories {
		out = append(out, heading{3, cat.Name})
		if i := slices.IndexFunc(charts, func(c chart) bool { return c.file == slug(cat.Name)+".svg" }); i >= 0 {
			out = append(out, figure{charts[i]})
		}
		out = append(out, d.measures(cat.Name), d.categoryTable(cat.Name))
		if t := d.detailTable(cat.Name); len(t.rows) > 0 {
			out = append(out, details{"Further units: allocations, extremes", []block{t}})
		}
		if items := d.absences(cat.Name); len(items) > 0 {
			out = append(out, details{"Why figures are missing", []block{items}})
		}
	}
	return out
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
			continue // absences says why it is missing
		}
		name := spaced(row.Bench)
		if unit := unitName(row.Unit); unit != "time" {
			name += ", " + unit
		}
		if row.Reference != stats.Reference {
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
			if detail := &row.Details[i]; tailing(detail.Unit) {
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

// tailing tells which details stand with the headline: what a median does not show.
func tailing(unit string) bool {
	return unit == stats.Tail || unit == stats.FarTail || unit == stats.Mean
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
	return cell{text: text, key: v.Center, by: true}
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
	return cell{text: text, key: e.Value.Center, by: true}
}

func (d *document) detailTable(category string) table {
	impls := d.present(category)
	t := table{words: 2, head: append([]string{"benchmark", "unit"}, codes(impls)...)}
	for _, row := range d.a.Rows {
		if row.Category != category {
			continue
		}
		for _, detail := range row.Details {
			if tailing(detail.Unit) {
				continue // stands with the headline
			}
			cells := words(spaced(row.Bench), unitName(detail.Unit))
			for _, impl := range impls {
				v, ok := detail.Values[impl]
				if !ok {
					cells = append(cells, cell{text: "–"})
					continue
				}
				cells = append(cells, cell{text: stats.Format(v.Center, detail.Unit), key: v.Center, by: true})
			}
			t.rows = append(t.rows, cells)
		}
	}
	return t
}

// absences lists why contestants have no figure, benchmarks with the same reason together.
func (d *document) absences(category string) bullets {
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
	var items bullets
	for _, k := range order {
		items = append(items, fmt.Sprintf("`%s`: %s (%s)", k.impl, plain(k.why), strings.Join(benches[k], ", ")))
	}
	return items
}

// reproduce says how to check all this.
func (d *document) reproduce(base string, runs []link) []block {
	run := d.a.Run
	out := []block{heading{2, "Reproduce"}}
	if run.Source.Commit != "" {
		out = append(out, code(fmt.Sprintf("git checkout %s\n%s", run.Source.Commit, run.Command)))
	} else {
		out = append(out, code(run.Command))
	}
	folder := cmp.Or(base, "./")
	out = append(out,
		para(fmt.Sprintf("The measurements are in [%s](%s%s), in Go's benchmark format, and stock benchstat reads them:",
			record.RawFile, base, record.RawFile)),
		code("go tool benchstat -ignore round -col /impl "+folder+record.RawFile),
	)
	if len(runs) > 0 {
		var items bullets
		for _, l := range runs {
			items = append(items, fmt.Sprintf("[%s](%s)", l.Name, l.Path))
		}
		out = append(out, para("Other runs, whose timings are not comparable with these:"), items)
	}
	return out
}
