// The table of weightings: how the ranking changes when figures count differently.

package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/turnloop/turnloop/internal/tournament/stats"
)

// weightings is the table, the declared weighting first.
func (d *document) weightings() []block {
	t := table{words: 3, head: []string{"weighting", "against " + d.reference(), "without it, on all that counts"}}
	for _, w := range d.a.Weightings {
		if overall, wide := ranked(w.Overall), ranked(w.Wide); len(overall)+len(wide) > 1 {
			t.rows = append(t.rows, words(w.Name, order(overall), order(wide)))
		}
	}
	if len(t.rows) < 2 {
		return nil
	}
	return []block{
		para("What hangs on the weights: the ranking as declared, and as it would be otherwise. A multiple is of the first; “=”: this run does not separate it from the first."),
		t,
	}
}

// reference names whom ratios are to, in general.
func (d *document) reference() string {
	if name := d.a.Run.Reference(); name != "" {
		return "`" + name + "`"
	}
	return "the reference"
}

// ranked returns the places that have a rank.
func ranked(st stats.Standing) []stats.Place {
	return slices.DeleteFunc(slices.Clone(st.Places), func(p stats.Place) bool { return p.Rank == 0 })
}

// order writes a ranking in one line.
func order(places []stats.Place) string {
	var out []string
	for i, p := range places {
		switch {
		case i == 0:
			out = append(out, "`"+p.Impl+"`")
		case p.Tied:
			out = append(out, fmt.Sprintf("`%s` %s =", p.Impl, stats.FormatRatio(p.ToFirst.Center)))
		default:
			out = append(out, fmt.Sprintf("`%s` %s", p.Impl, stats.FormatRatio(p.ToFirst.Center)))
		}
	}
	if len(out) == 0 {
		return "–"
	}
	return strings.Join(out, ", ")
}
