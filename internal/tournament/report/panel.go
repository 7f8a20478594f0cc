// Panels: what a cell of the grid shows when it is opened. There is one for each benchmark. It has the rounds of all
// contestants, and a text about each.

package report

import (
	"cmp"
	"fmt"
	"html"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/turnloop/turnloop/internal/tournament/bench"
	"github.com/turnloop/turnloop/internal/tournament/record"
	"github.com/turnloop/turnloop/internal/tournament/stats"
)

// writePanel writes the panel of a line as a template.
func (d *document) writePanel(b *strings.Builder, l gridLine, id string) {
	info := d.a.Run.Benchmark(l.row.Bench)
	name, variant := lineName(l.row)
	fmt.Fprintf(b, `<template id="%s"><h2>%s <small>%s</small></h2>`, id, html.EscapeString(name), html.EscapeString(variant))
	everyone := slices.Concat(l.tiles, l.aside)
	each := func(write func(tile) []block) {
		for _, t := range everyone {
			fmt.Fprintf(b, `<section data-impl="%s" hidden>`, html.EscapeString(t.impl))
			for _, bl := range write(t) {
				writeHTML(b, bl)
			}
			b.WriteString("</section>\n")
		}
	}
	each(func(t tile) []block { return []block{para(d.about(l, t))} })
	d.writeRounds(b, l, everyone)
	if info.Measures != "" {
		writeHTML(b, para(fmt.Sprintf("**Measured**, per %s: %s.", plain(info.Op), plain(info.Measures))))
		writeHTML(b, para("**Why**: "+plain(info.Why)+"."))
	}
	if info.Unscored != "" {
		writeHTML(b, para("**Not scored**: "+plain(info.Unscored)+"."))
	}
	each(func(t tile) []block { return d.doubts(l, t) })
	b.WriteString("</template>\n")
}

// about says what one cell shows.
func (d *document) about(l gridLine, t tile) string {
	who := "**`" + t.impl + "`**"
	e := t.entry
	if e == nil || !e.Value.OK() {
		why := "no figure"
		if e != nil {
			why = cmp.Or(e.Absent, why)
		}
		return who + ": " + plain(why) + "."
	}
	var says []string
	switch {
	case t.impl == l.best:
		says = append(says, "the best of the ranked")
	case t.ratio.OK():
		s := fmt.Sprintf("**%s** the best, `%s` (%s)", stats.FormatRatio(t.ratio.Center), l.best, stats.FormatRatioRange(t.ratio))
		if e.Best {
			s += ", not told apart from it"
		}
		says = append(says, s)
	}
	if !d.ratiosOnly {
		says = append(says, fmt.Sprintf("**%s** %s in %s", stats.Format(e.Value.Center, l.row.Unit), between(e.Value, l.row.Unit), count(e.Value.N, "round")))
	}
	if e.Ratio.OK() && t.impl != l.row.Reference && l.row.Reference != l.best {
		says = append(says, fmt.Sprintf("%s `%s` (%s; %s, p = %.2g)", stats.FormatRatio(e.Ratio.Center), l.row.Reference,
			stats.FormatRatioRange(e.Ratio), e.Verdict, e.P))
	}
	if further := further(l.row, t.impl); further != "" && !d.ratiosOnly {
		says = append(says, further)
	}
	return who + ": " + strings.Join(says, "; ") + "."
}

// doubts says why to mistrust one cell, and how to measure it again.
func (d *document) doubts(l gridLine, t tile) []block {
	var out []block
	for _, f := range d.a.Flags {
		if f.Bench == l.row.Bench && f.Impl == t.impl {
			out = append(out, para(fmt.Sprintf("**Flag**: %s%s.", f.Kind, d.flagText(f))))
		}
	}
	if c := d.command(l, t.impl); c != "" {
		out = append(out, para("**Repeat it**, beside the best and what the ratio is to:"), code(c))
	}
	return out
}

// flagText returns the text of a flag, without absolute figures where the document has ratios only.
func (d *document) flagText(f stats.Flag) string {
	if d.ratiosOnly {
		return ""
	}
	return ": " + plain(f.Text)
}

func between(v stats.Interval, unit string) string {
	if !v.Bounded() {
		return "(no interval)"
	}
	return fmt.Sprintf("(%s to %s)", stats.Format(v.Lo, unit), stats.Format(v.Hi, unit))
}

// further lists the other units of a cell.
func further(row *stats.Row, impl string) string {
	var parts []string
	for _, detail := range row.Details {
		v, ok := detail.Values[impl]
		if !ok {
			continue
		}
		unit, figure := unitName(detail.Unit), stats.Format(v.Center, detail.Unit)
		switch {
		case detail.Unit == stats.Mean && row.Hides(stats.Mean):
			unit = "mean"
		case detail.Unit == "B/op":
			unit = "allocated"
		case detail.Unit == stats.Allocations:
			unit, figure = figure, "allocations"
		}
		parts = append(parts, unit+" "+figure)
	}
	return strings.Join(parts, ", ")
}

// writeRounds draws a strip for each contestant: a dot for each round over the interval of the median, on one logarithmic axis of
// ratios to the best one's median.
func (d *document) writeRounds(b *strings.Builder, l gridLine, everyone []tile) {
	unit := 0.0
	if t := l.tile(l.best); t != nil {
		unit = t.entry.Value.Center
	}
	if !(unit > 0) {
		return // what is zero has no place on a logarithmic axis
	}
	f := frame{left: 0, right: 100, lo: math.Inf(1), hi: math.Inf(-1)}
	reach := func(v float64) {
		if v > 0 {
			f.lo, f.hi = math.Min(f.lo, math.Log(v/unit)), math.Max(f.hi, math.Log(v/unit))
		}
	}
	rounds := map[string][]stats.Round{}
	for _, t := range everyone {
		rounds[t.impl] = d.a.Rounds(l.row.Bench, t.impl, l.row.Unit)
		for _, r := range rounds[t.impl] {
			reach(r.Value)
		}
	}
	air := math.Max((f.hi-f.lo)*0.03, 0.03)
	f.lo, f.hi = f.lo-air, f.hi+air
	b.WriteString(`<div class="rounds">`)
	for _, t := range everyone {
		if len(rounds[t.impl]) == 0 {
			continue
		}
		v := t.entry.Value
		fmt.Fprintf(b, `<button type="button" data-impl="%s">%s</button><span class="track">`, html.EscapeString(t.impl), html.EscapeString(t.impl))
		if v.Bounded() && v.Lo > 0 {
			from, to := f.x(v.Lo/unit), f.x(v.Hi/unit)
			fmt.Fprintf(b, `<b style="left:%.1f%%;width:%.1f%%"></b>`, from, to-from)
		}
		for _, r := range rounds[t.impl] {
			if r.Value > 0 {
				fmt.Fprintf(b, `<i style="left:%.1f%%" title="round %d: %s"></i>`, f.x(r.Value/unit), r.Round, stats.FormatRatio(r.Value/unit))
			}
		}
		fmt.Fprintf(b, "</span><span>%s</span>\n", html.EscapeString(t.text))
	}
	b.WriteString(`<span></span><span class="axis">`)
	axis := f
	axis.right = 165 // as on a phone
	for _, tick := range axis.ticks() {
		fmt.Fprintf(b, `<i style="left:%.1f%%">%s</i>`, f.x(tick), tickLabel(tick))
	}
	b.WriteString("</span><span></span></div>\n")
	b.WriteString(`<p class="soft">Dots: rounds, as multiples of the best one's median. Bars: 95 % intervals of the medians.</p>`)
}

// command returns a command that measures a cell again, beside the best of its line and the reference, and changes no report.
func (d *document) command(l gridLine, impl string) string {
	run := d.a.Run
	i := slices.IndexFunc(run.Cells, func(c record.Cell) bool { return c.Bench == l.row.Bench && c.Impl == impl })
	if i < 0 {
		return ""
	}
	var names []string
	for _, name := range []string{impl, l.best, l.row.Reference} {
		if name != "" && !slices.Contains(names, regexp.QuoteMeta(name)) {
			names = append(names, regexp.QuoteMeta(name))
		}
	}
	const here = "\x00" // a mark that occurs in no name
	filter := regexp.QuoteMeta(bench.WithImpl(run.Cells[i].Name, here))
	filter = "^" + strings.Replace(filter, here, "("+strings.Join(names, "|")+")", 1) + "$"
	flags := fmt.Sprintf("-mode=%s -rounds=%d -budget=20s -conformance=false \\\n  -filter='%s'", run.Mode, run.Rounds, filter)
	s := fmt.Sprintf("%s run \\\n  -out=results/quick -results='' -cpu=%d %s", d.program(), run.Env.GOMAXPROCS, flags)
	if settings, ok := strings.CutPrefix(run.Command, "make bench-linux-docker"); ok { // in the container, too
		settings = strings.TrimSpace(strings.ReplaceAll(settings, " MODE=quick", "") + " MODE=quick")
		s = fmt.Sprintf("%s docker/bench.sh \\\n  %s", settings, flags)
	}
	if run.Source.Commit != "" {
		s = "git checkout " + run.Source.Commit + "\n" + s
	}
	return s
}

// program returns the words that call the tournament: those of the command that made the run, if it has them.
func (d *document) program() string {
	if i := strings.LastIndex(d.a.Run.Command, " run -"); i > 0 {
		return d.a.Run.Command[:i]
	}
	return "go run ./internal/tournament/cmd/tournament"
}
