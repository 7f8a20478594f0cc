// The comparison of two runs: what became slower or faster between them, beyond chance and noise.

package stats

import (
	"fmt"
	"math"
	"regexp"

	"github.com/turnloop/turnloop/internal/tournament/environ"
	"github.com/turnloop/turnloop/internal/tournament/record"
)

// A Comparison holds two runs against each other.
type Comparison struct {
	Floor    float64 // changes smaller than this are noise: the larger floor of the two runs
	Deltas   []Delta // in the order of the new run
	Missing  []string
	Warnings []string
}

// A Delta is the change of one figure.
type Delta struct {
	Bench, Impl, Unit string
	Old, New          Interval
	Change            float64 // new / old - 1
	P                 float64 // corrected for the number of deltas
	Verdict           Verdict
}

// Machines returns why timings of two runs must not be compared, nothing if they may.
func Machines(before, after *record.Run) []string { return environ.Differences(before.Env, after.Env) }

// Compare compares the headline figures of the contestants that match impls.
func Compare(before, after *Analysis, impls *regexp.Regexp) Comparison {
	c := Comparison{Floor: math.Max(before.Noise.Floor, after.Noise.Floor), Warnings: conditions(before.Run, after.Run)}
	var ps []float64
	for _, row := range after.Rows {
		for i := range row.Entries {
			e := &row.Entries[i]
			if !e.Value.OK() || !impls.MatchString(e.Impl) {
				continue
			}
			was, is := before.series(row.Bench, e.Impl, row.Unit), after.series(row.Bench, e.Impl, row.Unit)
			if len(was) == 0 {
				c.Missing = append(c.Missing, fmt.Sprintf("%s, %s: only in the new run", row.Bench, e.Impl))
				continue
			}
			d := Delta{Bench: row.Bench, Impl: e.Impl, Unit: row.Unit, Old: was.interval(), New: e.Value, Verdict: Same}
			d.Change = d.New.Center/d.Old.Center - 1
			if d.New.Center == d.Old.Center {
				d.Change = 0 // also when both are 0
			}
			c.Deltas = append(c.Deltas, d)
			ps = append(ps, mannWhitney(was, is))
		}
	}
	for _, row := range before.Rows {
		for _, e := range row.Entries {
			if e.Value.OK() && impls.MatchString(e.Impl) && len(after.series(row.Bench, e.Impl, row.Unit)) == 0 {
				c.Missing = append(c.Missing, fmt.Sprintf("%s, %s: only in the old run", row.Bench, e.Impl))
			}
		}
	}
	for i, p := range holm(ps) {
		d := &c.Deltas[i]
		d.P = p
		if significant(p) && deviation(1+d.Change) > c.Floor {
			d.Verdict = Slower
			if d.Change < 0 {
				d.Verdict = Faster
			}
		}
	}
	return c
}

// Regressions counts what became slower.
func (c Comparison) Regressions() int {
	n := 0
	for _, d := range c.Deltas {
		if d.Verdict == Slower {
			n++
		}
	}
	return n
}

// conditions lists what differs between two runs besides the code.
func conditions(before, after *record.Run) []string {
	var out []string
	differ := func(what string, x, y any) {
		if x != y {
			out = append(out, fmt.Sprintf("%s differs: %v and %v", what, x, y))
		}
	}
	differ("the mode", before.Mode, after.Mode)
	differ("the Go version", before.Binary.Go, after.Binary.Go)
	differ("GOGC", before.Env.GOGC, after.Env.GOGC)
	differ("GOMEMLIMIT", before.Env.GOMEMLIMIT, after.Env.GOMEMLIMIT)
	differ("GODEBUG", before.Env.GODEBUG, after.Env.GODEBUG)
	for _, r := range []*record.Run{before, after} {
		if !r.Complete {
			out = append(out, fmt.Sprintf("run %s is incomplete", r.Name))
		}
	}
	return out
}
