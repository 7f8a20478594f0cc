package runner

// Tests of the warm-up: what was slow in it, and what the first round corrects.

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/perf/benchfmt"

	"github.com/turnloop/turnloop/internal/tournament/bench"
	"github.com/turnloop/turnloop/internal/tournament/record"
)

// TestSlowWarmUpLeavesValues: a machine that is slow while all cells of a benchmark are warmed up does not take the values from
// it that its benchmark needs. Is it slow the second time too, the first round shows it.
func TestSlowWarmUpLeavesValues(t *testing.T) {
	const values, cells = 10, 2 // with the control pair's
	for slow, from := range map[int]int{cells: 1, 2 * cells: 2} {
		cfg, _ := config(t, "")
		cfg.Env = append(cfg.Env, "FAKE_SLOW="+t.TempDir(), "FAKE_SLOW_TIMES="+strconv.Itoa(slow))
		cfg.Filter, cfg.Conformance = "BenchmarkQuick/impl=alpha", false
		cfg.Benchmarks[1].Needs = []record.Need{{Window: 100 * time.Millisecond, Values: values * tuningFor(record.Quick).values}}
		if _, err := Run(t.Context(), cfg); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(filepath.Join(cfg.Out, record.RawFile))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		results := 0
		for r := benchfmt.NewReader(f, "raw"); r.Scan(); {
			if got, ok := r.Result().(*benchfmt.Result); ok {
				round := 1 + results/cells
				if results++; round >= from && got.Iters < values {
					t.Errorf("after %d slow warm-ups round %d has %d values, want %d", slow, round, got.Iters, values)
				}
			}
		}
		if results != cells*cfg.Rounds {
			t.Errorf("%d results, want %d", results, cells*cfg.Rounds)
		}
	}
}

// TestCorrect: what the first round took beyond its plan, or less, the others are to make up for.
func TestCorrect(t *testing.T) {
	for _, c := range []struct {
		what        string
		first, want time.Duration
		millions    float64
		said        string
	}{
		{"as planned", time.Second, 960 * time.Millisecond, 2.4, "as planned"},
		{"half a second more", 1500 * time.Millisecond, time.Second, 1.25, "500ms more than planned"},
		{"half a second less: a cell has enough at some time", 500 * time.Millisecond, 460 * time.Millisecond, 2.4, "500ms less than planned"},
		{"far too much: a cell has its least", 10 * time.Second, 9040 * time.Millisecond, 0.1, "9s more than planned"},
	} {
		j := &journal{}
		r := &runner{dir: t.TempDir(), from: time.Now(), Config: Config{Progress: j, Options: record.Options{
			Mode: record.Full, Budget: 10 * time.Second, Rounds: 11}}}
		r.rec = &record.Run{Options: r.Options, RoundNS: int64(time.Second)}
		for _, b := range []string{"A", "B", "C", "D"} {
			r.rec.Cells = append(r.rec.Cells, record.Cell{Cell: bench.Cell{Bench: b, Impl: "x"}, WarmNS: 100})
		}
		if err := r.correct(c.first); err != nil {
			t.Fatal(err)
		}
		const part = 0.02
		for _, cell := range r.rec.Cells {
			if got := float64(cell.Iters) / 1e6; got < (1-part)*c.millions || got > (1+part)*c.millions {
				t.Errorf("%s: %s runs %v million iterations, want %v", c.what, cell.Bench, got, c.millions)
			}
		}
		if got := time.Duration(r.rec.RoundNS); float64(got) < (1-part)*float64(c.want) || float64(got) > (1+part)*float64(c.want) {
			t.Errorf("%s: the others are to take %v, want %v", c.what, got, c.want)
		}
		if said := strings.Join(j.said, "\n"); !strings.Contains(said, ", "+c.said+";") {
			t.Errorf("%s: the progress is %q, want %q in it", c.what, said, c.said)
		}
		if over := r.rec.OverBy != ""; over != (c.want > 2*time.Second) {
			t.Errorf("%s: over budget: %q", c.what, r.rec.OverBy)
		}
	}
}

// TestDrop: rounds for which the budget has no time are dropped, down to the least number; none where all were asked for.
func TestDrop(t *testing.T) {
	const second = time.Second
	for _, c := range []struct {
		round              time.Duration
		least, after, want int
	}{
		{second, 6, 0, 10},
		{1090 * time.Millisecond, 6, 0, 10}, // within the tenth that a run may exceed its budget by
		{1500 * time.Millisecond, 6, 0, 7},
		{1500 * time.Millisecond, 6, 1, 8},
		{5 * second, 6, 0, 6},
		{5 * second, 6, 1, 6},
		{5 * second, 0, 0, 10},
		{0, 6, 0, 10},
	} {
		r := &runner{from: time.Now(), Config: Config{Progress: &journal{}, LeastRounds: c.least, Options: record.Options{Budget: 10 * second}}}
		r.rec = &record.Run{Options: record.Options{Rounds: 10}, RoundNS: int64(c.round)}
		r.drop(c.after)
		if r.rec.Rounds != c.want || r.rec.Dropped != 10-c.want {
			t.Errorf("%v a round, least %d, after %d: %d rounds and %d dropped, want %d", c.round, c.least, c.after, r.rec.Rounds,
				r.rec.Dropped, c.want)
		}
	}
}

// TestStallFixesNoCount: a warm-up in which the machine stood still for a while does not leave the cell without iterations. Cells are
// warmed up several times if their preparation is short, as it is here unless the machine really stands still while they are listed.
func TestStallFixesNoCount(t *testing.T) {
	cfg, _ := config(t, "stall:BenchmarkQuick/impl=alpha stall:BenchmarkQuick/impl=beta stall:BenchmarkQuick/impl=ctl")
	cfg.Filter, cfg.Conformance = "BenchmarkQuick", false
	run, err := Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range run.Cells {
		if w := tuningFor(run.Mode).warming(&c, run.Need(c.Bench)); w.times < 3 {
			t.Logf("%s: listed with a preparation of %v, and warmed up %d times", c.Name, c.Setup, w.times)
		} else if least := float64(tuningFor(run.Mode).least) / 2; c.WarmNS > 100_000 || float64(c.Iters)*c.WarmNS < 0.9*least {
			t.Errorf("%s: %v ns an iteration, %d of them; an iteration takes a microsecond, or some on a busy machine", c.Name, c.WarmNS, c.Iters)
		}
	}
}
