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

const continued = "The verdict, continued"

// front is what the reader sees without opening anything: the verdict and the picture.
func (d *document) front() []block {
	var out []block
	if label := d.label(); label != "" {
		out = append(out, para("**"+plain(label)+"**"))
	}
	for _, s := range d.headline() {
		out = append(out, para(s))
	}
	return out
}

// sections returns what stands behind the picture. base leads to the run's folder, runs are other runs to point to.
func (d *document) sections(base string, runs []link) []section {
	var out []section
	if s, ok := d.dearer(); ok {
		out = append(out, s)
	}
	more := d.addenda()
	s := section{title: continued, lead: more[0]}
	for _, sentence := range more[1:] {
		s.inside = append(s.inside, para(sentence))
	}
	out = append(out, s)
	if len(d.a.Bars) > 0 {
		out = append(out, d.bars())
	}
	return append(out, d.ranking(), d.figures(), d.conformance(), d.advice(), d.caveats(), d.environment(), d.reproduce(base, runs))
}

// blocks returns the report as a text: verdict, picture, one table, then the sections.
func (d *document) blocks(base string, runs []link) []block {
	out := append([]block{heading{1, d.title()}}, d.front()...)
	if pictures := d.pictures(); len(pictures) > 0 {
		out = append(out, figure{pictures[len(pictures)-1]})
	}
	if t := d.gridTable(); len(t.rows) > 0 {
		out = append(out, para("Each cell: a multiple of the best ranked one's, as the median of ratios within rounds, and the median itself. Bold: the best. “~”: not told apart from it."), t)
	}
	if s := d.without(); s != "" {
		out = append(out, para(s))
	}
	if base != "" {
		out = append(out, para(fmt.Sprintf("The same as a page on which every cell opens to its rounds: [%sindex.html](%sindex.html).", base, base)))
	}
	for _, s := range d.sections(base, runs) {
		out = append(out, s)
	}
	return out
}

// gridTable is the grid in words.
func (d *document) gridTable() table {
	g := d.grid()
	t := table{head: append([]string{"benchmark"}, codes(g.impls)...)}
	beside := func(t tile) string {
		text := t.text + "× "
		if t.step == noStep {
			text = ""
		}
		return text + stats.Format(t.entry.Value.Center, t.row.Unit)
	}
	aside := slices.ContainsFunc(g.groups, func(g gridGroup) bool {
		return slices.ContainsFunc(g.lines, func(l gridLine) bool { return len(l.aside) > 0 })
	})
	if aside {
		t.head = append(t.head, "not ranked")
	}
	for _, group := range g.groups {
		for _, l := range group.lines {
			row := words(figureName(l.row))
			if !l.row.Scored {
				row[0].text += " (not scored)"
			}
			for _, tile := range l.tiles {
				switch {
				case tile.entry == nil || !tile.entry.Value.OK():
					row = append(row, cell{text: tile.text})
				case tile.impl == l.best:
					row = append(row, cell{text: "**" + beside(tile) + "**"})
				default:
					row = append(row, cell{text: beside(tile)})
				}
			}
			var others []string
			for _, tile := range l.aside {
				others = append(others, "`"+tile.impl+"` "+beside(tile))
			}
			if aside {
				row = append(row, cell{text: strings.Join(others, ", ")})
			}
			t.rows = append(t.rows, row)
		}
	}
	return t
}

// summary is one line on what the figures come from.
func (d *document) summary() string {
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
	return s
}

// bars lists the demands, those that are missed first.
func (d *document) bars() section {
	counts := map[bool]map[stats.State]int{true: {}, false: {}} // of the subject, of others
	t := table{words: 4, head: []string{"what", "bar", "measured", "result"}}
	order := []stats.State{stats.Missed, stats.NotMeasured, stats.Met}
	bars := slices.SortedStableFunc(slices.Values(d.a.Bars), func(x, y stats.Bar) int {
		return cmp.Compare(slices.Index(order, x.State), slices.Index(order, y.State))
	})
	for _, b := range bars {
		subject := b.Of == d.a.Run.Subject()
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
		t.rows = append(t.rows, []cell{{text: what}, {text: b.Demand}, {text: cmp.Or(b.Measured, "–")}, {text: result}})
	}
	tally := func(n map[stats.State]int) string {
		return fmt.Sprintf("%d met, %d missed, %d not measured", n[stats.Met], n[stats.Missed], n[stats.NotMeasured])
	}
	lead := fmt.Sprintf("What is demanded of `%s`: %s.", d.a.Run.Subject(), tally(counts[true]))
	if len(counts[false]) > 0 {
		lead += fmt.Sprintf(" What is expected among the rivals: %s.", tally(counts[false]))
	}
	return section{"Bars", lead, []block{para("Values are medians with their 95 % intervals; a bar is met or missed by the median."), t}}
}

func (d *document) ranking() section {
	var out []block
	out = append(out, d.standing(d.a.Overall, "The geometric mean of a loop's ratios to `%s`, over the %s that it has.")...)
	if d.wider() {
		out = append(out, d.standing(d.a.Wide, "Relative to `%s`, over all %s that count, also those that `"+d.a.Run.Reference()+"` does not have.")...)
	}
	out = append(out, d.weightings()...)
	out = append(out, d.byCategory()...)
	out = append(out, d.matched()...)
	return section{"Ranking", "Geometric means with intervals, overall, by other weights and by category, what does not count in them, and every figure against the best other.", out}
}

func (d *document) standing(st stats.Standing, intro string) []block {
	if len(st.Places) == 0 {
		return []block{para("There is no figure to rank by" + missingNote(st) + ".")}
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
		row := []cell{{text: rank}, {text: "`" + p.Impl + "`"}, ratioCell(p.Mean.Center),
			rangeCell(stats.FormatRatioRange(p.Mean), p.Mean, "×"), {text: toFirst, key: p.ToFirst.Center, kind: "×", by: p.Rank > 0}, {text: note}}
		if p.Rank > 0 {
			row[0] = countCell(p.Rank)
		}
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
		if c.Reference != d.a.Run.Reference() {
			name += " (to `" + c.Reference + "`)"
		}
		row := []cell{{text: name}, countCell(len(c.Rows))}
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
			row = append(row, cell{text: text, key: p.Mean.Center, kind: "×", by: true})
		}
		t.rows = append(t.rows, row)
	}
	if len(t.rows) == 0 {
		return nil
	}
	return []block{
		para("By category, again as geometric means of ratios to " + d.reference() + ", over the figures that it has there, and over all where it has none. " +
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

// reproduce says how to check all this.
func (d *document) reproduce(base string, runs []link) section {
	run := d.a.Run
	var out []block
	if run.Source.Commit != "" {
		out = append(out, code(fmt.Sprintf("git checkout %s\n%s", run.Source.Commit, run.Command)))
	} else {
		out = append(out, code(run.Command))
	}
	folder := cmp.Or(base, "./")
	out = append(out,
		para(fmt.Sprintf("The measurements are in [%s](%s%s), in Go's benchmark format, and stock benchstat reads them:",
			record.RawFile, base, record.RawFile)),
		code(run.Benchstat(folder+record.RawFile)),
	)
	if len(runs) > 0 {
		var items bullets
		for _, l := range runs {
			items = append(items, fmt.Sprintf("[%s](%s)", l.Name, l.Path))
		}
		out = append(out, para("Other runs, whose timings are not comparable with these:"), items)
	}
	return section{"Reproduce", fmt.Sprintf("`%s`, at commit %s.", run.Command, d.commit()), out}
}
