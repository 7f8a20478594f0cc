// tournament check: whether a run has left all that it should.

package command

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/turnloop/turnloop/internal/tournament/record"
	"github.com/turnloop/turnloop/internal/tournament/report"
	"github.com/turnloop/turnloop/internal/tournament/stats"
)

// checkCommand fails unless a run is complete, with every report, and each of its cells has a value in every round.
func checkCommand(_ context.Context, args []string, stdout, _ *os.File) error {
	flags := flag.NewFlagSet("tournament check", flag.ContinueOnError)
	if err := parse(flags, args, 1, stdout); err != nil {
		return err
	}
	dir := flags.Arg(0)
	if err := isRun(dir); err != nil {
		return err
	}
	run, table, err := stats.LoadTable(dir)
	if err != nil {
		return err
	}
	var faults []error
	if !run.Complete {
		faults = append(faults, errors.New("the run is not complete"))
	}
	for _, file := range []string{report.ResultsFile, report.PageFile, report.PictureFile, report.DataFile} {
		if info, err := os.Stat(filepath.Join(dir, file)); err != nil || info.Size() == 0 {
			faults = append(faults, fmt.Errorf("%s is missing or empty", file))
		}
	}
	whole, absent := 0, 0
	for _, c := range run.Cells {
		switch n := table.Count(c.Bench, c.Impl); {
		case c.NA != "" || run.Figure(c.Bench).LeftOut != "":
			absent++
		case n != run.Rounds:
			faults = append(faults, fmt.Errorf("%s: %d values in %d rounds %v", c.Name, n, run.Rounds, c.Failures))
		default:
			whole++
		}
	}
	for _, impl := range run.Impls {
		if impl.Lost != "" {
			faults = append(faults, fmt.Errorf("%s: %s", impl.Name, impl.Lost))
		}
	}
	if run.Rounds < record.FewestRounds {
		faults = append(faults, fmt.Errorf("%d rounds are fewer than %d", run.Rounds, record.FewestRounds))
	}
	fmt.Fprintf(stdout, "%d cells with %d values each, %d n/a or left out\n", whole, run.Rounds, absent)
	return errors.Join(faults...)
}
