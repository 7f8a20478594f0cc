// Blocks: the report as a list of headings, paragraphs, tables and charts. The text and the page render the same list.

package report

import (
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/turnloop/turnloop/internal/tournament/stats"
)

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
	figure  struct{ drawing }
	// A table's first column names the row. Its first columns hold words, the others figures.
	table struct {
		head  []string
		words int // columns of words; 0: the first
		rows  [][]cell
	}
	cell struct {
		text string
		key  float64 // what to sort by, if by is set; otherwise the cell sorts by the figure at the begin of its text, if any
		kind string  // the kind of the key, such as a unit; keys of different kinds are not compared
		by   bool
	}
	details struct {
		summary string
		inside  []block
	}
	// A section stands behind the picture. Its one-line summary is shown, and the rest when the reader opens it.
	section struct {
		title  string
		lead   string
		inside []block
	}
)

func words(texts ...string) []cell {
	out := make([]cell, len(texts))
	for i, t := range texts {
		out[i] = cell{text: t}
	}
	return out
}

// ratioCell, rangeCell and valueCell are cells that sort by what they show.
func ratioCell(ratio float64) cell {
	return cell{text: stats.FormatRatio(ratio), key: ratio, kind: "×", by: !math.IsNaN(ratio)}
}

// rangeCell sorts intervals by their lower bound.
func rangeCell(text string, i stats.Interval, kind string) cell {
	return cell{text: text, key: i.Lo, kind: kind, by: i.Bounded()}
}

func valueCell(text string, value float64, unit string) cell {
	return cell{text: text, key: value, kind: unitKind(unit), by: !math.IsNaN(value)}
}

func countCell(n int) cell { return cell{text: strconv.Itoa(n), key: float64(n), by: true} }

// unitKind is what makes two figures comparable: time, bytes, or else the unit itself.
func unitKind(unit string) string {
	if stats.IsTime(unit) {
		return "s"
	}
	if name, _, _ := strings.Cut(unit, "/"); name == "B" || strings.HasSuffix(name, "-B") {
		return "B"
	}
	return unitName(unit)
}

// sorted returns the cell with its sort key set.
func (c cell) sorted() cell {
	if c.by {
		return c
	}
	return figureIn(c.text)
}

// figureIn finds the figure that a text begins with, for texts that come ready-made: "0.14× (0.11× to 0.16×)", "17.0 ns", "0".
func figureIn(text string) cell {
	c := cell{text: text}
	m := leading.FindStringSubmatch(text)
	if m == nil {
		return c
	}
	value, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		return c
	}
	c.kind, c.by = m[2], true
	if u, ok := units[m[2]]; ok {
		c.kind, value = u.kind, value*u.factor
	}
	c.key = value
	return c
}

var leading = regexp.MustCompile(`^[~*]*([0-9]+(?:\.[0-9]+)?(?:e[-+]?[0-9]+)?)[ \x{a0}]?(×|%|[nµm]?s\b|[KMG]i?B\b|B\b|)`)

var units = map[string]struct {
	kind   string
	factor float64
}{
	"ns": {"s", 1e-9}, "µs": {"s", 1e-6}, "ms": {"s", 1e-3}, "s": {"s", 1},
	"B": {"B", 1}, "KiB": {"B", 1 << 10}, "MiB": {"B", 1 << 20}, "GiB": {"B", 1 << 30},
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
