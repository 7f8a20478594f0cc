// The blocks as one page that needs nothing else.

package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html"
	"html/template"
	"strconv"
	"strings"
)

//go:embed page.html
var pageSource string

//go:embed page.js
var pageScript string

var page = template.Must(template.New("page").Parse(pageSource))

// html renders the report as a page.
func (d *document) html() ([]byte, error) {
	var body strings.Builder
	for _, bl := range d.blocks("", nil) {
		writeHTML(&body, bl)
	}
	d.explorer(&body)
	var contents []link
	for _, bl := range d.blocks("", nil) {
		if h, ok := bl.(heading); ok && h.level == 2 {
			contents = append(contents, link{h.text, "#" + slug(h.text)})
		}
	}
	contents = append(contents, link{explorerTitle, "#" + slug(explorerTitle)})
	var out bytes.Buffer
	err := page.Execute(&out, map[string]any{
		"Title":    d.title(),
		"Light":    template.CSS(variables(false)),
		"Dark":     template.CSS(variables(true)),
		"Chart":    template.CSS(chartStyle()),
		"Script":   template.JS(pageScript),
		"Body":     template.HTML(body.String()),
		"Contents": contents,
	})
	return out.Bytes(), err
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
	case figure:
		fmt.Fprintf(b, "<figure>%s</figure>\n", v.chart.inline())
	case table:
		fmt.Fprintf(b, `<div class="scroll"><table class="sortable words%d"><thead><tr>`, max(v.words, 1))
		for _, h := range v.head {
			fmt.Fprintf(b, `<th scope="col"><button type="button">%s</button></th>`, inlineHTML(h))
		}
		b.WriteString("</tr></thead><tbody>\n")
		for _, row := range v.rows {
			writeCells(b, row, "")
		}
		b.WriteString("</tbody></table></div>\n")
	case details:
		fmt.Fprintf(b, "<details><summary>%s</summary>\n", inlineHTML(v.summary))
		for _, in := range v.inside {
			writeHTML(b, in)
		}
		b.WriteString("</details>\n")
	}
}

func writeCells(b *strings.Builder, row []cell, attributes string) {
	fmt.Fprintf(b, "<tr%s>", attributes)
	for i, c := range row {
		tag := "td"
		if i == 0 {
			tag = `th scope="row"`
		}
		if c.by {
			tag += ` data-key="` + strconv.FormatFloat(c.key, 'g', -1, 64) + `"`
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
