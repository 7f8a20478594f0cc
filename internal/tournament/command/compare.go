// tournament compare: two runs on the same machine, and whether a loop became slower.

package command

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/turnloop/turnloop/internal/tournament/environ"
	"github.com/turnloop/turnloop/internal/tournament/record"
	"github.com/turnloop/turnloop/internal/tournament/stats"
)

var errRegression = errors.New("the loop became slower")

const compareHelp = `usage: tournament compare [flags] OLD NEW

compares two runs of one machine, of ten rounds each or more: a loop as a whole, and figure by figure. Each figure is taken relative to
the control, or the reference, in the same round, so what slows the machine down does not count. It exits with
  0  the runs do not tell that anything is slower or larger
  1  something is
  2  the command line is wrong, or the runs cannot be compared

`

func compareCommand(_ context.Context, args []string, stdout, stderr *os.File) error {
	flags := flag.NewFlagSet("tournament compare", flag.ContinueOnError)
	flags.Usage = func() {
		fmt.Fprint(flags.Output(), compareHelp)
		flags.PrintDefaults()
	}
	force := flags.Bool("force", false, "compare although the machines differ")
	impl := flags.String("impl", "", "`loop` to compare (default: the one that the newer run is about)")
	if err := parse(flags, args, 2, stdout); err != nil {
		return err
	}
	var runs [2]*record.Run
	var tables [2]*stats.Table
	for i := range runs {
		if err := isRun(flags.Arg(i)); err != nil {
			return err
		}
		var err error
		if runs[i], tables[i], err = stats.LoadTable(flags.Arg(i)); err != nil {
			return usageError{err}
		}
	}
	if diff := environ.Differences(runs[0].Env, runs[1].Env); len(diff) > 0 {
		if !*force {
			return usagef("the runs were not made on the same machine (%s); timings of different machines say nothing about the code "+
				"(-force compares them all the same)", strings.Join(diff, "; "))
		}
		fmt.Fprintf(stderr, "warning: different machines (%s): the changes below say little about the code\n", strings.Join(diff, "; "))
	}
	c, err := stats.Compare(runs[0], runs[1], tables[0], tables[1], cmp.Or(*impl, runs[1].Roles.Subject))
	if err != nil {
		return usageError{err}
	}
	w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "figure\told\tnew\tnew to old\t95 %%\tbeside\t\n")
	for _, change := range c.Changes {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s×\t%s\t%s\t%s\n", change.Figure, stats.Format(change.Old, change.Unit), stats.Format(change.New, change.Unit),
			stats.Digits(change.Ratio), change.FormatInterval(), change.Beside, told(change.Verdict))
	}
	fmt.Fprintf(w, "geometric mean of %d\t\t\t%s×\t%s\t\t%s\n", len(c.Changes), stats.Digits(c.Mean.Ratio), c.Mean.FormatInterval(), told(c.Mean))
	if err := w.Flush(); err != nil {
		return err
	}
	if len(c.Missing) > 0 {
		fmt.Fprintf(stdout, "not in both runs: %s\n", strings.Join(c.Missing, ", "))
	}
	if c.Slower() {
		return errRegression
	}
	return nil
}

// told is a verdict in a word; what the runs do not tell has none.
func told(v stats.Verdict) string {
	switch {
	case v.Above():
		return "slower"
	case v.Below():
		return "faster"
	}
	return ""
}
