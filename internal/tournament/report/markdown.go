// The blocks as Markdown.

package report

import (
	"fmt"
	"strings"
)

// markdown renders the report. base leads from the file to the run's folder, and runs are those beside it.
func (d *document) markdown(base string, runs []link) ([]byte, error) {
	var b strings.Builder
	for _, bl := range d.blocks(base, runs) {
		writeMarkdown(&b, bl, base)
	}
	return []byte(strings.TrimLeft(b.String(), "\n")), nil
}

func writeMarkdown(b *strings.Builder, bl block, base string) {
	switch v := bl.(type) {
	case heading:
		fmt.Fprintf(b, "\n%s %s\n", strings.Repeat("#", v.level), angle(v.text))
	case para:
		fmt.Fprintf(b, "\n%s\n", angle(string(v)))
	case bullets:
		b.WriteByte('\n')
		for _, item := range v {
			fmt.Fprintf(b, "- %s\n", angle(item))
		}
	case code:
		fmt.Fprintf(b, "\n```sh\n%s\n```\n", string(v))
	case figure:
		file, title := v.name()
		fmt.Fprintf(b, "\n![%s](%s%s)\n", title, base, file)
	case table:
		b.WriteByte('\n')
		writeRow(b, v.head)
		for i := range v.head {
			b.WriteString("| ---")
			if i >= max(v.words, 1) {
				b.WriteByte(':')
			}
			b.WriteByte(' ')
		}
		b.WriteString("|\n")
		for _, row := range v.rows {
			texts := make([]string, len(row))
			for i, c := range row {
				texts[i] = c.text
			}
			writeRow(b, texts)
		}
	case section:
		writeMarkdown(b, heading{2, v.title}, base)
		if v.lead != "" {
			writeMarkdown(b, para(v.lead), base)
		}
		if len(v.inside) > 0 {
			writeMarkdown(b, details{"Show", v.inside}, base)
		}
	case details:
		fmt.Fprintf(b, "\n<details><summary>%s</summary>\n", inlineHTML(v.summary))
		for _, in := range v.inside {
			writeMarkdown(b, in, base)
		}
		b.WriteString("\n</details>\n")
	}
}

func writeRow(b *strings.Builder, cells []string) {
	for _, c := range cells {
		fmt.Fprintf(b, "| %s ", strings.ReplaceAll(angle(c), "|", `\|`))
	}
	b.WriteString("|\n")
}

// angle keeps text such as <nil> from being taken for markup.
func angle(s string) string {
	return strings.NewReplacer("<", "&lt;", ">", "&gt;").Replace(s)
}
