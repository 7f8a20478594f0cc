package runner

// Tests of the plan: how long a cell is measured, and in which order.

import (
	"slices"
	"testing"
	"time"

	"github.com/turnloop/turnloop/internal/tournament/bench"
	"github.com/turnloop/turnloop/internal/tournament/record"
)

func planned(b, impl string, ns float64, setup time.Duration) *record.Cell {
	return &record.Cell{Cell: bench.Cell{Bench: b, Impl: impl}, WarmNS: ns, Setup: setup}
}

func TestPlan(t *testing.T) {
	const ms = time.Millisecond
	tune := tuning{least: 10 * ms, usual: time.Second, most: time.Second, values: 1}
	run := &record.Run{Options: record.Options{Rounds: 10}}
	even := []*record.Cell{planned("A", "x", 100, 0), planned("A", "y", 300, 0)}
	round, measured := plan(run, even, tune, 0, 4*time.Second)
	// 400 ms a round, half for each cell: 400 ms are 1 000 000 iterations at 100 and 300 ns.
	for _, c := range even {
		if c.Iters != 1_000_000 {
			t.Errorf("%s runs %d iterations, want 1000000", c.Impl, c.Iters)
		}
	}
	if round != 400*ms || measured != round {
		t.Errorf("a round takes %v, of which %v are measured, want 400ms", round, measured)
	}

	// 100 ms for each cell: the slow one fills twice as much with fewer iterations, the others share the rest, at least a quarter
	// each.
	slow := []*record.Cell{planned("A", "x", 100, 0), planned("A", "slow", 100_000, 0), planned("A", "y", 200, 0)}
	round, _ = plan(run, slow, tune, 0, 3*time.Second)
	if x, s, y := slow[0].Iters, slow[1].Iters, slow[2].Iters; x != 333_000 || s != 2000 || y != 333_000 || round.Round(ms) != 300*ms {
		t.Errorf("iterations %d, %d, %d in %v, want 333000, 2000, 333000 in 300ms", x, s, y, round)
	}
	slow[0].WarmNS = 10
	plan(run, slow, tune, 0, 3*time.Second)
	if x, y := slow[0].Iters, slow[2].Iters; x != 2_500_000 || y != 476_000 {
		t.Errorf("iterations %d and %d, want 2500000 and 476000", x, y)
	}

	fast := []*record.Cell{planned("A", "fast", 10, 0), planned("A", "x", 10_000, 0), planned("A", "y", 10_000, 0)}
	plan(run, fast, tune, 0, 300*ms)
	if f, x := fast[0].Iters, fast[1].Iters; f != 1_000_000 || x != 1499 {
		t.Errorf("iterations %d and %d, want the least time (1000000) and the shared count (1499)", f, x)
	}

	// What reports no time is measured once, and the other cell gets the rest.
	size := planned("B", "x", 1e6, 500*ms)
	size.Untimed = true
	mixed := []*record.Cell{planned("A", "x", 100, 0), size}
	if round, _ := plan(run, mixed, tune, 0, 2*time.Second); size.Iters != 1 || mixed[0].Iters != 1_990_000 || round != 200*ms {
		t.Errorf("iterations %d and %d in %v, want 1 and 1990000 in 200ms", size.Iters, mixed[0].Iters, round)
	}

	// A short preparation is made twice, a long one once.
	heavy := []*record.Cell{planned("A", "x", 100, time.Second), planned("B", "x", 100, 10*ms)}
	round, measured = plan(run, heavy, tune, 5*ms, time.Second)
	if round != 1050*ms || measured != 20*ms {
		t.Errorf("a round takes %v, of which %v are measured, want 1.05s and 20ms", round, measured)
	}
	if heavy[0].Iters != 100_000 {
		t.Errorf("without budget a cell runs %d iterations, want the least", heavy[0].Iters)
	}
}

func TestSuspects(t *testing.T) {
	untimed, gone := planned("A", "untimed", 1e9, 0), planned("A", "gone", 1e9, 0)
	untimed.Untimed, gone.NA = true, "no such thing"
	got := suspects([]*record.Cell{
		planned("A", "x", 100, 0), planned("A", "y", 300, 0), planned("A", "paused", 1e7, 0), untimed, gone,
		planned("B", "x", 100, 0), planned("B", "paused", 401, 0), planned("C", "alone", 1e7, 0),
	})
	var names []string
	for _, c := range got {
		names = append(names, c.Bench+" "+c.Impl)
	}
	if want := []string{"A paused", "B paused"}; !slices.Equal(names, want) {
		t.Errorf("suspects %v, want %v", names, want)
	}
}

func TestPerIteration(t *testing.T) {
	ms := time.Millisecond
	for _, c := range []struct {
		what        string
		w           warmth
		setup, base time.Duration
		want        float64
	}{
		{"reported time is the iteration", warmth{20_000, 1000, 20 * ms, 30 * ms}, ms, 5 * ms, 1000},
		{"reported time is a part of it", warmth{200, 1000, 20 * ms, 30 * ms}, ms, 5 * ms, 100_000},
		{"reported time overlaps", warmth{2000, 500_000, 20 * ms, 30 * ms}, ms, 5 * ms, 12_000},
		{"no time reported", warmth{2, 0, 20 * ms, 60 * ms}, 9 * ms, 25 * ms, 1e7},
		{"a single iteration is enough", warmth{1, 0, 20 * ms, 60 * ms}, 45 * ms, 100 * ms, 4.5e7},
		{"counted, preparation dominates", warmth{100, 100, 0, 1000 * ms}, 450 * ms, 900 * ms, 100},
		{"counted, iterations dominate", warmth{100, 100, 0, 1000 * ms}, 45 * ms, 100 * ms, 9e6},
		{"counted, no time reported", warmth{100, 0, 0, 150 * ms}, 45 * ms, 100 * ms, 4.5e7},
	} {
		if got := perIteration(c.w, c.setup, c.base); got != c.want {
			t.Errorf("%s: %v ns, want %v", c.what, got, c.want)
		}
	}
}

// TestNeeds: a benchmark gets the window and the values that it needs, what is left of the time goes to the others, and no cell takes
// longer than a window or the longest measurement, nor that in vain.
func TestNeeds(t *testing.T) {
	const ms = time.Millisecond
	tune := tuning{least: 10 * ms, usual: time.Second, most: time.Second, values: 1}
	run := &record.Run{Options: record.Options{Rounds: 10}, Benchmarks: []record.Benchmark{
		{Name: "Plain"}, {Name: "Slices", Needs: []record.Need{{Window: 300 * ms}, {Variant: "none"}}},
		{Name: "Tails", Needs: []record.Need{{Values: 1000}}},
	}}
	plain, slices := planned("Plain", "x", 100, 0), planned("Slices", "x", 1000, 0)
	slow, none := planned("Slices", "slow", 10e6, 0), planned("Slices/none", "x", 1000, 0)
	tails, never := planned("Tails", "x", 20_000, 0), planned("Tails", "slow", 10e6, 0)
	cells := []*record.Cell{plain, slices, slow, none, tails, never}
	round, _ := plan(run, cells, tune, 0, 10*time.Second)
	for _, c := range []struct {
		cell *record.Cell
		want int
	}{
		// 1000 ms a round, of which 300 and 300, and a quarter of the second in which one has no thousand values, are taken.
		{plain, 500_000}, {slices, 300_000}, {slow, 30}, {none, 50_000}, {tails, 1000}, {never, 25},
	} {
		if c.cell.Iters != c.want {
			t.Errorf("%s of %s runs %d iterations, want %d", c.cell.Bench, c.cell.Impl, c.cell.Iters, c.want)
		}
	}
	if round > 1050*ms {
		t.Errorf("a round takes %v, want about a second", round)
	}
	// A thousand values of the slow one take ten seconds. If the budget has as much for each cell, it gets them, else a quarter of that.
	for _, c := range []struct {
		left time.Duration
		want int
	}{{99 * time.Second, 248}, {101 * time.Second, 1000}} {
		if plan(run, []*record.Cell{never}, tune, 0, c.left); never.Iters != c.want {
			t.Errorf("with %v for ten rounds of a slow cell it runs %d iterations, want %d", c.left, never.Iters, c.want)
		}
	}
	if got := tuningFor(record.Quick).needed(tails, run.Need("Tails")); got != 2*ms {
		t.Errorf("a quick run needs %v of a thousand values of 20 µs, want a tenth", got)
	}
}

func TestWarming(t *testing.T) {
	const ms = time.Millisecond
	tune := tuning{warm: 10 * ms, values: 1}
	for _, c := range []struct {
		setup, window time.Duration
		cold          float64
		want          warming
	}{
		{0, 0, 100, warming{"10ms", 10 * ms, 3}},
		{ms, 0, 100, warming{"10ms", 10 * ms, 3}},
		{5 * ms, 0, 100, warming{"10ms", 10 * ms, 2}},
		{15 * ms, 0, 100, warming{"10ms", 10 * ms, 1}},
		{ms, 300 * ms, 100, warming{"300ms", 300 * ms, 1}},
		{time.Second, 200 * ms, 1e6, warming{"200x", 0, 1}},
		{time.Second, 0, 100_000, warming{"100x", 0, 1}},
		{time.Second, 0, 10, warming{"1000x", 0, 1}},
		{time.Second, 0, 1e9, warming{"1x", 0, 1}},
		{time.Second, 0, 0, warming{"1x", 0, 1}},
	} {
		if got := tune.warming(&record.Cell{Setup: c.setup, ColdNS: c.cold}, record.Need{Window: c.window}); got != c.want {
			t.Errorf("%+v: %+v", c, got)
		}
	}
}

// TestWarmingOfRareValues: where each value takes its time, a part of them is the warm-up, whatever the first one took.
func TestWarmingOfRareValues(t *testing.T) {
	tune := tuning{warm: 10 * time.Millisecond, values: 1}
	for values, want := range map[int]warming{100: {benchtime: "25x", times: 1}, 101: {benchtime: "1000x", times: 1}} {
		if got := tune.warming(&record.Cell{Setup: time.Second, ColdNS: 1000}, record.Need{Window: 100 * time.Millisecond, Values: values}); got != want {
			t.Errorf("%d values: %+v, want %+v", values, got, want)
		}
	}
}

func TestLeaveOut(t *testing.T) {
	run := &record.Run{
		Benchmarks: []record.Benchmark{{Name: "A"}, {Name: "B"}, {Name: "C", Long: map[string]string{"C/size=1": "it is long", "C/size=22": "longer"}},
			{Name: "D", Needs: []record.Need{{Window: 101 * time.Millisecond}, {Variant: "short", Window: 100 * time.Millisecond}}}},
		Cells: []record.Cell{
			*planned("A", "x", 1, time.Second), *planned("A", "y", 1, 300*time.Millisecond), *planned("B", "x", 1, 0),
			*planned("C/size=1", "x", 1, 0), *planned("C/size=2", "x", 1, 0), *planned("C/size=22", "x", 1, 0),
			*planned("D", "x", 1, 0), *planned("D/short", "x", 1, 0),
		},
	}
	cells := run.Cells
	leaveOutVariants(run, tuningFor(record.Full))
	leaveOutSlow(run, tuningFor(record.Full))
	for _, c := range cells {
		if !c.Runs() {
			t.Errorf("a full run leaves out %s", c.Bench)
		}
	}
	leaveOutVariants(run, tuningFor(record.Quick))
	leaveOutSlow(run, tuningFor(record.Quick))
	for i, runs := range []bool{false, false, true, false, true, false, false, true} {
		if cells[i].Runs() != runs {
			t.Errorf("a quick run measures %s of %s: %v", cells[i].Bench, cells[i].Impl, !runs)
		}
	}
	if want := "left out of quick mode: it is long"; cells[3].LeftOut != want {
		t.Errorf("%s is %q, want %q", cells[3].Bench, cells[3].LeftOut, want)
	}
	for _, c := range cells[:2] {
		if want := "left out of quick mode: one contestant, x, takes 1s to prepare"; c.LeftOut != want {
			t.Errorf("%s is %q, want %q", c.Impl, c.LeftOut, want)
		}
	}
}

func TestRoundIters(t *testing.T) {
	for n, want := range map[float64]int{0: 1, 0.4: 1, 7.9: 7, 1999: 1999, 2000: 2000, 123_456: 123_000, 1e12: 1e9} {
		if got := roundIters(n); got != want {
			t.Errorf("%v iterations become %d, want %d", n, got, want)
		}
	}
}

func TestEstimate(t *testing.T) {
	var e estimate
	e.add(10 * time.Second)
	e.add(30 * time.Second)
	e.done(10*time.Second, 20*time.Second)
	if got := e.left(); got != time.Minute {
		t.Errorf("30 s planned are left at half the planned speed: %v", got)
	}
	if got := clock(e.left() + 5*time.Second); got != "1:05" {
		t.Errorf("clock shows %q", got)
	}
}
