// Package report writes what an analysis says: RESULTS.md, index.html, charts, results.json. It adds words, never figures,
// and its output depends on nothing but the run.
package report

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/turnloop/turnloop/internal/tournament/record"
	"github.com/turnloop/turnloop/internal/tournament/stats"
)

// The files that Write makes besides charts.
const (
	ResultsFile = "RESULTS.md"
	jsonFile    = "results.json"
	PageFile    = "index.html"
)

// Write analyses the run in dir, checks it against a policy, and writes all reports into dir. If results is not empty, the
// text report is written to that path, too, with links that lead to dir, and the verdict is put into the README.md beside it,
// if that has a place for it. Write returns the verdict for a terminal.
func Write(dir, results string, policy stats.Policy) (verdict string, err error) {
	a, err := stats.Load(dir)
	if err != nil {
		return "", err
	}
	a.Hold(policy)
	files := map[string][]byte{}
	doc := newDocument(a)
	for _, g := range doc.drawings() {
		file, _ := g.name()
		files[file] = []byte(standalone(g))
	}
	if files[jsonFile], err = json.MarshalIndent(a, "", " "); err != nil {
		return "", err
	}
	files[jsonFile] = append(files[jsonFile], '\n')
	if files[PageFile], err = doc.html(); err != nil {
		return "", err
	}
	if files[ResultsFile], err = doc.markdown("", others(dir, dir)); err != nil {
		return "", err
	}
	if err := removeOldCharts(dir, files); err != nil {
		return "", err
	}
	for name, data := range files {
		if err := writeChanged(filepath.Join(dir, name), data); err != nil {
			return "", err
		}
	}
	if results == "" {
		return doc.terminal(), nil
	}
	base, err := relative(filepath.Dir(results), dir)
	if err != nil {
		return "", fmt.Errorf("-results: %w", err)
	}
	text, err := doc.markdown(filepath.ToSlash(base)+"/", others(dir, filepath.Dir(results)))
	if err != nil {
		return "", err
	}
	if err := writeChanged(results, text); err != nil {
		return "", err
	}
	return doc.terminal(), doc.updateReadme(filepath.Join(filepath.Dir(results), "README.md"), filepath.ToSlash(base)+"/")
}

// relative returns the way from one folder to another, also if only one of them is told from the root.
func relative(from, to string) (string, error) {
	from, err := filepath.Abs(from)
	if err != nil {
		return "", err
	}
	if to, err = filepath.Abs(to); err != nil {
		return "", err
	}
	return filepath.Rel(from, to)
}

// terminal is the verdict without markup.
func (d *document) terminal() string {
	var b strings.Builder
	for _, s := range append([]string{d.label()}, append(d.headline(), d.noise())...) {
		if s != "" {
			b.WriteString(strings.NewReplacer("`", "", "**", "").Replace(s) + "\n")
		}
	}
	return b.String()
}

func writeChanged(path string, data []byte) error {
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, data) {
		return nil
	}
	return record.WriteFile(path, data)
}

// removeOldCharts removes charts of an earlier run whose categories no longer exist.
func removeOldCharts(dir string, keep map[string][]byte) error {
	old, err := filepath.Glob(filepath.Join(dir, "*.svg"))
	if err != nil {
		return err
	}
	for _, path := range old {
		if keep[filepath.Base(path)] == nil {
			if err := os.Remove(path); err != nil {
				return err
			}
		}
	}
	return nil
}

// A link leads to another run's report.
type link struct{ Name, Path string }

// others finds the runs beside dir, as seen from the folder from.
func others(dir, from string) []link {
	var out []link
	found, err := filepath.Glob(filepath.Join(filepath.Dir(filepath.Clean(dir)), "*", record.RunFile))
	if err != nil {
		return nil // only a malformed pattern fails
	}
	for _, path := range found {
		folder := filepath.Dir(path)
		if filepath.Clean(folder) == filepath.Clean(dir) {
			continue
		}
		if run, err := record.Load(folder); err != nil || run.Mode != record.Full {
			continue // only full runs are listed
		}
		if rel, err := relative(from, filepath.Join(folder, ResultsFile)); err == nil {
			out = append(out, link{filepath.Base(folder), filepath.ToSlash(rel)})
		}
	}
	return out
}

// drawings are all that become files.
func (d *document) drawings() []drawing {
	var out []drawing
	for _, p := range d.pictures() {
		out = append(out, p)
	}
	for _, c := range d.charts() {
		out = append(out, c)
	}
	return out
}

// A document holds what the text and the page have in common.
type document struct {
	a     *stats.Analysis
	impls []string // contestants with any figure, in the order of the run

	// ratiosOnly leaves absolute figures out, on a page that also shows runs of other machines: absolute figures of different
	// machines are never compared.
	ratiosOnly bool
}

func newDocument(a *stats.Analysis) *document {
	d := &document{a: a}
	for _, impl := range a.Run.Impls {
		if slices.ContainsFunc(a.Rows, func(r *stats.Row) bool { return r.Has(impl.Name) }) {
			d.impls = append(d.impls, impl.Name)
		}
	}
	return d
}

var notWord = regexp.MustCompile(`[^a-z0-9]+`)

// slug makes a file name or anchor of a title.
func slug(s string) string {
	return strings.Trim(notWord.ReplaceAllString(strings.ToLower(s), "-"), "-")
}

// spaced writes a benchmark's name with spaces: "Timer op=cancel pending=1000".
func spaced(bench string) string { return strings.ReplaceAll(bench, "/", " ") }

// list joins words as prose does.
func list(words []string) string {
	switch n := len(words); n {
	case 0:
		return ""
	case 1:
		return words[0]
	default:
		return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
	}
}

// count writes a number with its noun: "1 round", "10 rounds".
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Label says what a reader must know first: that a run is not full or not complete. For other runs it is empty.
func (d *document) label() string {
	var parts []string
	run := d.a.Run
	if run.Mode == record.Quick {
		parts = append(parts, "Quick run: a glance with short measurements, not a result to quote.")
	}
	if !run.Complete {
		parts = append(parts, "Incomplete run: it was interrupted.")
	}
	if run.Filter != "" {
		parts = append(parts, fmt.Sprintf("Partial run: only cells that match %s.", run.Filter))
	}
	if run.Source.Dirty {
		parts = append(parts, "The tree had changes on top of its commit.")
	}
	return strings.Join(parts, " ")
}

// quickMark follows titles of quick runs.
func (d *document) quickMark() string {
	if d.a.Run.Mode == record.Quick {
		return " (quick run)"
	}
	return ""
}

func (d *document) title() string { return "Tournament of event loops: results" + d.quickMark() }

// commit is what was measured.
func (d *document) commit() string {
	c := cmp.Or(d.a.Run.Source.Commit, "unknown")
	if d.a.Run.Source.Dirty {
		c += ", with changes"
	}
	return c
}
