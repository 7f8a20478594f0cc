// The phases before the first round: the listing, the conformance suite, the warm-up.

package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/turnloop/turnloop/internal/tournament/bench"
	"github.com/turnloop/turnloop/internal/tournament/record"
)

// list runs each cell for one iteration, to find out whether the contestant has it and how long its preparation takes.
func (r *runner) list(ctx context.Context) error {
	filter, err := regexp.Compile(r.Filter)
	if err != nil {
		return err
	}
	for range 5 { // the fastest start counts, as nothing else has delayed it
		empty := r.child(bench.RunArgs("none", "1x", 1), nil).run(ctx)
		if empty.err != nil {
			return fmt.Errorf("the program that has the benchmarks does not start: %w\n%s", empty.err, empty.output)
		}
		if r.rec.StartupNS == 0 || int64(empty.wall) < r.rec.StartupNS {
			r.rec.StartupNS = int64(empty.wall)
		}
	}

	r.rec.Cells = nil
	add := func(name string) {
		if cell, ok := bench.ParseName(name); ok && filter.MatchString(name) {
			r.rec.Cells = append(r.rec.Cells, record.Cell{Cell: cell})
		}
	}
	for _, name := range r.Cells {
		add(name)
	}
	for _, impl := range r.rec.Impls {
		if p, ok := r.Speaks[impl.Name]; ok {
			names, err := p.list(ctx, r.Timeout)
			if err != nil {
				return fmt.Errorf("%s: asking the program for its benchmarks: %w", impl.Name, err)
			}
			for _, name := range names {
				add(bench.CellName(name, impl.Name))
			}
		}
	}
	if len(r.rec.Cells) == 0 {
		return errors.New("no benchmark matches")
	}
	if r.Filter != "" {
		r.forget()
	}
	t := tuningFor(r.Mode)
	leaveOutVariants(r.rec, t)
	r.Progress.Phase("listing the cells", len(r.rec.Impls))
	for _, impl := range r.rec.Impls {
		r.Progress.Step(impl.Name, r.budgetLeft())
		if _, ok := r.Speaks[impl.Name]; ok {
			continue
		}
		if err := r.listImpl(ctx, impl.Name); err != nil {
			return err
		}
	}
	r.arrange()
	leaveOutSlow(r.rec, t)
	r.addControlPairs()
	return nil
}

// forget removes the contestants for which the filter leaves no cell from the record, so that they do not count as missing.
func (r *runner) forget() {
	r.rec.Impls = slices.DeleteFunc(slices.Clone(r.rec.Impls), func(impl record.Impl) bool {
		return !slices.ContainsFunc(r.rec.Cells, func(c record.Cell) bool { return c.Impl == impl.Name })
	})
	r.rec.Benchmarks = slices.DeleteFunc(slices.Clone(r.rec.Benchmarks), func(b record.Benchmark) bool {
		return !slices.ContainsFunc(r.rec.Cells, func(c record.Cell) bool { return r.rec.Benchmark(c.Bench).Name == b.Name })
	})
}

// listImpl lists one contestant's cells. A cell that takes the process down or hangs is noted as failed, and the listing
// repeated without it.
func (r *runner) listImpl(ctx context.Context, impl string) error {
	const attempts = 4
	open := map[string]*record.Cell{}
	for i := range r.rec.Cells {
		if c := &r.rec.Cells[i]; c.Impl == impl && c.Runs() {
			open[c.Name] = c
		}
	}
	for range attempts {
		if len(open) == 0 {
			return nil
		}
		var l bench.Listing
		c := r.child(bench.ListArgs(slices.Sorted(maps.Keys(open))), l.Line)
		c.timeout *= 2
		out := c.run(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if len(r.head) == 0 {
			r.head = bench.ConfigLines(out.output)
		}
		culprit, named := bench.ParseName(l.Open())
		if out.err == nil || !named || open[culprit.Name] == nil {
			for _, listed := range l.Cells() {
				if c := open[listed.Name]; c != nil {
					r.listed(c, listed)
					delete(open, listed.Name)
				}
			}
			for _, name := range slices.Sorted(maps.Keys(open)) {
				r.failed(open[name], 0, errors.New("it is declared, and did not run"))
				open[name].Abandoned = true
			}
			return nil
		}
		if err := r.failureLog("listing "+culprit.Name, out.output); err != nil {
			return err
		}
		r.failed(open[culprit.Name], 0, r.reason(out))
		delete(open, culprit.Name)
	}
	return fmt.Errorf("%s: gave up listing after %d cells did not get through (see failures.txt)", impl, attempts)
}

// listed notes what the listing tells about a cell.
func (r *runner) listed(c *record.Cell, l bench.Listed) {
	// The time of the single iteration is subtracted: it is no part of the preparation.
	c.Setup, c.ColdNS, c.Untimed = max(l.Setup-time.Duration(l.ColdNS), 0), l.ColdNS, l.Untimed
	c.NA = strings.TrimPrefix(l.Skipped, "n/a: ")
	if l.Failed != "" {
		r.failed(c, 0, errors.New(l.Failed))
	}
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

// addControlPairs adds a second label for one contestant in some benchmarks: in the first scored benchmark of each category,
// and in every fifth after it. The ranked contestants take turns. Whatever differs between the two labels is noise.
func (r *runner) addControlPairs() {
	var ranked []string
	for _, impl := range r.rec.Impls {
		if impl.Ranked {
			ranked = append(ranked, impl.Name)
		}
	}
	type place struct{ bench, impl string }
	able := map[place]bool{}
	var benches []string
	for i := range r.rec.Cells {
		c := &r.rec.Cells[i]
		if !slices.Contains(benches, c.Bench) {
			benches = append(benches, c.Bench)
		}
		able[place{c.Bench, c.Impl}] = c.Runs()
	}
	const each = 5
	turn, seen, pairs := 0, map[string]int{}, map[place]bool{}
	for _, name := range benches {
		info := r.rec.Benchmark(name)
		next := slices.IndexFunc(rotated(ranked, turn), func(impl string) bool { return able[place{name, impl}] })
		if info.Unscored != "" || next < 0 {
			continue
		}
		if seen[info.Category]%each == 0 {
			turn += next
			pairs[place{name, ranked[turn%len(ranked)]}] = true
			turn++
		}
		seen[info.Category]++
	}
	var out []record.Cell
	for _, c := range r.rec.Cells {
		out = append(out, c)
		if pairs[place{c.Bench, c.Impl}] {
			again := c
			again.Impl, again.Of, again.Failures = c.Impl+record.Again, c.Impl, nil
			again.Name = bench.WithImpl(c.Name, again.Impl)
			out = append(out, again)
		}
	}
	r.rec.Cells = out
}

// rotated returns names from the n-th on, and then those before.
func rotated(names []string, n int) []string {
	if len(names) == 0 {
		return nil
	}
	n %= len(names)
	return slices.Concat(names[n:], names[:n])
}

// conform runs the conformance suite for every contestant, each in a process of its own. Nothing is measured, and a suite
// waits more than it computes. So one process for each processor runs at a time, and two in a quick run.
func (r *runner) conform(ctx context.Context) error {
	if !r.Conformance {
		return nil
	}
	together := r.Procs
	if r.Mode == record.Quick {
		together *= 2
	}
	r.Progress.Phase("conformance", len(r.rec.Impls))
	places, outs := make(chan struct{}, together), make([]chan outcome, len(r.rec.Impls))
	for i, impl := range r.rec.Impls {
		if _, ok := r.Speaks[impl.Name]; ok {
			r.Progress.Step(impl.Name, r.budgetLeft())
			continue
		}
		places <- struct{}{}
		r.Progress.Step(impl.Name, r.budgetLeft())
		outs[i] = make(chan outcome, 1)
		go func() {
			outs[i] <- r.suite(impl.Name).run(ctx)
			<-places
		}()
	}
	r.rec.Checks = nil
	for i, impl := range r.rec.Impls {
		if outs[i] == nil {
			continue
		}
		out := <-outs[i]
		if ctx.Err() != nil {
			continue // until all have ended
		}
		if out.err != nil {
			if err := r.failureLog("conformance of "+impl.Name, out.output); err != nil {
				return err
			}
		}
		r.rec.Checks = append(r.rec.Checks, r.conformity(impl.Name, out))
	}
	return ctx.Err()
}

// suite is the process that holds a contestant to the suite.
func (r *runner) suite(impl string) child {
	args := bench.ConformanceArgs(impl)
	if r.Mode == record.Quick {
		args = append(args, "-test.short")
	}
	c := r.child(args, nil)
	c.timeout *= 5
	// testing's own timeout is for the case that the runner dies before the suite.
	c.args = append(c.args, "-test.timeout="+(c.timeout+5*grace).String())
	return c
}

// conformity is what came of the suite.
func (r *runner) conformity(impl string, out outcome) record.Conformity {
	got := record.Conformity{Impl: impl, Checks: bench.ParseConformance(out.output, impl)}
	switch {
	case errors.Is(out.err, errHung):
		got.Note = out.err.Error()
	case len(got.Checks) == 0 && out.err != nil:
		got.Note = r.reason(out).Error()
	case len(got.Checks) == 0:
		got.Note = "not held to the suite"
	}
	if out.err != nil && len(got.Checks) > 0 && len(got.Failed()) == 0 {
		// Something other than a check has failed, such as a declared divergence from a check that does not exist.
		got.Checks = append(got.Checks, bench.Check{Name: "Suite", Outcome: bench.Fail, Reason: r.reason(out).Error()})
	}
	return got
}

// measure runs a cell the given number of times in a process of its own.
func (r *runner) measure(ctx context.Context, c *record.Cell, benchtime string, times int) ([]bench.Output, error) {
	if p, ok := r.Speaks[c.Impl]; ok {
		return p.measure(ctx, c, benchtime, times, r.Timeout)
	}
	out := r.child(bench.RunArgs(c.Target(), benchtime, times), nil).run(ctx)
	if out.err != nil {
		err := r.reason(out)
		if ctx.Err() == nil {
			err = errors.Join(err, r.failureLog(c.Name, out.output))
		}
		return nil, err
	}
	return bench.ParseOutput(out.output, c.Target(), times)
}

// child prepares a process that acts as a test binary of the benchmarks.
func (r *runner) child(args []string, onLine func(string, time.Time)) child {
	env := r.Env
	if env == nil {
		env = os.Environ()
	}
	return child{
		path: r.Bench, args: args, timeout: r.Timeout, onLine: onLine,
		env: append(slices.Clip(env), fmt.Sprintf("GOMAXPROCS=%d", r.Procs), bench.RoleVariable+"="+bench.Role),
	}
}

// reason makes one line of a process's end: what killed it, or else what its benchmark said last.
func (r *runner) reason(out outcome) error {
	var fatal, lastError string
	for line := range strings.Lines(out.output) {
		line = strings.TrimSpace(line)
		for _, mark := range []string{"panic: ", "fatal error: "} {
			if fatal == "" && strings.HasPrefix(line, mark) {
				fatal = line
			}
		}
		if pos, text, ok := strings.Cut(line, ": "); ok && strings.Contains(pos, ".go:") && !strings.Contains(pos, " ") {
			lastError = text
		}
	}
	if why := cmp.Or(fatal, lastError); why != "" && !errors.Is(out.err, errHung) {
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
