package report

// Tests of what reports say: each thing once, what their own tables bear out, and within their sizes.

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/turnloop/turnloop/internal/tournament/bench"
	"github.com/turnloop/turnloop/internal/tournament/record"
	"github.com/turnloop/turnloop/internal/tournament/recorded"
	"github.com/turnloop/turnloop/internal/tournament/stats"
)

// written writes the reports of a recorded run after change has had its say about it.
func written(t *testing.T, rows []recorded.Row, change func(*record.Run)) (dir string) {
	t.Helper()
	dir = recorded.Run(t, rows)
	if change != nil {
		run, err := record.Load(dir)
		if err != nil {
			t.Fatal(err)
		}
		change(run)
		if err := record.Save(dir, run); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Write(dir, ""); err != nil {
		t.Fatal(err)
	}
	return dir
}

func read(t *testing.T, elems ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(elems...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

var cellPattern = regexp.MustCompile(`class="(told (?:better|good|worse|bad)|open)"><button data-cell="([^ ]+) ([^"]+)"`)

// TestOneSet: what is coloured on the page, bold in the text, counted in sentences, and told by an interval that excludes 1, is one set; the
// picture has the colours of the best other loops.
func TestOneSet(t *testing.T) {
	for _, name := range append(slices.Clone(recorded.Names), recorded.Six) {
		dir := written(t, recorded.Rows(t, name), nil)
		var a stats.Analysis
		if err := json.Unmarshal([]byte(read(t, dir, DataFile)), &a); err != nil {
			t.Fatal(err)
		}
		want := map[string]string{}
		ahead, behind, open := 0, 0, 0
		colours := map[string]int{}
		for _, row := range a.Figures {
			for impl, cell := range row.Cells {
				if v := cell.To; v != nil {
					want[row.Name+" "+impl] = strings.TrimPrefix(map[bool]string{true: "told", false: "open"}[v.Low > 1 || v.High < 1], "")
				}
			}
			if v := row.Against(); v != nil {
				switch colours[class(v)]++; class(v) {
				case "ahead":
					ahead++
				case "behind":
					behind++
				default:
					open++
				}
			}
		}
		page := read(t, dir, PageFile)
		for _, m := range cellPattern.FindAllStringSubmatch(page, -1) {
			key := m[2] + " " + m[3]
			if colour, _, _ := strings.Cut(m[1], " "); want[key] != colour {
				t.Errorf("%s: %s is coloured as %q, its interval says %q", name, key, m[1], want[key])
			}
			delete(want, key)
		}
		if len(want) > 0 {
			t.Errorf("%s: not on the page: %v", name, want)
		}
		text := read(t, dir, ResultsFile)
		counts := fmt.Sprintf("is ahead of the best other loop in %d and behind in %d", ahead, behind)
		if !strings.Contains(text, counts) || !strings.Contains(page, counts) || open > 0 && !strings.Contains(text, fmt.Sprintf("; %d ", open)) {
			t.Errorf("%s: the sentences do not say %q and %d open", name, counts, open)
		}
		for _, line := range strings.Split(text, "\n") {
			fields := strings.Split(line, " | ")
			row := a.Row(strings.TrimPrefix(fields[0], "| "))
			if row == nil {
				continue
			}
			told := 0
			for _, cell := range row.Cells {
				if cell.To != nil && cell.To.Told {
					told++
				}
			}
			if bold := strings.Count(line, "×**"); bold != told {
				t.Errorf("%s: %d cells are bold, %d told: %s", name, bold, told, line)
			}
		}
		picture := read(t, dir, PictureFile)
		if !strings.Contains(picture, ">1×</text>") || !strings.Contains(picture, ">2×</text>") {
			t.Errorf("%s: the picture's scale is not marked", name)
		}
		for class, n := range colours {
			if got := strings.Count(picture, `<g class="`+class+`"><line`); got != n {
				t.Errorf("%s: %d intervals are drawn as %s, want %d", name, got, class, n)
			}
		}
	}
}

// TestNothingTwice: no sentence, and no figure in a sentence, stands in two places of a report, and a ratio that a sentence gives is that of
// the table.
func TestNothingTwice(t *testing.T) {
	dir := written(t, recorded.Rows(t, recorded.Container), nil)
	text := read(t, dir, ResultsFile)
	seen := map[string]bool{}
	for _, sentence := range regexp.MustCompile(`[.;:]\s`).Split(text, -1) {
		if s := strings.TrimSpace(sentence); len(s) > 25 && !strings.HasPrefix(s, "|") {
			if seen[s] {
				t.Errorf("it says twice: %s", s)
			}
			seen[s] = true
		}
	}
	a, err := stats.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	d := &document{Analysis: a}
	first, next := a.Loops[0], a.Loops[1]
	for _, want := range []string{
		"`" + first.Name + "` wins", interval(first.To["baseline"]), "the next, `" + next.Name + "`, " + interval(next.To[first.Name]),
	} {
		if !strings.Contains(d.headline(), want) {
			t.Errorf("the headline does not say %q: %s", want, d.headline())
		}
	}
	if !strings.Contains(text, "**"+interval(first.To["baseline"])+"**") {
		t.Error("the foot of the table has another ratio than the headline")
	}
	for _, l := range a.Loops[1:] {
		for _, row := range a.Figures {
			v := row.Cells[l.Name].To
			if says := strings.Contains(d.better(l.Name), row.Name+" "); v != nil && says != v.Below() {
				t.Errorf("%s: that %s costs less is said: %v, told: %v", row.Name, l.Name, says, v.Below())
			}
		}
	}
}

// TestSizes: each report keeps its size, with twenty rounds and everybody in it.
func TestSizes(t *testing.T) {
	rows := recorded.Rows(t, recorded.Container)
	for i := range rows {
		rows[i].Values = append(rows[i].Values, rows[i].Values...)
		rows[i].Values = append(rows[i].Values, rows[i].Values[:10]...)
	}
	dir := written(t, rows, nil)
	for file, most := range map[string]int{ResultsFile: 8 << 10, PageFile: 200 << 10, PictureFile: 20 << 10} {
		if size := len(read(t, dir, file)); size > most {
			t.Errorf("%s has %d bytes, more than %d", file, size, most)
		}
	}
}

// TestVerdicts: who is not ranked is said first, and a run that is too small a part makes no ranking.
func TestVerdicts(t *testing.T) {
	rows := recorded.Rows(t, recorded.Container)
	few := recorded.Rows(t, recorded.Six)
	submit := slices.DeleteFunc(slices.Clone(rows), func(r recorded.Row) bool { return r.Figure != "Submit" })
	alone := slices.DeleteFunc(slices.Clone(rows), func(r recorded.Row) bool { return r.Impl != "main" && r.Impl != "channel" })
	tied := slices.Clone(rows)
	for i, row := range tied {
		if row.Impl == "alternatetwo" {
			own := slices.IndexFunc(rows, func(r recorded.Row) bool { return r.Figure == row.Figure && r.Impl == "main" })
			if own < 0 {
				continue
			}
			tied[i].Values = append(slices.Clone(rows[own].Values[1:]), rows[own].Values[0])
		}
	}
	gate := func(run *record.Run) {
		run.Checks = []record.Conformity{{Impl: "alternatetwo", Checks: []bench.Check{{Name: "D10_FIFO", Outcome: bench.Fail, Gate: true}}}}
	}
	for _, c := range []struct {
		what   string
		rows   []recorded.Row
		change func(*record.Run)
		says   []string
		not    string
	}{
		{"a ranking", rows, nil, []string{"`main` wins: over the 19 figures", "the next, `alternatetwo`"}, "not ranked"},
		{"the gate", rows, gate, []string{"`alternatetwo` is not ranked: it fails D10_FIFO, which belongs to the gate.", "the next, `alternatethree`"}, ""},
		{"a program that is lost", rows, func(run *record.Run) {
			run.Impls = append(run.Impls, record.Impl{Name: "theirs", Lost: "exit status 3"})
		},
			[]string{"`theirs` is not ranked: exit status 3."}, ""},
		{"a figure that failed", rows, func(run *record.Run) {
			i := slices.IndexFunc(run.Cells, func(c record.Cell) bool { return c.Impl == "alternatetwo" && c.Bench == "Submit" })
			run.Cells[i].Abandoned, run.Cells[i].Failures = true, []record.Failure{{Reason: "-1 ns/op is no measurement"}}
		}, []string{"`alternatetwo` failed in 1 figure: -1 ns/op is no measurement."}, ""},
		{"a glance", rows, func(run *record.Run) { run.Mode = record.Quick }, []string{"A glance makes no ranking", "costs 0."}, "wins"},
		{"a part", submit, func(run *record.Run) { run.Filter = "Submit" }, []string{"A part of the figures makes no ranking", "Of 1 figure"}, "wins"},
		{"six rounds", few, nil, []string{"6 rounds are too few for a ranking"}, "wins"},
		{"figures left out", rows, func(run *record.Run) { run.Figures[0].LeftOut = "no time" }, []string{"1 figure left out for want of time."}, ""},
		{"nobody to compare", alone, nil, []string{"there is no ranking"}, "wins"},
		{"the first two tied", tied, nil, []string{"`alternatetwo` and `main` share the first place|`main` and `alternatetwo` share the first place"}, "wins"},
	} {
		dir := written(t, c.rows, c.change)
		for _, file := range []string{ResultsFile, PageFile} {
			text := strings.NewReplacer("<b>", "`", "</b>", "`").Replace(read(t, dir, file))
			for _, says := range c.says {
				if !slices.ContainsFunc(strings.Split(says, "|"), func(s string) bool { return strings.Contains(text, s) }) {
					t.Errorf("%s: %s does not say %q:\n%.600s", c.what, file, says, text)
				}
			}
			if c.not != "" && strings.Contains(text, " "+c.not) {
				t.Errorf("%s: %s says %q", c.what, file, c.not)
			}
		}
	}
}

// TestOverviewIsRenewed: the run that changes a result makes the overview anew that lists it, and leaves one that does not.
func TestOverviewIsRenewed(t *testing.T) {
	results := t.TempDir()
	for _, name := range []string{"one", "two", "quick"} {
		if err := os.Rename(written(t, recorded.Rows(t, recorded.Container), nil), filepath.Join(results, name)); err != nil {
			t.Fatal(err)
		}
	}
	overview := filepath.Join(results, PageFile)
	if err := WriteGallery(overview, []string{filepath.Join(results, "one"), filepath.Join(results, "two")}); err != nil {
		t.Fatal(err)
	}
	before := read(t, overview)
	for _, name := range []string{"two", "quick"} {
		dir := filepath.Join(results, name)
		run, err := record.Load(dir)
		if err != nil {
			t.Fatal(err)
		}
		if run.Env.CPU = "another processor"; record.Save(dir, run) != nil {
			t.Fatal("it has no record")
		}
		if _, err := Write(dir, ""); err != nil {
			t.Fatal(err)
		}
	}
	after := read(t, overview)
	if strings.Count(after, "another processor") != 1 || strings.Contains(after, `href="quick/`) || before == after {
		t.Error("the overview is not that of the runs that it lists")
	}
	if regexp.MustCompile(`\d (ns|µs|ms|KiB)`).MatchString(after) {
		t.Error("the overview has times of different machines side by side")
	}
}

// TestReadme: the sentence and the picture of a README are those of the run; what stands around them stays.
func TestReadme(t *testing.T) {
	dir := written(t, recorded.Rows(t, recorded.Container), nil)
	above := filepath.Dir(dir)
	readme := filepath.Join(above, "README.md")
	if err := os.WriteFile(readme, []byte("# It\n\n"+verdictBegin+"\nold\n\n"+verdictEnd+"\nmore\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	verdict, err := Write(dir, filepath.Join(above, "RESULTS.md"))
	if err != nil {
		t.Fatal(err)
	}
	text := read(t, readme)
	want := "# It\n\n" + verdictBegin + "\n" + strings.TrimSpace(verdict) + "\n\n![The best other loop to main](run/ranking.svg)\n\n" + verdictEnd + "\nmore\n"
	if text != want {
		t.Errorf("it is\n%s\nwant\n%s", text, want)
	}
	if results := read(t, above, "RESULTS.md"); !strings.Contains(results, "(run/index.html)") || !strings.Contains(results, strings.TrimSpace(verdict)) {
		t.Error("the report beside it has other links, or another verdict")
	}
}

// TestScale: every ratio has its place, and no two marks are on top of each other.
func TestScale(t *testing.T) {
	for _, name := range recorded.Names {
		a, err := stats.Load(recorded.Run(t, recorded.Rows(t, name)))
		if err != nil {
			t.Fatal(err)
		}
		s := (&document{Analysis: a}).scale(240)
		marks := s.marks()
		if !slices.Contains(marks, 1) || !slices.IsSorted(marks) {
			t.Errorf("%s: marks %v", name, marks)
		}
		for i, m := range marks[1:] {
			if s.at(m)-s.at(marks[i]) < 20 {
				t.Errorf("%s: %s× and %s× are on top of each other", name, strconv.FormatFloat(m, 'g', 3, 64), strconv.FormatFloat(marks[i], 'g', 3, 64))
			}
		}
		for _, row := range a.Figures {
			if v := row.Against(); v != nil && (v.Ratio < s.low || v.Ratio > s.high) {
				t.Errorf("%s: %s is not on the scale: %+v", name, row.Name, v)
			}
		}
	}
}
