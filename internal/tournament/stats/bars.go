// The bars: what is demanded of the subject, and of one rival compared with the others, and whether it was met.

package stats

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// A Bar is one demand and how it was met.
type Bar struct {
	Of       string `json:"of"` // the contestant
	What     string `json:"what"`
	Demand   string `json:"demand"`
	Measured string `json:"measured,omitempty"`
	State    State  `json:"state"`
	Note     string `json:"note,omitempty"` // by how much it was missed, or why it was not measured
}

// A State says whether a bar is met.
type State string

// The states.
const (
	Met         State = "met"
	Missed      State = "missed"
	NotMeasured State = "not measured"
)

// A Policy is what is demanded of one contestant, and of its rivals compared with each other. It applies only to runs whose
// subject that contestant is.
type Policy struct {
	Of      string // the contestant
	Rivals  []string
	Demands []Demand
	Firsts  []First
}

// A Demand is a row of the table of bars. The table lists it if the run includes its benchmark.
type Demand struct {
	What  string
	Bench string
	Unit  string  // a base unit; empty: time per operation
	Over  string  // divide by this contestant's figure in the same benchmark; Best: by the best other ranked loop's
	Per   string  // or by the subject's own figure in this benchmark
	Minus string  // or subtract the subject's own figure in this benchmark
	Limit float64 // at most
	Rate  bool    // compare operations per second instead of times: the limit is then the least
	Clock bool    // the limit holds where time.Now takes 40 ns, and scales with it
	Floor string  // a contestant that does only what the subject builds on; its figure is shown when the bar is missed
	Plain string  // the benchmark to take the floor's figure from, if the floor does not run this one

	// Elsewhere is a demand that no benchmark measures, in words, listed beside others of Bench. Note says where it is checked.
	Elsewhere, Note string
}

// A First demands that a rival is the first of the rivals, by its geometric mean over some benchmarks.
type First struct {
	Of, What string
	Benches  []string
}

const referenceClock = 40 // ns

// Best stands for whichever of the other ranked loops has the least.
const Best = "best"

// bestOf returns the ranked loop other than the subject that has the least in a benchmark. If none has a figure, it returns
// the reference.
func (a *Analysis) bestOf(bench, unit string) string {
	name, least := a.Run.Reference(), math.Inf(1)
	for _, impl := range a.ranked() {
		if s := a.series(bench, impl, unit); impl != a.Run.Subject() && len(s) > 0 && s.interval().Center < least {
			name, least = impl, s.interval().Center
		}
	}
	return name
}

// Hold checks the run against the bars of a policy, and against those that every subject has to meet.
func (a *Analysis) Hold(p Policy) {
	a.Bars = nil
	if p.Of != a.Run.Subject() || !a.knows(p.Of) {
		return
	}
	for _, d := range p.Demands {
		if a.exists(d.Bench) {
			a.Bars = append(a.Bars, a.hold(d))
		}
	}
	a.Bars = append(a.Bars, a.meanBars()...)
	for i := range a.Bars {
		a.Bars[i].Of = p.Of
	}
	if slices.ContainsFunc(p.Rivals, func(r string) bool { return !a.knows(r) }) {
		return
	}
	for _, f := range p.Firsts {
		a.Bars = append(a.Bars, a.first(f, p.Rivals)...)
	}
}

func (a *Analysis) knows(impl string) bool {
	for _, i := range a.Run.Impls {
		if i.Name == impl {
			return true
		}
	}
	return false
}

func (a *Analysis) exists(bench string) bool {
	for _, c := range a.Run.Cells {
		if c.Bench == bench {
			return true
		}
	}
	return false
}

// hold checks one demand.
func (a *Analysis) hold(d Demand) Bar {
	if d.Elsewhere != "" {
		return Bar{What: d.What, Demand: d.Elsewhere, State: NotMeasured, Note: d.Note}
	}
	unit := d.Unit
	if unit == "" {
		unit = machineUnit
	}
	limit := d.Limit
	value := a.series(d.Bench, a.Run.Subject(), unit)
	b := Bar{What: d.What, State: NotMeasured}
	show := func(v float64) string { return Format(v, unit) }
	otherBench, other := d.Bench, a.Run.Subject()
	switch {
	case d.Rate:
		other = d.Over
		b.Demand = fmt.Sprintf("at least %.2f × %s", limit, other)
	case d.Over == Best:
		other = a.bestOf(d.Bench, unit)
		b.Demand = fmt.Sprintf("at most %.2f × the best other, %s", limit, other)
	case d.Over != "":
		other = d.Over
		b.Demand = fmt.Sprintf("at most %.2f × %s", limit, other)
	case d.Per != "":
		otherBench = d.Per
		b.Demand = fmt.Sprintf("at most %.2g ×", limit)
	case d.Minus != "":
		otherBench = d.Minus
		b.Demand = "at most " + show(limit) + " more"
	case d.Clock:
		limit *= a.Run.Env.TimeNowNS / referenceClock
		b.Demand = fmt.Sprintf("at most %s where time.Now takes %d ns; it takes %.3g ns here: %s",
			show(d.Limit), referenceClock, a.Run.Env.TimeNowNS, show(limit))
	case unit == Allocations && limit == 0:
		b.Demand = "0 " + Allocations
	case unit == Allocations:
		b.Demand = fmt.Sprintf("at most %s %s", show(limit), Allocations)
	default:
		b.Demand = "at most " + show(limit)
	}
	if d.Over != "" || d.Per != "" {
		show = FormatRatio
	}
	for _, need := range []struct{ bench, impl string }{{d.Bench, a.Run.Subject()}, {otherBench, other}} {
		if len(a.series(need.bench, need.impl, unit)) == 0 {
			why, _ := a.absent(need.bench, need.impl)
			b.Note = fmt.Sprintf("%s in %s: %s", need.impl, need.bench, why)
			return b
		}
	}
	switch reference := a.series(otherBench, other, unit); {
	case d.Rate: // the inverse of time
		value = reference.ratioTo(value)
	case d.Over != "" || d.Per != "":
		value = value.ratioTo(reference)
	case d.Minus != "":
		value = value.minus(reference)
	}
	got := value.interval()
	b.Measured = show(got.Center)
	if got.Bounded() && got.Lo != got.Hi {
		b.Measured += fmt.Sprintf(" (%s to %s)", show(got.Lo), show(got.Hi))
	}
	if d.Rate {
		b.requireAtLeast(got, limit)
	} else {
		b.requireAtMost(got, limit)
	}
	if floor := a.series(cmp.Or(d.Plain, d.Bench), d.Floor, unit); b.State == Missed && len(floor) > 0 {
		b.Note += fmt.Sprintf("; %s itself is at %s", d.Floor,
			FormatRatio(floor.ratioTo(a.series(otherBench, other, unit)).interval().Center))
	}
	return b
}

// first checks whether a rival is the first of the rivals: it compares the rival's mean with that of the one that comes closest.
// If the run does not have the benchmarks, there is no bar.
func (a *Analysis) first(f First, rivals []string) []Bar {
	b := Bar{Of: f.Of, What: f.What, Demand: "first of the rivals", State: NotMeasured}
	closest := none
	for _, rival := range rivals {
		var ratios []series
		for _, bench := range f.Benches {
			if !a.exists(bench) {
				return nil
			}
			for _, impl := range []string{f.Of, rival} {
				if len(a.series(bench, impl, machineUnit)) == 0 {
					why, _ := a.absent(bench, impl)
					b.Note = fmt.Sprintf("%s in %s: %s", impl, bench, why)
					return []Bar{b}
				}
			}
			ratios = append(ratios, a.series(bench, f.Of, machineUnit).ratioTo(a.series(bench, rival, machineUnit)))
		}
		if ratio := geomean(ratios).interval(); rival != f.Of && (!closest.OK() || ratio.Center > closest.Center) {
			closest = ratio
			b.Measured = fmt.Sprintf("%s of %s (%s)", FormatRatio(ratio.Center), rival, FormatRatioRange(ratio))
		}
	}
	b.requireAtMost(closest, 1)
	if b.State == Met && !a.Noise.In(a.Run.Benchmark(f.Benches[0]).Category).Beyond(machineUnit, closest.Center) {
		b.Note = "but not beyond noise"
	}
	return []Bar{b}
}

// requireAtMost compares the median with the limit, which is the most that is allowed.
func (b *Bar) requireAtMost(got Interval, limit float64) {
	b.setState(got, limit, got.Center > limit, got.Lo <= limit, got.Hi > limit)
}

// requireAtLeast compares the median with the limit, which is the least that is allowed.
func (b *Bar) requireAtLeast(got Interval, limit float64) {
	b.setState(got, limit, got.Center < limit, got.Hi >= limit, got.Lo < limit)
}

// setState sets the result: whether the bar is missed, and whether the interval reaches values that meet or miss it.
func (b *Bar) setState(got Interval, limit float64, missed, reachesBar, reachesBeyond bool) {
	switch {
	case missed:
		b.State = Missed
		b.Note = "by " + FormatPercent(math.Abs(got.Center/limit-1))
		if limit == 0 {
			b.Note = ""
		}
		if got.Bounded() && reachesBar {
			b.Note = strings.TrimPrefix(b.Note+"; the interval reaches the bar", "; ")
		}
	default:
		b.State = Met
		if got.Bounded() && reachesBeyond {
			b.Note = "the interval reaches beyond the bar"
		}
	}
}

// meanBars are the demands on geometric means.
func (a *Analysis) meanBars() []Bar {
	first := Bar{What: "geometric mean over all cells", Demand: "first of all contestants", State: NotMeasured}
	for _, st := range []Standing{a.Overall, a.Wide} {
		p, ok := st.place(a.Run.Subject())
		if !ok || p.Rank == 0 {
			first.State, first.Measured = NotMeasured, ""
			first.Note = "no ranked geometric mean"
			if why := a.Unranked(a.Run.Subject()); why != "" {
				first.Note = a.Run.Subject() + " " + why
			}
			break
		}
		if st.ranks() < 2 {
			continue // there is only one contestant to be the first of
		}
		ahead, _ := st.First()
		if first.State != Missed {
			first.State = Met
			if p.Rank > 1 {
				first.State = Missed
				first.Note = fmt.Sprintf("%s is ahead by %s over %d figures", ahead.Impl,
					FormatPercent(p.ToFirst.Center-1), len(st.Rows))
			}
		}
		if first.Measured != "" {
			first.Measured += ", "
		}
		first.Measured += fmt.Sprintf("rank %d of %d over %d figures", p.Rank, st.ranks(), len(st.Rows))
	}
	if first.State == NotMeasured && first.Note == "" {
		first.Note = "no other contestant is ranked"
	}
	worst := Bar{What: "geometric mean in each category", Demand: "at most 1.00 × " + a.Run.Reference(), State: NotMeasured}
	top := math.Inf(-1)
	for _, c := range a.Categories {
		p, ok := c.place(a.Run.Subject())
		if c.Reference != a.Run.Reference() || !ok || p.Mean.Center <= top {
			continue
		}
		top = p.Mean.Center
		worst.Note = ""
		worst.Measured = fmt.Sprintf("largest in %s: %s (%s)", c.Name, FormatRatio(p.Mean.Center), FormatRatioRange(p.Mean))
		worst.requireAtMost(p.Mean, 1)
	}
	if worst.State == NotMeasured {
		worst.Note = "no category in which both were measured"
	}
	return []Bar{first, worst}
}

// ranks returns how many contestants of the standing are ranked.
func (s Standing) ranks() int {
	n := 0
	for _, p := range s.Places {
		if p.Rank > 0 {
			n++
		}
	}
	return n
}
