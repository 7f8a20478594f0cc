// The comparison of two runs: what became slower or faster between them, beyond chance and noise, and what was lost.

package stats

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/turnloop/turnloop/internal/tournament/bench"
	"github.com/turnloop/turnloop/internal/tournament/environ"
	"github.com/turnloop/turnloop/internal/tournament/record"
)

// A Comparison holds two runs against each other.
type Comparison struct {
	Floor    float64  // changes of times that are smaller than this are noise: the larger floor of the two runs
	Deltas   []Delta  // in the order of the new run
	Missing  []string // figures that only one of the runs has, for a reason that is no fault
	Losses   []string // figures that the new run ought to have, and checks that it ought to pass
	Warnings []string // what differs besides the code, and the losses
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

// alsoCompared are the details that are compared like headline figures.
var alsoCompared = append([]string{"B/op"}, judged...)

// Compare compares the figures and the conformance of the contestants that match impls.
func Compare(before, after *Analysis, impls *regexp.Regexp) Comparison {
	noise := Noise{Floor: math.Max(before.Noise.Floor, after.Noise.Floor)}
	c := Comparison{Floor: noise.Floor}
	var ps []float64
	for _, f := range after.figures(impls) {
		was, is := before.samples.series[f], after.samples.series[f]
		if len(was) == 0 {
			c.Missing = append(c.Missing, f.String()+": only in the new run")
			continue
		}
		d := Delta{Bench: f.bench, Impl: f.impl, Unit: f.unit, Old: was.interval(), New: is.interval()}
		d.Change = d.New.Center/d.Old.Center - 1
		if d.New.Center == d.Old.Center {
			d.Change = 0 // also when both are 0
		}
		c.Deltas = append(c.Deltas, d)
		ps = append(ps, mannWhitney(was, is))
	}
	for i, p := range holm(ps) {
		d := &c.Deltas[i]
		d.P, d.Verdict = p, noise.verdict(d.Unit, 1+d.Change, p)
		if d.Unit == "B/op" && math.Abs(d.New.Center-d.Old.Center) <= 1 {
			d.Verdict = Same // it is a whole number, so a step of one may be rounding
		}
	}
	for _, f := range before.figures(impls) {
		if len(after.samples.series[f]) > 0 {
			continue
		}
		if why, excused := after.lost(f, before.Run); excused {
			c.Missing = append(c.Missing, fmt.Sprintf("%v: only in the old run: %s", f, why))
		} else {
			c.Losses = append(c.Losses, fmt.Sprintf("%v: no figure any more: %s", f, why))
		}
	}
	c.Losses = append(c.Losses, broken(before.Run, after.Run, impls)...)
	c.Warnings = append(conditions(before.Run, after.Run), c.Losses...)
	return c
}

// figures returns what a comparison looks at: of each row the headline and some details.
func (a *Analysis) figures(impls *regexp.Regexp) []figure {
	var out []figure
	for _, row := range a.Rows {
		units := []string{row.Unit}
		for _, d := range row.Details {
			if slices.Contains(alsoCompared, d.Unit) {
				units = append(units, d.Unit)
			}
		}
		for _, e := range row.Entries {
			for _, unit := range units {
				if impls.MatchString(e.Impl) && len(a.series(row.Bench, e.Impl, unit)) > 0 {
					out = append(out, figure{row.Bench, e.Impl, unit})
				}
			}
		}
	}
	return out
}

func (f figure) String() string { return fmt.Sprintf("%s, %s, %s", f.bench, f.impl, f.unit) }

// lost returns why a run lacks a figure that an older one has, and whether that is so by choice.
func (a *Analysis) lost(f figure, old *record.Run) (why string, excused bool) {
	cell := a.cell(f.bench, f.impl)
	switch {
	case cell != nil && (cell.NA != "" || cell.LeftOut != ""):
		why, _ = a.absent(f.bench, f.impl)
		return why, true
	case cell == nil && a.Run.Filter != "" && a.Run.Filter != old.Filter:
		return "left out by the filter " + a.Run.Filter, true
	case a.Run.Mode != old.Mode:
		return "the mode differs", true
	case !a.knows(f.impl), !a.exists(f.bench):
		return "the new run does not have it", true
	case a.aside(f):
		return "a detail of what is not scored", true
	}
	why, _ = a.absent(f.bench, f.impl)
	return why, false
}

// aside tells whether a figure is a detail of a row that is not scored.
func (a *Analysis) aside(f figure) bool {
	return slices.ContainsFunc(a.Rows, func(r *Row) bool { return r.Bench == f.bench && !r.Scored && r.Unit != f.unit })
}

// broken lists the checks that passed in the old run and fail in the new one.
func broken(before, after *record.Run, impls *regexp.Regexp) []string {
	passed := map[[2]string]bool{}
	for _, c := range before.Checks {
		for _, check := range c.Checks {
			passed[[2]string{c.Impl, check.Name}] = check.Outcome == bench.Pass
		}
	}
	var out []string
	for _, c := range after.Checks {
		for _, name := range c.Failed() {
			if impls.MatchString(c.Impl) && passed[[2]string{c.Impl, name}] {
				out = append(out, fmt.Sprintf("%s: the check %s passed and now fails", c.Impl, name))
			}
		}
	}
	return out
}

// Regressions counts what became slower or larger and what was lost.
func (c Comparison) Regressions() int {
	n := len(c.Losses)
	for _, d := range c.Deltas {
		if d.Verdict == Slower {
			n++
		}
	}
	return n
}

// field names everyone who takes part.
func field(r *record.Run) string {
	var names []string
	for _, i := range r.Impls {
		names = append(names, i.Name)
	}
	return strings.Join(names, ", ")
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
	differ("the field", field(before), field(after))
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
