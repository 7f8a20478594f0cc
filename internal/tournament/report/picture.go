package report

// The picture: the best other loop to the subject in each figure, on a scale of logarithms.

import (
	"fmt"
	"html"
	"math"
	"strings"

	"github.com/turnloop/turnloop/internal/tournament/stats"
)

// A scale maps ratios to places. It holds all ratios, and what of the intervals is not absurd.
type scale struct{ low, high, width float64 }

// ticks are the ratios that are marked, as far as they are on the scale.
var ticks = []float64{0.01, 0.03, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 100, 300, 1000, 10000}

func (d *document) scale(width float64) scale {
	s := scale{low: 0.5, high: 2, width: width}
	for _, row := range d.Figures {
		if v := row.Against(); v != nil {
			s.low, s.high = min(s.low, max(v.Low, v.Ratio/4)), max(s.high, min(v.High, v.Ratio*4))
		}
	}
	s.low, s.high = s.low*0.9, s.high*1.1
	return s
}

func (s scale) at(ratio float64) float64 {
	ratio = min(max(ratio, s.low), s.high)
	return s.width * math.Log(ratio/s.low) / math.Log(s.high/s.low)
}

// marks returns the ticks that are on the scale and not too near to one another. That of 1 always is.
func (s scale) marks() (out []float64) {
	const apart = 26
	for _, t := range ticks {
		if t < s.low || t > s.high || t != 1 && math.Abs(s.at(t)-s.at(1)) < apart {
			continue
		}
		if n := len(out); n > 0 && s.at(t)-s.at(out[n-1]) < apart {
			if t != 1 {
				continue
			}
			out = out[:n-1]
		}
		out = append(out, t)
	}
	return out
}

// interval draws one verdict around the height y.
func (s scale) interval(b *strings.Builder, v *stats.Verdict, y float64) {
	fmt.Fprintf(b, `<g class="%s"><line x1="%.1f" x2="%.1f" y1="%.0f" y2="%.0f"/><circle cx="%.1f" cy="%.0f" r="4"/></g>`,
		class(v), s.at(v.Low), s.at(v.High), y, y, s.at(v.Ratio), y)
}

// class is how a verdict looks: the subject is ahead, or behind, or the run does not tell.
func class(v *stats.Verdict) string {
	switch {
	case v == nil || !v.Told:
		return "open"
	case v.Above():
		return "ahead"
	}
	return "behind"
}

// drawing is the style of intervals, in the colours of colours.
const drawing = `line{stroke:var(--rule);stroke-width:1}.ahead line,.behind line,.open line{stroke-width:2}` +
	`.ahead{color:var(--ahead)}.behind{color:var(--behind)}.open{color:var(--open)}g line{stroke:currentColor}circle{fill:currentColor}`

const colours = `:root{--back:#fff;--text:#1c1c1c;--soft:#5d5d5d;--rule:#ddd;--one:#777;--ahead:#0a7034;--behind:#b3261e;--open:#767676;` +
	`--good:#d9f0df;--better:#b5e2c1;--bad:#f8dcd9;--worse:#f0bdb8}` +
	`@media(prefers-color-scheme:dark){:root{--back:#161616;--text:#e8e8e8;--soft:#a8a8a8;--rule:#333;--one:#8a8a8a;--ahead:#5fcf86;--behind:#ff8a80;` +
	`--open:#8d8d8d;--good:#1c3a26;--better:#235535;--bad:#43211f;--worse:#63302c}}`

// picture is the whole picture as a file.
func (d *document) picture() []byte {
	const left, width, right, line, top = 250, 320, 190, 22, 44
	s := d.scale(width)
	var rows []stats.Row
	for _, row := range d.Figures {
		if row.Against() != nil {
			rows = append(rows, row)
		}
	}
	height := top + line*len(rows) + 8
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="system-ui,sans-serif" font-size="13" role="img">`, left+width+right, height)
	fmt.Fprintf(&b, `<title>The best other loop to %s</title><style>%s%s rect{fill:var(--back)}text{fill:var(--text)}.soft{fill:var(--soft)}`+
		`g text{fill:currentColor}</style>`, html.EscapeString(d.subject()), colours, drawing)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%"/><text x="%d" y="16" class="soft">%s behind · %[2]s ahead: the best other loop's cost as a multiple</text>`, left-20, html.EscapeString(d.subject()))
	fmt.Fprintf(&b, `<g transform="translate(%d)" class="axis">`, left)
	for _, t := range s.marks() {
		rule := "rule"
		if t == 1 {
			rule = "one"
		}
		x := s.at(t)
		fmt.Fprintf(&b, `<line x1="%.1f" x2="%.1f" y1="%d" y2="%d" style="stroke:var(--%s)"/>`, x, x, top-4, height-8, rule)
		fmt.Fprintf(&b, `<text x="%.1f" y="36" text-anchor="middle" style="fill:var(--soft)">%g×</text>`, x, t)
	}
	b.WriteString("</g>")
	for i, row := range rows {
		y := float64(top + line*i + line/2)
		v := row.Against()
		fmt.Fprintf(&b, `<text x="%d" y="%.0f" text-anchor="end">%s</text><g transform="translate(%d)">`, left-12, y+4, html.EscapeString(row.Name), left)
		s.interval(&b, v, y)
		fmt.Fprintf(&b, `</g><g class="%s"><text x="%d" y="%.0f">%s× %s</text></g>`, class(v), left+width+10, y+4, stats.Digits(v.Ratio), html.EscapeString(row.Best))
	}
	b.WriteString("</svg>\n")
	return []byte(b.String())
}
