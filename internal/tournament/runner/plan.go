// The plan: how many iterations each cell runs, so that all rounds together fit the budget and ratios stay fair.

package runner

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/turnloop/turnloop/internal/tournament/record"
)

// tuning is what distinguishes the modes.
type tuning struct {
	warm      time.Duration // measured time of each of a cell's warm-ups
	least     time.Duration // measured time below which a figure means little
	enough    time.Duration // measured time above which a cell that needs no more only gets slower, not better
	most      time.Duration // measured time of one that needs more
	maxSetup  time.Duration // preparation that a benchmark may take per process; 0: any
	maxWindow time.Duration // window that a benchmark may need; 0: any
	values    int           // a benchmark's least number of values is divided by this
}

func tuningFor(mode string) tuning {
	if mode == record.Quick {
		return tuning{
			warm: 2 * time.Millisecond, least: 2 * time.Millisecond, enough: 200 * time.Millisecond, most: 200 * time.Millisecond,
			maxSetup: 250 * time.Millisecond, maxWindow: 100 * time.Millisecond, values: 10,
		}
	}
	return tuning{warm: 10 * time.Millisecond, least: 10 * time.Millisecond, enough: 300 * time.Millisecond, most: 2 * time.Second, values: 1}
}

// needed returns how long a cell has to be measured, so that its benchmark gets the window and the values that it needs. A contestant
// so slow that the values would take longer than any measurement should gets fewer: its quantiles are then not reported.
func (t tuning) needed(c *record.Cell, need record.Need) time.Duration {
	values := float64(need.Values/t.values) * c.WarmNS
	return max(need.Window, time.Duration(math.Min(values, float64(t.most))))
}

// dear is a preparation that benchmarks make once per process only, and testing's search for the count would make often.
const dear = 20 * time.Millisecond

// fixed is what a process of the cell costs beyond its iterations. The benchmark function is called twice: testing probes it
// with one iteration first, and each call prepares anew, unless that is dear. What reports no time is all iterations.
func fixed(c *record.Cell, startup time.Duration) time.Duration {
	switch {
	case c.Untimed:
		return startup
	case c.Setup > dear:
		return startup + c.Setup
	}
	return startup + 2*c.Setup
}

// cost is what a process of the cell is expected to take.
func cost(c *record.Cell, startup time.Duration) time.Duration {
	return fixed(c, startup) + time.Duration(float64(c.Iters)*c.WarmNS)
}

// A warming is how a cell is warmed up.
type warming struct {
	benchtime string        // the value of -test.benchtime
	timed     time.Duration // the same where it is a time
	times     int           // in one process
}

// warming chooses. A time lets testing find the count, at the price of several preparations; where these are dear, the count
// is a guess from the listing's single iteration, which is slower than later ones are.
//
// A phenomenon that takes a window shows itself in a window only. Without one several short measurements are made, as far as their
// preparations allow, so that a stall of the machine spoils one of them.
func (t tuning) warming(c *record.Cell, need record.Need) warming {
	switch {
	case c.Setup > dear && c.ColdNS <= 0:
		return warming{benchtime: "1x", times: 1}
	case c.Setup > dear:
		return warming{benchtime: strconv.Itoa(max(1, min(1000, int(float64(t.warm)/c.ColdNS)))) + "x", times: 1}
	case need.Window > t.warm:
		return warming{benchtime: need.Window.String(), timed: need.Window, times: 1}
	}
	several := int(min(max(dear/2/max(c.Setup, 1), 1), 3))
	return warming{benchtime: t.warm.String(), timed: t.warm, times: several}
}

// overshoot is by how much testing exceeds the time it was asked to fill, usually.
const overshoot = 1.2

// A warmth is what the warm-up of a cell showed.
type warmth struct {
	iters   int
	nsPerOp float64       // as reported, 0 if it is not
	timed   time.Duration // the time that testing was asked to fill, 0 if it was given a count
	wall    time.Duration
}

// perIteration estimates the time of one iteration in nanoseconds. Benchmarks may report as ns/op what is only a part of an
// iteration (the latency of a wake, without the pause before it), more than it (the latency of overlapping tasks), or nothing
// at all. What they cannot hide is how many iterations testing needed to fill the time, nor the wall clock where the
// iterations are most of it.
func perIteration(w warmth, setup, fixed time.Duration) float64 {
	n := float64(w.iters)
	ns := math.Max(w.nsPerOp, float64(w.timed)/n)
	if w.timed > 0 && ns*n > float64(w.wall) {
		ns = overshoot * float64(w.timed) / n
	}
	if w.iters == 1 || ns == 0 {
		ns = math.Max(ns, float64(setup))
	}
	if rest := w.wall - fixed; w.timed == 0 && rest > 3*fixed {
		ns = math.Max(ns, float64(rest)/n)
	}
	return math.Max(ns, 0.1)
}

// suspects returns the cells whose warm-up took far longer than that of the others in their benchmark. They may be slow, or a
// pause of the machine may have filled the whole warm-up, and a plan made from that would measure next to nothing of them.
func suspects(cells []*record.Cell) []*record.Cell {
	const far = 4
	groups := map[string][]float64{}
	for _, c := range cells {
		if c.Runs() && !c.Untimed {
			groups[c.Bench] = append(groups[c.Bench], c.WarmNS)
		}
	}
	for _, times := range groups {
		slices.Sort(times)
	}
	var out []*record.Cell
	for _, c := range cells {
		if times := groups[c.Bench]; c.Runs() && !c.Untimed && c.WarmNS > far*times[(len(times)-1)/2] {
			out = append(out, c)
		}
	}
	return out
}

// plan fixes the iterations of all cells that run, for the given number of rounds in the given time. It returns the
// expected duration of one round, and how much of that is measured; the rest goes into starting processes and preparing them.
//
// Every cell gets the same share of the time, and spends it as its benchmark's common count demands, but not less than its
// benchmark needs. What reports no time is measured once.
func plan(run *record.Run, cells []*record.Cell, t tuning, startup, left time.Duration) (round, measured time.Duration) {
	perRound := float64(left) / float64(run.Rounds)
	var needs []time.Duration
	groups := map[string][]*record.Cell{}
	for _, c := range cells {
		groups[c.Bench] = append(groups[c.Bench], c)
	}
	for _, group := range groups {
		for _, c := range group {
			perRound -= float64(fixed(c, startup))
		}
		if group[0].Untimed {
			for _, c := range group {
				c.Iters = 1
				perRound -= c.WarmNS
			}
		} else {
			for _, c := range group {
				needs = append(needs, t.needed(c, run.Need(c.Bench)))
			}
		}
	}
	each := min(max(evenly(time.Duration(max(perRound, 0)), needs), t.least), t.enough)
	for _, group := range groups {
		if !group[0].Untimed {
			share(group, each, t, run.Need(group[0].Bench))
		}
		for _, c := range group {
			round += cost(c, startup)
			measured += cost(c, startup) - fixed(c, startup)
		}
	}
	return round, measured
}

// evenly returns the share of each, when those who need more than a share get what they need.
func evenly(total time.Duration, needs []time.Duration) time.Duration {
	slices.SortFunc(needs, func(a, b time.Duration) int { return cmp.Compare(b, a) })
	for i, need := range needs {
		each := total / time.Duration(len(needs)-i)
		if need <= each {
			return each
		}
		total -= need
	}
	return 0
}

// How many shares of the time a contestant takes at most and at least.
const (
	atMost  = 2.0
	atLeast = 0.25
)

// share fixes the iterations of a benchmark's cells, so that they take each on average.
//
// All contestants get the same count, so that what is spread over the iterations (a queue that grows, a first allocation) is
// spread alike. There are two exceptions. One so slow that its count would leave the others little time gets fewer, to fill
// atMost shares. One so fast that it would be measured for less than atLeast, half the least meaningful time, or what the
// benchmark needs, gets more.
func share(group []*record.Cell, each time.Duration, t tuning, need record.Need) {
	slowest := slices.SortedFunc(slices.Values(group), func(a, b *record.Cell) int { return cmp.Compare(b.WarmNS, a.WarmNS) })
	budget, total := float64(each)*float64(len(group)), 0.0
	for _, c := range group {
		total += c.WarmNS
	}
	most := atMost * float64(each)
	for _, c := range slowest {
		count := budget / total
		if count*c.WarmNS <= most {
			break
		}
		budget, total = budget-most, total-c.WarmNS
	}
	count := budget / total
	for _, c := range group {
		n := min(count, most/c.WarmNS)
		if n*c.WarmNS < max(float64(t.least)/2, atLeast*float64(each)) {
			n = max(float64(t.least), atLeast*float64(each)) / c.WarmNS
		}
		c.Iters = max(roundIters(n), int(math.Ceil(float64(t.needed(c, need))/c.WarmNS)))
	}
}

// roundIters makes n a whole number of the bursts of 1000 in which some benchmarks work, where it is large enough.
func roundIters(n float64) int {
	i := int(math.Min(n, 1e9))
	switch {
	case i >= 2000:
		return i - i%1000
	case i < 1:
		return 1
	}
	return i
}

// leaveOutVariants takes benchmarks out of a quick run, for all contestants alike: those without which a glance can do, and those that
// need more than a glance.
func leaveOutVariants(run *record.Run, t tuning) {
	if t.maxWindow == 0 {
		return
	}
	for i := range run.Cells {
		c := &run.Cells[i]
		if why := run.Long(c.Bench); why != "" {
			c.LeftOut = "left out of quick mode: " + why
		} else if window := run.Need(c.Bench).Window; window > t.maxWindow {
			c.LeftOut = fmt.Sprintf("left out of quick mode: it says nothing about less than %v of each contestant in each round", window)
		}
	}
}

// leaveOutSlow takes out of a quick run those whose preparation alone would exceed its limit.
func leaveOutSlow(run *record.Run, t tuning) {
	if t.maxSetup == 0 {
		return
	}
	cells := pointers(run.Cells)
	slowest := map[string]*record.Cell{}
	for _, c := range cells {
		if s := slowest[c.Bench]; s == nil || c.Setup > s.Setup {
			slowest[c.Bench] = c
		}
	}
	for _, c := range cells {
		if s := slowest[c.Bench]; c.LeftOut == "" && s.Setup > t.maxSetup {
			c.LeftOut = fmt.Sprintf("left out of quick mode: one contestant, %s, takes %v to prepare",
				s.Impl, s.Setup.Round(10*time.Millisecond))
		}
	}
}
