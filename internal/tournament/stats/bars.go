// The bars: what is demanded of the subject, and of one rival among the rivals, held against what was measured.

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

// A demand is a row of the table. It is listed where its benchmark was to run, and where there can be none yet.
type demand struct {
	what  string
	lacks string // what there is to be before there is a benchmark
	bench string
	unit  string
	over  string  // divide by this contestant's figure in the same benchmark
	per   string  // or by the subject's own figure in this benchmark
	limit float64 // at most
	rate  bool    // compare operations per second instead of times: the limit is then the least
	clock bool    // the limit holds where time.Now takes 40 ns, and scales with it
	floor string  // the contestant that does what the subject builds on, and nothing else; told of when the bar is missed
	plain string  // the benchmark of the floor, if it has no part in this one
}

const referenceClock = 40 // ns

// best stands for whichever of the other ranked loops has the least.
const best = "best"

var demands = []demand{
	{what: "Submit, one producer", bench: "Submit", over: Reference, limit: 0.20},
	{what: "Submit, one producer", bench: "Submit", over: Control, limit: 0.40},
	{what: "MultiProducer", bench: "MultiProducer", over: Reference, limit: 0.15},
	{what: "MultiProducer", bench: "MultiProducer", over: Control, limit: 0.35},
	{what: "PingPongLatency", bench: "PingPongLatency/fd=0", over: Reference, limit: 0.65},
	{what: "PingPongLatency", bench: "PingPongLatency/fd=0", over: Control, limit: 1.05},
	{what: "InternalPriority, 99th percentile", bench: "InternalPriority/busy=0", unit: Tail, over: best, limit: 1.5},
	{what: "InternalPriority beside goroutines that compute, 99th percentile", bench: "InternalPriority/busy=1", unit: Tail, over: best, limit: 2},
	{what: "BusyNeighbours, median", bench: "BusyNeighbours", unit: "p50-sec/op", over: Reference, limit: 1.1},
	{what: "BusyNeighbours, mean", bench: "BusyNeighbours", over: Reference, limit: 1.1},
	{
		what: "OpenLoopLatency at half of baseline's capacity, 99th percentile", bench: "HalfLoadLatency", unit: Tail,
		over: Reference, limit: 1,
	},
	{
		what: "OpenLoopLatency at half of baseline's capacity, 99.9th percentile", bench: "HalfLoadLatency", unit: FarTail,
		over: Reference, limit: 1,
	},
	{what: "PingPongLatency with a descriptor to without", bench: "PingPongLatency/fd=1", per: "PingPongLatency/fd=0", limit: 1.2},
	{
		what: "WakeFromIdle with a descriptor to without, median", bench: "WakeFromIdle/fd=1", unit: "p50-sec/op",
		per: "WakeFromIdle/fd=0", limit: 1.2,
	},
	// Against a loop that blocks as soon as it has nothing to do. The rivals do not: what comes at once finds them awake.
	{what: "PingPongLatency with a descriptor", bench: "PingPongLatency/fd=1", over: "blocking", limit: 0.10},
	{
		what: "WakeFromIdle with a descriptor, median", bench: "WakeFromIdle/fd=1", unit: "p50-sec/op",
		over: "blocking", limit: 0.10, floor: Control, plain: "WakeFromIdle/fd=0",
	},
	{what: "FDRoundTrip", bench: "FDRoundTrip", over: "netpair", limit: 1.35},
	{what: "FDRoundTrip, allocations", bench: "FDRoundTrip", unit: "allocs/op"},
	{what: "Echo, 64 connections, requests per second", bench: "Echo/conns=64", over: "gnet", limit: 1.0, rate: true},
	{what: "Echo, 64 connections, requests per second", bench: "Echo/conns=64", over: "net", limit: 1.1, rate: true},
	{what: "Echo, 512 connections, requests per second", bench: "Echo/conns=512", over: "gnet", limit: 1.0, rate: true},
	{what: "Echo, 512 connections, requests per second", bench: "Echo/conns=512", over: "net", limit: 1.1, rate: true},
	{what: "Microtask chain", bench: "Microtask/kind=chain", limit: 15e-9, clock: true},
	{what: "Microtask chain, allocations", bench: "Microtask/kind=chain", unit: "allocs/op"},
	{what: "promise Then chain, per link", bench: "Promise/op=then", limit: 150e-9, clock: true},
	{what: "promise Then chain, allocations per link", bench: "Promise/op=then", unit: "allocs/op", limit: 1},
	{what: "Promisify, round trip", bench: "Promise/op=promisify", over: "goroutine", limit: 1.5},
	{what: "Timer schedule+cancel, none pending", bench: "Timer/op=cancel/pending=0", over: "runtime", limit: 0.4},
	{what: "Timer schedule+cancel, 100 000 pending", bench: "Timer/op=cancel/pending=100000", over: "runtime", limit: 0.4},
	{
		what: "Timer schedule+cancel, 1 000 000 pending to 1 000", bench: "Timer/op=cancel/pending=1000000",
		per: "Timer/op=cancel/pending=1000", limit: 2,
	},
	{what: "memory of a pending timer", bench: "Footprint/what=timer", unit: "B/timer", limit: 96},
	{what: "Submit, allocations", bench: "Submit", unit: "allocs/op"},
	{what: "timer re-arm, allocations", bench: "Timer/op=fire/pending=0", unit: "allocs/op"},
	{what: "memory of an idle loop beyond its stack", bench: "Footprint/what=loop", unit: "B/loop", limit: 8 << 10},
	{what: "memory kept after a burst of 1 000 000 tasks", bench: "Footprint/what=burst", unit: "B/burst", limit: 1 << 20},
	{what: "threadlet switch", lacks: "threadlets", over: Control, limit: 0.40},
}

// bestOf returns the other ranked loop that has the least in a benchmark; the reference, if none has anything.
func (a *Analysis) bestOf(bench, unit string) string {
	name, least := Reference, math.Inf(1)
	for _, impl := range append([]string{Reference}, Rivals...) {
		if s := a.series(bench, impl, unit); len(s) > 0 && s.interval().Center < least {
			name, least = impl, s.interval().Center
		}
	}
	return name
}

func (a *Analysis) bars() []Bar {
	var out []Bar
	if !a.knows(Subject) {
		return nil
	}
	for _, d := range demands {
		if d.lacks != "" || a.exists(d.bench) {
			out = append(out, a.hold(d))
		}
	}
	out = append(out, a.meanBars()...)
	for i := range out {
		out[i].Of = Subject
	}
	for _, f := range firsts {
		if !slices.ContainsFunc(Rivals, func(r string) bool { return !a.knows(r) }) {
			out = append(out, a.first(f)...)
		}
	}
	return out
}

type firstOf struct {
	of, what string
	benches  []string
}

// firsts are what a rival that bets on speed has to be first of the rivals in, by geometric mean over the benchmarks.
var firsts = []firstOf{
	{"alternatetwo", "Submit", []string{"Submit"}},
	{"alternatetwo", "MultiProducer", []string{"MultiProducer"}},
	{"alternatetwo", "Microtask", []string{"Microtask/kind=chain", "Microtask/kind=fanout"}},
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
func (a *Analysis) hold(d demand) Bar {
	unit := d.unit
	if unit == "" {
		unit = machineUnit
	}
	limit := d.limit
	value := a.series(d.bench, Subject, unit)
	b := Bar{What: d.what, State: NotMeasured}
	show := func(v float64) string { return Format(v, unit) }
	otherBench, other := d.bench, Subject
	switch {
	case d.rate:
		other = d.over
		b.Demand = fmt.Sprintf("at least %.2f × %s", limit, other)
	case d.over == best:
		other = a.bestOf(d.bench, unit)
		b.Demand = fmt.Sprintf("at most %.2f × the best other, %s", limit, other)
	case d.over != "":
		other = d.over
		b.Demand = fmt.Sprintf("at most %.2f × %s", limit, other)
	case d.per != "":
		otherBench = d.per
		b.Demand = fmt.Sprintf("at most %.2g ×", limit)
	case d.clock:
		limit *= a.Run.Env.TimeNowNS / referenceClock
		b.Demand = fmt.Sprintf("at most %s where time.Now takes %d ns; it takes %.3g ns here: %s",
			show(d.limit), referenceClock, a.Run.Env.TimeNowNS, show(limit))
	case unit == Allocations && limit == 0:
		b.Demand = "0 " + Allocations
	case unit == Allocations:
		b.Demand = fmt.Sprintf("at most %s %s", show(limit), Allocations)
	default:
		b.Demand = "at most " + show(limit)
	}
	if d.over != "" || d.per != "" {
		show = FormatRatio
	}
	if d.lacks != "" {
		b.Note = Subject + " has no " + d.lacks
		return b
	}
	for _, need := range []struct{ bench, impl string }{{d.bench, Subject}, {otherBench, other}} {
		if len(a.series(need.bench, need.impl, unit)) == 0 {
			why, _ := a.absent(need.bench, need.impl)
			b.Note = fmt.Sprintf("%s in %s: %s", need.impl, need.bench, why)
			return b
		}
	}
	switch reference := a.series(otherBench, other, unit); {
	case d.rate: // the inverse of time
		value = reference.over(value)
	case d.over != "" || d.per != "":
		value = value.over(reference)
	}
	got := value.interval()
	b.Measured = show(got.Center)
	if got.Bounded() && got.Lo != got.Hi {
		b.Measured += fmt.Sprintf(" (%s to %s)", show(got.Lo), show(got.Hi))
	}
	if d.rate {
		b.judgeLeast(got, limit)
	} else {
		b.judge(got, limit)
	}
	if floor := a.series(cmp.Or(d.plain, d.bench), d.floor, unit); b.State == Missed && len(floor) > 0 {
		b.Note += fmt.Sprintf("; %s itself is at %s", d.floor,
			FormatRatio(floor.over(a.series(otherBench, other, unit)).interval().Center))
	}
	return b
}

// first tells whether a rival is the first of them: it holds its figures against those of the one that comes closest. Without
// the benchmark there is no bar.
func (a *Analysis) first(f firstOf) []Bar {
	b := Bar{Of: f.of, What: f.what, Demand: "first of the rivals", State: NotMeasured}
	closest := none
	for _, rival := range Rivals {
		var ratios []series
		for _, bench := range f.benches {
			if !a.exists(bench) {
				return nil
			}
			for _, impl := range []string{f.of, rival} {
				if len(a.series(bench, impl, machineUnit)) == 0 {
					why, _ := a.absent(bench, impl)
					b.Note = fmt.Sprintf("%s in %s: %s", impl, bench, why)
					return []Bar{b}
				}
			}
			ratios = append(ratios, a.series(bench, f.of, machineUnit).over(a.series(bench, rival, machineUnit)))
		}
		if ratio := geomean(ratios).interval(); rival != f.of && (!closest.OK() || ratio.Center > closest.Center) {
			closest = ratio
			b.Measured = fmt.Sprintf("%s of %s (%s)", FormatRatio(ratio.Center), rival, FormatRatioRange(ratio))
		}
	}
	b.judge(closest, 1)
	if b.State == Met && !a.Noise.Beyond(machineUnit, closest.Center) {
		b.Note = "but not beyond noise"
	}
	return []Bar{b}
}

// judge compares the median with the limit, which is the most that is allowed.
func (b *Bar) judge(got Interval, limit float64) {
	b.settle(got, limit, got.Center > limit, got.Lo <= limit, got.Hi > limit)
}

// judgeLeast is judge with the least that is allowed.
func (b *Bar) judgeLeast(got Interval, limit float64) {
	b.settle(got, limit, got.Center < limit, got.Hi >= limit, got.Lo < limit)
}

// settle sets the result: whether the bar is missed, and whether the interval reaches values that meet or miss it.
func (b *Bar) settle(got Interval, limit float64, missed, reachesBar, reachesBeyond bool) {
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
		p, ok := st.place(Subject)
		if !ok || p.Rank == 0 {
			first.State, first.Measured = NotMeasured, ""
			first.Note = "no ranked geometric mean"
			if why := a.Unranked(Subject); why != "" {
				first.Note = Subject + " " + why
			}
			break
		}
		if st.ranks() < 2 {
			continue // to be the first of one is no merit
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
	worst := Bar{What: "geometric mean in each category", Demand: "at most 1.00 × " + Reference, State: NotMeasured}
	top := math.Inf(-1)
	for _, c := range a.Categories {
		p, ok := c.place(Subject)
		if c.Reference != Reference || !ok || p.Mean.Center <= top {
			continue
		}
		top = p.Mean.Center
		worst.Note = ""
		worst.Measured = fmt.Sprintf("largest in %s: %s (%s)", c.Name, FormatRatio(p.Mean.Center), FormatRatioRange(p.Mean))
		worst.judge(p.Mean, 1)
	}
	if worst.State == NotMeasured {
		worst.Note = "no category in which both were measured"
	}
	return []Bar{first, worst}
}

// ranks returns how many are ranked.
func (s Standing) ranks() int {
	n := 0
	for _, p := range s.Places {
		if p.Rank > 0 {
			n++
		}
	}
	return n
}
