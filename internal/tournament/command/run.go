// tournament run: flags, the measurement, and the reports.

package command

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/turnloop/turnloop/internal/tournament"
	"github.com/turnloop/turnloop/internal/tournament/record"
	"github.com/turnloop/turnloop/internal/tournament/runner"
)

// runFlags are the flags of tournament run.
type runFlags struct {
	cfg      runner.Config
	results  string
	commit   string
	command  string
	dirty    bool
	programs programs
	given    programs // the entrants in other languages that flags name
	worlds   string   // the folder of further ones
}

func (p program) run(ctx context.Context, args []string, stdout, stderr *os.File) error {
	f, err := parseRun(args, stdout)
	if err != nil {
		return err
	}
	cfg := &f.cfg
	if cfg.Bench, err = os.Executable(); err != nil {
		return err
	}
	field, err := p.field.WithPrograms(f.programs)
	if err != nil {
		return usageError{err}
	}
	cfg.Source = f.source(ctx)
	cfg.Roles = field.Roles
	describe(cfg, field)
	cfg.Command = commandLine(cfg, f, p.invocation)
	cfg.Progress = runner.NewProgress(stderr)
	if cfg.Filter != "" && !cfg.Conformance {
		cfg.Progress.Say("a run with a filter leaves out the conformance suite; -conformance asks for it")
	}
	if _, err := runner.Run(ctx, *cfg); err != nil {
		return err
	}
	return publish(cfg.Out, f.results, stdout)
}

// programs are entrants that speak the line protocol, as NAME=COMMAND.
type programs []tournament.Program

func (p *programs) String() string {
	words := make([]string, len(*p))
	for i, program := range *p {
		words[i] = program.Name + "=" + strings.Join(program.Args, " ")
	}
	return strings.Join(words, ",")
}

// with adds the executable files of a folder.
func (p programs) with(folder string) (programs, error) {
	if folder == "" {
		return p, nil
	}
	files, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	p = slices.Clip(p)
	for _, file := range files {
		info, err := file.Info()
		if err != nil {
			return nil, err
		}
		if !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
			continue
		}
		path := filepath.Join(folder, file.Name())
		if !filepath.IsAbs(path) {
			path = "." + string(filepath.Separator) + path // or exec would look in $PATH
		}
		name := strings.TrimSuffix(file.Name(), filepath.Ext(file.Name()))
		p = append(p, tournament.Program{Name: name, Philosophy: "another world: " + name, Args: []string{path}})
	}
	return p, nil
}

func (p *programs) Set(text string) error {
	name, command, ok := strings.Cut(text, "=")
	if args := strings.Fields(command); ok && len(args) > 0 {
		*p = append(*p, tournament.Program{Name: name, Args: args})
		return nil
	}
	return errors.New("want NAME=COMMAND")
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
	flags.DurationVar(&cfg.Budget, "budget", 0, "wall-clock `time` that a run must not take much longer than: figures are left out for it (default: none is; rounds, from 10 on, fill ten minutes)")
	flags.IntVar(&cfg.Asked, "rounds", 0, "`number` of rounds, at least 10 (default: as many as there is time for; quick 10)")
	flags.StringVar(&cfg.Out, "out", defaultOut, "`folder` for the results")
	flags.StringVar(&cfg.Name, "name", "", "`name` of the run in reports (default: the last element of -out)")
	flags.StringVar(&f.results, "results", "", "`file` for the report besides the one in -out; empty: none (default "+defaultResults+", none in quick mode and with -filter)")
	flags.Var(&f.programs, "program", "`NAME=COMMAND` of a program that speaks the line protocol, shown beside the ranking; may be repeated")
	flags.StringVar(&f.worlds, "programs", "", "`folder` whose executable files are such programs, each under its own name")
	flags.StringVar(&cfg.Filter, "filter", "", "measure only cells whose name matches the `regexp`, such as BenchmarkTimer/impl=(main|baseline)/")
	flags.BoolVar(&cfg.Fresh, "fresh", false, "start anew instead of resuming an interrupted run")
	flags.BoolVar(&cfg.Conformance, "conformance", true, "run the conformance suite first (default with -filter: false)")
	flags.IntVar(&cfg.Procs, "cpu", 0, "GOMAXPROCS of the cells (default: as the runtime chooses here)")
	flags.Uint64Var(&cfg.Seed, "seed", 0, "`seed` of the shuffles (default: random, recorded)")
	flags.DurationVar(&cfg.Timeout, "timeout", defaultTimeout, "`time` after which a cell counts as hung")
	flags.StringVar(&f.commit, "commit", "", "`commit` of the program (default: that of this folder)")
	flags.StringVar(&f.command, "command", "", "`command` that reports name as the way to repeat the run (default: this one)")
	flags.BoolVar(&f.dirty, "dirty", false, "there were changes on top of -commit")
	if err := parse(flags, args, 0, stdout); err != nil {
		return nil, err
	}
	given := map[string]bool{}
	flags.Visit(func(fl *flag.Flag) { given[fl.Name] = true })
	return f, f.complete(given)
}

// crowd is the most threads per processor that a run accepts: with more, it would measure only the scheduler.
const crowd = 4

// complete fills in defaults and refuses what makes no sense.
func (f *runFlags) complete(given map[string]bool) error {
	cfg := &f.cfg
	switch cfg.Mode {
	case record.Full:
		cfg.Aim = 10*time.Minute + 30*time.Second
	case record.Quick:
		if !given["rounds"] {
			cfg.Asked = record.FewestRounds
		}
	default:
		return usagef("-mode is full or quick, not %q", cfg.Mode)
	}
	if !given["cpu"] {
		cfg.Procs = runtime.GOMAXPROCS(0)
	}
	if cfg.Filter != "" && !given["conformance"] {
		cfg.Conformance = false
	}
	if !given["results"] {
		f.results = resultsByDefault(cfg)
	}
	if cfg.Name == "" {
		cfg.Name = filepath.Base(cfg.Out)
	}
	switch {
	case given["budget"] && cfg.Budget <= 0:
		return usagef("-budget is not positive")
	case cfg.Asked != 0 && cfg.Asked < record.FewestRounds || given["rounds"] && cfg.Asked == 0:
		return usagef("-rounds is less than %d, and fewer tell too little", record.FewestRounds)
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
	var err error
	f.given = f.programs
	if f.programs, err = f.programs.with(f.worlds); err != nil {
		return usagef("-programs: %v", err)
	}
	cfg.Programs = f.programs.String()
	if err := writable(f.results); err != nil {
		return usagef("-results: %v", err)
	}
	return nil
}

// resultsByDefault is where the report goes besides the folder of results. A part of a tournament, or a glance at it, does not
// take the place of a report on all of it.
func resultsByDefault(cfg *runner.Config) string {
	if cfg.Mode == record.Quick || cfg.Filter != "" {
		return ""
	}
	return defaultResults
}

// writable tells, before anything is measured, whether a report can be written to path.
func writable(path string) error {
	if path == "" {
		return nil
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a file", path)
	}
	// A report replaces its file by a new one, so the folder has to be writable, and not the file.
	probe, err := os.CreateTemp(filepath.Dir(path), ".tournament-*")
	if err != nil {
		return err
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// source returns the commit that the program stands for.
func (f *runFlags) source(ctx context.Context) record.Source {
	if f.commit == "" {
		return runner.GitSource(ctx)
	}
	return record.Source{Commit: f.commit, Dirty: f.dirty}
}

// describe says who competes in what.
func describe(cfg *runner.Config, field tournament.Field) {
	cfg.Cells, cfg.Checks = field.Cells(), tournament.Requirements()
	cfg.Speaks = map[string]runner.Program{}
	for _, c := range field.Contestants {
		cfg.Impls = append(cfg.Impls, record.Impl{Name: c.Name, Ranked: c.Ranked, About: c.Philosophy})
		if len(c.Program) > 0 {
			cfg.Speaks[c.Name] = runner.Program{Args: c.Program}
		}
	}
	for _, figure := range tournament.Figures() {
		// A filter says itself what to look at.
		if cfg.Mode == record.Full || figure.Quick || cfg.Filter != "" {
			cfg.Figures = append(cfg.Figures, figure.Figure)
		}
	}
}

// commandLine returns the command that repeats the run: with every flag that is not its default, but without the seed.
func commandLine(cfg *runner.Config, f *runFlags, invocation string) string {
	if f.command != "" {
		return f.command
	}
	words := []string{invocation + " run"}
	add := func(name, value string) {
		if strings.ContainsAny(value, " |()*$^\\?&;<>'\"") {
			value = "'" + strings.ReplaceAll(value, "'", `'\''`) + "'"
		}
		words = append(words, "-"+name+"="+value)
	}
	add("mode", cfg.Mode)
	if cfg.Budget > 0 {
		add("budget", cfg.Budget.String())
	}
	if cfg.Asked > 0 {
		add("rounds", strconv.Itoa(cfg.Asked))
	}
	add("cpu", strconv.Itoa(cfg.Procs))
	if cfg.Out != defaultOut {
		add("out", cfg.Out)
	}
	if f.results != resultsByDefault(cfg) {
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
	if cfg.Conformance != (cfg.Filter == "") {
		add("conformance", strconv.FormatBool(cfg.Conformance))
	}
	if f.worlds != "" {
		add("programs", f.worlds)
	}
	for _, p := range f.given {
		add("program", p.Name+"="+strings.Join(p.Args, " "))
	}
	return strings.Join(words, " ")
}
