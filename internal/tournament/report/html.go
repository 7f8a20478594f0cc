// The page: the picture first, whose cells open when they are clicked, and the tables folded below it. It is one file that
// needs no other.

package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html"
	"html/template"
	"strconv"
	"strings"

	"github.com/turnloop/turnloop/internal/tournament/stats"
)

//go:embed page.html
var pageSource string

//go:embed page.css
var pageStyle string

//go:embed page.js
var pageScript string

var page = template.Must(template.New("page").Parse(pageSource))

// html renders the report as a page.
func (d *document) html() ([]byte, error) {
	var body strings.Builder
	front := d.front()
	body.WriteString(`<div class="front"><header>` + "\n")
	for _, bl := range front[:d.lede()+1] {
		writeHTML(&body, bl)
	}
	d.writeScores(&body)
	body.WriteString("</header>\n")
	body.WriteString(`<div class="heat">`)
	writeScale(&body)
	d.writeGrid(&body, d.grid(), "c")
	body.WriteString("</div>\n")
	body.WriteString(`<div class="verdict">` + "\n")
	for _, bl := range front[d.lede()+1:] {
		writeHTML(&body, bl)
	}
	body.WriteString("</div></div>\n")
	for _, s := range d.sections("", nil) {
		writeHTML(&body, s)
	}
	d.explorer(&body)
	return d.finish(d.title(), body.String())
}

// lede is the place of the verdict's first sentence in the front.
func (d *document) lede() int {
	if d.label() != "" {
		return 1
	}
	return 0
}

// finish puts a body into the page.
func (d *document) finish(title, body string) ([]byte, error) {
	var out bytes.Buffer
	err := page.Execute(&out, map[string]any{
		"Title":  title,
		"Light":  template.CSS(variables(false)),
		"Dark":   template.CSS(variables(true)),
		"Style":  template.CSS(pageStyle + listed(vastNeeds, ".vast") + listed(broadNeeds, ".broad") + listed(tableNeeds, ".sortable") + shadeStyle()),
		"Script": template.JS(pageScript),
		"Body":   template.HTML(body),
	})
	return out.Bytes(), err
}

// writeScores writes the ranking as bars.
func (d *document) writeScores(b *strings.Builder) {
	bars := scores(d.a.Overall)
	if len(bars) == 0 {
		return
	}
	b.WriteString(`<div class="scores">`)
	for _, s := range bars {
		class := d.colour(s.impl)
		if !s.ranked {
			class += " pale"
		}
		fmt.Fprintf(b, `<span>%s</span><span class="track %s" title="%s"><i style="width:%s"></i><b style="left:%s;width:%s"></b></span><span>%s</span>`+"\n",
			html.EscapeString(s.label), class, html.EscapeString(stats.FormatRatioRange(s.mean)), share(s.end), share(s.from),
			share(s.upto-s.from), stats.FormatRatio(s.mean.Center))
	}
	fmt.Fprintf(b, "</div><p class=\"soft\">%s</p>\n", html.EscapeString(d.scoresAre()))
}

// share writes a part of a length in CSS.
func share(part float64) string { return strconv.FormatFloat(part*100, 'f', 1, 64) + "%" }

// writeScale says what the colours of a grid mean.
func writeScale(b *strings.Builder) {
	b.WriteString(`<p class="soft scale">`)
	for i, label := range scaleLabels() {
		fmt.Fprintf(b, `<span><i class="s%d"></i>%s</span>`, i, label)
	}
	b.WriteString(`</p><p class="soft">Each cell: a multiple of the best ranked loop's, as the median of ratios within rounds; “~”: not told apart from it. ` +
		"A cell opens to its rounds, the reason for it, and the command that repeats it.</p>\n")
}

// writeGrid writes the grid and, as templates, what its cells open to. The names of the templates begin with prefix.
func (d *document) writeGrid(b *strings.Builder, g grid, prefix string) {
	fmt.Fprintf(b, `<table role="grid" aria-label="%s: ratios to the best of each benchmark" style="--n:%d"><thead><tr><th scope="col">benchmark</th>`,
		html.EscapeString(d.a.Run.Name), max(len(g.impls), 1))
	for _, impl := range g.impls {
		stem, rest := stemmed(impl, g.impls)
		name := html.EscapeString(stem)
		if rest != "" {
			name += "&shy;" + html.EscapeString(rest)
		}
		if !d.a.Ranked(impl) {
			name += " <small>not ranked</small>"
		}
		fmt.Fprintf(b, `<th scope="col">%s</th>`, name)
	}
	b.WriteString("<th scope=\"col\">not ranked</th></tr></thead>\n")
	var panels strings.Builder
	n := 0
	for _, group := range g.groups {
		fmt.Fprintf(b, `<tbody><tr class="group"><th scope="rowgroup" colspan="%d">%s</th></tr>`+"\n", len(g.impls)+2, html.EscapeString(group.name))
		for _, l := range group.lines {
			name, variant := lineName(l.row)
			if !l.row.Scored {
				variant = strings.TrimSpace(variant + " (not scored)")
			}
			id := fmt.Sprintf("%s%d", prefix, n)
			n++
			fmt.Fprintf(b, `<tr data-panel="%s"><th scope="row">%s <small>%s</small></th>`, id, html.EscapeString(name), html.EscapeString(variant))
			for _, t := range l.tiles {
				b.WriteString("<td>")
				writeTile(b, l.row, t, t.text)
				b.WriteString("</td>")
			}
			b.WriteString(`<td class="aside">`)
			for _, t := range l.aside {
				writeTile(b, l.row, t, t.impl+" "+t.text)
			}
			b.WriteString("</td></tr>\n")
			d.writePanel(&panels, l, id)
		}
		b.WriteString("</tbody>\n")
	}
	b.WriteString("</table>\n")
	if s := d.without(); s != "" {
		fmt.Fprintf(b, "<p class=\"soft\">%s</p>\n", inlineHTML(s))
	}
	b.WriteString(panels.String())
}

func writeTile(b *strings.Builder, row *stats.Row, t tile, label string) {
	class, says := "none", t.impl+": no figure"
	switch {
	case t.step != noStep:
		class, says = fmt.Sprintf("s%d", t.step), fmt.Sprintf("%s: %s the best", t.impl, stats.FormatRatio(t.ratio.Center))
		if t.text == "1" {
			class += " first"
			says = t.impl + ": the best"
		}
	case t.entry != nil && t.entry.Value.OK():
		says = t.impl + ": " + t.text
	}
	fmt.Fprintf(b, `<button type="button" tabindex="-1" class="%s" data-impl="%s" aria-label="%s">%s</button>`,
		class, html.EscapeString(t.impl), html.EscapeString(spaced(row.Bench)+", "+says), html.EscapeString(label))
}

func writeHTML(b *strings.Builder, bl block) {
	switch v := bl.(type) {
	case heading:
		fmt.Fprintf(b, "<h%d id=\"%s\">%s</h%d>\n", v.level, slug(v.text), inlineHTML(v.text), v.level)
	case para:
		fmt.Fprintf(b, "<p>%s</p>\n", inlineHTML(string(v)))
	case bullets:
		b.WriteString("<ul>\n")
		for _, item := range v {
			fmt.Fprintf(b, "<li>%s</li>\n", inlineHTML(item))
		}
		b.WriteString("</ul>\n")
	case code:
		fmt.Fprintf(b, "<pre><code>%s</code></pre>\n", html.EscapeString(string(v)))
	case figure: // the page draws its own, whose cells can be opened
	case table:
		fmt.Fprintf(b, `<div class="scroll"><table class="sortable words%d%s"><thead><tr>`, max(v.words, 1), broad(len(v.head)))
		for _, h := range v.head {
			fmt.Fprintf(b, `<th scope="col"><button type="button">%s</button></th>`, inlineHTML(h))
		}
		b.WriteString("</tr></thead><tbody>\n")
		for _, row := range v.rows {
			writeCells(b, row, "")
		}
		b.WriteString("</tbody></table></div>\n")
	case section:
		beginSection(b, v.title, v.lead)
		for _, in := range v.inside {
			writeHTML(b, in)
		}
		b.WriteString("</details>\n")
	case details:
		fmt.Fprintf(b, "<details><summary>%s</summary>\n", inlineHTML(v.summary))
		for _, in := range v.inside {
			writeHTML(b, in)
		}
		b.WriteString("</details>\n")
	}
}

// broad marks tables with many columns, which are shown as tables only on wide screens: on others each row becomes a list.
func broad(columns int) string {
	switch {
	case columns > 9:
		return " vast"
	case columns > 6:
		return " broad"
	}
	return ""
}

func beginSection(b *strings.Builder, title, lead string) {
	fmt.Fprintf(b, "<details class=\"section\" id=\"%s\"><summary><h2>%s</h2> <span>%s</span></summary>\n", slug(title), inlineHTML(title), inlineHTML(lead))
}

func writeCells(b *strings.Builder, row []cell, attributes string) {
	fmt.Fprintf(b, "<tr%s>", attributes)
	for i, c := range row {
		tag := "td"
		if i == 0 {
			tag = `th scope="row"`
		}
		if c := c.sorted(); c.by {
			tag += fmt.Sprintf(` data-key="%s" data-kind="%s"`, strconv.FormatFloat(c.key, 'g', -1, 64), html.EscapeString(c.kind))
		}
		fmt.Fprintf(b, "<%s>%s</%s>", tag, inlineHTML(c.text), strings.Fields(tag)[0])
	}
	b.WriteString("</tr>\n")
}

// inlineHTML renders the markup within a block's text.
func inlineHTML(s string) string {
	var b strings.Builder
	bold := false
	for len(s) > 0 {
		switch {
		case s[0] == '\\' && len(s) > 1 && strings.IndexByte(special, s[1]) >= 0:
			b.WriteString(html.EscapeString(s[1:2]))
			s = s[2:]
		case strings.HasPrefix(s, "**"):
			b.WriteString(map[bool]string{false: "<strong>", true: "</strong>"}[bold])
			bold = !bold
			s = s[2:]
		case s[0] == '`' && strings.Count(s, "`") > 1:
			inside, rest, _ := strings.Cut(s[1:], "`")
			b.WriteString("<code>" + html.EscapeString(inside) + "</code>")
			s = rest
		case s[0] == '[' && strings.Contains(s, "]("):
			label, rest, _ := strings.Cut(s[1:], "](")
			target, rest, _ := strings.Cut(rest, ")")
			fmt.Fprintf(&b, `<a href="%s">%s</a>`, html.EscapeString(target), inlineHTML(label))
			s = rest
		default:
			end := strings.IndexAny(s[1:], special)
			if end < 0 {
				end = len(s) - 1
			}
			b.WriteString(html.EscapeString(s[:end+1]))
			s = s[end+1:]
		}
	}
	return b.String()
}
