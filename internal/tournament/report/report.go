// Package report writes what an analysis tells: RESULTS.md, one page on which a cell opens to its rounds, one picture, and JSON. All say
// the same, each thing once. What a run does not tell is grey, or plain text, and no sentence speaks of it.
package report

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/turnloop/turnloop/internal/tournament/bench"
	"github.com/turnloop/turnloop/internal/tournament/record"
	"github.com/turnloop/turnloop/internal/tournament/stats"
)

// The files of a report, in the folder of its run.
const (
	ResultsFile = "RESULTS.md"
	PageFile    = "index.html"
	PictureFile = "ranking.svg"
	DataFile    = "results.json"
)

// Write analyses the run in dir and writes its reports there, and the one to read also at results, if that is not empty; a README beside
// that gets the verdict, and an overview in the folder above that lists the run is made again. It returns the verdict.
func Write(dir, results string) (verdict string, err error) {
	a, err := stats.Load(dir)
	if err != nil {
		return "", err
	}
	d := &document{Analysis: a, dir: dir}
	data, err := json.MarshalIndent(a, "", " ")
	if err != nil {
		return "", err
	}
	page, err := d.page()
	if err != nil {
		return "", err
	}
	for name, text := range map[string][]byte{
		DataFile: append(data, '\n'), PictureFile: d.picture(), PageFile: page, ResultsFile: d.markdown("."),
	} {
		if err := writeChanged(filepath.Join(dir, name), text); err != nil {
			return "", err
		}
	}
	if results != "" {
		base, err := relative(filepath.Dir(results), dir)
		if err != nil {
			return "", err
		}
		if err := writeChanged(results, d.markdown(base)); err != nil {
			return "", err
		}
		if err := d.updateReadme(filepath.Join(filepath.Dir(results), "README.md"), base); err != nil {
			return "", err
		}
	}
	return d.verdict() + "\n", renewOverview(filepath.Join(filepath.Dir(filepath.Clean(dir)), PageFile), filepath.Base(dir))
}

// writeChanged replaces a file whole, unless it says the same already.
func writeChanged(path string, data []byte) error {
	if before, err := os.ReadFile(path); err == nil && bytes.Equal(before, data) {
		return nil
	}
	return record.WriteFile(path, data)
}

// relative is a path as a link from a folder.
func relative(from, to string) (string, error) {
	from, err := filepath.Abs(from)
	if err != nil {
		return "", err
	}
	if to, err = filepath.Abs(to); err != nil {
		return "", err
	}
	rel, err := filepath.Rel(from, to)
	return filepath.ToSlash(rel), err
}

// A document is an analysis in words, which are Markdown.
type document struct {
	*stats.Analysis
	dir string
}

func (d *document) subject() string { return d.Run.Roles.Subject }

// ranked returns the names of the ranked loops, the best first.
func (d *document) ranked() (names []string) {
	for _, l := range d.Loops {
		if l.Unranked == "" {
			names = append(names, l.Name)
		}
	}
	return names
}

// columns are those of the tables: the subject, which all multiples are of, and the other ranked loops, the best first.
func (d *document) columns() []string {
	names := slices.DeleteFunc(d.ranked(), func(name string) bool { return name == d.subject() })
	return append([]string{d.subject()}, names...)
}

// others returns the names of everybody else who has a value.
func (d *document) others() (names []string) {
	for _, l := range d.Loops {
		if l.Name != d.subject() && l.Unranked != "" && slices.ContainsFunc(d.Figures, func(r stats.Row) bool { return r.Cells[l.Name].Rounds != nil }) {
			names = append(names, l.Name)
		}
	}
	return names
}

// verdict is all that the report says in sentences: who wins by how much, in how many figures, and who is not ranked.
func (d *document) verdict() string {
	return strings.Join(slices.DeleteFunc([]string{d.headline(), d.counts(), d.outside()}, func(s string) bool { return s == "" }), " ")
}

// partial says why the run is too small a part of a tournament for a ranking, nothing if it is not.
func (d *document) partial() string {
	switch {
	case d.Run.Rounds < record.FewestRounds:
		return plural(d.Run.Rounds, "round") + " are too few for a ranking"
	case d.Run.Mode == record.Quick:
		return "A glance makes no ranking"
	case d.Run.Filter != "":
		return "A part of the figures makes no ranking"
	}
	return ""
}

// headline says who wins, and by how much.
func (d *document) headline() string {
	names, why := d.ranked(), d.partial()
	over := fmt.Sprintf("over the %s that all ranked loops have", plural(len(d.Common), "figure"))
	if len(names) < 2 || len(d.Common) == 0 {
		return "No two ranked loops have a figure in common, so there is no ranking."
	}
	first, next := d.Loops[0], d.Loops[1]
	if why != "" {
		i := slices.Index(names, d.subject())
		if i < 0 {
			return why + "."
		}
		first, next = d.Loops[i], stats.Loop{}
	}
	to, told := d.toReference(first.Name)
	costs := fmt.Sprintf("costs %s as much as %s", interval(to), code(d.Run.Roles.Reference))
	switch tied := d.tied(); {
	case why != "" && told:
		return fmt.Sprintf("%s; %s, %s %s.", why, over, code(first.Name), costs)
	case why != "":
		return why + "."
	case len(tied) > 1:
		return fmt.Sprintf("%s share the first place: nothing separates neighbours among them, %s.", enumerate(codes(tied)), over)
	case told && next.Name != d.Run.Roles.Reference:
		return fmt.Sprintf("%s wins: %s, it %s, and the next, %s, %s as much as it.", code(first.Name), over, costs, code(next.Name), interval(next.To[first.Name]))
	}
	return fmt.Sprintf("%s wins: %s, the next, %s, costs %s as much.", code(first.Name), over, code(next.Name), interval(next.To[first.Name]))
}

// tied returns the loops of the first rank.
func (d *document) tied() (names []string) {
	for _, l := range d.Loops {
		if l.Rank == 1 {
			names = append(names, l.Name)
		}
	}
	return names
}

// toReference returns a loop's mean to the reference's, if the run tells it.
func (d *document) toReference(impl string) (stats.Verdict, bool) {
	for _, l := range d.Loops {
		if v, ok := l.To[d.Run.Roles.Reference]; ok && l.Name == impl {
			return v, v.Told
		}
	}
	return stats.Verdict{}, false
}

// counts says in how many figures the subject is ahead of the best other loop.
func (d *document) counts() string {
	total := d.Ahead + d.Behind + d.Open
	if total == 0 {
		return ""
	}
	s := fmt.Sprintf("Of %s, %s is ahead of the best other loop in %d and behind in %d", plural(total, "figure"), code(d.subject()), d.Ahead, d.Behind)
	if d.Open > 0 {
		s += fmt.Sprintf("; %d %s open", d.Open, map[bool]string{true: "is", false: "are"}[d.Open == 1])
	}
	return s + "."
}

// outside says who competes and is not ranked, and why, whose figures failed, and what was left out.
func (d *document) outside() string {
	var out []string
	for _, l := range d.Loops {
		if l.Unranked != "" && (d.Run.Impl(l.Name).Ranked || d.Run.Impl(l.Name).Lost != "") {
			out = append(out, fmt.Sprintf("%s is not ranked: %s.", code(l.Name), plain(bench.Shorten(l.Unranked, longestReason))))
		}
		failed, why := 0, ""
		for _, row := range d.Figures {
			if cell := row.Cells[l.Name]; cell.Rounds == nil && cell.Lost != "" {
				failed++
				why = cell.Lost
			}
		}
		if failed > 0 {
			out = append(out, fmt.Sprintf("%s failed in %s: %s.", code(l.Name), plural(failed, "figure"), plain(bench.Shorten(why, longestReason))))
		}
	}
	left := 0
	for _, f := range d.Run.Figures {
		if f.LeftOut != "" {
			left++
		}
	}
	if left > 0 {
		out = append(out, fmt.Sprintf("%s left out for want of time.", plural(left, "figure")))
	}
	if len(d.Run.Checks) == 0 {
		out = append(out, "The conformance suite did not run.")
	}
	return strings.Join(out, " ")
}

// longestReason is how much of a reason stands on the first screen; failures.txt has the rest.
const longestReason = 120

// conformance counts what a loop meets.
func (d *document) conformance(impl string) string {
	c, held := d.Run.Conformity(impl)
	if !held {
		return ""
	}
	counts := map[string]int{}
	for _, check := range c.Checks {
		counts[check.Outcome]++
	}
	s := fmt.Sprintf("meets %d of %s", counts[bench.Pass], plural(len(c.Checks), "check"))
	for _, part := range []struct{ outcome, words string }{
		{bench.Diverges, "diverges from %d as declared"}, {bench.NotApplicable, "lacks the capability for %d"},
		{bench.Fail, "fails %d"}, {bench.NoResult, "gave no result for %d"},
	} {
		if n := counts[part.outcome]; n > 0 {
			s += ", " + fmt.Sprintf(part.words, n)
		}
	}
	return s
}

// better lists the figures that are a reason to choose another loop: in which it is told to cost less than the subject.
func (d *document) better(impl string) string {
	var in []string
	for _, row := range d.Figures {
		if v := row.Cells[impl].To; v != nil && v.Below() {
			in = append(in, fmt.Sprintf("%s %s×", row.Name, stats.Digits(v.Ratio)))
		}
	}
	if len(in) == 0 {
		return ""
	}
	return fmt.Sprintf("costs less than %s in %s", code(d.subject()), strings.Join(in, ", "))
}

// about is what there is to say of a loop besides its values.
func (d *document) about(l *stats.Loop) string {
	parts := []string{plain(l.About), d.conformance(l.Name)}
	if l.Unranked == "" {
		parts = append(parts, d.better(l.Name))
	}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "; ")
}

// machine is where and when the run was made, in one line.
func (d *document) machine() string {
	run, env := d.Run, d.Run.Env
	parts := []string{
		cmp.Or(env.CPU, "unknown processor"), plural(env.Cores, "core"), fmt.Sprintf("GOMAXPROCS %d", env.GOMAXPROCS), env.GOOS + "/" + env.GOARCH,
		env.Kernel, run.Binary.Go,
	}
	if env.Container != "" {
		parts = append(parts, "in a container ("+env.Container+")")
	}
	commit := cmp.Or(run.Source.Commit, "unknown")
	commit = commit[:min(len(commit), 12)]
	if run.Source.Dirty {
		commit += " with changes"
	}
	parts = append(parts, "commit "+commit)
	if len(run.Sessions) > 0 {
		parts = append(parts, run.Sessions[0].Started.UTC().Format("2 January 2006"))
		stolen := 0.0
		for _, s := range run.Sessions {
			stolen = max(stolen, s.Stolen)
		}
		if stolen >= 0.01 {
			parts = append(parts, fmt.Sprintf("the host kept %.0f %% of the processors' time", 100*stolen))
		}
	}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ", ")
}

// method says how it was decided, and how the check on that came out.
func (d *document) method() string {
	s := fmt.Sprintf("Ratios are taken within each of %s and averaged as logarithms. Student's t with variances shrunk over all %s, and one per cent "+
		"that no number of rounds removes, decides at a false discovery rate of 5 %% (Benjamini and Hochberg); the intervals have the confidence of "+
		"that cut, so they exclude 1 exactly where something is told.", plural(d.Run.Rounds, "round"), plural(d.Comparisons, "comparison"))
	if told := slices.DeleteFunc(slices.Clone(d.Pairs), func(p stats.Pair) bool { return !p.Told }); len(d.Pairs) > 0 {
		s += fmt.Sprintf(" As a check, %s ran twice in %s: ", map[bool]string{true: "a loop", false: "loops"}[len(d.Pairs) == 1], plural(len(d.Pairs), "figure"))
		if len(told) == 0 {
			s += "none is told apart from itself."
		} else {
			var names []string
			for _, p := range told {
				names = append(names, fmt.Sprintf("%s of %s", p.Figure, code(p.Impl)))
			}
			s += enumerate(names) + " told apart from itself, wrongly."
		}
	}
	return s
}

// repeat is the command that measures a cell again.
func (d *document) repeat(figure, impl string) string {
	program, _, ok := strings.Cut(d.Run.Command, " run -")
	if !ok {
		program = "go run ./internal/tournament/cmd/tournament"
	}
	return fmt.Sprintf("%s bench -bench '%s' -benchtime 1s", program, bench.Pattern(bench.CellName(figure, impl)))
}

func code(s string) string { return "`" + s + "`" }

// plain writes text so that Markdown leaves it alone.
func plain(s string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", "*", `\*`, "\n", " ").Replace(s)
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func enumerate(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}

func interval(v stats.Verdict) string {
	return fmt.Sprintf("%s× (%s)", stats.Digits(v.Ratio), v.FormatInterval())
}
