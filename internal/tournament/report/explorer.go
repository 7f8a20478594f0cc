// The explorer: all figures in one table of the page, to sort and filter.

package report

import (
	"fmt"
	"html"
	"strings"

	"github.com/turnloop/turnloop/internal/tournament/stats"
)

const explorerTitle = "All figures"

// explorer writes the table and its filters.
func (d *document) explorer(b *strings.Builder) {
	beginSection(b, explorerTitle, "One table to sort and to filter.")
	b.WriteString(`<form class="filters" data-for="explorer"><label>Search <input type="search" name="text" placeholder="benchmark, verdict…"></label>`)
	choice := func(label, name string, options []string) {
		fmt.Fprintf(b, `<label>%s <select name="%s"><option value="">all</option>`, label, name)
		for _, o := range options {
			fmt.Fprintf(b, "<option>%s</option>", html.EscapeString(o))
		}
		b.WriteString("</select></label>")
	}
	var categories []string
	for _, c := range d.a.Categories {
		categories = append(categories, c.Name)
	}
	choice("Category", "category", categories)
	choice("Loop", "impl", d.impls)
	b.WriteString(`<output></output></form><div class="scroll"><table class="sortable words3 broad" id="explorer"><thead><tr>`)
	for _, h := range []string{"benchmark", "unit", "loop", "median", "95 % interval", "ratio", "ratio interval", "to", "verdict"} {
		fmt.Fprintf(b, `<th scope="col"><button type="button">%s</button></th>`, h)
	}
	b.WriteString("</tr></thead><tbody>\n")
	for _, row := range d.a.Rows {
		for i := range row.Entries {
			e := &row.Entries[i]
			if e.Absent == "does not take part" {
				continue
			}
			attributes := fmt.Sprintf(` data-category="%s" data-impl="%s"`, html.EscapeString(row.Category), html.EscapeString(e.Impl))
			writeCells(b, explorerRow(row, e), attributes)
		}
	}
	b.WriteString("</tbody></table></div></details>\n")
}

func explorerRow(row *stats.Row, e *stats.Entry) []cell {
	cells := words(spaced(row.Bench), unitName(row.Unit), "`"+e.Impl+"`")
	if !e.Value.OK() {
		what := "not measured"
		if e.NA {
			what = "n/a"
		}
		return append(cells, words(what, "", "", "", "", plain(e.Absent))...)
	}
	interval := "none"
	if e.Value.Bounded() {
		interval = stats.Format(e.Value.Lo, row.Unit) + " – " + stats.Format(e.Value.Hi, row.Unit)
	}
	cells = append(cells, valueCell(stats.Format(e.Value.Center, row.Unit), e.Value.Center, row.Unit),
		rangeCell(interval, e.Value, unitKind(row.Unit)))
	switch {
	case e.Impl == row.Reference || !e.Ratio.OK():
		cells = append(cells, words("", "", "", "")...)
	default:
		cells = append(cells, ratioCell(e.Ratio.Center), rangeCell(stats.FormatRatioRange(e.Ratio), e.Ratio, "×"), cell{text: row.Reference},
			cell{text: fmt.Sprintf("%s (p = %.2g)", e.Verdict, e.P)})
	}
	if e.Best {
		last := &cells[len(cells)-1]
		last.text = strings.TrimSpace(last.text + " **best**")
	}
	return cells
}
