package report

// The gallery: runs of several machines side by side. Each has ratios within itself only; no time of one stands beside that of another.

import (
	"errors"
	"fmt"
	"html"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/turnloop/turnloop/internal/tournament/stats"
)

// An exhibit is a run in the gallery.
type exhibit struct {
	*document
	name, at string // at is the run's folder, as a link from the gallery
}

var listed = regexp.MustCompile(`(?m)^<!-- runs: (.*) -->$`)

// renewOverview makes the gallery at path again if it lists the run in the folder called name.
func renewOverview(file, name string) error {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	m := listed.FindSubmatch(text)
	if m == nil || !slices.Contains(strings.Fields(string(m[1])), name) {
		return nil
	}
	var dirs []string
	for _, name := range strings.Fields(string(m[1])) {
		dirs = append(dirs, filepath.Join(filepath.Dir(file), filepath.FromSlash(name)))
	}
	return WriteGallery(file, dirs)
}

// WriteGallery writes a page at path that shows the runs in dirs side by side.
func WriteGallery(file string, dirs []string) error {
	var runs []exhibit
	var places []string
	for _, dir := range dirs {
		a, err := stats.Load(dir)
		if err != nil {
			return err
		}
		at, err := relative(filepath.Dir(file), dir)
		if err != nil {
			return err
		}
		x := exhibit{&document{Analysis: a, dir: dir}, a.Run.Name, at}
		if slices.ContainsFunc(runs, func(other exhibit) bool { return other.name == x.name }) || x.name == "" {
			x.name = at
		}
		runs, places = append(runs, x), append(places, at)
	}
	var b strings.Builder
	begin(&b, "Tournament of event loops: "+plural(len(runs), "run"))
	if !slices.ContainsFunc(places, func(p string) bool { return strings.ContainsAny(p, " \n") }) {
		fmt.Fprintf(&b, "<!-- runs: %s -->\n", strings.Join(places, " "))
	}
	fmt.Fprintf(&b, "<h1>%s, each with ratios within itself</h1>\n", plural(len(runs), "run"))
	for _, x := range runs {
		fmt.Fprintf(&b, "<h2><a href=\"%s\">%s</a></h2>\n<p>%s</p>\n<p class=\"soft\">%s.</p>\n",
			html.EscapeString(path.Join(x.at, PageFile)), html.EscapeString(x.name), spans(x.verdict()), html.EscapeString(x.machine()))
	}
	b.WriteString(`<h2>The best other loop's cost as a multiple</h2><div class="scroll"><table id="grid"><thead><tr><th scope="col">figure</th>`)
	for _, x := range runs {
		fmt.Fprintf(&b, `<th scope="col">%s</th>`, html.EscapeString(x.name))
	}
	b.WriteString("</tr></thead><tbody>\n")
	for _, figure := range figuresOf(runs) {
		fmt.Fprintf(&b, `<tr><th scope="row">%s</th>`, html.EscapeString(figure))
		for _, x := range runs {
			row := x.Row(figure)
			if row == nil || row.Against() == nil {
				b.WriteString(`<td class="none">–</td>`)
				continue
			}
			v := row.Against()
			fmt.Fprintf(&b, `<td class="%s">%s× <i>%s %s</i></td>`, shade(v), stats.Digits(v.Ratio), v.FormatInterval(), html.EscapeString(row.Best))
		}
		b.WriteString("</tr>\n")
	}
	b.WriteString("</tbody></table></div>\n")
	return writeChanged(file, []byte(b.String()))
}

// figuresOf returns the names of the figures that any run has, in the order of the first that has them.
func figuresOf(runs []exhibit) (names []string) {
	for _, x := range runs {
		for _, row := range x.Figures {
			if !slices.Contains(names, row.Name) {
				names = append(names, row.Name)
			}
		}
	}
	return names
}
