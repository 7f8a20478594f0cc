// Command ab compares the stock benchmarks of two trees of this repository: "make ab". It interleaves the runs, so that what slows
// the machine for a while slows both, and measures the old tree twice: the difference of that control pair is what the machine
// alone can feign.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
)

const usage = `usage: ab [flags] REVISION

compares the benchmarks of the tree that the working directory is the top of with those of a revision. Each round runs each
benchmark in three processes, in random order: old, control (the old tree once more) and new. Stock benchstat reads the
files OUT/old.txt, OUT/control.txt and OUT/new.txt. It exits with
  0  no figure is shown to be worse by more than three per cent and by more than the control pair differs
  1  some figure is
  2  there is no verdict

`

// settings are what the command line says.
type settings struct {
	revision string
	packages []string
	bench    string
	rounds   int
	time     string
	out      string
}

func main() {
	var s settings
	flag.Usage = func() {
		fmt.Fprint(flag.CommandLine.Output(), usage)
		flag.PrintDefaults()
	}
	packages := flag.String("pkg", "./internal/tournament", "packages, by folder, with blanks between them")
	flag.StringVar(&s.bench, "bench", "/impl=main", "compare the benchmarks that this regular expression matches, as go test -bench does")
	flag.IntVar(&s.rounds, "rounds", 20, "rounds, at least ten")
	flag.StringVar(&s.time, "benchtime", "50ms", "time of one run, as of go test")
	flag.StringVar(&s.out, "out", "bin/ab", "folder for programs and results")
	flag.Parse()
	s.revision, s.packages = flag.Arg(0), strings.Fields(*packages)
	if flag.NArg() != 1 || s.rounds < leastRounds || len(s.packages) == 0 {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	worse, err := compare(ctx, s)
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "ab:", err)
		os.Exit(2)
	case worse:
		os.Exit(1)
	}
}

// compare builds both trees, runs the rounds and prints the table. It tells whether a figure has become worse.
func compare(ctx context.Context, s settings) (worse bool, err error) {
	out, err := filepath.Abs(s.out)
	if err != nil {
		return false, err
	}
	here, err := os.Getwd()
	if err != nil {
		return false, err
	}
	there, err := checkOut(ctx, s.revision, out)
	if err != nil {
		return false, err
	}
	var subjects []subject
	for _, name := range s.packages {
		sub := subject{folder: name}
		for side, top := range []string{there, here} {
			if sub.programs[side], err = build(ctx, top, name, filepath.Join(out, fmt.Sprintf("%d-%s.test", side, strings.ReplaceAll(filepath.Clean(name), "/", "_")))); err != nil {
				return false, err
			}
		}
		if err := sub.list(ctx, s.bench); err != nil {
			return false, err
		}
		subjects = append(subjects, sub)
	}
	figures, err := measure(ctx, s, out, subjects)
	if err != nil {
		return false, err
	}
	return show(os.Stdout, figures), nil
}
