// The warm-up: what an iteration of each cell takes, and the plan that comes of it.

package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/turnloop/turnloop/internal/tournament/record"
)

// warmUp runs every cell once, discards the figures, and plans the rounds with what it has learned.
func (r *runner) warmUp(ctx context.Context) error {
	t := tuningFor(r.Mode)
	startup := time.Duration(r.rec.StartupNS)
	r.Progress.Phase("warm-up", r.running())
	cells := pointers(r.rec.Cells)
	for _, i := range order(r.rec.Seed, 0, r.rec.Cells) {
		c := cells[i]
		for c.Runs() && c.WarmNS == 0 {
			if err := r.warm(ctx, c, t); err != nil {
				return err
			}
		}
	}
	again := slices.DeleteFunc(suspects(cells), func(c *record.Cell) bool { return r.rec.Benchmark(c.Bench).Unscored != "" })
	for _, c := range cells {
		if c.Runs() && t.lacks(c, r.rec.Need(c.Bench)) && !slices.Contains(again, c) {
			again = append(again, c)
		}
	}
	if len(again) > 0 {
		r.Progress.Phase("warm-up again of what was slow", len(again))
	}
	for _, c := range again {
		first := c.WarmNS
		if err := r.warm(ctx, c, t); err != nil {
			return err
		}
		c.WarmNS = min(first, c.WarmNS)
	}
	running := r.measured()
	if len(running) == 0 {
		return errors.New("no cell got through the warm-up")
	}
	// The conformance suite has no fixed length. Measuring gets at least half the budget, also when that exceeds it.
	left := max(r.budgetLeft(), r.Budget/2)
	round, measured := plan(r.rec, running, t, startup, left)
	r.rec.RoundNS, r.rec.MeasuredNS = int64(round), int64(measured)
	r.drop(0)
	r.Progress.Say("plan: %d rounds of %d cells, %v each, of which %v measure and %v start and prepare processes; %v in all, after %v so far",
		r.rec.Rounds, len(running), tenths(round), tenths(measured), tenths(round-measured),
		(round * time.Duration(r.rec.Rounds)).Round(time.Second), time.Since(r.from).Round(time.Second))
	r.hold(r.rec.Rounds)
	return nil
}

// overrun is how much longer than its budget a run may take. Beyond that drop lowers the number of rounds, and hold reports a run that
// still takes too long.
func (r *runner) overrun() time.Duration { return r.Budget / 10 }

// drop lowers the number of rounds to those that the budget has time for, but not below Config.LeastRounds. The parameter after is
// the number of rounds that have been run. Every cell is measured for its least time already, so time can only be saved by rounds.
func (r *runner) drop(after int) {
	fit := after + int((r.budgetLeft()+r.overrun())/time.Duration(max(r.rec.RoundNS, 1)))
	if fit = max(fit, r.LeastRounds, after); r.LeastRounds > 0 && fit < r.rec.Rounds {
		r.Progress.Say("the budget has time for %d rounds instead of %d", fit, r.rec.Rounds)
		r.rec.Dropped += r.rec.Rounds - fit
		r.rec.Rounds = fit
	}
}

// hold says whether so many rounds exceed what is left of the budget.
func (r *runner) hold(rounds int) {
	r.rec.OverBy = ""
	if need := time.Duration(r.rec.RoundNS) * time.Duration(rounds); need > r.budgetLeft()+r.overrun() {
		r.rec.OverBy = fmt.Sprintf("%d rounds of %d cells need about %v, %v of the budget are left",
			rounds, r.running(), need.Round(time.Second), max(r.budgetLeft(), 0).Round(time.Second))
		r.Progress.Say("over budget: %s", r.rec.OverBy)
	}
}

// measured returns the cells that rounds measure.
func (r *runner) measured() []*record.Cell {
	return slices.DeleteFunc(pointers(r.rec.Cells), func(c *record.Cell) bool { return !c.Runs() })
}

// correct plans the remaining rounds anew after the first. The first round took longer than planned, or less long. Every other round
// is expected to differ from its plan by the same time, however much it measures. So correct subtracts this difference from each
// round's share of the time that is left, and plans the measurements for the rest.
func (r *runner) correct(first time.Duration) error {
	after, amiss := r.rec.Rounds-1, first-time.Duration(r.rec.RoundNS)
	each := max(r.budgetLeft(), r.Budget/2)/time.Duration(after) - amiss
	round, measured := plan(r.rec, r.measured(), tuningFor(r.Mode), time.Duration(r.rec.StartupNS), each*time.Duration(r.rec.Rounds))
	r.rec.RoundNS, r.rec.MeasuredNS = int64(max(round+amiss, 0)), int64(measured)
	r.Progress.Say("the first round took %v, %s; the others are to take %v", tenths(first), compared(amiss),
		tenths(time.Duration(r.rec.RoundNS)))
	r.drop(1)
	r.hold(r.rec.Rounds - 1)
	return record.Save(r.dir, r.rec)
}

// warm runs a cell once and notes what an iteration takes. Only what ends the whole run is an error.
func (r *runner) warm(ctx context.Context, c *record.Cell, t tuning) error {
	r.Progress.Step("warm-up "+short(c.Name), r.budgetLeft())
	began := time.Now()
	w := t.warming(c, r.rec.Need(c.Bench))
	outs, err := r.measure(ctx, c, w.benchtime, w.times)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if reason, skipped := errors.AsType[errSkipped](err); skipped {
		c.NA = string(reason)
		return nil
	}
	if err != nil {
		r.failed(c, 0, err)
		return nil
	}
	wall := time.Since(began) / time.Duration(w.times)
	times := make([]float64, 0, w.times)
	for _, out := range outs {
		showed := warmth{iters: out.Iters, nsPerOp: out.NsPerOp, timed: w.timed, wall: wall}
		times = append(times, perIteration(showed, c.Setup, fixed(c, time.Duration(r.rec.StartupNS))))
	}
	slices.Sort(times)
	c.WarmNS = times[(len(times)-1)/2] // of two times the shorter one, since a stall only makes times longer
	// The listing has not called a program, and it prepares all others in one process, whose heap has grown by then.
	if _, ok := r.Speaks[c.Impl]; ok && c.Setup == 0 || w.timed == 0 && !c.Untimed {
		c.Setup = max(0, wall-time.Duration(r.rec.StartupNS)-time.Duration(float64(outs[0].Iters)*c.WarmNS))
	}
	return nil
}

func tenths(d time.Duration) time.Duration { return d.Round(100 * time.Millisecond) }

// compared says how a time compares with its plan, of which amiss is the difference.
func compared(amiss time.Duration) string {
	switch d := tenths(amiss); {
	case d > 0:
		return fmt.Sprintf("%v more than planned", d)
	case d < 0:
		return fmt.Sprintf("%v less than planned", -d)
	}
	return "as planned"
}
