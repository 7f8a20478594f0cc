// Blocks: the report as a list of headings, paragraphs, tables and charts. The text and the page render the same list.

package report

import "strings"

// A block is a part of the report. Its texts carry **bold**, `code` and [links](to); foreign text goes through plain.
type block interface{}

type (
	heading struct {
		level int
		text  string
	}
	para    string
	bullets []string
	code    string
	figure  struct{ chart chart }
	// A table's first column names the row. Its first columns hold words, the others figures.
	table struct {
		head  []string
		words int // columns of words; 0: the first
		rows  [][]cell
	}
	cell struct {
		text string
		key  float64 // what to sort by, if by
		by   bool    // not by the text
	}
	details struct {
		summary string
		inside  []block
	}
)

func words(texts ...string) []cell {
	out := make([]cell, len(texts))
	for i, t := range texts {
		out[i] = cell{text: t}
	}
	return out
}

const special = "\\`*[]"

// plain makes text that comes from elsewhere harmless to the markup.
func plain(s string) string {
	var b strings.Builder
	for _, r := range s {
		if strings.ContainsRune(special, r) {
			b.WriteByte('\\')
		}
		if r == '\n' || r == '\r' || r == '\t' {
			r = ' '
		}
		b.WriteRune(r)
	}
	return b.String()
}
