package runner

// Tests of the warm-up: what was slow in it, and what the first round corrects.

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/perf/benchfmt"

	"github.com/turnloop/turnloop/internal/tournament/bench"
	"github.com/turnloop/turnloop/internal/tournament/record"
)

// TestSlowWarmUpLeavesValues: a machine that is slow while all cells of a benchmark are warmed up does not take the values from
// it that its benchmark needs. Is it slow the second time too, the first round shows it. And a machine that stands still for a while
// in a warm-up, as in each one's first measurement here, does not leave the cell without iterations from the first round on.
//
// The clock of a bubble stands while a process is waited for. So all times are those that the program tells.
func TestSlowWarmUpLeavesValues(t *testing.T) {
	t.Setenv("GORACE", "atexit_sleep_ms=0")
	const values = 10
	for _, c := range []struct {
		what         string
		slow         int // processes that are
		window       time.Duration
		from, atmost int // the first round with enough values, what an iteration takes at most in nanoseconds
	}{
		{"slow once", 1, 100 * time.Millisecond, 1, 1000},
		{"slow twice", 2, 100 * time.Millisecond, 2, 1000},
		{"stall always", 0, 0, 1, 2000},
	} {
		cfg, _ := config(t, "")
		manner := strings.Fields(c.what)[0]
		cfg.Speaks = map[string]Program{"other": program(t, fmt.Sprintf("%s:%d:%s", manner, c.slow, t.TempDir()))}
		cfg.Impls, cfg.Cells, cfg.Filter, cfg.Conformance = []record.Impl{{Name: "other"}}, nil, "BenchmarkQuick", false
		if c.window > 0 {
			cfg.Benchmarks[1].Needs = []record.Need{{Window: c.window, Values: values * tuningFor(record.Quick).values}}
		}
		var run *record.Run
		synctest.Test(t, func(t *testing.T) {
			var err error
			if run, err = Run(t.Context(), cfg); err != nil {
				t.Fatal(err)
			}
		})
		f, err := os.Open(filepath.Join(cfg.Out, record.RawFile))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		results := 0
		for r := benchfmt.NewReader(f, "raw"); r.Scan(); {
			if got, ok := r.Result().(*benchfmt.Result); ok {
				round := 1 + results
				if results++; round >= c.from && got.Iters < values {
					t.Errorf("%s: round %d has %d values, want %d", c.what, round, got.Iters, values)
				}
			}
		}
		if results != cfg.Rounds {
			t.Errorf("%s: %d results, want %d", c.what, results, cfg.Rounds)
		}
		for _, cell := range run.Cells {
			if int(cell.WarmNS) > c.atmost {
				t.Errorf("%s: %s takes %v ns an iteration, an iteration takes a microsecond", c.what, cell.Name, cell.WarmNS)
			}
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
