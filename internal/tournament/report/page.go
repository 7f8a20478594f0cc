package report

// The page: one table whose cells open to their rounds.

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"html"
	"math"
	"strings"

	"github.com/turnloop/turnloop/internal/tournament/stats"
)

//go:embed page.css
var pageStyle string

//go:embed page.js
var pageScript string

// opened is what the script shows of a cell.
type opened struct {
	Rounds  stats.Values `json:"rounds"`
	Says    string       `json:"says"`
	Command string       `json:"command"`
}

// page is self-contained: no other file is read with it.
func (d *document) page() ([]byte, error) {
	var b strings.Builder
	begin(&b, "Tournament of event loops: "+d.Run.Name)
	fmt.Fprintf(&b, "<h1>%s</h1>\n<p>%s %s</p>\n", spans(d.headline()), spans(d.counts()), spans(d.outside()))
	fmt.Fprintf(&b, `<p class="soft">Medians of %s, lower is better, and multiples of %s within rounds: <b class="ahead">%[2]s is ahead</b>, <b class="behind">%[2]s is behind</b>, `+
		`<span class="open">grey: the run does not tell</span>. A cell opens to its rounds.</p>`+"\n", plural(d.Run.Rounds, "round"), html.EscapeString(d.subject()))
	data, err := d.grid(&b)
	if err != nil {
		return nil, err
	}
	b.WriteString("<h2>The loops</h2>\n<ul>\n")
	for _, l := range d.Loops {
		if !d.Run.Impl(l.Name).Ranked {
			continue
		}
		fmt.Fprintf(&b, "<li>%s<b>%s</b>: %s%s</li>\n", d.place(&l), html.EscapeString(l.Name), spans(d.about(&l)), d.failures(l.Name))
	}
	fmt.Fprintf(&b, "</ul>\n<h2>The run</h2>\n<p>%s.</p>\n<p>%s</p>\n<pre>%s</pre>\n", html.EscapeString(d.machine()), spans(d.method()), html.EscapeString(d.Run.Command))
	fmt.Fprintf(&b, "<script type=\"application/json\" id=\"cells\">%s</script>\n<script>%s</script>\n", data, pageScript)
	return []byte(b.String()), nil
}

func begin(b *strings.Builder, title string) {
	fmt.Fprintf(b, "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\"><title>%s</title>\n<style>%s%s%s</style>\n",
		html.EscapeString(title), colours, drawing, pageStyle)
}

// spans turns the little Markdown that sentences have into HTML.
func spans(s string) string {
	parts := strings.Split(html.EscapeString(s), "`")
	for i := 1; i < len(parts)-1; i += 2 {
		parts[i] = "<b>" + parts[i] + "</b>"
	}
	return strings.Join(parts, "")
}

// grid writes the table, and returns the data of its cells.
func (d *document) grid(b *strings.Builder) ([]byte, error) {
	const width = 240
	names, others := d.columns(), d.others()
	s := d.scale(width)
	data := map[string]opened{}
	fmt.Fprintf(b, `<div class="scroll"><table id="grid"><thead><tr><th scope="col">figure</th>`)
	for i, name := range names {
		fmt.Fprintf(b, `<th scope="col">%s</th>`, html.EscapeString(name))
		if i > 0 {
			continue
		}
		fmt.Fprintf(b, `<th scope="col" class="plot">the best other to it<svg width="%d" height="16" aria-hidden="true">`, width)
		for _, t := range s.marks() {
			fmt.Fprintf(b, `<text x="%.0f" y="12" text-anchor="middle">%g×</text>`, min(max(s.at(t), 12), width-14), t)
		}
		b.WriteString("</svg></th>")
	}
	for _, name := range others {
		fmt.Fprintf(b, `<th scope="col" class="soft">%s</th>`, html.EscapeString(name))
	}
	b.WriteString("</tr></thead><tbody>\n")
	for r := range d.Figures {
		row := &d.Figures[r]
		fmt.Fprintf(b, `<tr><th scope="row" title="%s">%s</th>`, html.EscapeString(row.Measures), strings.ReplaceAll(html.EscapeString(row.Name), "/", "<wbr>/"))
		for i, name := range names {
			d.cell(b, data, row, name)
			if i > 0 {
				continue
			}
			b.WriteString(`<td class="plot">`)
			if v := row.Against(); v != nil {
				fmt.Fprintf(b, `<svg width="%d" height="18" aria-hidden="true">`, width)
				for _, t := range s.marks() {
					fmt.Fprintf(b, `<line x1="%.1f" x2="%.1f" y2="18"%s/>`, s.at(t), s.at(t), map[bool]string{true: ` class="one"`}[t == 1])
				}
				s.interval(b, v, 9)
				fmt.Fprintf(b, `</svg><span class="%s">%s× %s</span>`, class(v), stats.Digits(v.Ratio), html.EscapeString(row.Best))
			}
			b.WriteString("</td>")
		}
		for _, name := range others {
			d.cell(b, data, row, name)
		}
		b.WriteString("</tr>\n")
	}
	b.WriteString("</tbody>")
	if reference := d.Run.Roles.Reference; len(d.Common) > 0 && len(names) > 1 {
		fmt.Fprintf(b, `<tfoot><tr><th scope="row">geometric mean of %d to %s</th>`, len(d.Common), html.EscapeString(reference))
		for i, name := range names {
			if v, _ := d.toReference(name); v.Ratio != 0 {
				fmt.Fprintf(b, `<td class="%s">%s <i>%s</i></td>`, map[bool]string{true: "told", false: "open"}[v.Told], stats.Digits(v.Ratio), v.FormatInterval())
			} else {
				fmt.Fprintf(b, "<td>%s</td>", map[bool]string{true: "1", false: "–"}[name == reference])
			}
			if i == 0 {
				b.WriteString("<td></td>")
			}
		}
		b.WriteString("</tr></tfoot>")
	}
	b.WriteString("</table></div>\n")
	return json.Marshal(map[string]any{"cells": data, "subject": d.subject()})
}

// cell writes a cell of the table, and keeps what it opens to.
func (d *document) cell(b *strings.Builder, data map[string]opened, row *stats.Row, impl string) {
	cell := row.Cells[impl]
	switch {
	case cell.Rounds == nil && cell.Lost != "":
		fmt.Fprintf(b, `<td class="none" title="%s">failed</td>`, html.EscapeString(cell.Lost))
		return
	case cell.Rounds == nil:
		fmt.Fprintf(b, `<td class="none" title="%s">–</td>`, html.EscapeString(cell.NA))
		return
	}
	value := stats.Format(cell.Median, row.Unit)
	says := fmt.Sprintf("%s of %s: %s, %s.", row.Name, impl, value, row.Measures)
	class, multiple := "plain", ""
	switch v := cell.To; {
	case v != nil:
		class = shade(v)
		multiple = " <i>" + stats.Digits(v.Ratio) + "×</i>"
		says += fmt.Sprintf(" %s times %s (%s), p = %.2g.", stats.Digits(v.Ratio), d.subject(), v.FormatInterval(), v.P)
	case impl != d.subject():
		class = "beside"
	}
	key := row.Name + " " + impl
	data[key] = opened{cell.Rounds, says, d.repeat(row.Name, impl)}
	fmt.Fprintf(b, `<td class="%s"><button data-cell="%s">%s%s</button></td>`, class, html.EscapeString(key), value, multiple)
}

// shade is the background of a cell: only what is told has one.
func shade(v *stats.Verdict) string {
	far := math.Abs(math.Log(v.Ratio)) > math.Ln2
	switch {
	case v.Above() && far:
		return "told better"
	case v.Above():
		return "told good"
	case v.Below() && far:
		return "told worse"
	case v.Below():
		return "told bad"
	}
	return "open"
}

// failures lists what a loop does not meet, and what it has declared.
func (d *document) failures(impl string) string {
	c, _ := d.Run.Conformity(impl)
	var b strings.Builder
	for _, check := range c.Checks {
		if check.Outcome != "pass" && check.Outcome != "n/a" {
			fmt.Fprintf(&b, "<li>%s: %s, %s</li>", html.EscapeString(check.Name), check.Outcome, html.EscapeString(check.Reason))
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return "<details><summary>which</summary><ul>" + b.String() + "</ul></details>"
}
