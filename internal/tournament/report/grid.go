// The grid: every benchmark by every contestant, as ratios to the best of its line. Picture, page and table are drawn from it.

package report

import (
	"math"
	"slices"
	"strings"

	"github.com/turnloop/turnloop/internal/tournament/stats"
)

// A grid has a column for each contestant that competes. Contestants that do not compete are shown beside the columns, on the
// lines on which they have a figure.
type grid struct {
	impls  []string
	groups []gridGroup
}

// A gridGroup is a category.
type gridGroup struct {
	name  string
	lines []gridLine
}

// A gridLine is a benchmark.
type gridLine struct {
	row   *stats.Row
	best  string // the best ranked contestant, empty if no ranked one has a figure
	tiles []tile // one for each column
	aside []tile
}

// A tile is one contestant in a line.
type tile struct {
	impl  string
	row   *stats.Row
	entry *stats.Entry
	ratio stats.Interval // to the best, taken within rounds
	text  string         // a ratio, "–" where there is no figure, a value where there is no ratio
	step  int            // of the scale, noStep without a ratio
}

// scale has the upper ends of the steps of the colour scale. Ratios beyond the last one have a step of their own.
var scale = []float64{1.1, 1.5, 2, 4, 10, 30}

const noStep = -1

// step returns the place of a ratio on the scale.
func step(ratio float64) int {
	if math.IsNaN(ratio) {
		return noStep
	}
	for i, limit := range scale {
		if ratio <= limit {
			return i
		}
	}
	return len(scale)
}

// tileText writes a ratio as briefly as possible, and "1" for the contestant to which the ratios are taken.
func tileText(ratio float64, measure bool) string {
	if measure {
		return "1"
	}
	return strings.TrimSuffix(stats.FormatRatio(ratio), "×")
}

// grid lays out the run.
func (d *document) grid() grid {
	var g grid
	for _, impl := range d.impls {
		if d.a.Run.Impl(impl).Ranked {
			g.impls = append(g.impls, impl)
		}
	}
	for _, row := range d.a.Rows {
		if !slices.ContainsFunc(d.impls, row.Has) {
			continue // without says so
		}
		if n := len(g.groups); n == 0 || g.groups[n-1].name != row.Category {
			g.groups = append(g.groups, gridGroup{name: row.Category})
		}
		last := &g.groups[len(g.groups)-1]
		last.lines = append(last.lines, d.line(row, g.impls))
	}
	return g
}

// without lists the benchmarks of which nobody has a figure, the declared units that no cell has, and the contestants that
// have no figure at all. It returns nothing if there are none of these.
func (d *document) without() string {
	var benches, units, impls, parts []string
	for _, b := range d.a.Run.Benchmarks {
		rows, empty := 0, []string{}
		for _, row := range d.a.Rows {
			if name, _, _ := strings.Cut(row.Bench, "/"); name == b.Name {
				rows++
				if !slices.ContainsFunc(d.impls, row.Has) {
					empty = append(empty, spaced(row.Bench))
				}
			}
		}
		if len(empty) == rows { // also if there are no rows
			empty = []string{b.Name}
		}
		benches = append(benches, empty...)
		if missing := d.a.Unmeasured(b); len(missing) > 0 {
			units = append(units, strings.Join(missing, ", ")+" of "+b.Name)
		}
	}
	for _, impl := range d.a.Run.Impls {
		if !slices.Contains(d.impls, impl.Name) {
			impls = append(impls, "`"+impl.Name+"`")
		}
	}
	if len(benches) > 0 {
		parts = append(parts, "Nobody has a figure in "+list(benches)+".")
	}
	if len(units) > 0 {
		parts = append(parts, "Declared and in no cell, as a rule for want of enough values: "+list(units)+".")
	}
	if len(impls) > 0 {
		parts = append(parts, "Not one figure was measured of "+list(impls)+".")
	}
	return strings.Join(parts, " ")
}

func (d *document) line(row *stats.Row, columns []string) gridLine {
	l := gridLine{row: row}
	least := math.Inf(1)
	for i := range row.Entries {
		e := &row.Entries[i]
		if d.a.Ranked(e.Impl) && e.Value.OK() && e.Value.Center < least {
			l.best, least = e.Impl, e.Value.Center
		}
	}
	for _, impl := range columns {
		l.tiles = append(l.tiles, d.tile(row, entry(row, impl), l.best))
	}
	for i := range row.Entries {
		if e := &row.Entries[i]; e.Value.OK() && !slices.Contains(columns, e.Impl) {
			l.aside = append(l.aside, d.tile(row, e, l.best))
		}
	}
	return l
}

func (d *document) tile(row *stats.Row, e *stats.Entry, best string) tile {
	t := tile{row: row, entry: e, text: "–", step: noStep, ratio: stats.Interval{Center: math.NaN()}}
	if e == nil {
		return t
	}
	t.impl = e.Impl
	if !e.Value.OK() {
		return t
	}
	t.ratio = d.a.Ratio(row.Bench, row.Unit, e.Impl, best)
	t.step = step(t.ratio.Center)
	if !t.ratio.OK() { // the best figure is zero, so there is no ratio
		switch {
		case !d.ratiosOnly:
			t.text = stats.Format(e.Value.Center, row.Unit)
		case e.Value.Center == 0:
			t.text = "0"
		default:
			t.text = ">0"
		}
		return t
	}
	t.text = tileText(t.ratio.Center, e.Impl == best)
	if e.Best && e.Impl != best {
		t.text = "~" + t.text
	}
	return t
}

// tile returns a contestant's place in the line, nil if it has none.
func (l *gridLine) tile(impl string) *tile {
	for _, tiles := range [][]tile{l.tiles, l.aside} {
		for i := range tiles {
			if tiles[i].impl == impl {
				return &tiles[i]
			}
		}
	}
	return nil
}

// lineName splits the name of a row into the benchmark and its variant: "Timer", "op=cancel pending=1000".
func lineName(row *stats.Row) (name, variant string) {
	name, variant, _ = strings.Cut(row.Bench, "/")
	variant = strings.ReplaceAll(variant, "/", " ")
	if unit := unitName(row.Unit); unit != "time" {
		variant = strings.TrimSpace(variant + " " + unit)
	}
	return name, variant
}

// aligned gives the grid a line for each benchmark that any run has, so that it can stand beside the grids of other runs.
func (d *document) aligned(g grid, all []*stats.Row) grid {
	out := grid{impls: g.impls}
	for _, row := range all {
		if n := len(out.groups); n == 0 || out.groups[n-1].name != row.Category {
			out.groups = append(out.groups, gridGroup{name: row.Category})
		}
		last := &out.groups[len(out.groups)-1]
		last.lines = append(last.lines, d.lineOf(g, row))
	}
	return out
}

// lineOf returns the grid's line of a benchmark, an empty one if it has none.
func (d *document) lineOf(g grid, row *stats.Row) gridLine {
	for _, group := range g.groups {
		for _, l := range group.lines {
			if l.row.Bench == row.Bench {
				return l
			}
		}
	}
	return d.line(&stats.Row{Bench: row.Bench, Category: row.Category, Unit: row.Unit, Scored: true, Entries: absent(g.impls)}, g.impls)
}

// absent are entries of contestants in a benchmark that a run does not have.
func absent(impls []string) []stats.Entry {
	out := make([]stats.Entry, len(impls))
	for i, impl := range impls {
		nothing := stats.Interval{Center: math.NaN(), Lo: math.NaN(), Hi: math.NaN()}
		out[i] = stats.Entry{Impl: impl, Absent: "this run has no such benchmark", Value: nothing, Ratio: nothing}
	}
	return out
}
