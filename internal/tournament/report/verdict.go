// The verdict: sentences made from figures.

package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/turnloop/turnloop/internal/tournament/stats"
)

// verdict says who wins, by how much, and how sure that is.
func (d *document) verdict() []string {
	a := d.a
	var out []string
	if len(a.Overall.Rows) > 0 {
		out = append(out, d.winner(a.Overall, "all ranked loops have in common"))
	}
	if d.wider() {
		out = append(out, d.wideWinner())
	}
	if len(out) == 0 {
		out = append(out, "There is no verdict: no figure was measured for all ranked loops.")
	}
	for _, s := range []string{d.byCategories(), d.besideControl(), d.tally()} {
		if s != "" {
			out = append(out, s)
		}
	}
	return append(out, d.noise())
}

// wider tells whether the standing without the reference says something new.
func (d *document) wider() bool {
	return len(d.a.Wide.Rows) > len(d.a.Overall.Rows) && len(d.a.Wide.Places) > 1 && d.a.Wide.Places[1].Rank > 0
}

// wideWinner is the same without the reference, shorter where it says the same.
func (d *document) wideWinner() string {
	st := d.a.Wide
	first, second := st.Places[0], st.Places[1]
	with, _ := d.a.Overall.First()
	if first.Impl != with.Impl || anyTied(st) || anyTied(d.a.Overall) {
		return d.winner(st, fmt.Sprintf("all ranked loops but `%s` have in common", stats.Reference))
	}
	return fmt.Sprintf("Counting also what `%s` has no capability for, `%s` stays first: over %s the next, `%s`, costs %s as much (%s).",
		stats.Reference, first.Impl, count(len(st.Rows), "figure"), second.Impl, stats.FormatRatio(second.ToFirst.Center),
		stats.FormatRatioRange(second.ToFirst))
}

// anyTied tells whether the first is not separated from everybody else. Who is not need not be the second: an interval may
// be so wide that it reaches over others.
func anyTied(st stats.Standing) bool {
	return slices.ContainsFunc(st.Places, func(p stats.Place) bool { return p.Tied })
}

// winner is one sentence on a standing.
func (d *document) winner(st stats.Standing, over string) string {
	ranked := slices.DeleteFunc(slices.Clone(st.Places), func(p stats.Place) bool { return p.Rank == 0 })
	if len(ranked) == 0 {
		return "No contestant is ranked."
	}
	first := ranked[0]
	mean := func(p stats.Place) string {
		return fmt.Sprintf("%s the cost of `%s` (95 %% interval %s)", stats.FormatRatio(p.Mean.Center), st.Reference, stats.FormatRatioRange(p.Mean))
	}
	where := fmt.Sprintf("over the %s that %s", count(len(st.Rows), "figure"), over)
	if len(ranked) == 1 {
		return fmt.Sprintf("`%s` is the only ranked loop; its geometric mean %s is %s.", first.Impl, where, mean(first))
	}
	if !first.Mean.Bounded() {
		return fmt.Sprintf("No verdict: fewer than %d complete rounds give no interval. %s `%s` is ahead of `%s` by %s.",
			stats.FewestRounds, capital(where), first.Impl, ranked[1].Impl, stats.FormatPercent(ranked[1].ToFirst.Center-1))
	}
	var tied []string
	apart := 0.0 // the largest difference between those that are not separated
	for _, p := range ranked[1:] {
		if p.Tied {
			tied = append(tied, "`"+p.Impl+"`")
			apart = max(apart, math.Abs(p.ToFirst.Center-1))
		}
	}
	second := ranked[1]
	ahead := func(p stats.Place) string { return stats.FormatPercent(p.ToFirst.Center - 1) }
	var s string
	switch {
	case len(tied) > 0:
		s = fmt.Sprintf("This run does not separate `%s` from %s: the geometric means %s differ by %s or less, within noise.",
			first.Impl, list(tied), where, stats.FormatPercent(apart))
	case first.Impl == st.Reference:
		s = fmt.Sprintf("`%s` wins: by geometric mean %s, the next, `%s`, comes to %s.", first.Impl, where, second.Impl, mean(second))
	case second.Impl == st.Reference:
		s = fmt.Sprintf("`%s` wins: by geometric mean %s it comes to %s.", first.Impl, where, mean(first))
	default:
		s = fmt.Sprintf("`%s` wins: by geometric mean %s it comes to %s; the next, `%s`, is behind by %s.",
			first.Impl, where, mean(first), second.Impl, ahead(second))
	}
	if first.Impl == stats.Subject || slices.Contains(tied, "`"+stats.Subject+"`") {
		return s
	}
	for _, p := range ranked {
		if p.Impl == stats.Subject {
			return s + fmt.Sprintf(" `%s` does not win: it ranks %d of %d, behind by %s.", p.Impl, p.Rank, len(ranked), ahead(p))
		}
	}
	for _, impl := range d.a.Run.Impls {
		if impl.Name == stats.Subject && !d.a.Ranked(stats.Subject) {
			return s + fmt.Sprintf(" `%s` is not ranked: it %s.", stats.Subject, d.whyNot(stats.Subject))
		}
	}
	return s
}

// whyNot returns why a contestant is not ranked, as standings have it.
func (d *document) whyNot(impl string) string {
	for _, st := range []stats.Standing{d.a.Overall, d.a.Wide} {
		for _, p := range st.Places {
			if p.Impl == impl && p.Why != "" {
				return p.Why
			}
		}
	}
	return "does not pass the conformance suite"
}

// byCategories says in which categories the subject is first, in which it is not, and whether it costs more than the reference in
// any.
func (d *document) byCategories() string {
	var first, behind, worse, open, absent []string
	compared := 0
	for _, c := range d.a.Categories {
		best, ok := c.First()
		if !ok {
			continue
		}
		i := slices.IndexFunc(c.Places, func(p stats.Place) bool { return p.Impl == stats.Subject })
		switch {
		case i < 0 || c.Places[i].Rank == 0:
			absent = append(absent, c.Name)
			continue
		case i == 0 || c.Places[i].Tied:
			first = append(first, c.Name)
		default:
			behind = append(behind, fmt.Sprintf("%s, where `%s` is ahead by %s", c.Name, best.Impl,
				stats.FormatPercent(c.Places[i].ToFirst.Center-1)))
		}
		if c.Reference != stats.Reference {
			continue
		}
		compared++
		switch mean := c.Places[i].Mean; {
		case mean.Center > 1 && mean.Lo > 1:
			worse = append(worse, fmt.Sprintf("%s (%s)", c.Name, stats.FormatRatio(mean.Center)))
		case mean.Center > 1:
			open = append(open, fmt.Sprintf("%s (%s, %s)", c.Name, stats.FormatRatio(mean.Center), stats.FormatRatioRange(mean)))
		}
	}
	var parts []string
	if len(first) > 0 {
		parts = append(parts, "is first, or level with the first, in "+list(first))
	}
	if len(behind) > 0 {
		parts = append(parts, "is not first in "+strings.Join(behind, "; nor in "))
	}
	if len(parts) == 0 {
		return ""
	}
	s := fmt.Sprintf("By category, `%s` %s.", stats.Subject, strings.Join(parts, "; it "))
	if len(worse) > 0 {
		s += fmt.Sprintf(" It costs more than `%s` in %s.", stats.Reference, list(worse))
	}
	if len(open) > 0 {
		s += fmt.Sprintf(" It is not separated from `%s` in %s.", stats.Reference, list(open))
	}
	if compared > 0 && len(worse)+len(open) == 0 {
		s += fmt.Sprintf(" It costs more than `%s` in no category that both share (%d).", stats.Reference, compared)
	}
	if len(absent) > 0 {
		s += fmt.Sprintf(" It has no place in %s.", list(absent))
	}
	return s
}

// besideControl holds the subject against the bare channel, which is no loop and has no rank.
func (d *document) besideControl() string {
	var less, more []string
	for _, c := range d.a.Categories {
		mean := func(impl string) float64 {
			for _, p := range c.Places {
				if p.Impl == impl {
					return p.Mean.Center
				}
			}
			return math.NaN()
		}
		subject, control := mean(stats.Subject), mean(stats.Control)
		what := fmt.Sprintf("%s (%s instead of %s)", c.Name, stats.FormatRatio(subject), stats.FormatRatio(control))
		switch {
		case subject <= control:
			less = append(less, what)
		case subject > control:
			more = append(more, what)
		}
	}
	var parts []string
	if len(less) > 0 {
		parts = append(parts, "less in "+list(less))
	}
	if len(more) > 0 {
		parts = append(parts, "more in "+list(more))
	}
	if len(parts) == 0 {
		return ""
	}
	return fmt.Sprintf("Beside the bare `%s`, which hands functions over and does nothing else, `%s` costs %s.",
		stats.Control, stats.Subject, strings.Join(parts, " and "))
}

// tally counts where the subject is fastest, and where it is measurably worse than the best or the reference.
func (d *document) tally() string {
	best, total := 0, 0
	var slower, aside []string
	var behind []distance
	compared := 0
	for _, row := range d.a.Rows {
		e := entry(row, stats.Subject)
		if e == nil || !e.Value.OK() {
			continue
		}
		worse := fmt.Sprintf("%s (%s)", spaced(row.Bench), stats.FormatRatio(e.Ratio.Center))
		if !row.Scored {
			if row.Reference == stats.Reference && e.Verdict == stats.Slower {
				aside = append(aside, worse)
			}
			continue
		}
		total++
		if e.Best {
			best++
		} else if far, ok := d.distance(row, e); ok {
			behind = append(behind, far)
		}
		if row.Reference == stats.Reference {
			compared++
			if e.Verdict == stats.Slower {
				slower = append(slower, worse)
			}
		}
	}
	if total == 0 {
		return ""
	}
	var s string
	switch {
	case d.a.Ranked(stats.Subject):
		s = fmt.Sprintf("Cell by cell, `%s` is the best ranked loop, or not distinguishable from it, in %d of %s", stats.Subject,
			best, count(total, "figure"))
		if len(behind) > 0 {
			s += fmt.Sprintf(" (behind: %s)", furthest(behind, 5))
		}
	default: // it is nobody's rival, so nothing tells where it is the best
		s = fmt.Sprintf("Cell by cell, `%s`, which is not ranked, has %s", stats.Subject, count(total, "figure"))
	}
	switch {
	case compared == 0:
	case len(slower) == 0:
		s += fmt.Sprintf(", and in none of the %d shared with `%s` is it measurably worse", compared, stats.Reference)
	default:
		s += fmt.Sprintf("; it is measurably worse than `%s` in %d of %d: %s", stats.Reference, len(slower), compared, list(slower))
	}
	if len(aside) > 0 {
		s += fmt.Sprintf("; not scored, but measurably worse than `%s`: %s", stats.Reference, list(aside))
	}
	return s + "." + d.tallyOf(stats.Tail, "99th percentile") + d.tallyOf(stats.FarTail, "99.9th percentile") +
		d.tallyOf(stats.Mean, "mean, where the headline is a median,") + d.tallyOf(stats.Allocations, "number of allocations")
}

// tallyOf says where a detail of the subject is measurably worse than the reference's, and how often that cannot be told.
func (d *document) tallyOf(unit, what string) string {
	compared, uncertain := 0, 0
	var worse []string
	for _, row := range d.a.Rows {
		detail := row.Detail(unit)
		if detail == nil || row.Reference != stats.Reference || detail.Verdicts[stats.Subject] == "" {
			continue
		}
		if detail.Uncertain(stats.Subject) {
			uncertain++
			continue
		}
		compared++
		if detail.Verdicts[stats.Subject] == stats.Slower {
			by := fmt.Sprintf("%s instead of %s", stats.Format(detail.Values[stats.Subject].Center, unit),
				stats.Format(detail.Values[stats.Reference].Center, unit))
			worse = append(worse, fmt.Sprintf("%s (%s)", spaced(row.Bench), by))
		}
	}
	open := ""
	if uncertain > 0 {
		open = fmt.Sprintf("; in %d more the ratio is not known to within a factor of two", uncertain)
	}
	switch {
	case compared+uncertain == 0:
		return ""
	case compared == 0:
		return fmt.Sprintf(" Its ratio to `%s` in the %s is nowhere known to within a factor of two (%s).", stats.Reference, what,
			count(uncertain, "figure"))
	case len(worse) == 0:
		return fmt.Sprintf(" Its %s is nowhere measurably worse than that of `%s` (%s compared%s).", what, stats.Reference,
			count(compared, "figure"), open)
	}
	return fmt.Sprintf(" Its %s is measurably worse than that of `%s` in %d of %d: %s%s.", what, stats.Reference, len(worse), compared,
		list(worse), open)
}

// noise says what differences mean nothing.
func (d *document) noise() string {
	n := d.a.Noise
	counts := fmt.Sprintf(", nor are differences of bytes and counts up to %s.", stats.FormatPercent(stats.CountFloor))
	if len(n.Pairs) == 0 {
		return fmt.Sprintf("The run has no control pair, so the noise floor is an assumption: differences of times below %s in a cell are not counted",
			stats.FormatPercent(n.Floor)) + counts
	}
	return fmt.Sprintf("Noise: the same loop measured under two labels differs in time by up to %s in a cell (%s) and by up to %s in their "+
		"geometric mean; smaller differences are not counted",
		stats.FormatPercent(n.Floor), count(len(n.Pairs), "control pair"), stats.FormatPercent(n.Mean)) + counts
}

// conformity counts a contestant's checks; those that do not apply count neither way.
func (d *document) conformity(impl string) (passed, total, diverges int) {
	for _, c := range d.a.Run.Checks {
		if c.Impl != impl {
			continue
		}
		for _, ch := range c.Checks {
			switch ch.Outcome {
			case "pass":
				passed++
				total++
			case "diverges":
				diverges++
				total++
			case "n/a":
			default:
				total++
			}
		}
	}
	return passed, total, diverges
}

func entry(row *stats.Row, impl string) *stats.Entry {
	for i := range row.Entries {
		if row.Entries[i].Impl == impl {
			return &row.Entries[i]
		}
	}
	return nil
}
