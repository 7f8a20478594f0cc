// tournament compare: two runs on the same machine, and whether anything became slower.

package command

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"regexp"
	"strings"
	"text/tabwriter"

	"github.com/turnloop/turnloop/internal/tournament/record"
	"github.com/turnloop/turnloop/internal/tournament/stats"
)

var (
	errRegression = errors.New("significant regression")
	errBlind      = errors.New("the comparison could not have seen even a doubling; take more rounds")
)

const compareHelp = `usage: tournament compare [flags] OLD NEW

compares two runs of one machine: each contestant as a whole, by category, and figure by figure. Times are taken within each
round relative to the contestants that are taken to be unchanged (by default the reference and the controls), so that
what slows the machine down does not count. It exits with
  0  nothing is slower, larger or lost, and the smallest slowdown that would have been seen is printed
  1  something is
  2  the command line is wrong, a folder holds no sound run, or the runs are of different machines
  3  the runs are too short to see anything: not even a doubling would have been found

`

func compareCommand(_ context.Context, args []string, stdout, stderr *os.File) error {
	flags := flag.NewFlagSet("tournament compare", flag.ContinueOnError)
	flags.Usage = func() {
		fmt.Fprint(flags.Output(), compareHelp)
		flags.PrintDefaults()
	}
	force := flags.Bool("force", false, "compare although the machines differ")
	impl := flags.String("impl", "", "compare only contestants whose name matches the `regexp`, such as ^main$")
	unchanged := flags.String("unchanged", "", "take contestants that match the `regexp` to be unchanged (default: the reference and the controls; "+
		"^$ compares times by the clock)")
	all := flags.Bool("all", false, "list also what did not change or cannot be compared")
	if err := parse(flags, args, 2, stdout); err != nil {
		return err
	}
	impls, err := regexp.Compile(*impl)
	if err != nil {
		return usagef("-impl: %v", err)
	}
	var still *regexp.Regexp
	if *unchanged != "" {
		if still, err = regexp.Compile(*unchanged); err != nil {
			return usagef("-unchanged: %v", err)
		}
	}
	var runs [2]*stats.Analysis
	for i := range runs {
		if err := isRun(flags.Arg(i)); err != nil {
			return err
		}
		if runs[i], err = stats.Load(flags.Arg(i)); err != nil {
			return usageError{err}
		}
		warnOfLacks(stderr, flags.Arg(i), runs[i].Run)
	}
	if diff := stats.Machines(runs[0].Run, runs[1].Run); len(diff) > 0 {
		if !*force {
			return usagef("the runs were not made on the same machine (%s); timings of different machines say nothing about the code "+
				"(-force compares them all the same)", strings.Join(diff, "; "))
		}
		fmt.Fprintf(stderr, "warning: different machines (%s): the changes below say little about the code\n", strings.Join(diff, "; "))
	}
	c := stats.Compare(runs[0], runs[1], impls, still)
	for _, w := range c.Warnings {
		fmt.Fprintln(stderr, "warning:", w)
	}
	if len(c.Deltas) == 0 {
		return usagef("the runs have no figure in common")
	}
	if err := writeComparison(stdout, c, *all); err != nil {
		return err
	}
	switch {
	case c.Regressions() > 0:
		return errRegression
	case c.Blind():
		return errBlind
	}
	return nil
}

// warnOfLacks says what a run does not say of itself.
func warnOfLacks(stderr io.Writer, dir string, run *record.Run) {
	if lacks := run.Lacks(); len(lacks) > 0 {
		fmt.Fprintf(stderr, "warning: %s does not say %s, so this cannot be checked\n", dir, strings.Join(lacks, ", nor "))
	}
}

// writeComparison prints the means, the tables of what changed, and what it comes to.
func writeComparison(out io.Writer, c stats.Comparison, all bool) error {
	by := "by the clock"
	if len(c.Unchanged) > 0 {
		by = "relative to " + strings.Join(c.Unchanged, ", ") + " in the same round"
	}
	fmt.Fprintf(out, "times %s\n", by)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	if len(c.Overall) > 0 {
		fmt.Fprintln(w, "loop\tfigures\tgeometric mean\tp\t\tsees from")
		for _, d := range c.Overall {
			fmt.Fprintf(w, "%s\t%d\t%+.1f %%\t%.2g\t%s\t%s\n", d.Impl, d.Figures, d.Change*100, d.P, d.Verdict, least(d.Sees()))
		}
	}
	if len(c.Categories) > 0 {
		headed := false
		for _, d := range c.Categories {
			if d.Verdict == stats.Same && !all {
				continue
			}
			if !headed {
				headed = true
				fmt.Fprintln(w, "\ncategory\tloop\tfigures\tgeometric mean\tp\t\tsees from")
			}
			fmt.Fprintf(w, "%s\t%s\t%d\t%+.1f %%\t%.2g\t%s\t%s\n", d.Category, d.Impl, d.Figures, d.Change*100, d.P, d.Verdict, least(d.Sees()))
		}
	}
	headed := false
	for _, d := range c.Deltas {
		if d.Verdict == stats.Same && !all {
			continue
		}
		if !headed {
			headed = true
			fmt.Fprintln(w, "\nbenchmark\tunit\tloop\told\tnew\tchange\tp\t")
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
	for _, family := range []struct {
		deltas []stats.Delta
		noun   string
		floor  float64
	}{
		{c.Overall, "contestants as a whole", c.MeanFloor}, {c.Categories, "means by category", c.MeanFloor}, {c.Deltas, "figures", c.Floor},
	} {
		faster, slower := 0, 0
		for _, d := range family.deltas {
			switch d.Verdict {
			case stats.Faster:
				faster++
			case stats.Slower:
				slower++
			}
		}
		fmt.Fprintf(out, "%d %s: %d faster, %d slower, %d unchanged beyond chance (Mann-Whitney, corrected for %d comparisons) and noise of %s; %s\n",
			len(family.deltas), family.noun, faster, slower, len(family.deltas)-faster-slower, len(family.deltas),
			stats.FormatPercent(family.floor), sensitivity(family.deltas))
	}
	return nil
}

// sensitivity says which slowdowns would have been found nine times in ten.
func sensitivity(family []stats.Delta) string {
	best, unseen, timed := stats.Delta{}, 0, 0
	smallest := math.Inf(1)
	for _, d := range family {
		if !stats.IsTime(d.Unit) {
			continue
		}
		timed++
		switch sees := d.Sees(); {
		case sees > stats.Blind:
			unseen++
		case sees < smallest:
			smallest, best = sees, d
		}
	}
	if math.IsInf(smallest, 1) {
		return "no slowdown up to a doubling would have been seen"
	}
	where := strings.Trim(best.Impl+", "+cmp.Or(best.Bench, best.Category), ", ")
	s := fmt.Sprintf("sees slowdowns from %s (%s)", least(smallest), where)
	if unseen > 0 {
		s += fmt.Sprintf(", in %d of %d none up to a doubling", unseen, timed)
	}
	return s
}

// least writes the smallest slowdown that is seen.
func least(sees float64) string {
	if sees > stats.Blind {
		return "none up to a doubling"
	}
	return stats.FormatPercent(sees)
}

func figure(i stats.Interval, unit string) string {
	return stats.Format(i.Center, unit) + " " + stats.FormatRange(i)
}
