// tournament report: everything that can be computed from a run.

package command

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/turnloop/turnloop/internal/tournament/record"
	"github.com/turnloop/turnloop/internal/tournament/report"
)

func reportCommand(_ context.Context, args []string, stdout, _ *os.File) error {
	flags := flag.NewFlagSet("tournament report", flag.ContinueOnError)
	results := flags.String("results", "", "`file` for the report besides the one in DIR; empty: none")
	if err := parse(flags, args, 1, stdout); err != nil {
		return err
	}
	if err := isRun(flags.Arg(0)); err != nil {
		return err
	}
	return publish(flags.Arg(0), *results, stdout)
}

// isRun refuses a folder that holds no run.
func isRun(dir string) error {
	for _, name := range []string{record.RunFile, record.RawFile} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return usagef("%s holds no run: %v", dir, err)
		}
	}
	return nil
}

// publish writes the reports and says where they are and what they say.
func publish(dir, results string, stdout *os.File) error {
	verdict, err := report.Write(dir, results)
	if err != nil {
		return err
	}
	fmt.Fprint(stdout, verdict)
	for _, path := range []string{results, filepath.Join(dir, report.ResultsFile), filepath.Join(dir, report.PageFile)} {
		if path != "" {
			fmt.Fprintln(stdout, path)
		}
	}
	return nil
}
