package report

// Tests of the report as a whole.

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/turnloop/turnloop/internal/tournament/policy"
	"github.com/turnloop/turnloop/internal/tournament/record"
	"github.com/turnloop/turnloop/internal/tournament/stats"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// roles are those of the runs in these tests.
var roles = record.Roles{Subject: "main", Reference: "baseline", Control: "channel"}

// smallRun copies the recorded run to dir/native.
func smallRun(t *testing.T, dir string) string {
	t.Helper()
	native := filepath.Join(dir, "results", "native")
	if err := os.CopyFS(native, os.DirFS("../stats/testdata/run")); err != nil {
		t.Fatal(err)
	}
	return native
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestWriteMatchesGoldenFiles(t *testing.T) {
	dir := t.TempDir()
	native := smallRun(t, dir)
	other := filepath.Join(dir, "results", "linux-docker")
	if err := os.CopyFS(other, os.DirFS(native)); err != nil {
		t.Fatal(err)
	}
	if _, err := Write(native, filepath.Join(dir, "RESULTS.md"), policy.Bars); err != nil {
		t.Fatal(err)
	}
	for golden, made := range map[string]string{
		"RESULTS.golden.md":  filepath.Join(dir, "RESULTS.md"),
		"geomean.golden.svg": filepath.Join(native, "geomean.svg"),
	} {
		golden = filepath.Join("testdata", golden)
		got := read(t, made)
		if *update {
			if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got != read(t, golden) {
			t.Errorf("%s differs from %s; if that is intended, run with -update", filepath.Base(made), golden)
		}
	}
}

func TestEveryLinkLeadsSomewhere(t *testing.T) {
	dir := t.TempDir()
	native := smallRun(t, dir)
	if err := os.CopyFS(filepath.Join(dir, "results", "linux-docker"), os.DirFS(native)); err != nil {
		t.Fatal(err)
	}
	if _, err := Write(filepath.Join(dir, "results", "linux-docker"), "", stats.Policy{}); err != nil {
		t.Fatal(err)
	}
	if _, err := Write(native, filepath.Join(dir, "RESULTS.md"), stats.Policy{}); err != nil {
		t.Fatal(err)
	}
	links := 0
	// The README as well: its picture is a link.
	if err := os.WriteFile(filepath.Join(dir, "README.md"), []byte(verdictBegin+verdictEnd), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Write(native, filepath.Join(dir, "RESULTS.md"), policy.Bars); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{filepath.Join(dir, "RESULTS.md"), filepath.Join(native, "RESULTS.md"), filepath.Join(dir, "README.md")} {
		for _, m := range regexp.MustCompile(`\]\(([^)]*)\)`).FindAllStringSubmatch(read(t, file), -1) {
			links++
			if _, err := os.Stat(filepath.Join(filepath.Dir(file), m[1])); err != nil {
				t.Errorf("%s links to %s: %v", file, m[1], err)
			}
		}
	}
	if links < 10 {
		t.Errorf("only %d links", links)
	}
	if !strings.Contains(read(t, filepath.Join(dir, "RESULTS.md")), "(results/linux-docker/RESULTS.md)") {
		t.Error("the other run is not linked")
	}
}

// The README beside RESULTS.md keeps its text and gets the verdict of the run, once, however often it is written.
func TestReadmeGetsTheVerdict(t *testing.T) {
	root := t.TempDir()
	native := smallRun(t, filepath.Join(root, "results"))
	readme := filepath.Join(root, "README.md")
	const before, after = "# A title\n\n", "\nThe rest.\n"
	if err := os.WriteFile(readme, []byte(before+verdictBegin+"an old verdict\n"+verdictEnd+after), 0o644); err != nil {
		t.Fatal(err)
	}
	var texts []string
	for range 2 {
		if _, err := Write(native, filepath.Join(root, "RESULTS.md"), stats.Policy{}); err != nil {
			t.Fatal(err)
		}
		texts = append(texts, read(t, readme))
	}
	text := texts[0]
	if texts[1] != text {
		t.Error("writing it again changes it")
	}
	if !strings.HasPrefix(text, before) || !strings.HasSuffix(text, after) || strings.Contains(text, "old verdict") {
		t.Errorf("want the old verdict replaced and the rest kept:\n%s", text)
	}
	block := strings.TrimSuffix(strings.TrimPrefix(text, before+verdictBegin), verdictEnd+after)
	sentence := strings.SplitN(read(t, filepath.Join(root, "RESULTS.md")), "\n", 4)[2]
	if want := "\n" + sentence + "\n\n![Who wins by how much](results/results/native/geomean.svg)\n\n"; block != want {
		t.Errorf("the README's block is\n%q\nwant one sentence and the picture\n%q", block, want)
	}

	const plain = "no place for a verdict\n"
	if err := os.WriteFile(readme, []byte(plain), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Write(native, filepath.Join(root, "RESULTS.md"), stats.Policy{}); err != nil {
		t.Fatal(err)
	}
	if read(t, readme) != plain {
		t.Error("a README without a place for the verdict was changed")
	}
}

func TestPageNeedsNothingElse(t *testing.T) {
	native := smallRun(t, t.TempDir())
	if _, err := Write(native, "", stats.Policy{}); err != nil {
		t.Fatal(err)
	}
	page := read(t, filepath.Join(native, "index.html"))
	for _, m := range regexp.MustCompile(`(?:src|href)="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		if !strings.HasPrefix(m[1], "#") && m[1] != record.RawFile {
			t.Errorf("the page refers to %s", m[1])
		}
	}
	for _, unwanted := range []string{"url(", "@import", "<no value>", "ZgotmplZ", "STYLE"} {
		if strings.Contains(page, unwanted) {
			t.Errorf("the page contains %q", unwanted)
		}
	}
	for _, wanted := range []string{`class="scores"`, `role="grid"`, `<template id="c0">`, "alternatetwo", "data-category=", "prefers-color-scheme"} {
		if !strings.Contains(page, wanted) {
			t.Errorf("the page lacks %q", wanted)
		}
	}
}

func TestChartsAreWellFormed(t *testing.T) {
	a, err := stats.Load("../stats/testdata/run")
	if err != nil {
		t.Fatal(err)
	}
	drawings := newDocument(a).drawings()
	if len(drawings) < 3 {
		t.Fatalf("%d drawings", len(drawings))
	}
	for _, g := range drawings {
		file, _ := g.name()
		for _, text := range []string{standalone(g), g.draw(500)} {
			if strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
				t.Errorf("%s has a coordinate that is not a number", file)
			}
			dec := xml.NewDecoder(strings.NewReader(text))
			for {
				_, err := dec.Token()
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					t.Fatalf("%s: %v", file, err)
				}
			}
		}
	}
}

func TestQuickAndIncompleteRunsSaySo(t *testing.T) {
	dir := smallRun(t, t.TempDir())
	run, err := record.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	run.Mode, run.Complete, run.Source.Dirty = record.Quick, false, true
	if err := record.Save(dir, run); err != nil {
		t.Fatal(err)
	}
	if _, err := Write(dir, "", stats.Policy{}); err != nil {
		t.Fatal(err)
	}
	text := read(t, filepath.Join(dir, "RESULTS.md"))
	for _, wanted := range []string{"(quick run)", "Quick run:", "Incomplete run", "changes on top"} {
		if !strings.Contains(text, wanted) {
			t.Errorf("the report does not say %q", wanted)
		}
	}
	for _, chart := range []string{"geomean.svg", "throughput.svg"} {
		if !strings.Contains(read(t, filepath.Join(dir, chart)), "quick run") {
			t.Errorf("%s does not say that the run was quick", chart)
		}
	}
}

func TestWinner(t *testing.T) {
	place := func(rank int, impl string, mean, toFirst float64, tied bool) stats.Place {
		i := func(v float64) stats.Interval { return stats.Interval{Center: v, Lo: v * 0.99, Hi: v * 1.01, N: 10} }
		return stats.Place{Impl: impl, Rank: rank, Mean: i(mean), ToFirst: i(toFirst), Tied: tied}
	}
	main1, rival2 := place(1, "main", 0.2, 1, false), place(2, "rival", 0.3, 1.5, false)
	base3 := place(3, "baseline", 1, 5, false)
	for _, c := range []struct {
		what   string
		places []stats.Place
		want   string
	}{
		{"main wins", []stats.Place{main1, rival2, base3},
			"`main` wins: over the 2 figures that all share, it costs 0.20× as much as `baseline` (geometric mean, 95 % interval 0.20–0.20); the next, `rival`, is behind by 50 %."},
		{"main is second", []stats.Place{place(1, "rival", 0.2, 1, false), place(2, "main", 0.3, 1.5, false), base3},
			"`rival` wins: over the 2 figures that all share, it costs 0.20× as much as `baseline` (geometric mean, 95 % interval 0.20–0.20); the next, `main`, is behind by 50 %. `main` does not win: it ranks 2 of 3, behind by 50 %."},
		{"a tie", []stats.Place{main1, place(2, "rival", 0.21, 1.05, true), base3},
			"This run does not separate `main` from `rival`: the geometric means over the 2 figures that all share differ by 5.0 % or less, within their intervals and noise."},
		{"the reference wins", []stats.Place{place(1, "baseline", 1, 1, false), place(2, "main", 1.2, 1.2, false)},
			"`baseline` wins: over the 2 figures that all share, the next, `main`, costs 1.20× as much as `baseline` (geometric mean, 95 % interval 1.19–1.21). `main` does not win: it ranks 2 of 2, behind by 20 %."},
		{"two", []stats.Place{main1, place(2, "baseline", 1, 5, false)},
			"`main` wins: over the 2 figures that all share, it costs 0.20× as much as `baseline` (geometric mean, 95 % interval 0.20–0.20)."},
		{"too few rounds", []stats.Place{
			{Impl: "main", Rank: 1, Mean: stats.Interval{Center: 0.2, Lo: math.Inf(-1), Hi: math.Inf(1), N: 3}}, rival2},
			"No verdict: fewer than 6 complete rounds give no interval. Over the 2 figures that all share `main` is ahead of `rival` by 50 %."},
		{"nobody", []stats.Place{place(0, "channel", 1, math.NaN(), false)}, "No contestant is ranked."},
	} {
		d := newDocument(&stats.Analysis{Run: &record.Run{Roles: roles}})
		got := d.winner(stats.Standing{Reference: "baseline", Rows: []string{"A", "B"}, Places: c.places}, "all share")
		if got = strings.ReplaceAll(got, "\u00a0", " "); got != c.want {
			t.Errorf("%s:\n%s\nwant:\n%s", c.what, got, c.want)
		}
	}
}

// Tails that vary too much to tell are not counted among those that are not worse; what is worse all the same is.
func TestTallyOfTails(t *testing.T) {
	tail := func(bench string, verdict stats.Verdict, lo, hi float64) *stats.Row {
		return &stats.Row{Bench: bench, Scored: true, Unit: "sec/op", Reference: "baseline",
			Entries: []stats.Entry{{Impl: "main", Verdict: stats.Faster}},
			Details: []stats.Detail{{Unit: stats.Tail, Verdicts: map[string]stats.Verdict{"main": verdict},
				Ratios: map[string]stats.Interval{"main": {Center: 2, Lo: lo, Hi: hi}},
				Values: map[string]stats.Interval{"main": {Center: 2e-6}, "baseline": {Center: 1e-6}}}}}
	}
	same, worse := tail("A", stats.Same, 0.8, 1.6), tail("B", stats.Slower, 1.1, 9)
	open, few := tail("C", stats.Same, 0.7, 1.5), tail("D", stats.Same, math.Inf(-1), math.Inf(1))
	for _, c := range []struct {
		rows []*stats.Row
		want string
	}{
		{[]*stats.Row{worse}, "Its 99th percentile is measurably worse than that of `baseline` in 1 of 1: B (2.00 µs instead of 1.00 µs)."},
		{[]*stats.Row{same}, "Its 99th percentile is nowhere measurably worse than that of `baseline` (1 figure compared)."},
		{[]*stats.Row{same, open, few}, "Its 99th percentile is nowhere measurably worse than that of `baseline` (1 figure compared; " +
			"in 2 more the ratio is not known to within a factor of two)."},
		{[]*stats.Row{same, open, worse}, "Its 99th percentile is measurably worse than that of `baseline` in 1 of 2: B (2.00 µs instead " +
			"of 1.00 µs); in 1 more the ratio is not known to within a factor of two."},
		{[]*stats.Row{open, few}, "Its ratio to `baseline` in the 99th percentile is nowhere known to within a factor of two (2 figures)."},
	} {
		got := newDocument(&stats.Analysis{Run: &record.Run{Roles: roles}, Rows: c.rows}).tallyOf(stats.Tail, "99th percentile")
		if got = strings.ReplaceAll(got, "\u00a0", " "); got != " "+c.want {
			t.Errorf("%s\nwant:\n%s", got, c.want)
		}
	}
}

func TestOnlyChartsOfTimesHaveABand(t *testing.T) {
	for unit, want := range map[string]bool{"sec/op": true, "B/timer": false} {
		ratio := stats.Interval{Center: 2, Lo: 1.9, Hi: 2.1}
		rows := []*stats.Row{
			{Bench: "A", Category: "C", Unit: "sec/op", Reference: "baseline", Entries: []stats.Entry{{Impl: "main", Ratio: ratio}}},
			{Bench: "B", Category: "C", Unit: unit, Reference: "baseline", Entries: []stats.Entry{{Impl: "main", Ratio: ratio}}},
		}
		d := newDocument(&stats.Analysis{Run: &record.Run{Roles: roles}, Rows: rows, Noise: stats.Noise{Floor: 0.1}})
		c, ok := d.categoryChart("C", "baseline")
		if svg := c.draw(800); !ok || strings.Contains(svg, `class="band"`) != want || strings.Contains(svg, "Band: noise") != want {
			t.Errorf("with a row of %s: want a band: %v", unit, want)
		}
	}
}

func TestChartsLeaveNoiseOut(t *testing.T) {
	ratio := stats.Interval{Center: 2, Lo: 1.9, Hi: 2.1}
	run := &record.Run{Benchmarks: []record.Benchmark{{Name: "A"}, {Name: "B", Unscored: "it is noise"}}}
	var rows []*stats.Row
	for _, b := range run.Benchmarks {
		rows = append(rows, &stats.Row{Bench: b.Name, Category: "C", Unit: "sec/op", Reference: "baseline",
			Entries: []stats.Entry{{Impl: "main", Ratio: ratio}}})
	}
	c, ok := newDocument(&stats.Analysis{Run: run, Rows: rows}).categoryChart("C", "baseline")
	if !ok || len(c.groups) != 1 || c.groups[0].name != "A" {
		t.Errorf("the chart shows %+v, want A alone", c.groups)
	}
}

func TestCaveatsTellOfLoad(t *testing.T) {
	for load, want := range map[float64]bool{1: false, 1.01: true} {
		run := &record.Run{Sessions: []record.Session{{LoadBefore: []float64{load, 0, 0}}}}
		run.Env.Cores = 2
		var b strings.Builder
		writeMarkdown(&b, newDocument(&stats.Analysis{Run: run}).caveats(), "")
		if strings.Contains(b.String(), "more than half of 2 cores") != want {
			t.Errorf("a load of %v before the run: want it told: %v:\n%s", load, want, b.String())
		}
	}
}

func TestCaveatsTellOfStolenTime(t *testing.T) {
	for share, want := range map[float64]bool{0.02: false, 0.19: true} {
		var b strings.Builder
		run := &record.Run{Sessions: []record.Session{{Stolen: share}}}
		writeMarkdown(&b, newDocument(&stats.Analysis{Run: run}).caveats(), "")
		if strings.Contains(b.String(), "the host kept 19\u00a0% of the processors' time") != want {
			t.Errorf("%v stolen: want it told: %v:\n%s", share, want, b.String())
		}
	}
}

func TestMarkup(t *testing.T) {
	hostile := "got <nil> *x* `y` [z](w) a|b \\ c"
	var b strings.Builder
	writeMarkdown(&b, table{head: []string{"a"}, rows: [][]cell{words(plain(hostile))}}, "")
	if got, want := strings.Split(b.String(), "\n")[3], "| got &lt;nil&gt; \\*x\\* \\`y\\` \\[z\\](w) a\\|b \\\\ c |"; got != want {
		t.Errorf("in a table: %s\nwant %s", got, want)
	}
	if got, want := inlineHTML(plain(hostile)), "got &lt;nil&gt; *x* `y` [z](w) a|b \\ c"; got != want {
		t.Errorf("on the page: %s\nwant %s", got, want)
	}
	if got, want := inlineHTML("**b** `c<` [t](u) é"), `<strong>b</strong> <code>c&lt;</code> <a href="u">t</a> é`; got != want {
		t.Errorf("markup: %s\nwant %s", got, want)
	}
}

func TestBrokenRunsAreErrors(t *testing.T) {
	for what, spoil := range map[string]func(dir string) error{
		"no run.json":         func(dir string) error { return os.Remove(filepath.Join(dir, record.RunFile)) },
		"no raw.txt":          func(dir string) error { return os.Remove(filepath.Join(dir, record.RawFile)) },
		"bad run.json":        func(dir string) error { return os.WriteFile(filepath.Join(dir, record.RunFile), []byte("{"), 0o644) },
		"nothing in run.json": func(dir string) error { return os.WriteFile(filepath.Join(dir, record.RunFile), []byte("{}\n"), 0o644) },
		"nothing in raw.txt":  func(dir string) error { return os.WriteFile(filepath.Join(dir, record.RawFile), nil, 0o644) },
		"half of raw.txt":     func(dir string) error { return os.Truncate(filepath.Join(dir, record.RawFile), 8000) },
		"bad raw.txt": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, record.RawFile), []byte("round: 1\nBenchmarkX/impl=main x y\n"), 0o644)
		},
		"no rounds": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, record.RawFile), []byte("BenchmarkX/impl=main 1 2 ns/op\n"), 0o644)
		},
	} {
		dir := smallRun(t, t.TempDir())
		if err := spoil(dir); err != nil {
			t.Fatal(err)
		}
		if _, err := Write(dir, "", stats.Policy{}); err == nil {
			t.Errorf("%s: no error", what)
		}
	}
}

// An interrupted run may have measured nothing yet.
func TestEmptyRun(t *testing.T) {
	dir := smallRun(t, t.TempDir())
	run, err := record.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	run.Complete = false
	if err := record.Save(dir, run); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, record.RawFile), []byte("goos: linux\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	verdict, err := Write(dir, "", stats.Policy{})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(verdict, "There is no verdict") {
		t.Errorf("the verdict on nothing is %q", verdict)
	}
	if bytes.Contains([]byte(read(t, filepath.Join(dir, "RESULTS.md"))), []byte("NaN")) {
		t.Error("the report contains NaN")
	}
}
