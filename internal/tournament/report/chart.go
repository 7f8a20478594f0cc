// The charts: dots with intervals on a logarithmic axis of ratios, drawn as SVG.

package report

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strings"

	"github.com/turnloop/turnloop/internal/tournament/stats"
)

// A chart is a set of groups of marks along one axis.
type chart struct {
	file     string // of the standalone version
	title    string
	subtitle string
	groups   []group
	impls    []string // in the legend, colours by place in palette
	floor    float64  // half-width of the noise band around 1, as a share; 0: no band
	d        *document
}

// A group is one line of a chart: a name and the marks beside it, each in a lane of its own.
type group struct {
	name  string
	marks []mark
	value string // written at the end of the line
	of    string // the contestant whose value it is
}

// A mark is a dot with its interval.
type mark struct {
	impl  string
	ratio stats.Interval
}

// charts returns one chart per category.
func (d *document) charts() []*chart {
	var out []*chart
	for _, cat := range d.a.Categories {
		if c, ok := d.categoryChart(cat.Name, cat.Reference); ok {
			out = append(out, c)
		}
	}
	return out
}

func (c *chart) name() (file, title string) { return c.file, c.title }

// categoryChart draws the figures of one category.
func (d *document) categoryChart(category, reference string) (*chart, bool) {
	c := &chart{
		file: slug(category) + ".svg", d: d,
		title:    category + ": ratio to " + reference + d.quickMark(),
		subtitle: "Left is less, which is better. Bars: 95 % intervals.",
	}
	times := true
	used := map[string]bool{}
	for _, row := range d.a.Rows {
		if row.Category != category || d.a.Run.Benchmark(row.Bench).Unscored != "" {
			continue // noise would stretch the axis
		}
		g := group{name: spaced(row.Bench), of: d.a.Run.Subject()}
		if row.Reference != reference {
			g.name += " (to " + row.Reference + ")"
		}
		for _, e := range row.Entries {
			if !e.Ratio.OK() || e.Impl == row.Reference {
				continue
			}
			g.marks = append(g.marks, mark{e.Impl, e.Ratio})
			used[e.Impl] = true
			if e.Impl == d.a.Run.Subject() {
				g.value = stats.FormatRatio(e.Ratio.Center)
			}
		}
		if len(g.marks) > 0 {
			c.groups = append(c.groups, g)
			times = times && stats.IsTime(row.Unit)
		}
	}
	if times { // the noise of times says nothing about bytes
		c.floor = d.a.Noise.In(category).Floor
		c.subtitle += " Band: noise."
	}
	for _, impl := range d.impls {
		if used[impl] {
			c.impls = append(c.impls, impl)
		}
	}
	return c, len(c.groups) > 0
}

const (
	lane      = 11.0 // height of a mark's lane
	groupGap  = 9.0
	charWidth = 6.9 // of the 12.5 px type, generously
)

// A frame holds the geometry of a chart drawn at a width.
type frame struct {
	width       float64
	left, right float64 // of the axis
	labelsAbove bool    // of their group: where there is no room beside it
	lo, hi      float64 // of the axis, as natural logarithms
	top, bottom float64
	labelHeight float64
}

func (f frame) x(ratio float64) float64 {
	t := (math.Log(ratio) - f.lo) / (f.hi - f.lo)
	return f.left + math.Max(0, math.Min(1, t))*(f.right-f.left)
}

// draw returns the SVG at a width, without a background and with colours as CSS variables.
func (c *chart) draw(width float64) string {
	var b strings.Builder
	f := c.frame(width)
	height := f.bottom + 30
	begin(&b, c.title, width, height)
	y := 24.0
	for _, line := range wrap(c.title, width-32, 8.6) {
		text(&b, 16, y, "title", "start", line)
		y += 20
	}
	for _, line := range wrap(c.subtitle, width-32, 6.2) {
		text(&b, 16, y, "muted", "start", line)
		y += 16
	}
	c.legend(&b, y+6, width)
	c.axis(&b, f)
	y = f.top
	if !f.labelsAbove && slices.ContainsFunc(c.groups, func(g group) bool { return g.value != "" }) {
		text(&b, width-16, y-9, "value "+c.d.colour(c.d.a.Run.Subject()), "end", c.d.a.Run.Subject())
	}
	for i, g := range c.groups {
		h := f.labelHeight + math.Max(float64(len(g.marks))*lane, 16)
		if i%2 == 1 {
			rect(&b, "stripe", 8, y-groupGap/2, width-16, h+groupGap)
		}
		y += h + groupGap
	}
	c.grid(&b, f)
	y = f.top
	for _, g := range c.groups {
		h := math.Max(float64(len(g.marks))*lane, 16)
		value := "value " + c.d.colour(g.of)
		if f.labelsAbove {
			text(&b, 16, y+11, "label", "start", g.name)
			text(&b, width-16, y+11, value, "end", g.value)
		} else {
			text(&b, f.left-14, y+h/2+4, "label", "end", g.name)
			text(&b, width-16, y+h/2+4, value, "end", g.value)
		}
		first := y + f.labelHeight + h/2 - float64(len(g.marks)-1)*lane/2
		for i, m := range g.marks {
			c.mark(&b, f, m, first+float64(i)*lane)
		}
		y += f.labelHeight + h + groupGap
	}
	b.WriteString("</svg>\n")
	return b.String()
}

func (c *chart) frame(width float64) frame {
	f := frame{width: width, right: width - 70}
	longest := 0
	for _, g := range c.groups {
		longest = max(longest, len([]rune(g.name)))
	}
	f.left = 16 + float64(longest)*charWidth + 14
	if f.left > width*0.45 {
		f.labelsAbove, f.left, f.right, f.labelHeight = true, 24, width-24, 18
	}
	f.lo, f.hi = c.span()
	f.top = 24 + 20*float64(len(wrap(c.title, width-32, 8.6))) + 16*float64(len(wrap(c.subtitle, width-32, 6.2))) +
		legendLine*float64(c.legendLines(width)) + 8
	f.bottom = f.top
	for _, g := range c.groups {
		f.bottom += f.labelHeight + math.Max(float64(len(g.marks))*lane, 16) + groupGap
	}
	return f
}

// span returns the range of the axis: all intervals, 1 with its band, and some air.
func (c *chart) span() (lo, hi float64) {
	lo, hi = -math.Log1p(c.floor), math.Log1p(c.floor)
	for _, g := range c.groups {
		for _, m := range g.marks {
			lo, hi = math.Min(lo, math.Log(m.ratio.Center)), math.Max(hi, math.Log(m.ratio.Center))
			if m.ratio.Bounded() {
				lo, hi = math.Min(lo, math.Log(m.ratio.Lo)), math.Max(hi, math.Log(m.ratio.Hi))
			}
		}
	}
	air := math.Max((hi-lo)*0.05, 0.05)
	return lo - air, hi + air
}

// ticks returns round ratios within the axis, few enough to write.
func (f frame) ticks() []float64 {
	room := int((f.right - f.left) / 44)
	for _, steps := range [][]float64{{1, 1.5, 2, 3, 5, 7}, {1, 2, 5}, {1, 3}, {1}} {
		var out []float64
		for e := -4; e <= 5; e++ {
			for _, s := range steps {
				v := s * math.Pow(10, float64(e))
				if l := math.Log(v); l >= f.lo && l <= f.hi {
					out = append(out, v)
				}
			}
		}
		if len(out) <= room || len(steps) == 1 {
			return out
		}
	}
	return nil
}

func (c *chart) axis(b *strings.Builder, f frame) {
	for _, t := range f.ticks() {
		label := tickLabel(t)
		class := "tick"
		if t == 1 {
			class = "tick one"
		}
		text(b, f.x(t), f.bottom+14, class, "middle", label)
	}
}

func tickLabel(t float64) string {
	return strings.TrimRight(strings.TrimRight(fmt.Sprintf("%.4f", t), "0"), ".") + "×"
}

func (c *chart) grid(b *strings.Builder, f frame) {
	if c.floor > 0 {
		from, to := f.x(1/(1+c.floor)), f.x(1+c.floor)
		rect(b, "band", from, f.top-4, math.Max(to-from, 1), f.bottom-f.top)
	}
	for _, t := range f.ticks() {
		class := "grid"
		if t == 1 {
			class = "unit"
		}
		line(b, class, f.x(t), f.top-4, f.x(t), f.bottom-4)
	}
}

func (c *chart) mark(b *strings.Builder, f frame, m mark, y float64) {
	colour := c.d.colour(m.impl)
	tip := fmt.Sprintf("%s: %s (%s)", m.impl, stats.FormatRatio(m.ratio.Center), stats.FormatRatioRange(m.ratio))
	fmt.Fprintf(b, `<g class="%s"><title>%s</title>`, colour, html.EscapeString(tip))
	if m.ratio.Bounded() {
		line(b, "interval", f.x(m.ratio.Lo), y, f.x(m.ratio.Hi), y)
	}
	c.d.dot(b, m.impl, f.x(m.ratio.Center), y)
	b.WriteString("</g>\n")
}

const legendLine = 20.0

func (c *chart) legend(b *strings.Builder, y, width float64) {
	c.layLegend(width, func(impl string, x float64, row int) {
		fmt.Fprintf(b, `<g class="%s">`, c.d.colour(impl))
		c.d.dot(b, impl, x+5, y+float64(row)*legendLine-4)
		b.WriteString("</g>")
		text(b, x+15, y+float64(row)*legendLine, "label", "start", impl)
	})
}

func (c *chart) legendLines(width float64) (lines int) {
	c.layLegend(width, func(_ string, _ float64, row int) { lines = row + 1 })
	return lines
}

func (c *chart) layLegend(width float64, place func(impl string, x float64, row int)) {
	x, row := 16.0, 0
	for _, impl := range c.impls {
		w := 15 + float64(len(impl))*charWidth + 18
		if x+w > width && x > 16 {
			x, row = 16, row+1
		}
		place(impl, x, row)
		x += w
	}
}

// dot draws a contestant's symbol: the subject large, ranked loops filled, controls hollow.
func (d *document) dot(b *strings.Builder, impl string, x, y float64) {
	switch {
	case impl == d.a.Run.Subject():
		fmt.Fprintf(b, `<circle class="dot" cx="%.1f" cy="%.1f" r="5"/>`, x, y)
	case d.a.Run.Impl(impl).Ranked:
		fmt.Fprintf(b, `<circle class="dot" cx="%.1f" cy="%.1f" r="3.6"/>`, x, y)
	default:
		fmt.Fprintf(b, `<rect class="hollow" x="%.1f" y="%.1f" width="6.4" height="6.4" transform="rotate(45 %.1f %.1f)"/>`,
			x-3.2, y-3.2, x, y)
	}
}

// colour returns the CSS class of a contestant's colour.
func (d *document) colour(impl string) string {
	i := slices.IndexFunc(d.a.Run.Impls, func(r recordImpl) bool { return r.Name == impl })
	return fmt.Sprintf("c%d", max(i, 0)%len(palette))
}

// begin begins an SVG.
func begin(b *strings.Builder, title string, width, height float64) {
	fmt.Fprintf(b, `<svg xmlns="http://www.w3.org/2000/svg" class="chart" viewBox="0 0 %.0f %.0f" width="%.0f" height="%.0f" role="img" aria-label="%s">`+"\n",
		width, height, width, height, html.EscapeString(title))
	b.WriteString("STYLE")
}

func text(b *strings.Builder, x, y float64, class, anchor, s string) {
	if s != "" {
		fmt.Fprintf(b, `<text class="%s" x="%.1f" y="%.1f" text-anchor="%s">%s</text>`+"\n", class, x, y, anchor, html.EscapeString(s))
	}
}

func line(b *strings.Builder, class string, x1, y1, x2, y2 float64) {
	fmt.Fprintf(b, `<line class="%s" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`+"\n", class, x1, y1, x2, y2)
}

func rect(b *strings.Builder, class string, x, y, w, h float64) {
	fmt.Fprintf(b, `<rect class="%s" x="%.1f" y="%.1f" width="%.1f" height="%.1f"/>`+"\n", class, x, y, w, h)
}

// wrap breaks text into lines that fit a width, given the mean width of a character.
func wrap(s string, width, char float64) []string {
	limit := int(width / char)
	var lines []string
	current := ""
	for word := range strings.FieldsSeq(s) {
		if current != "" && len([]rune(current))+1+len([]rune(word)) > limit {
			lines = append(lines, current)
			current = ""
		}
		current = strings.TrimSpace(current + " " + word)
	}
	return append(lines, current)
}
