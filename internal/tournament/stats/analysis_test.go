package stats_test

// Tests of what a run, and what two of them, tell.

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/turnloop/turnloop/internal/tournament/record"
	"github.com/turnloop/turnloop/internal/tournament/recorded"
	"github.com/turnloop/turnloop/internal/tournament/stats"
)

// scaled returns rows in which what is chosen costs a multiple.
func scaled(rows []recorded.Row, by float64, chosen func(recorded.Row) bool) []recorded.Row {
	out := slices.Clone(rows)
	for i, row := range out {
		if !chosen(row) {
			continue
		}
		out[i].Values = slices.Clone(row.Values)
		for k := range out[i].Values {
			out[i].Values[k] *= by
		}
	}
	return out
}

// ranking keeps the rows of the figures that all loops have, and of no control pair.
func figuresOnly(rows []recorded.Row) []recorded.Row {
	return slices.DeleteFunc(slices.Clone(rows), func(r recorded.Row) bool {
		again := strings.HasSuffix(r.Impl, record.Again)
		full := slices.ContainsFunc(rows, func(o recorded.Row) bool { return o.Figure == r.Figure && o.Impl == "alternateone" })
		return again || !full
	})
}

func analysis(t *testing.T, rows []recorded.Row) *stats.Analysis {
	t.Helper()
	a, err := stats.Load(recorded.Run(t, rows))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestRanks: who is told apart has a rank of its own, in the order of the means; who is not shares one.
func TestRanks(t *testing.T) {
	rows := figuresOnly(recorded.Rows(t, recorded.Container))
	ranks := func(rows []recorded.Row) (out []string) {
		for _, l := range analysis(t, rows).Loops {
			if l.Rank > 0 {
				out = append(out, strings.Repeat("=", l.Rank)+l.Name)
			}
		}
		return out
	}
	if got, want := ranks(rows), []string{"=main", "==alternatetwo", "===alternatethree", "====baseline", "=====alternateone"}; !slices.Equal(got, want) {
		t.Errorf("ranks %v, want %v", got, want)
	}
	// A loop that is the winner by another name, its rounds in another order.
	twin := map[string][]float64{}
	for _, row := range rows {
		if row.Impl == "main" {
			twin[row.Figure] = append(slices.Clone(row.Values[1:]), row.Values[0])
		}
	}
	same := slices.Clone(rows)
	for i, row := range same {
		if row.Impl == "alternatethree" {
			same[i].Values = twin[row.Figure]
		}
	}
	got := ranks(same)
	if slices.Sort(got[:2]); !slices.Equal(got, []string{"=alternatethree", "=main", "===alternatetwo", "====baseline", "=====alternateone"}) {
		t.Errorf("beside a twin: %v", got)
	}
}

// TestTenfoldIsNeverSilent: whatever the run, a loop that costs ten times as much in a figure is told to.
func TestTenfoldIsNeverSilent(t *testing.T) {
	for _, name := range recorded.Names {
		rows := figuresOnly(recorded.Rows(t, name))
		before := analysis(t, rows)
		for _, row := range before.Figures {
			against := row.Against()
			if against == nil {
				continue
			}
			after := analysis(t, scaled(rows, 10/against.Ratio, func(r recorded.Row) bool { return r.Figure == row.Name && r.Impl == row.Best }))
			if v := after.Row(row.Name).Cells[row.Best].To; !v.Above() {
				t.Errorf("%s: %s of %s costs ten times as much: %+v", name, row.Name, row.Best, v)
			}
		}
	}
}

// halves splits the rounds of a run at random into two runs of as many, drawn with replacement from half of them each.
func halves(rows []recorded.Row, rounds int, rng *rand.Rand) (old, new []recorded.Row) {
	drawn := rng.Perm(len(rows[0].Values))
	draw := func(from []int) []recorded.Row {
		picks := make([]int, rounds)
		for i := range picks {
			picks[i] = from[rng.IntN(len(from))]
		}
		out := slices.Clone(rows)
		for i := range out {
			out[i].Values = nil
			for _, k := range picks {
				out[i].Values = append(out[i].Values, rows[i].Values[k])
			}
		}
		return out
	}
	half := len(drawn) / 2
	return draw(drawn[:half]), draw(drawn[half:])
}

func compared(t *testing.T, old, new []recorded.Row) (*stats.Comparison, error) {
	t.Helper()
	a, before, err := stats.LoadTable(recorded.Run(t, old))
	if err != nil {
		t.Fatal(err)
	}
	b, after, err := stats.LoadTable(recorded.Run(t, new))
	if err != nil {
		t.Fatal(err)
	}
	return stats.Compare(a, b, before, after, "main")
}

// TestCompareSees: a tenfold slowdown of any figure is told always, and one of ten per cent in all of them by the mean nine times in ten;
// a machine that is three times as slow is not taken for slower code.
func TestCompareSees(t *testing.T) {
	rows := figuresOnly(recorded.Rows(t, recorded.Container))
	rng := rand.New(rand.NewPCG(6, 6))
	mine := func(r recorded.Row) bool { return r.Impl == "main" }
	n, uniform, machine, silent := trials(40), 0, 0, 0
	for range n {
		old, new := halves(rows, 10, rng)
		c, err := compared(t, old, scaled(new, 1.1, mine))
		if err != nil {
			t.Fatal(err)
		}
		if c.Mean.Above() {
			uniform++
		}
		if c, err = compared(t, old, scaled(new, 3, func(recorded.Row) bool { return true })); err != nil || c.Mean.Above() {
			machine++
		}
		figure := rows[rng.IntN(len(rows))].Figure
		if c, err = compared(t, old, scaled(new, 10, func(r recorded.Row) bool { return mine(r) && r.Figure == figure })); err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(c.Changes, func(change stats.Change) bool { return change.Figure == figure })
		if !c.Slower() || i < 0 || !c.Changes[i].Above() {
			silent++
			t.Logf("%s: %+v", figure, c.Changes)
		}
	}
	t.Logf("of %d: %d uniform slowdowns are told, %d machines blamed, %d tenfold slowdowns missed", n, uniform, machine, silent)
	if float64(uniform) < 0.9*float64(n) || 8*machine > n || silent > 0 {
		t.Errorf("of %d: %d uniform slowdowns are told, %d machines blamed, %d tenfold slowdowns missed", n, uniform, machine, silent)
	}
}

// TestCompareRefusesFewRounds: below ten rounds nothing is compared.
func TestCompareRefusesFewRounds(t *testing.T) {
	many, few := recorded.Rows(t, recorded.Container), recorded.Rows(t, recorded.Six)
	for _, c := range [][2][]recorded.Row{{many, few}, {few, many}} {
		if _, err := compared(t, c[0], c[1]); err == nil || !strings.Contains(err.Error(), "6 rounds") {
			t.Errorf("it says %v", err)
		}
	}
}

func TestFormat(t *testing.T) {
	for _, c := range []struct {
		value float64
		unit  string
		want  string
	}{
		{16.234, "ns/op", "16.2 ns"}, {999.96, "ns/op", "1.00 µs"}, {12345678, "p99-ns/op", "12.3 ms"}, {5427, "B/loop", "5.30 KiB"},
		{9.03, "B/task", "9.03 B"}, {0.5, "things/op", "0.50 things/op"}, {math.NaN(), "ns/op", "?"}, {3e9, "ns/op", "3.00 s"}, {4e12, "ns/op", "4000 s"},
	} {
		if got := stats.Format(c.value, c.unit); got != c.want {
			t.Errorf("%v %s is written %q, want %q", c.value, c.unit, got, c.want)
		}
	}
}
