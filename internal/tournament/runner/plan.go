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
	usual     time.Duration // the most measured time of a cell that needs no more; beyond it figures do not get better
	most      time.Duration // the most measured time of a cell that needs more, unless the budget has more for each
	maxSetup  time.Duration // preparation that a benchmark may take per process; 0: any
	maxWindow time.Duration // window that a benchmark may need; 0: any
	values    int           // a benchmark's least number of values is divided by this
}

func tuningFor(mode string) tuning {
	if mode == record.Quick {
		return tuning{
			warm: 2 * time.Millisecond, least: 2 * time.Millisecond, usual: 150 * time.Millisecond, most: 200 * time.Millisecond,
			maxSetup: 250 * time.Millisecond, maxWindow: 100 * time.Millisecond, values: 10,
		}
	}
	return tuning{warm: 10 * time.Millisecond, least: 10 * time.Millisecond, usual: 240 * time.Millisecond, most: 2 * time.Second, values: 1}
}

// needed returns how long a cell has to be measured, so that its benchmark gets the window and the values that it needs. If the
// values would take longer than t.most, quantiles are not reported, and a quarter of t.most is enough for the other figures.
func (t tuning) needed(c *record.Cell, need record.Need) time.Duration {
	values := t.valuesTake(c, need)
	if t.lacks(c, need) {
		values = float64(t.most) / 4
	}
	return max(need.Window, time.Duration(values))
}

// valuesTake returns how many nanoseconds the cell takes for the values that its benchmark needs.
func (t tuning) valuesTake(c *record.Cell, need record.Need) float64 {
	return float64(need.Values/t.values) * c.WarmNS
}

// lacks tells that the cell gets fewer values than its benchmark needs.
func (t tuning) lacks(c *record.Cell, need record.Need) bool {
	return t.valuesTake(c, need) > float64(t.most)
}

// A preparation that takes longer than costly is costly. A benchmark makes a costly preparation only once per process. Any other
// one it makes each time that package testing calls it, which is several times when testing searches for the number of iterations.
const costly = 20 * time.Millisecond

// fixed returns how long a process of the cell takes beyond its iterations. The benchmark function is called twice, since
// testing calls it with one iteration first. Each call prepares anew, unless preparing is costly. For a cell that reports no time
// everything counts as iterations.
func fixed(c *record.Cell, startup time.Duration) time.Duration {
	switch {
	case c.Untimed:
		return startup
	case c.Setup > costly:
		return startup + c.Setup
	}
	return startup + 2*c.Setup
}

// cost returns how long a process of the cell is expected to take.
func cost(c *record.Cell, startup time.Duration) time.Duration {
	return fixed(c, startup) + time.Duration(float64(c.Iters)*c.WarmNS)
}

// Values are rare if a window gives at most one in each time of this length. The first values may come much sooner than the others.
// A count that was predicted from the first ones would then make the measurement take minutes.
const rare = time.Millisecond

// A warming is how a cell is warmed up.
type warming struct {
	benchtime string        // the value of -test.benchtime
	timed     time.Duration // the value of benchtime if it is a time; 0 if it is a count
	times     int           // how often the cell is run in one process
}

// warming decides how to warm a cell up. If it is given a time, testing finds the count, at the price of several preparations.
// If preparations are costly, the count is guessed from the single iteration of the listing, which is slower than later ones.
//
// A benchmark that needs a window is measured once, for that long. For others several short measurements are made, if their
// preparations allow that, so that a stall of the machine spoils only one of them.
func (t tuning) warming(c *record.Cell, need record.Need) warming {
	switch {
	case need.Values > 0 && need.Window/time.Duration(need.Values) >= rare:
		return warming{benchtime: strconv.Itoa(max(1, need.Values/t.values/4)) + "x", times: 1}
	case c.Setup > costly && c.ColdNS <= 0:
		return warming{benchtime: "1x", times: 1}
	case c.Setup > costly:
		fill := float64(max(t.warm, need.Window))
		return warming{benchtime: strconv.Itoa(max(1, min(1000, int(fill/c.ColdNS)))) + "x", times: 1}
	case need.Window > t.warm:
		return warming{benchtime: need.Window.String(), timed: need.Window, times: 1}
	}
	several := int(min(max(costly/2/max(c.Setup, 1), 1), 3))
	return warming{benchtime: t.warm.String(), timed: t.warm, times: several}
}

// overshoot is a factor: package testing usually takes so many times the time that it was asked to fill.
const overshoot = 1.2

// A warmth is what the warm-up of a cell showed.
type warmth struct {
	iters   int
	nsPerOp float64       // as reported, 0 if it is not
	timed   time.Duration // the time that testing was asked to fill, 0 if it was given a count
	wall    time.Duration
}

// perIteration estimates the time of one iteration in nanoseconds. What benchmarks report as ns/op may be only a part of an
// iteration (the latency of a wake-up, without the pause before it), more than one (the latency of overlapping tasks), or
// nothing at all. But it is known how many iterations testing needed to fill the given time, and how long the process took.
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

// suspects returns the cells whose warm-up took far longer than that of the others in their benchmark. Such a cell may be slow.
// Or a pause of the machine has filled the whole warm-up, and a plan that was made from it would measure next to nothing.
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
// Every cell gets the same share of the time, but not less than its benchmark needs. The share becomes a count, common to all
// cells of the benchmark. A cell that reports no time is measured once.
func plan(run *record.Run, cells []*record.Cell, t tuning, startup, left time.Duration) (round, measured time.Duration) {
	perRound := float64(left) / float64(run.Rounds)
	var needs []time.Duration
	groups := map[string][]*record.Cell{}
	for _, c := range cells {
		groups[c.Bench] = append(groups[c.Bench], c)
	}
	timed := 0
	for _, group := range groups {
		for _, c := range group {
			perRound -= float64(fixed(c, startup))
			if group[0].Untimed {
				c.Iters = 1
				perRound -= c.WarmNS
			} else {
				timed++
			}
		}
	}
	t.most = max(t.most, time.Duration(perRound)/time.Duration(max(timed, 1)))
	for _, group := range groups {
		if !group[0].Untimed {
			for _, c := range group {
				needs = append(needs, t.needed(c, run.Need(c.Bench)))
			}
		}
	}
	each := min(max(evenly(time.Duration(max(perRound, 0)), needs), t.least), t.usual)
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

// evenly divides a total into equal shares, except that those who need more than a share get what they need. It returns the
// share of the others.
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

// share fixes the iterations of a benchmark's cells, so that on average a cell takes the time given by each.
//
// All contestants get the same count, so that what is spread over the iterations (a queue that grows, a first allocation) is
// spread alike. There are two exceptions. A contestant so slow that this count would leave the others little time gets a
// smaller one, which fills atMost shares. A contestant so fast that it would be measured for less than atLeast shares, than
// half the least meaningful time, or than the benchmark needs, gets a larger one.
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

// leaveOutVariants takes cells out of a quick run, for all contestants alike: those that are marked as long, and those that
// need a longer window than such a run has.
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

// leaveOutSlow takes cells out of a quick run whose preparation alone would take longer than the run allows.
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
