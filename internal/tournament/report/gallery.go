// The gallery: runs of several machines on one page. Runs are not compared with each other: figures are ratios within one run,
// and times are not shown.

package report

import (
	"cmp"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/turnloop/turnloop/internal/tournament/record"
	"github.com/turnloop/turnloop/internal/tournament/stats"
)

// An exhibit is a run with its name in the gallery.
type exhibit struct {
	*document
	name string
	page string // the run's own page, as a path from the gallery; empty if there is none
}

// WriteGallery writes a page at path that shows the runs in dirs side by side.
func WriteGallery(path string, dirs []string) error {
	var runs []exhibit
	for _, dir := range dirs {
		a, err := stats.Load(dir)
		if err != nil {
			return err
		}
		x := exhibit{document: newDocument(a), name: a.Run.Name}
		x.ratiosOnly = true
		if slices.ContainsFunc(runs, func(other exhibit) bool { return other.name == x.name }) || x.name == "" {
			x.name = filepath.ToSlash(filepath.Clean(dir))
		}
		own := filepath.Join(dir, PageFile)
		if _, err := os.Stat(own); err == nil {
			if rel, err := relative(filepath.Dir(path), own); err == nil {
				x.page = filepath.ToSlash(rel)
			}
		}
		runs = append(runs, x)
	}
	data, err := gallery(runs)
	if err != nil {
		return err
	}
	return writeChanged(path, data)
}

func gallery(runs []exhibit) ([]byte, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "<header><p>%s, each with its environment. A figure is a ratio within one run; times of different machines are never compared.</p></header>\n",
		count(len(runs), "run"))
	writeHTML(&b, para("The ranking of each run: cost as a multiple of the first's, by geometric mean over what its reference has. "+
		"“~”: not separated from the first."))
	writeHTML(&b, rankings(runs))
	b.WriteString(`<div class="runs">`)
	for _, x := range runs {
		x.card(&b)
	}
	b.WriteString(`</div><div class="heat">`)
	writeScale(&b)
	b.WriteString(`</div><div class="runs">`)
	all := everyRow(runs)
	for i, x := range runs {
		fmt.Fprintf(&b, `<section><h2>%s</h2><div class="heat">`, html.EscapeString(x.name))
		x.writeGrid(&b, x.aligned(x.grid(), all), fmt.Sprintf("r%d-", i))
		b.WriteString("</div></section>\n")
	}
	b.WriteString("</div>\n")
	return runs[0].finish("Tournament of event loops: "+count(len(runs), "run"), b.String())
}

// everyRow returns the benchmarks that any of the runs has a figure of, those of one category together.
func everyRow(runs []exhibit) []*stats.Row {
	var out []*stats.Row
	for _, x := range runs {
		for _, row := range x.a.Rows {
			if !slices.ContainsFunc(x.impls, row.Has) || slices.ContainsFunc(out, func(r *stats.Row) bool { return r.Bench == row.Bench }) {
				continue
			}
			at := len(out)
			for i, r := range out {
				if r.Category == row.Category {
					at = i + 1
				}
			}
			out = slices.Insert(out, at, row)
		}
	}
	return out
}

// rankings is a table of contestants by runs.
func rankings(runs []exhibit) table {
	t := table{head: []string{"loop"}}
	var impls []string
	for _, x := range runs {
		t.head = append(t.head, plain(x.name))
		for _, p := range x.a.Overall.Places {
			if p.Rank > 0 && !slices.Contains(impls, p.Impl) {
				impls = append(impls, p.Impl)
			}
		}
	}
	for _, impl := range impls {
		row := words("`" + impl + "`")
		for _, x := range runs {
			tile := meanTile(x.a.Overall, impl)
			c := cell{text: tile.text}
			if tile.step != noStep {
				c = ratioCell(tile.ratio.Center)
				c.text = fmt.Sprintf("%s× (%s)", tile.text, stats.FormatRatioRange(tile.ratio))
				if tile.text == "1" {
					c.text = "**1×**"
				}
			}
			row = append(row, c)
		}
		t.rows = append(t.rows, row)
	}
	return t
}

// card shows a run's ranking and environment.
func (x exhibit) card(b *strings.Builder) {
	title := html.EscapeString(x.name)
	if x.page != "" {
		title = fmt.Sprintf(`<a href="%s">%s</a>`, html.EscapeString(x.page), title)
	}
	fmt.Fprintf(b, "<section><h2>%s</h2>\n", title)
	if label := x.label(); label != "" {
		writeHTML(b, para("**"+plain(label)+"**"))
	}
	writeHTML(b, para(x.verdict()[0]))
	x.writeScores(b)
	b.WriteString("<dl>")
	for _, s := range x.setting() {
		fmt.Fprintf(b, "<dt>%s</dt><dd>%s</dd>", html.EscapeString(s[0]), html.EscapeString(s[1]))
	}
	b.WriteString("</dl></section>\n")
}

// setting is a run's environment in a few lines.
func (d *document) setting() [][2]string {
	run, env := d.a.Run, d.a.Run.Env
	out := [][2]string{
		{"processor", fmt.Sprintf("%s, %s, GOMAXPROCS=%d", cmp.Or(env.CPU, "unknown"), count(env.Cores, "core"), env.GOMAXPROCS)},
		{"system", strings.TrimSpace(env.Kernel + " " + env.GOOS + "/" + env.GOARCH)},
		{"container", fmt.Sprintf("%s; limits: processors %s, memory %s", cmp.Or(env.Container, "none"), cmp.Or(env.CPULimit, "none"), cmp.Or(env.MemLimit, "none"))},
		{"built with", run.Binary.Go},
		{"commit", d.commit()},
		{"run", fmt.Sprintf("%s mode, %s", run.Mode, count(run.Rounds, "round"))},
		{"noise", fmt.Sprintf("up to %s in a cell, %s in means", stats.FormatPercent(d.a.Noise.Floor), stats.FormatPercent(d.a.Noise.Mean))},
	}
	if len(run.Sessions) > 0 {
		out = append(out, [2]string{"when", run.Sessions[0].Started.UTC().Format("2 January 2006")})
	}
	if run.Mode == record.Quick {
		out[5][1] += ", a glance"
	}
	return out
}
