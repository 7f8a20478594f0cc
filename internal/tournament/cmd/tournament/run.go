// tournament run: flags, the binary, the measurement, and the reports.

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/turnloop/turnloop/internal/tournament"
	"github.com/turnloop/turnloop/internal/tournament/record"
	"github.com/turnloop/turnloop/internal/tournament/runner"
)

// runFlags are the flags of tournament run.
type runFlags struct {
	cfg       runner.Config
	results   string
	benchPath string
	commit    string
	command   string
	dirty     bool
}

func runCommand(ctx context.Context, args []string, stdout, stderr *os.File) error {
	f, err := parseRun(args, stdout)
	if err != nil {
		return err
	}
	cfg := &f.cfg
	if cfg.Bench, err = f.binary(ctx, stderr); err != nil {
		return err
	}
	if f.benchPath == "" {
		defer os.Remove(cfg.Bench)
	}
	cfg.Source = f.source(ctx)
	cfg.Impls, cfg.Benchmarks = catalogue()
	cfg.Command = commandLine(cfg, f)
	cfg.Progress = runner.NewProgress(stderr)
	if _, err := runner.Run(ctx, *cfg); err != nil {
		return err
	}
	return publish(cfg.Out, f.results, stdout)
}

// The defaults that the command line to repeat a run leaves out.
const (
	defaultOut     = "results/native"
	defaultResults = "RESULTS.md"
	defaultTimeout = time.Minute
)

func parseRun(args []string, stdout *os.File) (*runFlags, error) {
	f := &runFlags{}
	cfg := &f.cfg
	flags := flag.NewFlagSet("tournament run", flag.ContinueOnError)
	flags.StringVar(&cfg.Mode, "mode", record.Full, "`full` or quick; quick is a glance, and every report says so")
	flags.DurationVar(&cfg.Budget, "budget", 0, "wall-clock `time` to aim for, without the build (default 10m, quick 1m)")
	flags.IntVar(&cfg.Rounds, "rounds", 0, "`number` of rounds (default 10, quick 8; fewer than 6 give no intervals)")
	flags.StringVar(&cfg.Out, "out", defaultOut, "`folder` for the results")
	flags.StringVar(&cfg.Name, "name", "", "`name` of the run in reports (default: the last element of -out)")
	flags.StringVar(&f.results, "results", defaultResults, "`file` for the report besides the one in -out; empty: none")
	flags.StringVar(&f.benchPath, "bench", "", "prebuilt benchmark `binary` (default: built with go test -c)")
	flags.StringVar(&cfg.Filter, "filter", "", "measure only cells whose name matches the `regexp`, such as BenchmarkTimer/impl=(main|baseline)/")
	flags.BoolVar(&cfg.Fresh, "fresh", false, "start anew instead of resuming an interrupted run")
	flags.BoolVar(&cfg.Conformance, "conformance", true, "run the conformance suite first")
	flags.IntVar(&cfg.Procs, "cpu", 0, "GOMAXPROCS of the cells (default: as the runtime chooses here)")
	flags.Uint64Var(&cfg.Seed, "seed", 0, "`seed` of the shuffles (default: random, recorded)")
	flags.DurationVar(&cfg.Timeout, "timeout", defaultTimeout, "`time` after which a cell counts as hung")
	flags.StringVar(&f.commit, "commit", "", "`commit` of the binary (default: that of this folder; with -bench: unknown)")
	flags.StringVar(&f.command, "command", "", "`command` that reports name as the way to repeat the run (default: this one)")
	flags.BoolVar(&f.dirty, "dirty", false, "there were changes on top of -commit")
	if err := parse(flags, args, 0, stdout); err != nil {
		return nil, err
	}
	given := map[string]bool{}
	flags.Visit(func(fl *flag.Flag) { given[fl.Name] = true })
	return f, f.complete(given)
}

// crowd is how many threads per processor may still be meant; beyond that only the scheduler would be measured.
const crowd = 4

// complete fills in defaults and refuses what makes no sense.
func (f *runFlags) complete(given map[string]bool) error {
	cfg := &f.cfg
	budget, rounds := 10*time.Minute, 10
	switch cfg.Mode {
	case record.Full:
	case record.Quick:
		// With fewer rounds no rank test on a few hundred comparisons could ever be significant.
		budget, rounds = time.Minute, 8
	default:
		return usagef("-mode is full or quick, not %q", cfg.Mode)
	}
	if !given["budget"] {
		cfg.Budget = budget
	}
	if !given["rounds"] {
		cfg.Rounds = rounds
	}
	if !given["cpu"] {
		cfg.Procs = runtime.GOMAXPROCS(0)
	}
	if cfg.Name == "" {
		cfg.Name = filepath.Base(cfg.Out)
	}
	switch {
	case cfg.Budget <= 0:
		return usagef("-budget is not positive")
	case cfg.Rounds < 1:
		return usagef("-rounds is less than 1")
	case cfg.Procs < 1:
		return usagef("-cpu is less than 1")
	case given["cpu"] && cfg.Procs > crowd*runtime.NumCPU():
		return usagef("-cpu is more than %d times the %d processors here", crowd, runtime.NumCPU())
	case cfg.Timeout <= 0:
		return usagef("-timeout is not positive")
	case f.dirty && f.commit == "":
		return usagef("-dirty says something about -commit, which is not given")
	}
	if _, err := regexp.Compile(cfg.Filter); err != nil {
		return usagef("-filter: %v", err)
	}
	if f.benchPath != "" {
		if info, err := os.Stat(f.benchPath); err != nil {
			return usagef("-bench: %v", err)
		} else if info.IsDir() {
			return usagef("-bench: %s is a folder", f.benchPath)
		}
	}
	if err := writable(f.results); err != nil {
		return usagef("-results: %v", err)
	}
	return nil
}

// writable tells, before anything is measured, whether a report can be written to path.
func writable(path string) error {
	if path == "" {
		return nil
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a file", path)
	}
	// Reports replace their file whole, so what counts is whether the folder takes a new one.
	probe, err := os.CreateTemp(filepath.Dir(path), ".tournament-*")
	if err != nil {
		return err
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// source returns the commit that the binary stands for. Of a prebuilt one the current folder knows nothing.
func (f *runFlags) source(ctx context.Context) record.Source {
	if f.commit == "" && f.benchPath == "" {
		return runner.GitSource(ctx)
	}
	return record.Source{Commit: f.commit, Dirty: f.dirty}
}

// binary returns the absolute path of the benchmark binary, which it builds unless one is given.
func (f *runFlags) binary(ctx context.Context, stderr *os.File) (string, error) {
	if f.benchPath != "" {
		return filepath.Abs(f.benchPath)
	}
	file, err := os.CreateTemp("", "tournament-*.test")
	if err != nil {
		return "", err
	}
	if err := file.Close(); err != nil {
		return "", err
	}
	fmt.Fprintln(stderr, "building the benchmark binary")
	if err := runner.Build(ctx, file.Name()); err != nil {
		return "", errors.Join(err, os.Remove(file.Name()))
	}
	return file.Name(), nil
}

// catalogue returns who competes in what, as package tournament says.
func catalogue() (impls []record.Impl, benchmarks []record.Benchmark) {
	for _, c := range tournament.Contestants() {
		impls = append(impls, record.Impl{Name: c.Name, Ranked: c.Ranked, About: c.Philosophy, Note: c.Note})
	}
	for _, b := range tournament.Benchmarks() {
		benchmarks = append(benchmarks, record.Benchmark{
			Name: b.Name, Category: b.Category, Units: b.Units, Op: b.Op, Measures: b.Measures, Why: b.Why, Unscored: b.Unscored,
			Quick: b.Quick,
		})
	}
	return impls, benchmarks
}

// commandLine is how to repeat the run: every flag that is not its default, and the seed is left to chance again.
func commandLine(cfg *runner.Config, f *runFlags) string {
	if f.command != "" {
		return f.command
	}
	words := []string{"go run ./internal/tournament/cmd/tournament run"}
	if f.benchPath != "" {
		words = []string{"tournament run -bench " + filepath.Base(f.benchPath)}
	}
	add := func(name, value string) {
		if strings.ContainsAny(value, " |()*$^\\?&;<>'\"") {
			value = "'" + strings.ReplaceAll(value, "'", `'\''`) + "'"
		}
		words = append(words, "-"+name+"="+value)
	}
	add("mode", cfg.Mode)
	add("budget", cfg.Budget.String())
	add("rounds", strconv.Itoa(cfg.Rounds))
	add("cpu", strconv.Itoa(cfg.Procs))
	if cfg.Out != defaultOut {
		add("out", cfg.Out)
	}
	if f.results != defaultResults {
		add("results", f.results)
	}
	if cfg.Name != filepath.Base(cfg.Out) {
		add("name", cfg.Name)
	}
	if cfg.Timeout != defaultTimeout {
		add("timeout", cfg.Timeout.String())
	}
	if cfg.Filter != "" {
		add("filter", cfg.Filter)
	}
	if !cfg.Conformance {
		add("conformance", "false")
	}
	return strings.Join(words, " ")
}
