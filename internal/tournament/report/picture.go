// The picture: who ranks where, as bars with intervals, and below it a grid of ratios to the best, in colour.

package report

import (
	"cmp"
	"fmt"
	"html"
	"math"
	"slices"
	"strings"

	"github.com/turnloop/turnloop/internal/tournament/stats"
)

// The files of the two pictures: one with a line for each category, one with a line for each benchmark.
const (
	overviewFile = "geomean.svg"
	gridFile     = "grid.svg"
)

// A picture is drawn at the width of a page of text; a phone shows the page instead.
type picture struct {
	file, title string
	note        string // what the grid below the bars shows
	bars        []bar
	meansOf     string // what the bars are means of
	columns     []string
	groups      []pictureGroup
	d           *document
}

type pictureGroup struct {
	name  string // empty: the lines need no common name
	lines []pictureLine
}

type pictureLine struct {
	name, variant string
	tiles         []tile
	aside         []tile
}

// A bar is a contestant's score. Places on the axis are shares of its length.
type bar struct {
	impl, label     string
	mean            stats.Interval
	end, from, upto float64
	ranked          bool
}

// scores returns the bars of a standing, from zero to the largest.
func scores(st stats.Standing) []bar {
	top := 0.0
	for _, p := range st.Places {
		top = math.Max(top, p.Mean.Center)
		if p.Mean.Bounded() {
			top = math.Max(top, p.Mean.Hi)
		}
	}
	var out []bar
	for _, p := range st.Places {
		b := bar{impl: p.Impl, label: p.Impl + " (not ranked)", mean: p.Mean, end: p.Mean.Center / top, ranked: p.Rank > 0}
		if b.ranked {
			b.label = fmt.Sprintf("%d  %s", p.Rank, p.Impl)
		}
		b.from, b.upto = b.end, b.end
		if p.Mean.Bounded() {
			b.from, b.upto = p.Mean.Lo/top, p.Mean.Hi/top
		}
		out = append(out, b)
	}
	return out
}

// scoresAre says what the bars of the standing show.
func (d *document) scoresAre() string {
	st := d.a.Overall
	return fmt.Sprintf("Cost as a multiple of %s's: geometric mean over %s, less is better. Whiskers: 95 %% intervals.",
		st.Reference, count(len(st.Rows), "figure"))
}

// pictures returns the overview and the grid.
func (d *document) pictures() []*picture {
	g := d.grid()
	if len(g.groups) == 0 {
		return nil
	}
	overview := &picture{
		file: overviewFile, title: "Who wins by how much" + d.quickMark(), bars: scores(d.a.Overall), meansOf: d.scoresAre(), columns: g.impls,
		note: "By category: the cost as a multiple of the best one's.", groups: []pictureGroup{{}}, d: d,
	}
	for _, c := range d.a.Categories {
		l := pictureLine{name: c.Name}
		for _, impl := range g.impls {
			l.tiles = append(l.tiles, meanTile(c.Standing, impl))
		}
		if len(c.Places) > 0 {
			overview.groups[0].lines = append(overview.groups[0].lines, l)
		}
	}
	whole := &picture{
		file: gridFile, title: "Every benchmark" + d.quickMark(), bars: overview.bars, meansOf: overview.meansOf, columns: g.impls,
		note: "The median as a multiple of the best ranked one's. “~”: not told apart from it. At the right: what is not ranked.", d: d,
	}
	for _, group := range g.groups {
		p := pictureGroup{name: group.name}
		for _, l := range group.lines {
			name, variant := lineName(l.row)
			p.lines = append(p.lines, pictureLine{name, variant, l.tiles, l.aside})
		}
		whole.groups = append(whole.groups, p)
	}
	return []*picture{overview, whole}
}

// meanTile returns the tile of a contestant's mean in a standing.
func meanTile(st stats.Standing, impl string) tile {
	t := tile{impl: impl, text: "–", step: noStep}
	i := slices.IndexFunc(st.Places, func(p stats.Place) bool { return p.Impl == impl })
	if i < 0 || st.Places[i].Rank == 0 {
		return t
	}
	p := st.Places[i]
	t.ratio, t.step = p.ToFirst, step(p.ToFirst.Center)
	t.text = tileText(p.ToFirst.Center, p.Rank == 1)
	if p.Tied {
		t.text = "~" + t.text
	}
	return t
}

func (p *picture) name() (file, title string) { return p.file, p.title }

const (
	tileHeight = 20.0
	tileGap    = 2.0
	barHeight  = 22.0
	asideWidth = 190.0
	nameWidth  = 232.0
	headHeight = 30.0 // two lines
)

// draw returns the SVG at a width, with colours as CSS variables.
func (p *picture) draw(width float64) string {
	var b strings.Builder
	height := p.height(width)
	begin(&b, p.title, width, height)
	y := 26.0
	text(&b, 16, y, "title", "start", p.title)
	y += 4
	if len(p.bars) > 0 {
		y = p.caption(&b, p.meansOf, y, width)
		for _, bar := range p.bars {
			p.drawBar(&b, bar, y, width)
			y += barHeight
		}
		y += 14
	}
	y = p.caption(&b, p.note, y, width)
	y = p.drawScale(&b, y)
	x := func(i int) float64 { return nameWidth + float64(i)*p.tileWidth(width) }
	for i, impl := range p.columns {
		stem, rest := stemmed(impl, p.columns)
		text(&b, x(i)+(p.tileWidth(width)-tileGap)/2, y+10, "tile", "middle", stem)
		text(&b, x(i)+(p.tileWidth(width)-tileGap)/2, y+23, "tile", "middle", rest)
	}
	y += headHeight
	for _, g := range p.groups {
		if g.name != "" {
			text(&b, 16, y+15, "muted", "start", strings.ToUpper(g.name))
			y += tileHeight
		}
		for _, l := range g.lines {
			fmt.Fprintf(&b, `<text class="label tile" x="16" y="%.1f">%s <tspan class="none">%s</tspan></text>`+"\n",
				y+14, html.EscapeString(l.name), html.EscapeString(l.variant))
			for i, t := range l.tiles {
				p.drawTile(&b, t, x(i), y, p.tileWidth(width)-tileGap)
			}
			text(&b, x(len(l.tiles))+8, y+14, "tile none", "start", besideTiles(l.aside))
			y += tileHeight + tileGap
		}
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// besideTiles names the contestants that have no column, the nearest to the best first, as many as there is room for.
func besideTiles(aside []tile) string {
	const room, more = 26, 5 // characters of the whole text, and of the number of those that are left out
	sorted := slices.SortedStableFunc(slices.Values(aside), func(a, b tile) int { return cmp.Compare(a.ratio.Center, b.ratio.Center) })
	s := ""
	for i, t := range sorted {
		next := t.impl + " " + t.text
		if i > 0 {
			next = s + " · " + next
		}
		limit := room
		if i == len(sorted)-1 {
			limit += more
		}
		if len([]rune(next)) > limit && i > 0 {
			return fmt.Sprintf("%s · +%d", s, len(sorted)-i)
		}
		s = next
	}
	return s
}

func firstClass(first bool) string {
	if first {
		return "first"
	}
	return ""
}

// stemmed splits a contestant's name after the prefix that it shares with similar names, such as "alternate" and "one", so that
// columns can be narrow.
func stemmed(impl string, impls []string) (stem, rest string) {
	const least = 4
	stem = impl
	for _, other := range impls {
		n := 0
		for n < len(impl) && n < len(other) && impl[n] == other[n] {
			n++
		}
		if other != impl && n >= least && n < len(stem) {
			stem = impl[:n]
		}
	}
	return stem, impl[len(stem):]
}

// height is what draw needs.
func (p *picture) height(width float64) float64 {
	h := 30.0
	if len(p.bars) > 0 {
		h += 16*float64(len(wrap(p.meansOf, width-32, 6.2))) + 10 + barHeight*float64(len(p.bars)) + 14
	}
	h += 16*float64(len(wrap(p.note, width-32, 6.2))) + 10 + 26 + headHeight
	for _, g := range p.groups {
		if g.name != "" {
			h += tileHeight
		}
		h += (tileHeight + tileGap) * float64(len(g.lines))
	}
	return h + 12
}

// tileWidth is the width of a column with its gap.
func (p *picture) tileWidth(width float64) float64 {
	room := width - nameWidth - 16
	if slices.ContainsFunc(p.groups, func(g pictureGroup) bool {
		return slices.ContainsFunc(g.lines, func(l pictureLine) bool { return len(l.aside) > 0 })
	}) {
		room -= asideWidth
	}
	return room / float64(max(len(p.columns), 1))
}

func (p *picture) caption(b *strings.Builder, s string, y, width float64) float64 {
	for _, line := range wrap(s, width-32, 6.2) {
		y += 16
		text(b, 16, y, "muted", "start", line)
	}
	return y + 10
}

func (p *picture) drawBar(b *strings.Builder, s bar, y, width float64) {
	left, length := nameWidth, width-nameWidth-110
	text(b, 16, y+15, "label", "start", s.label)
	class := "bar " + p.d.colour(s.impl)
	if !s.ranked {
		class += " pale"
	}
	rect(b, class, left, y+3, math.Max(s.end*length, 1), barHeight-6)
	line(b, "whisker", left+s.from*length, y+barHeight/2, left+s.upto*length, y+barHeight/2)
	for _, end := range []float64{s.from, s.upto} {
		line(b, "whisker", left+end*length, y+barHeight/2-3.5, left+end*length, y+barHeight/2+3.5)
	}
	text(b, left+s.upto*length+9, y+15, "value "+p.d.colour(s.impl), "start", stats.FormatRatio(s.mean.Center))
}

func (p *picture) drawTile(b *strings.Builder, t tile, x, y, width float64) {
	if t.step == noStep {
		text(b, x+width/2, y+14, "tile none", "middle", t.text)
		return
	}
	fmt.Fprintf(b, `<g><title>%s</title>`, html.EscapeString(fmt.Sprintf("%s: %s (%s)", t.impl, stats.FormatRatio(t.ratio.Center),
		stats.FormatRatioRange(t.ratio))))
	fmt.Fprintf(b, `<rect class="s%d" x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="3"/>`, t.step, x, y, width, tileHeight)
	text(b, x+width/2, y+14, fmt.Sprintf("tile t%d %s", t.step, firstClass(t.text == "1")), "middle", t.text)
	b.WriteString("</g>\n")
}

// scaleLabels says in words what the steps of the scale are.
func scaleLabels() []string {
	var out []string
	for i, limit := range scale {
		label := fmt.Sprintf("to %v×", limit)
		if i == 0 {
			label = "best " + label
		}
		out = append(out, label)
	}
	return append(out, "more")
}

func (p *picture) drawScale(b *strings.Builder, y float64) float64 {
	x := 16.0
	for i, label := range scaleLabels() {
		fmt.Fprintf(b, `<rect class="s%d" x="%.1f" y="%.1f" width="14" height="14" rx="3"/>`, i, x, y)
		text(b, x+19, y+11, "tick", "start", label)
		x += 19 + float64(len([]rune(label)))*charWidth + 14
	}
	return y + 26
}
