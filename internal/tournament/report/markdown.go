package report

// The report to read, and the verdict in a README.

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/turnloop/turnloop/internal/tournament/stats"
)

// markdown is the whole report. base is the folder of the run, as a link from where the report stands.
func (d *document) markdown(base string) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "# Tournament of event loops: %s\n\n%s\n\n![The best other loop to %s](%s)\n\n", plain(d.Run.Name), d.verdict(), d.subject(), path.Join(base, PictureFile))
	fmt.Fprintf(&b, "Medians of %s, lower is better; × is the multiple of %s within rounds, **bold** where the run tells that it is not 1. "+
		"[The page](%s) has the rounds of each cell, and %s for comparison.\n\n", plural(d.Run.Rounds, "round"), code(d.subject()), path.Join(base, PageFile), enumerate(codes(d.others())))
	d.table(&b)
	b.WriteString("\n## The loops\n\n")
	for _, l := range d.Loops {
		if !d.Run.Impl(l.Name).Ranked {
			continue
		}
		fmt.Fprintf(&b, "- %s%s: %s.\n", d.place(&l), code(l.Name), d.about(&l))
	}
	fmt.Fprintf(&b, "\n## The run\n\n%s.\n\n%s\n\n```sh\n%s\n```\n", plain(d.machine()), d.method(), d.Run.Command)
	return []byte(b.String())
}

// place is a loop's rank, where there is a ranking.
func (d *document) place(l *stats.Loop) string {
	if l.Rank == 0 || d.partial() != "" {
		return ""
	}
	return fmt.Sprintf("%d. ", l.Rank)
}

func codes(names []string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = code(name)
	}
	return out
}

// table is the one of figures by loops.
func (d *document) table(b *strings.Builder) {
	names := d.columns()
	fmt.Fprintf(b, "| figure | %s |\n|%s\n", strings.Join(codes(names), " | "), strings.Repeat(" --- |", len(names)+1))
	for _, row := range d.Figures {
		fmt.Fprintf(b, "| %s |", plain(row.Name))
		for _, name := range names {
			fmt.Fprintf(b, " %s |", cellText(&row, name))
		}
		b.WriteString("\n")
	}
	reference := d.Run.Roles.Reference
	if len(d.Common) == 0 || len(names) < 2 {
		return
	}
	fmt.Fprintf(b, "| geometric mean of %d to %s |", len(d.Common), code(reference))
	for _, name := range names {
		switch v, told := d.toReference(name); {
		case v.Ratio != 0:
			fmt.Fprintf(b, " %s |", emphasis(told, interval(v)))
		case name == reference:
			b.WriteString(" 1 |")
		default:
			b.WriteString(" – |")
		}
	}
	b.WriteString("\n")
}

// cellText is a value and its multiple.
func cellText(row *stats.Row, impl string) string {
	cell := row.Cells[impl]
	switch {
	case cell.Rounds == nil && cell.Lost != "":
		return "failed"
	case cell.Rounds == nil:
		return "–"
	case cell.To == nil:
		return stats.Format(cell.Median, row.Unit)
	}
	return stats.Format(cell.Median, row.Unit) + " " + emphasis(cell.To.Told, stats.Digits(cell.To.Ratio)+"×")
}

func emphasis(told bool, text string) string {
	if told {
		return "**" + text + "**"
	}
	return text
}

// The verdict stands between these lines of a README.
const (
	verdictBegin = "<!-- verdict -->\n"
	verdictEnd   = "<!-- /verdict -->\n"
)

// updateReadme puts the verdict into the README at path. It does nothing if there is no such file, or no place in it.
func (d *document) updateReadme(file, base string) error {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	before, rest, ok := strings.Cut(string(text), verdictBegin)
	_, after, closed := strings.Cut(rest, verdictEnd)
	if !ok || !closed {
		return nil
	}
	return writeChanged(file, fmt.Appendf(nil, "%s%s\n%s\n\n![The best other loop to %s](%s)\n\n%s%s",
		before, verdictBegin, d.verdict(), d.subject(), path.Join(base, PictureFile), verdictEnd, after))
}
