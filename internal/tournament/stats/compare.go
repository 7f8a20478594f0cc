package stats

// Two runs of one machine: what has become of a loop.

import (
	"fmt"
	"math"

	"github.com/turnloop/turnloop/internal/tournament/record"
)

// A Comparison is what the newer of two runs tells of a loop against the older one. Ratios are new to old.
type Comparison struct {
	Impl    string
	Mean    Verdict // the geometric mean over all figures below
	Changes []Change
	Missing []string // figures that only one of the runs can tell something of
}

// A Change is that of a figure.
type Change struct {
	Figure, Unit string
	Beside       string // whose value, in the same round, the figure is a ratio to
	Old, New     float64
	Verdict
}

// Slower tells whether the comparison shows that the loop has become slower, in a figure or as a whole.
func (c *Comparison) Slower() bool {
	for _, change := range c.Changes {
		if change.Above() {
			return true
		}
	}
	return c.Mean.Above()
}

// Compare holds a loop's figures in a run against those of an older one. Each is taken as its ratio, within its round, to something that
// has stayed the same: the control, else the reference, else whatever control there is, else the other loops. So a machine that is
// slower for a while is not taken for slower code.
func Compare(old, new *record.Run, before, after *Table, impl string) (*Comparison, error) {
	for _, run := range []*record.Run{old, new} {
		if run.Rounds < record.FewestRounds {
			return nil, fmt.Errorf("%s has %d rounds; two runs are compared by at least %d", run.Name, run.Rounds, record.FewestRounds)
		}
	}
	c := &Comparison{Impl: impl}
	var changes, means []Evidence
	var olds, news [][]float64
	for _, figure := range new.Figures {
		a, b := before.Values(figure.Name, impl), after.Values(figure.Name, impl)
		beside, x, y := yardstick(new, before, after, figure.Name, impl)
		oldLogs, newLogs := a.over(x), b.over(y)
		e, ok := Between(oldLogs, newLogs)
		if was := old.Figure(figure.Name); !ok || was == nil || was.Unit != figure.Unit {
			c.Missing = append(c.Missing, figure.Name)
			continue
		}
		changes = append(changes, e)
		olds, news = append(olds, oldLogs), append(news, newLogs)
		c.Changes = append(c.Changes, Change{Figure: figure.Name, Unit: figure.Unit, Beside: beside, Old: a.median(), New: b.median()})
	}
	if e, ok := Between(average(olds), average(news)); ok {
		means = append(means, e)
	}
	verdicts := Judge(changes, means)
	for i := range c.Changes {
		c.Changes[i].Verdict = verdicts[0][i]
	}
	if len(means) == 0 {
		return nil, fmt.Errorf("the runs have no figure of %s in common that both can tell something of", impl)
	}
	c.Mean = verdicts[1][0]
	return c, nil
}

// yardstick returns what a figure of a loop is a ratio to, and that thing's values in both runs.
func yardstick(run *record.Run, before, after *Table, figure, impl string) (name string, old, new Values) {
	candidates := []string{run.Roles.Control, run.Roles.Reference}
	for _, i := range run.Impls {
		if !i.Ranked {
			candidates = append(candidates, i.Name)
		}
	}
	for _, name := range candidates {
		old, new := before.Values(figure, name), after.Values(figure, name)
		if name != impl && old != nil && new != nil {
			return name, old, new
		}
	}
	var olds, news [][]float64
	for _, i := range run.Impls {
		a, b := before.Values(figure, i.Name), after.Values(figure, i.Name)
		if i.Name != impl && a != nil && b != nil {
			olds, news = append(olds, logarithms(a)), append(news, logarithms(b))
		}
	}
	return "the others", exponentials(average(olds)), exponentials(average(news))
}

// average returns the mean of several series, round by round.
func average(series [][]float64) []float64 {
	if len(series) == 0 {
		return nil
	}
	out := make([]float64, len(series[0]))
	for _, s := range series {
		for i := range out {
			out[i] += s[i] / float64(len(series))
		}
	}
	return out
}

func logarithms(v Values) []float64   { return each(v, math.Log) }
func exponentials(v []float64) Values { return each(v, math.Exp) }
func each(v []float64, f func(float64) float64) []float64 {
	if v == nil {
		return nil
	}
	out := make([]float64, len(v))
	for i := range v {
		out[i] = f(v[i])
	}
	return out
}
