// The verdict: sentences made from figures.

package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/turnloop/turnloop/internal/tournament/stats"
)

// verdict says who wins, by how much, and how sure that is. It consists of the few sentences that stand before everything
// else, and of the addenda.
func (d *document) verdict() []string { return slices.Concat(d.headline(), d.addenda()) }

// headline is what a reader takes away, at most five short paragraphs.
func (d *document) headline() []string {
	a := d.a
	var out []string
	if len(a.Overall.Rows) > 0 {
		out = append(out, d.winner(a.Overall, "`"+d.a.Run.Reference()+"` has"))
	}
	switch {
	case len(a.Overall.Rows) == 0 && len(a.Wide.Rows) > 0: // there is no reference
		out = append(out, d.winner(a.Wide, "count"))
	case d.wider():
		out = append(out, d.wideWinner())
	}
	if len(out) == 0 {
		out = append(out, "There is no verdict: there is no figure to rank by.")
	}
	out[0] = join(out[0], d.provisional())
	return append(out, spoken(d.figureByFigure(), join(d.beyondMedians(), d.notScored()), d.tally())...)
}

// addenda is what the headline leaves out.
func (d *document) addenda() []string {
	return append(spoken(d.otherWeights(), d.byCategories(), d.besideControl(), d.tallyOf(stats.Allocations, "number of allocations")), d.noise())
}

// spoken drops what is empty.
func spoken(sentences ...string) []string {
	var out []string
	for _, s := range sentences {
		if s = strings.TrimSpace(s); s != "" {
			out = append(out, s)
		}
	}
	return out
}

func join(sentences ...string) string { return strings.Join(spoken(sentences...), " ") }

// tally says how many bars the subject meets, and how much of its lead is due to wake-ups.
func (d *document) tally() string {
	n := map[stats.State]int{}
	for _, b := range d.a.Bars {
		if b.Of == d.a.Run.Subject() {
			n[b.State]++
		}
	}
	bars := ""
	if total := n[stats.Met] + n[stats.Missed] + n[stats.NotMeasured]; total > 0 {
		bars = fmt.Sprintf("Of %s set for `%s`, it meets %d and misses %d; %d not measured.", count(total, "bar"),
			d.a.Run.Subject(), n[stats.Met], n[stats.Missed], n[stats.NotMeasured])
	}
	return join(d.withoutWakes(), bars)
}

// withoutWakes says who leads, and by how much, if wake-ups do not count: once against the reference, and once over all
// figures.
func (d *document) withoutWakes() string {
	same := func(x, y stats.Place) bool { return x.Impl == y.Impl && x.Mean.Center == y.Mean.Center }
	var leads []string
	said := ""
	for _, w := range d.a.Weightings {
		if w.Name != stats.NoWakes {
			continue
		}
		for _, of := range []struct {
			st, declared stats.Standing
			what         string
		}{{w.Overall, d.a.Overall, ""}, {w.Wide, d.a.Wide, " over all figures"}} {
			places := ranked(of.st)
			if len(places) < 2 || slices.EqualFunc(places, ranked(of.declared), same) { // there were no wake-ups
				continue
			}
			who := fmt.Sprintf("`%s` leads `%s` ", places[0].Impl, places[1].Impl)
			lead := "by " + stats.FormatRatio(places[1].ToFirst.Center) + of.what
			if places[1].Tied {
				lead += " (not separated)"
			}
			if who != said {
				said, lead = who, who+lead
			}
			leads = append(leads, lead)
		}
	}
	if len(leads) == 0 {
		return ""
	}
	return "Without wake-ups " + list(leads) + "."
}

// wider tells whether the standing without the reference says something new.
func (d *document) wider() bool {
	return len(d.a.Wide.Rows) > len(d.a.Overall.Rows) && len(d.a.Wide.Places) > 1 && d.a.Wide.Places[1].Rank > 0
}

// wideWinner says who wins without the reference, and is shorter if that is the same contestant.
func (d *document) wideWinner() string {
	st := d.a.Wide
	first, second := st.Places[0], st.Places[1]
	with, _ := d.a.Overall.First()
	if first.Impl != with.Impl || anyTied(st) || anyTied(d.a.Overall) {
		return d.winner(st, "count, whether `"+d.a.Run.Reference()+"` has them or not,")
	}
	return fmt.Sprintf("Counting also what `%s` has no capability for, `%s` stays first: over %s the next, `%s`, costs %s as much (%s).",
		d.a.Run.Reference(), first.Impl, count(len(st.Rows), "figure"), second.Impl, stats.FormatRatio(second.ToFirst.Center),
		stats.FormatRatioRange(second.ToFirst))
}

// anyTied tells whether there is a contestant that the run does not separate from the first. It need not be the second: the
// interval of a later one may be so wide that it reaches to the first.
func anyTied(st stats.Standing) bool {
	return slices.ContainsFunc(st.Places, func(p stats.Place) bool { return p.Tied })
}

// winner says who is first in a standing, and who might be if it had all figures.
func (d *document) winner(st stats.Standing, counted string) string {
	s := d.first(st, counted)
	for _, p := range st.Places {
		if p.Rank == 0 && len(p.Lacks) > 0 && p.ToFirst.OK() && d.a.Ranked(p.Impl) {
			s += fmt.Sprintf(" `%s` is not ranked here: it lacks %d of %s, and over the others it costs %s as much as `%s`.", p.Impl, len(p.Lacks),
				count(len(st.Rows), "figure"), stats.FormatRatio(p.ToFirst.Center), st.Places[0].Impl)
		}
	}
	return s
}

// first returns one sentence about the first of a standing.
func (d *document) first(st stats.Standing, counted string) string {
	ranked := slices.DeleteFunc(slices.Clone(st.Places), func(p stats.Place) bool { return p.Rank == 0 })
	if len(ranked) == 0 {
		return "No contestant is ranked."
	}
	first := ranked[0]
	mean := func(p stats.Place) string {
		return fmt.Sprintf("%s as much as `%s` (geometric mean, 95 %% interval %s)", stats.FormatRatio(p.Mean.Center), st.Reference, stats.FormatRatioRange(p.Mean))
	}
	where := fmt.Sprintf("over the %s that %s", count(len(st.Rows), "figure"), counted)
	if len(ranked) == 1 {
		return fmt.Sprintf("`%s` is the only ranked loop: %s it costs %s.", first.Impl, where, mean(first))
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
		s = fmt.Sprintf("This run does not separate `%s` from %s: the geometric means %s differ by %s or less, within their intervals and noise.",
			first.Impl, list(tied), where, stats.FormatPercent(apart))
	case first.Impl == st.Reference:
		s = fmt.Sprintf("`%s` wins: %s, the next, `%s`, costs %s.", first.Impl, strings.TrimSuffix(where, ","), second.Impl, mean(second))
	case second.Impl == st.Reference:
		s = fmt.Sprintf("`%s` wins: %s, it costs %s.", first.Impl, where, mean(first))
	default:
		s = fmt.Sprintf("`%s` wins: %s, it costs %s; the next, `%s`, is behind by %s.",
			first.Impl, where, mean(first), second.Impl, ahead(second))
	}
	if first.Impl == d.a.Run.Subject() || slices.Contains(tied, "`"+d.a.Run.Subject()+"`") {
		return s
	}
	for _, p := range ranked {
		if p.Impl == d.a.Run.Subject() {
			return s + fmt.Sprintf(" `%s` does not win: it ranks %d of %d, behind by %s.", p.Impl, p.Rank, len(ranked), ahead(p))
		}
	}
	for _, impl := range d.a.Run.Impls {
		if impl.Name == d.a.Run.Subject() && !d.a.Ranked(d.a.Run.Subject()) {
			return s + fmt.Sprintf(" `%s` is not ranked: it %s.", d.a.Run.Subject(), d.whyNot(d.a.Run.Subject()))
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

// byCategories says in which categories the subject is first, in which it is not, in which that cannot be told, and whether it
// takes more than the reference in any.
func (d *document) byCategories() string {
	var first, level, behind, worse, open, absent []string
	compared := 0
	for _, c := range d.a.Categories {
		best, ok := c.First()
		if !ok {
			continue
		}
		i := slices.IndexFunc(c.Places, func(p stats.Place) bool { return p.Impl == d.a.Run.Subject() })
		switch {
		case i < 0 || c.Places[i].Rank == 0:
			absent = append(absent, c.Name)
			continue
		case i == 0 && !anyTied(c.Standing):
			first = append(first, c.Name+but(c.Standing))
		case i == 0 || c.Places[i].Tied:
			level = append(level, c.Name)
		default:
			behind = append(behind, fmt.Sprintf("%s, where `%s` is ahead by %s", c.Name, best.Impl,
				stats.FormatPercent(c.Places[i].ToFirst.Center-1)))
		}
		if c.Reference != d.a.Run.Reference() {
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
		parts = append(parts, "is first in "+list(first))
	}
	if len(level) > 0 {
		parts = append(parts, "is not separated from others at the top in "+list(level))
	}
	if len(behind) > 0 {
		parts = append(parts, "is not first in "+strings.Join(behind, "; nor in "))
	}
	if len(parts) == 0 {
		return ""
	}
	s := fmt.Sprintf("By category, `%s` %s.", d.a.Run.Subject(), strings.Join(parts, "; it "))
	if len(worse) > 0 {
		s += fmt.Sprintf(" It costs more than `%s` in %s.", d.a.Run.Reference(), list(worse))
	}
	if len(open) > 0 {
		s += fmt.Sprintf(" It is not separated from `%s` in %s.", d.a.Run.Reference(), list(open))
	}
	if compared > 0 && len(worse)+len(open) == 0 {
		s += fmt.Sprintf(" It costs more than `%s` in no category that both share (%d).", d.a.Run.Reference(), compared)
	}
	if len(absent) > 0 {
		s += fmt.Sprintf(" It has no place in %s.", list(absent))
	}
	return s
}

// but names the contestants that would be ahead of the first of a standing by the figures that they have, but have no rank
// because they lack others.
func but(st stats.Standing) string {
	var names []string
	for _, p := range st.Places {
		if p.Rank == 0 && len(p.Lacks) > 0 && p.ToFirst.Center < 1 {
			names = append(names, fmt.Sprintf("`%s`, which lacks %s, is ahead on the others", p.Impl, count(len(p.Lacks), "figure")))
		}
	}
	if len(names) == 0 {
		return ""
	}
	return " (though " + list(names) + ")"
}

// besideControl compares the subject with the bare channel, which is no loop and has no rank.
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
		subject, control := mean(d.a.Run.Subject()), mean(d.a.Run.Control())
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
		d.a.Run.Control(), d.a.Run.Subject(), strings.Join(parts, " and "))
}

// otherWeights says whether the first stays first when figures count differently.
func (d *document) otherWeights() string {
	if len(d.a.Weightings) < 2 {
		return ""
	}
	var out []string
	for _, of := range []struct {
		what string
		pick func(stats.Weighting) stats.Standing
	}{
		{"Against `" + d.a.Run.Reference() + "`", func(w stats.Weighting) stats.Standing { return w.Overall }},
		{"Over all that counts", func(w stats.Weighting) stats.Standing { return w.Wide }},
	} {
		if s := underWeights(d.a.Weightings, of.what, of.pick); s != "" {
			out = append(out, s)
		}
	}
	return strings.Join(out, " ")
}

func underWeights(all []stats.Weighting, what string, pick func(stats.Weighting) stats.Standing) string {
	first, ok := pick(all[0]).First()
	if !ok || len(ranked(pick(all[0]))) < 2 {
		return ""
	}
	total := 0
	var others []string
	for _, w := range all[1:] {
		places := ranked(pick(w))
		if len(places) < 2 {
			continue
		}
		total++
		if lead := places[0]; lead.Impl != first.Impl {
			others = append(others, fmt.Sprintf("%s, where `%s` is", w.Name, lead.Impl))
		}
	}
	stays := "stays first"
	if anyTied(pick(all[0])) {
		stays = "has the least mean, not separated from others, also"
	}
	switch {
	case total == 0:
		return ""
	case len(others) == 0:
		return fmt.Sprintf("%s `%s` %s by each of %s.", what, first.Impl, stays, count(total, "other weighting"))
	}
	return fmt.Sprintf("%s `%s` %s by %d of %s, and not: %s.", what, first.Impl, stays, total-len(others), count(total, "other weighting"),
		strings.Join(others, "; "))
}

// tallyOf says where a detail of the subject is measurably worse than the reference's, and how often that cannot be told.
func (d *document) tallyOf(unit, what string) string {
	compared, uncertain := 0, 0
	var worse []string
	for _, row := range d.a.Rows {
		detail := row.Detail(unit)
		if detail == nil || row.Reference != d.a.Run.Reference() || detail.Verdicts[d.a.Run.Subject()] == "" {
			continue
		}
		if detail.Uncertain(d.a.Run.Subject()) {
			uncertain++
			continue
		}
		compared++
		if detail.Verdicts[d.a.Run.Subject()] == stats.Slower {
			by := fmt.Sprintf("%s instead of %s", stats.Format(detail.Values[d.a.Run.Subject()].Center, unit),
				stats.Format(detail.Values[d.a.Run.Reference()].Center, unit))
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
		return fmt.Sprintf(" Its ratio to `%s` in the %s is nowhere known to within a factor of two (%s).", d.a.Run.Reference(), what,
			count(uncertain, "figure"))
	case len(worse) == 0:
		return fmt.Sprintf(" Its %s is nowhere measurably worse than that of `%s` (%s compared%s).", what, d.a.Run.Reference(),
			count(compared, "figure"), open)
	}
	return fmt.Sprintf(" Its %s is measurably worse than that of `%s` in %d of %d: %s%s.", what, d.a.Run.Reference(), len(worse), compared,
		list(worse), open)
}

// noise says which differences are so small that they mean nothing.
func (d *document) noise() string {
	n := d.a.Noise
	counts := fmt.Sprintf(", nor are differences of bytes and counts up to %s.", stats.FormatPercent(stats.CountFloor))
	if len(n.Pairs) == 0 {
		return fmt.Sprintf("The run has no control pair, so the noise floor is an assumption: differences of times below %s in a cell are not counted",
			stats.FormatPercent(n.Floor)) + counts
	}
	return fmt.Sprintf("Noise: the same loop measured under two labels differs in time by up to %s in a cell (%s) and by up to %s in their "+
		"geometric mean; what is smaller in its category is not counted",
		stats.FormatPercent(n.Floor), count(len(n.Pairs), "control pair"), stats.FormatPercent(n.Mean)) + counts
}

func entry(row *stats.Row, impl string) *stats.Entry {
	for i := range row.Entries {
		if row.Entries[i].Impl == impl {
			return &row.Entries[i]
		}
	}
	return nil
}
