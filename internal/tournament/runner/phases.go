// The phases before the first round: the listing, the conformance suite, the warm-up.

package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/turnloop/turnloop/internal/tournament/bench"
	"github.com/turnloop/turnloop/internal/tournament/record"
)

// list finds out which cells there are, by running each contestant's benchmarks for one iteration.
func (r *runner) list(ctx context.Context) error {
	filter, err := regexp.Compile(r.Filter)
	if err != nil {
		return err
	}
	for range 5 { // the fastest start is the one that nothing else delayed
		empty := r.child(bench.RunArgs("none", "1x"), nil).run(ctx)
		if empty.err != nil {
			return fmt.Errorf("the benchmark binary does not start: %w\n%s", empty.err, empty.output)
		}
		if r.rec.StartupNS == 0 || int64(empty.wall) < r.rec.StartupNS {
			r.rec.StartupNS = int64(empty.wall)
		}
	}

	r.rec.Cells = nil
	r.Progress.Phase("listing the cells", len(r.rec.Impls))
	for _, impl := range r.rec.Impls {
		r.Progress.Step(impl.Name, r.budgetLeft())
		listed, err := r.listImpl(ctx, impl.Name)
		if err != nil {
			return err
		}
		for _, l := range listed {
			if !filter.MatchString(l.Name) {
				continue
			}
			// The listing's single iteration is no preparation.
			setup := max(l.Setup-time.Duration(l.ColdNS), 0)
			c := record.Cell{Cell: l.Cell, Setup: setup, ColdNS: l.ColdNS, Untimed: l.Untimed, NA: strings.TrimPrefix(l.Skipped, "n/a: ")}
			r.rec.Cells = append(r.rec.Cells, c)
			if l.Failed != "" {
				r.failed(&r.rec.Cells[len(r.rec.Cells)-1], 0, errors.New(l.Failed))
			}
		}
	}
	if len(r.rec.Cells) == 0 {
		return errors.New("no benchmark matches")
	}
	r.arrange()
	r.addControlPairs()
	leaveOut(r.rec, tuningFor(r.Mode))
	return nil
}

// listImpl lists one contestant's cells. A cell that takes the process down or hangs is noted as failed, and the listing
// repeated without it.
func (r *runner) listImpl(ctx context.Context, impl string) ([]bench.Listed, error) {
	const attempts = 4
	var broken []bench.Listed
	for range attempts {
		var l bench.Listing
		var skip []string
		for _, b := range broken {
			skip = append(skip, b.Name)
		}
		c := r.child(bench.ListArgs(impl, skip), l.Line)
		c.timeout *= 2
		out := c.run(ctx)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if len(r.head) == 0 {
			r.head = bench.ConfigLines(out.output)
		}
		culprit, named := bench.ParseName(l.Open())
		if out.err == nil || !named {
			return append(l.Cells(), broken...), nil
		}
		if err := r.failureLog("listing "+culprit.Name, out.output); err != nil {
			return nil, err
		}
		broken = append(broken, bench.Listed{Cell: culprit, Failed: r.reason(out).Error()})
	}
	return nil, fmt.Errorf("%s: gave up listing after %d cells did not get through, last %s (see failures.txt)",
		impl, attempts, broken[len(broken)-1].Name)
}

// arrange sorts cells by benchmark, in the order of the descriptions and then of first appearance, and within one by
// contestant.
func (r *runner) arrange() {
	described, seen, impls := map[string]int{}, map[string]int{}, map[string]int{}
	for i, b := range r.rec.Benchmarks {
		described[b.Name] = i - len(r.rec.Benchmarks) // the unknown come last
	}
	for i, impl := range r.rec.Impls {
		impls[impl.Name] = i
	}
	for _, c := range r.rec.Cells {
		if _, ok := seen[c.Bench]; !ok {
			seen[c.Bench] = len(seen)
		}
	}
	slices.SortStableFunc(r.rec.Cells, func(a, b record.Cell) int {
		nameA, _, _ := strings.Cut(a.Bench, "/")
		nameB, _, _ := strings.Cut(b.Bench, "/")
		return cmp.Or(
			cmp.Compare(described[nameA], described[nameB]),
			cmp.Compare(seen[a.Bench], seen[b.Bench]),
			cmp.Compare(impls[a.Impl], impls[b.Impl]),
		)
	})
}

// addControlPairs gives one contestant a second label in the first benchmark of every category and in each fifth after it, of
// those that count. Whatever differs between the labels is noise.
func (r *runner) addControlPairs() {
	subject := ""
	for _, impl := range r.rec.Impls {
		if impl.Ranked && (subject == "" || impl.Name == "main") {
			subject = impl.Name
		}
	}
	count := map[string]int{}
	var out []record.Cell
	for _, c := range r.rec.Cells {
		out = append(out, c)
		if c.Impl != subject || !c.Runs() {
			continue
		}
		info := r.rec.Benchmark(c.Bench)
		category := info.Category
		if info.Unscored != "" {
			continue
		}
		if count[category]%5 == 0 {
			again := c
			again.Impl, again.Of, again.Failures = c.Impl+record.Again, c.Impl, nil
			again.Name = bench.WithImpl(c.Name, again.Impl)
			out = append(out, again)
		}
		count[category]++
	}
	r.rec.Cells = out
}

// conform holds every contestant to the conformance suite, each in a process of its own.
func (r *runner) conform(ctx context.Context) error {
	if !r.Conformance {
		return nil
	}
	r.rec.Checks = nil
	r.Progress.Phase("conformance", len(r.rec.Impls))
	for _, impl := range r.rec.Impls {
		r.Progress.Step(impl.Name, r.budgetLeft())
		args := bench.ConformanceArgs(impl.Name)
		if r.Mode == record.Quick {
			args = append(args, "-test.short")
		}
		c := r.child(args, nil)
		c.timeout *= 5
		// For the case that the watchdog dies before the suite.
		c.args = append(c.args, "-test.timeout="+(c.timeout+5*grace).String())
		out := c.run(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		got := record.Conformity{Impl: impl.Name, Checks: bench.ParseConformance(out.output, impl.Name)}
		switch {
		case errors.Is(out.err, errHung):
			got.Note = out.err.Error()
		case len(got.Checks) == 0 && out.err != nil:
			got.Note = r.reason(out).Error()
		case len(got.Checks) == 0:
			got.Note = "not held to the suite"
		}
		if out.err != nil && len(got.Checks) > 0 && len(got.Failed()) == 0 {
			// Something outside the checks, such as a declared divergence from a check that does not exist.
			got.Checks = append(got.Checks, bench.Check{Name: "Suite", Outcome: bench.Fail, Reason: r.reason(out).Error()})
		}
		if out.err != nil {
			if err := r.failureLog("conformance of "+impl.Name, out.output); err != nil {
				return err
			}
		}
		r.rec.Checks = append(r.rec.Checks, got)
	}
	return nil
}

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
	if len(again) > 0 {
		r.Progress.Phase("warm-up again of what was far slower than others", len(again))
	}
	for _, c := range again {
		first := c.WarmNS
		if err := r.warm(ctx, c, t); err != nil {
			return err
		}
		c.WarmNS = min(first, c.WarmNS)
	}
	var running []*record.Cell
	for _, c := range cells {
		if c.Runs() {
			running = append(running, c)
		}
	}
	if len(running) == 0 {
		return errors.New("no cell got through the warm-up")
	}
	// The conformance suite has no fixed length. Measuring gets at least half the budget, also when that exceeds it.
	left := max(r.budgetLeft(), r.Budget/2)
	round, measured := plan(running, t, startup, left, r.rec.Rounds)
	r.rec.RoundNS, r.rec.MeasuredNS = int64(round), int64(measured)
	r.Progress.Say("plan: %d rounds of %d cells, %v each, of which %v measure and %v start and prepare processes; %v in all, after %v so far",
		r.rec.Rounds, len(running), tenths(round), tenths(measured), tenths(round-measured),
		(round * time.Duration(r.rec.Rounds)).Round(time.Second), time.Since(r.from).Round(time.Second))
	if need := round * time.Duration(r.rec.Rounds); need > r.budgetLeft()+r.Budget/10 {
		r.rec.OverBy = fmt.Sprintf("%d rounds of %d cells need about %v, %v of the budget are left",
			r.rec.Rounds, len(running), need.Round(time.Second), max(r.budgetLeft(), 0).Round(time.Second))
		r.Progress.Say("over budget: %s", r.rec.OverBy)
	}
	return nil
}

// warm runs a cell once and notes what an iteration takes. Only what ends the whole run is an error.
func (r *runner) warm(ctx context.Context, c *record.Cell, t tuning) error {
	r.Progress.Step("warm-up "+short(c.Name), r.budgetLeft())
	began := time.Now()
	benchtime, timed := warmArgs(c, t)
	out, err := r.measureOnce(ctx, c, benchtime)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		r.failed(c, 0, err)
		return nil
	}
	w := warmth{iters: out.Iters, nsPerOp: out.NsPerOp, wall: time.Since(began)}
	if timed {
		w.timed = t.warm
	}
	c.WarmNS = perIteration(w, c.Setup, fixed(c, time.Duration(r.rec.StartupNS)))
	return nil
}

func tenths(d time.Duration) time.Duration { return d.Round(100 * time.Millisecond) }

// measureOnce runs a cell in a process of its own.
func (r *runner) measureOnce(ctx context.Context, c *record.Cell, benchtime string) (bench.Output, error) {
	out := r.child(bench.RunArgs(c.Target(), benchtime), nil).run(ctx)
	if out.err != nil {
		err := r.reason(out)
		if ctx.Err() == nil {
			err = errors.Join(err, r.failureLog(c.Name, out.output))
		}
		return bench.Output{}, err
	}
	return bench.ParseOutput(out.output, c.Target())
}

// child prepares a process of the benchmark binary.
func (r *runner) child(args []string, onLine func(string, time.Time)) child {
	env := r.Env
	if env == nil {
		env = os.Environ()
	}
	return child{
		path: r.Bench, args: args, timeout: r.Timeout, onLine: onLine,
		env: append(slices.Clip(env), fmt.Sprintf("GOMAXPROCS=%d", r.Procs)),
	}
}

// reason makes one line of a process's end: what killed it, or else what its benchmark complained about last.
func (r *runner) reason(out outcome) error {
	var fatal, complaint string
	for line := range strings.Lines(out.output) {
		line = strings.TrimSpace(line)
		for _, mark := range []string{"panic: ", "fatal error: "} {
			if fatal == "" && strings.HasPrefix(line, mark) {
				fatal = line
			}
		}
		if pos, text, ok := strings.Cut(line, ": "); ok && strings.Contains(pos, ".go:") && !strings.Contains(pos, " ") {
			complaint = text
		}
	}
	if why := cmp.Or(fatal, complaint); why != "" && !errors.Is(out.err, errHung) {
		return fmt.Errorf("%w: %s", out.err, why)
	}
	return out.err
}

func (r *runner) budgetLeft() time.Duration { return r.Budget - time.Since(r.from) }

// relabel writes a result line under the control pair's second label.
func relabel(line string, c *record.Cell) string {
	name, rest, _ := strings.Cut(line, "\t")
	padded := strings.TrimRight(name, " ")
	return bench.WithImpl(padded, c.Impl) + name[len(padded):] + "\t" + rest
}

func pointers(cells []record.Cell) []*record.Cell {
	out := make([]*record.Cell, len(cells))
	for i := range cells {
		out[i] = &cells[i]
	}
	return out
}
