package report

// Tests of the verdict: each sentence follows the figures.

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/turnloop/turnloop/internal/tournament/record"
	"github.com/turnloop/turnloop/internal/tournament/recorded"
	"github.com/turnloop/turnloop/internal/tournament/stats"
)

// afterChange analyses the recorded full run, with every measurement changed.
func afterChange(t *testing.T, change func(impl, bench, unit string, round int, value float64) float64) *document {
	t.Helper()
	dir := recorded.Run(t, recorded.Full)
	run, err := record.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join(dir, record.RawFile))
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	round := 0
	for line := range strings.Lines(string(raw)) {
		fields := strings.Fields(line)
		if n, ok := strings.CutPrefix(line, "round: "); ok {
			round, _ = strconv.Atoi(strings.TrimSpace(n))
		}
		if !strings.HasPrefix(line, "Benchmark") {
			out.WriteString(line)
			continue
		}
		bench, rest, _ := strings.Cut(strings.TrimPrefix(fields[0], "Benchmark"), "/impl=")
		impl, _, _ := strings.Cut(rest, "/")
		if i := strings.LastIndexByte(impl, '-'); i > 0 && !strings.HasSuffix(impl, record.Again) {
			impl = impl[:i]
		}
		out.WriteString(fields[0] + " " + fields[1])
		for i := 2; i+1 < len(fields); i += 2 {
			v, err := strconv.ParseFloat(fields[i], 64)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&out, " %v %s", change(impl, bench, fields[i+1], round, v), fields[i+1])
		}
		out.WriteString("\n")
	}
	samples, err := stats.Read(strings.NewReader(out.String()), "raw")
	if err != nil {
		t.Fatal(err)
	}
	return newDocument(stats.Analyse(run, samples))
}

func asMeasured(_, _, _ string, _ int, value float64) float64 { return value }

// TestAnotherWinsWithoutTheReference: another contestant wins over what the reference lacks, and a sentence says so in plain English.
func TestAnotherWinsWithoutTheReference(t *testing.T) {
	doc := afterChange(t, func(impl, bench, unit string, _ int, v float64) float64 {
		switch {
		case impl != "main" || !strings.HasSuffix(unit, "ns/op"):
			return v
		case bench == "Microtask":
			return v / 1e9
		}
		return 4 * v
	})
	if with, wide := doc.a.Overall.Places[0].Impl, doc.a.Wide.Places[0].Impl; with == wide {
		t.Fatalf("%s wins both", with)
	}
	if s := doc.wideWinner(); !strings.Contains(s, "or not, the next, ") {
		t.Errorf("it says %q", s)
	}
}

// No sentence of the verdict stands whatever was measured: each says something else, or nothing, when figures change that it is about.
func TestEverySentenceOfTheVerdictFollowsTheFigures(t *testing.T) {
	times := func(of string, factor float64) func(string, string, string, int, float64) float64 {
		return func(impl, _, unit string, _ int, value float64) float64 {
			if (impl == of || impl == of+record.Again) && strings.HasSuffix(unit, "ns/op") {
				return value * factor
			}
			return value
		}
	}
	// Main gets three times as slow, for example, and the verdict is another.
	changes := map[string]func(impl, bench, unit string, round int, value float64) float64{
		"main is slower":          times("main", 3),
		"main is much slower":     times("main", 1000),
		"main is faster":          times("main", 0.2),
		"the channel is slower":   times("channel", 20),
		"the reference is faster": times("baseline", 0.01),
		"main allocates": func(impl, _, unit string, _ int, v float64) float64 {
			return v + map[bool]float64{true: 9}[impl == "main" && unit == "allocs/op"]
		},
		"the second label differs": times("main-again", 1.5),
	}
	sentences := regexp.MustCompile(`[^.]+(?:\.[^ ][^.]*)*\.`)
	all := func(d *document) map[string]bool {
		out := map[string]bool{}
		for _, p := range d.verdict() {
			for _, s := range sentences.FindAllString(p, -1) {
				out[strings.TrimSpace(s)] = true
			}
		}
		return out
	}
	before := all(afterChange(t, asMeasured))
	if len(before) < 10 {
		t.Fatalf("only %d sentences", len(before))
	}
	stays := map[string]bool{}
	for s := range before {
		stays[s] = true
	}
	for what, change := range changes {
		after := all(afterChange(t, change))
		changed := 0
		for s := range before {
			if !after[s] {
				delete(stays, s)
				changed++
			}
		}
		if changed == 0 {
			t.Errorf("%s, and the verdict stays as it was", what)
		}
	}
	for s := range stays {
		t.Errorf("whatever is measured, the verdict says: %s", s)
	}
}

// Exchange the figures of two loops, and what is said of the winner is said of the other.
func TestTheVerdictKnowsNoName(t *testing.T) {
	exchange := strings.NewReplacer("main", "alternatetwo", "alternatetwo", "main")
	dir := recorded.Run(t, recorded.Full)
	run, err := record.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join(dir, record.RawFile))
	if err != nil {
		t.Fatal(err)
	}
	for i := range run.Cells {
		c := &run.Cells[i]
		c.Impl, c.Of, c.Name = exchange.Replace(c.Impl), exchange.Replace(c.Of), exchange.Replace(c.Name)
	}
	samples, err := stats.Read(strings.NewReader(exchange.Replace(string(raw))), "raw")
	if err != nil {
		t.Fatal(err)
	}
	run.Checks = nil
	swapped, as := newDocument(stats.Analyse(run, samples)), afterChange(t, asMeasured)
	got, _ := swapped.a.Overall.First()
	want, _ := as.a.Overall.First()
	if exchange.Replace(want.Impl) != got.Impl || got.Mean.Center != want.Mean.Center {
		t.Errorf("with the figures exchanged %+v is first, and before %+v", got, want)
	}
	if s := swapped.verdict()[0]; !strings.HasPrefix(s, "`"+got.Impl+"` wins") {
		t.Error(s)
	}
}

// What the verdict says in numbers stands in the tables too.
func TestTheVerdictsNumbersAreShown(t *testing.T) {
	d := afterChange(t, asMeasured)
	var b strings.Builder
	dearer, _ := d.dearer()
	for _, blocks := range [][]block{dearer.inside, d.ranking().inside, d.figures().inside, d.caveats().inside} {
		for _, bl := range blocks {
			writeMarkdown(&b, bl, "")
		}
	}
	report := b.String()
	numbers := 0
	for _, s := range d.verdict() {
		s = strings.ReplaceAll(s, "1.1×", "") // the margin
		for _, n := range regexp.MustCompile(`[0-9]+(?:\.[0-9]+)?×`).FindAllString(s, -1) {
			numbers++
			if !strings.Contains(report, n) {
				t.Errorf("%s is shown nowhere: %s", n, s)
			}
		}
	}
	if numbers < 12 {
		t.Errorf("only %d numbers", numbers)
	}
}

func TestFigureByFigure(t *testing.T) {
	match := func(bench string, ratio float64, outcome stats.Outcome) stats.Match {
		return stats.Match{Bench: bench, Unit: "sec/op", Scored: true, Headline: true, To: "rival", Ratio: stats.Interval{Center: ratio}, Outcome: outcome}
	}
	aside, tail := match("N", 3, stats.Behind), match("T", 4, stats.Open)
	aside.Scored = false
	tail.Unit, tail.Headline = stats.Tail, false
	d := newDocument(&stats.Analysis{Run: &record.Run{Roles: roles}, ToBest: []stats.Match{
		match("A", 0.5, stats.Ahead), match("B", 1.05, stats.Within), match("C", 1.2, stats.Open), match("D", 2, stats.Behind), aside, tail,
	}})
	for _, c := range []struct{ got, want string }{
		{d.figureByFigure(), "Against the best other ranked loop `main` is ahead in 1 of 4 figures, within 10 % in 1, behind in 1, and in 1 nothing is " +
			"shown. At worst: D, 2.00× `rival`."},
		{d.beyondMedians(), "In tails and means `main` is ahead in 0 of 1 figure, within 10 % in 0, behind in 0, and in 1 nothing is shown. " +
			"At worst: T p99, 4.00× `rival`."},
		{d.notScored(), "Not scored, but above 1.1×: 1 figure. At worst: N, 3.00× `rival`."},
	} {
		if got := strings.ReplaceAll(c.got, "\u00a0", " "); got != c.want {
			t.Errorf("%s\nwant:\n%s", got, c.want)
		}
	}
	s, _ := d.dearer()
	var rows []string
	for _, row := range s.inside[0].(table).rows {
		rows = append(rows, row[0].text+" "+row[2].text+" "+row[3].text+" "+row[4].text)
	}
	want := "T p99 not shown by its median 4.00×\nN behind no 3.00×\nD behind yes 2.00×\nC not shown yes 1.20×"
	if got := strings.Join(rows, "\n"); got != want {
		t.Errorf("%s\nwant:\n%s", got, want)
	}
}

// What stands before the picture is read at a glance, and the whole in a quarter of an hour: the published results, too.
func TestTheReportIsShort(t *testing.T) {
	text := func(d *document) string {
		out, err := d.markdown("", nil)
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	published, err := os.ReadFile(filepath.Join("..", "..", "..", "RESULTS.md"))
	if err != nil {
		t.Fatal(err)
	}
	for what, report := range map[string]string{"recorded": text(afterChange(t, asMeasured)), "published": string(published)} {
		front, _, ok := strings.Cut(report, "\n![")
		if !ok {
			t.Fatalf("%s: there is no picture", what)
		}
		paragraphs := strings.Split(strings.TrimSpace(front), "\n\n")[1:]
		if strings.HasPrefix(paragraphs[0], "**") { // what must be known before anything else
			paragraphs = paragraphs[1:]
		}
		if len(paragraphs) > 5 {
			t.Errorf("%s: %d paragraphs before the picture", what, len(paragraphs))
		}
		for _, p := range paragraphs {
			if n := len(strings.Fields(p)); n > 70 {
				t.Errorf("%s: %d words: %s", what, n, p)
			}
		}
		words := 0
		for line := range strings.Lines(report) {
			if !strings.HasPrefix(line, "|") {
				words += len(strings.Fields(line))
			}
		}
		if words > 4000 {
			t.Errorf("%s: %d words outside of tables", what, words)
		}
	}
}

// Who was not held to the conformance suite is named where the ranking is told.
func TestTheVerdictIsProvisionalWithoutConformance(t *testing.T) {
	d := afterChange(t, asMeasured)
	held := d.a.Run.Checks
	for without, want := range map[string]string{
		"nobody": "",
		"main":   "This ranking is provisional: the conformance suite was not run on `main`.",
		"":       "This ranking is provisional: the conformance suite was not run.",
	} {
		d.a.Run.Checks = slices.DeleteFunc(slices.Clone(held), func(c record.Conformity) bool { return without == "" || c.Impl == without })
		if got := d.headline()[0]; !strings.HasSuffix(got, want) || want == "" && strings.Contains(got, "provisional") {
			t.Errorf("without checks of %q the verdict begins with %q, want %q at its end", without, got, want)
		}
	}
}
