// tournament compare: two runs on the same machine, and whether anything became slower.

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"text/tabwriter"

	"github.com/turnloop/turnloop/internal/tournament/stats"
)

var errRegression = errors.New("significant regression")

func compareCommand(_ context.Context, args []string, stdout, stderr *os.File) error {
	flags := flag.NewFlagSet("tournament compare", flag.ContinueOnError)
	force := flags.Bool("force", false, "compare although the machines differ")
	impl := flags.String("impl", "", "compare only contestants whose name matches the `regexp`, such as ^main$")
	all := flags.Bool("all", false, "list also what did not change or cannot be compared")
	if err := parse(flags, args, 2, stdout); err != nil {
		return err
	}
	impls, err := regexp.Compile(*impl)
	if err != nil {
		return usagef("-impl: %v", err)
	}
	var runs [2]*stats.Analysis
	for i := range runs {
		if err := isRun(flags.Arg(i)); err != nil {
			return err
		}
		if runs[i], err = stats.Load(flags.Arg(i)); err != nil {
			return usageError{err}
		}
	}
	if diff := stats.Machines(runs[0].Run, runs[1].Run); len(diff) > 0 {
		if !*force {
			return usagef("the runs were not made on the same machine (%s); timings of different machines say nothing about the code "+
				"(-force compares them all the same)", strings.Join(diff, "; "))
		}
		fmt.Fprintf(stderr, "warning: different machines (%s): the changes below say little about the code\n", strings.Join(diff, "; "))
	}
	c := stats.Compare(runs[0], runs[1], impls)
	for _, w := range c.Warnings {
		fmt.Fprintln(stderr, "warning:", w)
	}
	if len(c.Deltas) == 0 {
		return usagef("the runs have no figure in common")
	}
	if err := writeComparison(stdout, c, *all); err != nil {
		return err
	}
	if c.Regressions() > 0 {
		return errRegression
	}
	return nil
}

// writeComparison prints the table and what it comes to.
func writeComparison(out io.Writer, c stats.Comparison, all bool) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	faster, slower, headed := 0, 0, false
	for _, d := range c.Deltas {
		switch d.Verdict {
		case stats.Faster:
			faster++
		case stats.Slower:
			slower++
		}
		if d.Verdict == stats.Same && !all {
			continue
		}
		if !headed {
			headed = true
			fmt.Fprintln(w, "benchmark\tunit\tloop\told\tnew\tchange\tp\t")
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%+.1f %%\t%.2g\t%s\n", d.Bench, d.Unit, d.Impl, figure(d.Old, d.Unit), figure(d.New, d.Unit),
			d.Change*100, d.P, d.Verdict)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if len(c.Missing) > 0 && !all {
		fmt.Fprintf(out, "%d figures are only in one of the runs (-all lists them)\n", len(c.Missing))
	}
	for _, m := range c.Missing {
		if all {
			fmt.Fprintln(out, "not compared:", m)
		}
	}
	_, err := fmt.Fprintf(out, "%d figures: %d faster, %d slower, %d unchanged beyond chance (Mann-Whitney, corrected for %d comparisons) and the noise floor of %s\n",
		len(c.Deltas), faster, slower, len(c.Deltas)-faster-slower, len(c.Deltas), stats.FormatPercent(c.Floor))
	return err
}

func figure(i stats.Interval, unit string) string {
	return stats.Format(i.Center, unit) + " " + stats.FormatRange(i)
}
