package stats

// How often a comparison finds a slowdown, and how often it is wrong.

import (
	"bytes"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"testing"

	"github.com/turnloop/turnloop/internal/race"
	"github.com/turnloop/turnloop/internal/tournament/record"
	"github.com/turnloop/turnloop/internal/tournament/recorded"
)

// measured reads a run that was recorded.
func measured(t *testing.T, name string) (*record.Run, *Samples) {
	t.Helper()
	run, raw, err := record.Read(recorded.Run(t, name))
	if err != nil {
		t.Fatal(err)
	}
	samples, err := Read(bytes.NewReader(raw), name)
	if err != nil {
		t.Fatal(err)
	}
	return run, samples
}

// another makes a run of so many rounds, each of which is a recorded one picked by chance, in which every time of one contestant is
// taken times a factor.
func another(run *record.Run, from *Samples, rounds int, rng *rand.Rand, impl string, factor float64) *Analysis {
	to := &Samples{series: map[figure]series{}, units: from.units, benches: from.benches}
	picked := make([]int, rounds)
	for i := range picked {
		picked[i] = from.rounds[rng.IntN(len(from.rounds))]
		to.rounds = append(to.rounds, i+1)
	}
	for f, values := range from.series {
		s := series{}
		for i, round := range picked {
			if v, ok := values[round]; ok {
				s[i+1] = v
			}
		}
		to.series[f] = s
	}
	short := *run
	short.Rounds = rounds
	return slowed(&Analysis{Run: &short, samples: to}, impl, factor)
}

// slowed returns a run in which every time of one contestant, or of everybody, is taken times a factor.
func slowed(a *Analysis, impl string, factor float64) *Analysis {
	to := *a.samples
	to.series = map[figure]series{}
	for f, values := range a.samples.series {
		if factor != 1 && IsTime(f.unit) && (impl == everybody || ownLabel(f.impl) == impl) {
			s := series{}
			for round, v := range values {
				s[round] = v * factor
			}
			values = s
		}
		to.series[f] = values
	}
	return tabulate(a.Run, &to)
}

const everybody = ""

// trials are comparisons of runs made of recorded rounds that are picked by chance, so that they vary as real ones do.
type trials struct {
	run     *record.Run
	samples *Samples
	rounds  int
	rng     *rand.Rand
	ranked  []string
}

// inTrials runs a test on what was measured in each mode, and on as many rounds of a full run as a quick one has, with the slowdown that
// it has to find.
func inTrials(t *testing.T, test func(t *testing.T, tr *trials, slowdown float64)) {
	if race.Enabled {
		t.Skip("much arithmetic on one goroutine, which the race detector makes slow and has nothing to say about")
	}
	for _, mode := range []struct {
		name     string
		of       string
		rounds   int
		slowdown float64
	}{{"full", recorded.Full, 10, 1.1}, {"eight rounds of full", recorded.Full, 8, 1.3}, {"quick", recorded.Quick, 8, 1.3}} {
		t.Run(mode.name, func(t *testing.T) {
			t.Parallel()
			run, samples := measured(t, mode.of)
			if run.Mode != mode.of || run.Rounds < mode.rounds {
				t.Fatalf("the recorded run has %d rounds in mode %s", run.Rounds, run.Mode)
			}
			tr := &trials{run: run, samples: samples, rounds: mode.rounds, rng: rand.New(rand.NewPCG(24, 1))}
			for _, impl := range run.Impls {
				if impl.Ranked {
					tr.ranked = append(tr.ranked, impl.Name)
				}
			}
			test(t, tr, mode.slowdown)
		})
	}
}

// next makes a run in which one contestant's times are taken times a factor.
func (tr *trials) next(impl string, factor float64) *Analysis {
	return another(tr.run, tr.samples, tr.rounds, tr.rng, impl, factor)
}

// slower tells whether anything of a contestant is found to be slower.
func slower(c Comparison, impl string) bool {
	return slices.ContainsFunc(slices.Concat(c.Overall, c.Categories, c.Deltas), func(d Delta) bool {
		return d.Impl == impl && d.Verdict == Slower
	})
}

func TestComparisonFindsASlowdownAndRaisesNoFalseAlarm(t *testing.T) {
	const (
		number = 20
		each   = number / 2 // of every contestant
	)
	inTrials(t, func(t *testing.T, tr *trials, slowdown float64) {
		found, all, alarms := map[string]int{}, 0, 0
		for i := range number {
			before := tr.next(everybody, 1)
			if Compare(before, tr.next(everybody, 1), anyone, nil).Regressions() > 0 {
				alarms++
			}
			for k, impl := range tr.ranked {
				if (i+k)%2 == 0 && slower(Compare(before, tr.next(impl, slowdown), anyone, nil), impl) {
					found[impl]++
					all++
				}
			}
		}
		if alarms > number/20 {
			t.Errorf("an alarm in %d of %d comparisons of equals", alarms, number)
		}
		for _, impl := range tr.ranked {
			if found[impl] < each*8/10 {
				t.Errorf("%s takes %v times as long, which is found in %d of %d comparisons", impl, slowdown, found[impl], each)
			}
		}
		if comparisons := each * len(tr.ranked); all < comparisons*9/10 {
			t.Errorf("one takes %v times as long, which is found in %d of %d comparisons", slowdown, all, comparisons)
		}
	})
}

// What a comparison says that it sees, it sees.
func TestComparisonSeesWhatItSays(t *testing.T) {
	const number = 15
	inTrials(t, func(t *testing.T, tr *trials, slowdown float64) {
		all, seen := 0, tr.ranked[:2]
		for _, impl := range seen {
			only := regexp.MustCompile("^" + impl + "$")
			found := 0
			for range number {
				before, after := tr.next(everybody, 1), tr.next(everybody, 1)
				sees := Compare(before, after, only, nil).Overall[0].Sees()
				if sees >= slowdown-1 {
					t.Errorf("%s: it says that it sees %.0f %% only", impl, sees*100)
				}
				if Compare(before, slowed(after, impl, 1+sees), only, nil).Overall[0].Verdict == Slower {
					found++
				}
			}
			all += found
			if found < number*7/10 {
				t.Errorf("%s: what it says to see nine times in ten is found in %d of %d comparisons", impl, found, number)
			}
		}
		if all < len(seen)*number*4/5 {
			t.Errorf("what it says to see nine times in ten is found in %d of %d comparisons", all, len(seen)*number)
		}
	})
}

// A machine that is slower all over is no slower code.
func TestComparisonForgivesTheMachine(t *testing.T) {
	inTrials(t, func(t *testing.T, tr *trials, slowdown float64) {
		before, after := tr.next(everybody, 1), tr.next(everybody, slowdown)
		if c := Compare(before, after, anyone, nil); c.Regressions() > 0 {
			t.Errorf("everything takes %v times as long: %d regressions", slowdown, c.Regressions())
		}
		// Unless one is told that nobody is unchanged.
		if c := Compare(before, after, anyone, regexp.MustCompile("^nobody$")); slowdown > 1.2 && !slower(c, "main") {
			t.Errorf("everything takes %v times as long, and by the clock nothing does", slowdown)
		}
	})
}

func TestTooFewRoundsAreBlind(t *testing.T) {
	run, samples := measured(t, recorded.Full)
	tr := &trials{run: run, samples: samples, rng: rand.New(rand.NewPCG(24, 1))}
	for rounds, blind := range map[int]bool{3: true, 5: true, 8: false, 10: false} {
		tr.rounds = rounds
		if c := Compare(tr.next(everybody, 1), tr.next("main", 10), anyone, nil); c.Blind() != blind {
			t.Errorf("%d rounds are blind: %v", rounds, !blind)
		}
	}
}

func TestBenjaminiHochberg(t *testing.T) {
	got := benjaminiHochberg([]float64{0.01, 0.04, 0.03, 0.005})
	want := []float64{0.02, 0.04, 0.04, 0.02}
	for i := range want {
		if math.Abs(got[i]-want[i]) > 1e-12 {
			t.Fatalf("adjusted to %v, want %v", got, want)
		}
	}
}
