package runner

// The cells: which there are, how one is measured, and the suite that each contestant is held to.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/turnloop/turnloop/internal/tournament/bench"
	"github.com/turnloop/turnloop/internal/tournament/record"
)

// prepare makes the list of cells, and learns what the binary says of itself.
func (r *runner) prepare(ctx context.Context) error {
	filter, err := regexp.Compile(r.Filter)
	if err != nil {
		return err
	}
	empty := r.child(bench.RunArgs("none", 1)).run(ctx)
	if empty.err != nil {
		return fmt.Errorf("the program that has the benchmarks does not start: %w\n%s", empty.err, empty.output)
	}
	cells := slices.Clone(r.Cells)
	for i, impl := range r.rec.Impls {
		p, ok := r.Speaks[impl.Name]
		if !ok {
			continue
		}
		names, err := p.list(ctx, r.Timeout)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil { // the run goes on without it
			r.rec.Impls[i].Lost = fmt.Sprintf("asked for what it has: %v", err)
			r.Progress.Say("%s is lost: %s", impl.Name, r.rec.Impls[i].Lost)
		}
		for _, name := range names {
			cells = append(cells, bench.Cell{Name: bench.CellName(name, impl.Name), Bench: name, Impl: impl.Name})
		}
	}
	r.rec.Cells = nil
	for _, figure := range r.rec.Figures {
		for _, c := range cells {
			if c.Bench == figure.Name && filter.MatchString(c.Name) {
				r.rec.Cells = append(r.rec.Cells, record.Cell{Cell: c})
			}
		}
	}
	if len(r.rec.Cells) == 0 {
		return errors.New("no figure matches")
	}
	// Who or what a filter leaves nothing of is no part of the run, and does not count as missing.
	r.rec.Impls = slices.DeleteFunc(slices.Clone(r.rec.Impls), func(impl record.Impl) bool {
		return impl.Lost == "" && !slices.ContainsFunc(r.rec.Cells, func(c record.Cell) bool { return c.Impl == impl.Name })
	})
	r.rec.Figures = slices.DeleteFunc(slices.Clone(r.rec.Figures), func(f record.Figure) bool {
		return !slices.ContainsFunc(r.rec.Cells, func(c record.Cell) bool { return c.Bench == f.Name })
	})
	if r.head = bench.ConfigLines(empty.output); len(r.head) == 0 {
		r.head = []string{"goos: " + r.rec.Env.GOOS, "goarch: " + r.rec.Env.GOARCH, "cpu: " + r.rec.Env.CPU}
	}
	r.pair()
	return nil
}

// pair adds a second label for one ranked contestant in some figures, in turns. Whatever is told of the two labels is told wrongly.
func (r *runner) pair() {
	const every = 6
	turn := 0
	for i := 0; i < len(r.rec.Figures); i += every {
		var able []record.Cell
		for _, c := range r.rec.Cells {
			if c.Bench == r.rec.Figures[i].Name && r.rec.Impl(c.Impl).Ranked {
				able = append(able, c)
			}
		}
		if len(able) == 0 {
			continue
		}
		c := able[turn%len(able)]
		turn++
		c.Of, c.Impl = c.Impl, c.Impl+record.Again
		c.Name = bench.WithImpl(c.Name, c.Impl)
		r.rec.Cells = append(r.rec.Cells, c)
	}
}

// measure runs a cell in a process of its own, and refuses what it cannot have measured.
func (r *runner) measure(ctx context.Context, c *record.Cell) (bench.Output, error) {
	figure := r.rec.Figure(c.Bench)
	if p, ok := r.Speaks[c.Impl]; ok {
		return p.measure(ctx, c.Target(), c.Bench, figure, r.Timeout)
	}
	got := r.child(bench.RunArgs(c.Target(), figure.Window)).run(ctx)
	if got.err != nil {
		err := r.reason(got)
		if ctx.Err() == nil {
			err = errors.Join(err, r.failureLog(c.Name, got.output))
		}
		return bench.Output{}, err
	}
	out, err := bench.ParseOutput(got.output, c.Target())
	if err != nil {
		return out, err
	}
	return out, out.Sane(figure.Unit, got.wall)
}

// child prepares a process that acts as a test binary of the benchmarks.
func (r *runner) child(args []string) child {
	env := r.Env
	if env == nil {
		env = os.Environ()
	}
	return child{
		path: r.Bench, args: args, timeout: r.Timeout,
		env: append(slices.Clip(env), fmt.Sprintf("GOMAXPROCS=%d", r.Procs), bench.RoleVariable+"="+bench.Role),
	}
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
	var held []string
	for _, impl := range r.rec.Impls {
		if impl.Ranked {
			held = append(held, impl.Name)
		}
	}
	r.Progress.Phase("conformance", len(held))
	places, outs := make(chan struct{}, together), make([]chan outcome, len(held))
	for i, impl := range held {
		places <- struct{}{}
		r.Progress.Step(impl, max(r.Budget, r.Aim))
		outs[i] = make(chan outcome, 1)
		go func() {
			outs[i] <- r.suite(impl).run(ctx)
			<-places
		}()
	}
	r.rec.Checks = nil
	for i, impl := range held {
		out := <-outs[i]
		if ctx.Err() != nil {
			continue // until all have ended
		}
		if out.err != nil {
			if err := r.failureLog("conformance of "+impl, out.output); err != nil {
				return err
			}
		}
		r.rec.Checks = append(r.rec.Checks, r.conformity(impl, out))
	}
	return ctx.Err()
}

// suite is the process that holds a contestant to the suite.
func (r *runner) suite(impl string) child {
	args := bench.ConformanceArgs(impl)
	if r.Mode == record.Quick {
		args = append(args, "-test.short")
	}
	c := r.child(args)
	c.timeout *= 5
	// testing's own timeout is for the case that the runner dies before the suite.
	c.args = append(c.args, "-test.timeout="+(c.timeout+5*grace).String())
	return c
}

// conformity is what came of the suite.
func (r *runner) conformity(impl string, out outcome) record.Conformity {
	got := record.Conformity{Impl: impl, Checks: bench.ParseConformance(out.output, impl)}
	got.Hold(r.Checks)
	if out.err != nil {
		got.Note = r.reason(out).Error()
		if len(got.Failed()) == 0 {
			// Something other than a check has failed, such as a declared divergence from a check that does not exist.
			got.Checks = append(got.Checks, bench.Check{Name: "Suite", Outcome: bench.Fail, Reason: got.Note})
		}
	}
	return got
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

// relabel writes a result line under the control pair's second label.
func relabel(line string, c *record.Cell) string {
	name, rest, _ := strings.Cut(line, "\t")
	padded := strings.TrimRight(name, " ")
	return bench.WithImpl(padded, c.Impl) + name[len(padded):] + "\t" + rest
}
