package report

// Tests of the grid, on recorded runs.

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/turnloop/turnloop/internal/tournament/record"
	"github.com/turnloop/turnloop/internal/tournament/stats"
)

func load(t *testing.T) *document {
	t.Helper()
	a, err := stats.Load("../stats/testdata/run")
	if err != nil {
		t.Fatal(err)
	}
	return newDocument(a)
}

// The grid has every figure of the run in its place: who is best is so by its median, and the others are multiples of it.
func TestGrid(t *testing.T) {
	d := load(t)
	g := d.grid()
	if want := []string{"main", "alternatetwo", "baseline"}; !slices.Equal(g.impls, want) {
		t.Fatalf("columns %v, want %v", g.impls, want)
	}
	tiles := 0
	for _, group := range g.groups {
		for _, l := range group.lines {
			best := entry(l.row, l.best)
			if l.row.Category != group.name || best == nil || !d.a.Ranked(l.best) {
				t.Fatalf("%s: in %s, best %q", l.row.Bench, group.name, l.best)
			}
			for _, tile := range slices.Concat(l.tiles, l.aside) {
				if !tile.entry.Value.OK() {
					continue
				}
				tiles++
				if d.a.Ranked(tile.impl) && tile.entry.Value.Center < best.Value.Center {
					t.Errorf("%s: %s is better than the best, %s", l.row.Bench, tile.impl, l.best)
				}
				// Medians of ratios are near ratios of medians.
				if quotient := tile.entry.Value.Center / best.Value.Center; !(math.Abs(math.Log(tile.ratio.Center/quotient)) < 0.3) {
					t.Errorf("%s, %s: %v of the best, by medians %v", l.row.Bench, tile.impl, tile.ratio.Center, quotient)
				}
				if tile.impl == l.best && (tile.text != "1" || tile.step != 0) {
					t.Errorf("%s: the best has %q on step %d", l.row.Bench, tile.text, tile.step)
				}
			}
		}
	}
	figures := 0
	for _, row := range d.a.Rows {
		for _, e := range row.Entries {
			if e.Value.OK() {
				figures++
			}
		}
	}
	if tiles != figures || tiles == 0 {
		t.Errorf("%d tiles for %d figures", tiles, figures)
	}
}

func TestSteps(t *testing.T) {
	for ratio, want := range map[float64]int{
		0.5: 0, 1: 0, 1.1: 0, 1.11: 1, 1.5: 1, 2: 2, 2.1: 3, 4: 3, 10: 4, 30: 5, 31: 6, math.Inf(1): 6, math.NaN(): noStep,
	} {
		if got := step(ratio); got != want {
			t.Errorf("%v is on step %d, want %d", ratio, got, want)
		}
	}
	if len(shades) != len(scale)+1 || len(scaleLabels()) != len(shades) {
		t.Errorf("%d shades and %d labels for %d limits", len(shades), len(scaleLabels()), len(scale))
	}
}

// Figures can be read on every shade, and no two shades look alike, to nobody: to those who lack one of the three kinds of cones neither.
func TestShadesAreToldApart(t *testing.T) {
	for _, scheme := range []string{"light", "dark"} {
		var backs [][3]float64
		for i, s := range shades {
			of := s.light
			if scheme == "dark" {
				of = s.dark
			}
			back, text := linear(t, of.back), linear(t, of.text)
			backs = append(backs, back)
			a, b := luminance(back)+0.05, luminance(text)+0.05
			if contrast := max(a, b) / min(a, b); contrast < 4.5 {
				t.Errorf("%s, step %d: a contrast of %.1f", scheme, i, contrast)
			}
		}
		for eyes, see := range sights {
			for i, a := range backs {
				for j, b := range backs[:i] {
					x, y := lab(see.apply(a)), lab(see.apply(b))
					if far := math.Hypot(math.Hypot(x[0]-y[0], x[1]-y[1]), x[2]-y[2]); far < 8 {
						t.Errorf("%s, steps %d and %d are %.1f apart to %s", scheme, j, i, far, eyes)
					}
				}
			}
		}
	}
}

type matrix [3][3]float64

func (m matrix) apply(v [3]float64) (out [3]float64) {
	for i := range out {
		for j := range v {
			out[i] += m[i][j] * v[j]
		}
		out[i] = min(max(out[i], 0), 1)
	}
	return out
}

// sights simulate dichromats, by Machado, Oliveira and Fernandes (2009), on linear RGB.
var sights = map[string]matrix{
	"all":          {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	"protanopes":   {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
	"deuteranopes": {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
	"tritanopes":   {{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}},
}

// linear returns a colour such as #0b5cab as linear RGB.
func linear(t *testing.T, hex string) (out [3]float64) {
	t.Helper()
	for i := range out {
		n, err := strconv.ParseUint(hex[1+2*i:3+2*i], 16, 8)
		if err != nil {
			t.Fatal(err)
		}
		if c := float64(n) / 255; c <= 0.04045 {
			out[i] = c / 12.92
		} else {
			out[i] = math.Pow((c+0.055)/1.055, 2.4)
		}
	}
	return out
}

func luminance(c [3]float64) float64 { return 0.2126*c[0] + 0.7152*c[1] + 0.0722*c[2] }

// lab returns linear RGB in CIE L*a*b*, where distances are as the eye has them.
func lab(c [3]float64) [3]float64 {
	f := func(v float64) float64 {
		if v > 216.0/24389 {
			return math.Cbrt(v)
		}
		return (24389.0/27*v + 16) / 116
	}
	x := f((0.4124*c[0] + 0.3576*c[1] + 0.1805*c[2]) / 0.9505)
	y := f(luminance(c))
	z := f((0.0193*c[0] + 0.1192*c[1] + 0.9505*c[2]) / 1.089)
	return [3]float64{116*y - 16, 500 * (x - y), 200 * (y - z)}
}

// The command of a cell measures that cell, the best of its line, whom the ratio is to, and nothing else.
func TestCommandsRepeatTheirCells(t *testing.T) {
	d := load(t)
	filter := regexp.MustCompile(`-filter='([^']*)'`)
	commands := 0
	for _, group := range d.grid().groups {
		for _, l := range group.lines {
			for _, tile := range slices.Concat(l.tiles, l.aside) {
				c := d.command(l, tile.impl)
				m := filter.FindStringSubmatch(c)
				if m == nil {
					if tile.entry.Value.OK() {
						t.Errorf("%s, %s has no command: %q", l.row.Bench, tile.impl, c)
					}
					continue
				}
				commands++
				re := regexp.MustCompile(m[1])
				for _, cell := range d.a.Run.Cells {
					want := cell.Bench == l.row.Bench && slices.Contains([]string{tile.impl, l.best, l.row.Reference}, cell.Impl)
					if re.MatchString(cell.Name) != want {
						t.Errorf("%s of %s: filter %s, matches %s: want %v", l.row.Bench, tile.impl, m[1], cell.Name, want)
					}
				}
				for _, part := range []string{"git checkout 0123456789abcdef\n", "tournament run ", "-rounds=8", "-results=''"} {
					if !strings.Contains(c, part) {
						t.Errorf("the command lacks %q: %s", part, c)
					}
				}
			}
		}
	}
	if commands < 10 {
		t.Errorf("only %d commands", commands)
	}
	l := d.grid().groups[0].lines[0]
	for run, want := range map[string]string{
		"make tournament-benchmark":                   "go run ./internal/tournament/cmd/tournament run ",
		"go run . run -mode=full":                     "go run . run ",
		"make bench-linux-docker CPUS=2,3":            "CPUS=2,3 MODE=quick docker/bench.sh ",
		"make bench-linux-docker CPUS=0,1 MODE=quick": "CPUS=0,1 MODE=quick docker/bench.sh ",
		"go run ./internal/tournament/cmd/tournament run -mode=quick -filter='a run -b'": "go run ./internal/tournament/cmd/tournament run ",
	} {
		d.a.Run.Command = run
		if _, got, _ := strings.Cut(d.command(l, "main"), "\n"); !strings.HasPrefix(got, want) {
			t.Errorf("of a run by %s a cell is repeated by %s, want it to begin with %s", run, got, want)
		}
	}
}

// A panel has a dot for each round of each contestant.
func TestPanelsHaveEveryRound(t *testing.T) {
	d := load(t)
	panels := 0
	for _, group := range d.grid().groups {
		for _, l := range group.lines {
			var b strings.Builder
			d.writePanel(&b, l, "x")
			want := 0
			for _, tile := range slices.Concat(l.tiles, l.aside) {
				for _, r := range d.a.Rounds(l.row.Bench, tile.impl, l.row.Unit) {
					if r.Value > 0 {
						want++
					}
				}
			}
			if got := strings.Count(b.String(), `title="round `); got != want || want == 0 {
				t.Errorf("%s: %d dots for %d rounds", l.row.Bench, got, want)
			}
			if strings.Contains(b.String(), "NaN") || strings.Contains(b.String(), "Inf") {
				t.Errorf("%s: a place that is not a number", l.row.Bench)
			}
			panels++
		}
	}
	if panels == 0 {
		t.Error("no panels")
	}
}

func TestStemmed(t *testing.T) {
	all := []string{"main", "alternateone", "alternatetwo", "alternatethree", "baseline", "mainline"}
	for impl, want := range map[string]string{
		"main": "main|", "alternateone": "alternate|one", "alternatethree": "alternate|three", "baseline": "baseline|", "mainline": "main|line",
	} {
		if stem, rest := stemmed(impl, all); stem+"|"+rest != want {
			t.Errorf("%s is split %s|%s, want %s", impl, stem, rest, want)
		}
	}
}

func TestFigureIn(t *testing.T) {
	for text, want := range map[string]cell{
		"0.14× (0.11× to 0.16×)": {key: 0.14, kind: "×", by: true},
		"~1.5×":                  {key: 1.5, kind: "×", by: true},
		"17.0\u00a0ns":           {key: 17e-9, kind: "s", by: true},
		"2.00 µs – 3.00 µs":      {key: 2e-6, kind: "s", by: true},
		"1.50 KiB":               {key: 1536, kind: "B", by: true},
		"84 B":                   {key: 84, kind: "B", by: true},
		"12":                     {key: 12, by: true},
		"3.4 %":                  {key: 3.4, kind: "%", by: true},
		"**0.20×**":              {key: 0.2, kind: "×", by: true},
		"met":                    {},
		"–":                      {},
	} {
		got := figureIn(text)
		if math.Abs(got.key-want.key) > 1e-12 || got.kind != want.kind || got.by != want.by || got.text != text {
			t.Errorf("%q: %+v, want %+v", text, got, want)
		}
	}
}

// Cells sort by value: by the one that they are given, else by the figure that they begin with, else by their letters.
func TestCellsHaveValues(t *testing.T) {
	var b strings.Builder
	interval := stats.Interval{Center: 3e-6, Lo: 2e-6, Hi: 4e-6}
	writeHTML(&b, table{head: []string{"a", "b", "c", "d", "e", "f"}, rows: [][]cell{{
		{text: "name"}, {text: "0.90× (0.87–0.91)"}, {text: "met"}, valueCell("2.0× 15.0 µs", 15e-6, "p99-sec/op"),
		rangeCell("2.00 µs – 4.00 µs", interval, "s"), {text: "1.50 KiB"},
	}}})
	for _, wanted := range []string{`<th scope="row">name<`, `<td data-key="0.9" data-kind="×">`, "<td>met<", `<td data-key="1.5e-05" data-kind="s">`,
		`<td data-key="2e-06" data-kind="s">`, `<td data-key="1536" data-kind="B">`} {
		if !strings.Contains(b.String(), wanted) {
			t.Errorf("no %s in %s", wanted, b.String())
		}
	}
}

// The text begins with at most five lines, the picture, and one table, below which it says what has no figure; all else is folded.
func TestResultsBeginWithThePicture(t *testing.T) {
	d := load(t)
	var order []string
	for _, bl := range d.blocks("results/native/", nil) {
		kind := fmt.Sprintf("%T", bl)
		kind = kind[strings.LastIndexByte(kind, '.')+1:]
		order = append(order, kind)
	}
	text := strings.Join(order, " ")
	if !regexp.MustCompile(`^heading (para ){1,5}figure para table (para ){1,2}(section ?)+$`).MatchString(text) {
		t.Errorf("the text is %s", text)
	}
}

// A gallery has every run with its environment, and shows no time at all, of which those of two machines could be compared.
func TestGalleryShowsRatiosOnly(t *testing.T) {
	root := t.TempDir()
	var dirs []string
	for _, name := range []string{"here", "there"} {
		dir := filepath.Join(root, name)
		if err := os.CopyFS(dir, os.DirFS("../stats/testdata/run")); err != nil {
			t.Fatal(err)
		}
		run, err := record.Load(dir)
		if err != nil {
			t.Fatal(err)
		}
		run.Env.CPU = "processor of " + name // the names of the runs are the same
		for i := range run.Benchmarks {
			run.Benchmarks[i].Measures = "" // may speak of times that are settings
		}
		if err := record.Save(dir, run); err != nil {
			t.Fatal(err)
		}
		dirs = append(dirs, dir)
	}
	if _, err := Write(dirs[1], "", stats.Policy{}); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(root, "index.html")
	if err := WriteGallery(path, dirs); err != nil {
		t.Fatal(err)
	}
	page := read(t, path)
	_, body, _ := strings.Cut(page, "<body>")
	body, _, _ = strings.Cut(body, "<script>")
	for _, wanted := range []string{"processor of here", "processor of there", `<a href="there/index.html">`, `id="r0-0"`, `id="r1-0"`} {
		if !strings.Contains(body, wanted) {
			t.Errorf("the gallery lacks %s", wanted)
		}
	}
	commands := regexp.MustCompile(`(?s)<pre>.*?</pre>`)
	if n := len(commands.FindAllString(body, -1)); n < 20 {
		t.Errorf("only %d commands", n)
	}
	shown := regexp.MustCompile(`<[^>]*>`).ReplaceAllString(commands.ReplaceAllString(body, ""), " ")
	if times := regexp.MustCompile(`[0-9][\s\x{a0}]?([nµm]?s|[KMG]iB|B)\b`).FindAllString(shown, -1); len(times) > 0 {
		t.Errorf("the gallery shows absolute figures: %q", times[:min(5, len(times))])
	}
	for _, m := range regexp.MustCompile(`(?:src|href)="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		if m[1] != "there/index.html" {
			t.Errorf("the gallery refers to %s", m[1])
		}
	}
	if err := WriteGallery(path, []string{dirs[0], root}); err == nil {
		t.Error("a folder without a run is no error")
	}
}

// Runs that do not have the same benchmarks stand side by side line by line.
func TestGalleryAlignsLines(t *testing.T) {
	d := load(t)
	part := *d.a
	part.Rows = part.Rows[1:]
	less := newDocument(&part)
	runs := []exhibit{{document: less}, {document: d}}
	all := everyRow(runs)
	var lines [2][]string
	for i, x := range runs {
		for _, group := range x.aligned(x.grid(), all).groups {
			for _, l := range group.lines {
				lines[i] = append(lines[i], group.name+" "+l.row.Bench)
			}
		}
	}
	if !slices.Equal(lines[0], lines[1]) || len(lines[0]) != len(all) || len(all) < len(d.a.Rows)-1 {
		t.Errorf("the lines are\n%q and\n%q", lines[0], lines[1])
	}
	var b strings.Builder
	less.writePanel(&b, less.lineOf(less.grid(), d.a.Rows[0]), "x")
	if !strings.Contains(b.String(), "this run has no such benchmark") {
		t.Errorf("an empty cell does not say why:\n%s", b.String())
	}
}

// What was to be measured and has no figure is named.
func TestGridNamesWhatHasNoFigure(t *testing.T) {
	d := load(t)
	const few = "Declared and in no cell, as a rule for want of enough values: " // the recorded run has one cell of Footprint
	if s := d.without(); s != few+"B/timer, B/task, B/burst of Footprint." {
		t.Errorf("everything has a figure but the other cells of Footprint, and it says: %s", s)
	}
	run := *d.a.Run
	run.Benchmarks = append(slices.Clone(run.Benchmarks), record.Benchmark{Name: "Declared"}, record.Benchmark{Name: "Variants"})
	run.Impls = append(slices.Clone(run.Impls), record.Impl{Name: "absent", Ranked: true})
	a := *d.a
	a.Run = &run
	measured := *a.Rows[0]
	measured.Bench = "Variants/a=1"
	a.Rows = append(slices.Clone(a.Rows), &measured, &stats.Row{Bench: "Variants/a=2"})
	run.Benchmarks[0].Units = append(slices.Clone(run.Benchmarks[0].Units), "p99-ns/op")
	want := "Nobody has a figure in Declared and Variants a=2. " + few + "p99-ns/op of " + run.Benchmarks[0].Name +
		" and B/timer, B/task, B/burst of Footprint. Not one figure was measured of `absent`."
	changed := newDocument(&a)
	if got := changed.without(); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	var page strings.Builder
	changed.writeGrid(&page, changed.grid(), "c")
	if !strings.Contains(page.String(), "Nobody has a figure in Declared and Variants a=2.") {
		t.Error("the page does not say it")
	}
}
