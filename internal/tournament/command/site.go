// tournament site: several runs on one page.

package command

import (
	"context"
	"flag"
	"fmt"
	"os"

	"github.com/turnloop/turnloop/internal/tournament/report"
)

const defaultSite = "results/index.html"

func siteCommand(_ context.Context, args []string, stdout, _ *os.File) error {
	flags := flag.NewFlagSet("tournament site", flag.ContinueOnError)
	out := flags.String("out", defaultSite, "`file` for the page")
	if err := parseFlags(flags, args, stdout); err != nil {
		return err
	}
	if flags.NArg() == 0 {
		return usagef("takes the folders of one or more runs")
	}
	for _, dir := range flags.Args() {
		if err := isRun(dir); err != nil {
			return err
		}
	}
	if err := writable(*out); err != nil {
		return usagef("-out: %v", err)
	}
	if err := report.WriteGallery(*out, flags.Args()); err != nil {
		return err
	}
	fmt.Fprintln(stdout, *out)
	return nil
}
