// Package command is the command line of a tournament: it runs the benchmarks and the conformance suite over all contestants,
// judges, and reports.
//
// A run measures every cell (benchmark x contestant) in a process of its own, round after round in a new order; what it
// measures is kept as text in Go's benchmark format, and every figure in the reports is computed from that.
package command

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/turnloop/turnloop/internal/tournament"
)

// The exit codes. A program that was ended by a signal exits with the code by which shells report that signal.
const (
	exitOK          = 0
	exitFailed      = 1 // the run failed; for compare: a loop became slower
	exitUsage       = 2
	exitInterrupted = 130
)

const usage = `tournament measures event loops side by side and says who wins what.

usage:
  tournament run [flags]                   measure everything, then report
  tournament bench [flags of go test]      run figures once, as go test -bench does: bench -bench 'Submit/impl=main$' -benchtime 1s
  tournament report [flags] DIR            compute all reports again from DIR/raw.txt and DIR/run.json
  tournament compare [flags] OLD NEW       compare two runs on the same machine; exits 1 if a loop became slower
  tournament check DIR                     tell whether a run is whole: every report, and every value of each cell
  tournament site [flags] DIR...           show several runs on one page, each with its own ratios

"tournament COMMAND -h" lists the flags of a command.
`

// A usageError is a mistake in the command line.
type usageError struct{ error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// Main is the main function of a program with a field of contestants, which is started by the words of invocation, such as
// "go run .". It does not return.
func Main(field tournament.Field, invocation string) {
	field.Role()
	if err := field.Check(); err != nil {
		fmt.Fprintln(os.Stderr, "tournament:", err)
		os.Exit(exitUsage)
	}
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as under nohup
		ends = append(ends, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), ends...)
	// The first signal asks for an orderly end; from then on another one has its usual effect.
	context.AfterFunc(ctx, stop)
	p := program{field, invocation}
	os.Exit(p.command(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// A program is a field of contestants and the words that start it.
type program struct {
	field      tournament.Field
	invocation string
}

// command runs one command line and returns the exit code.
func (p program) command(ctx context.Context, args []string, stdout, stderr *os.File) int {
	commands := map[string]func(context.Context, []string, *os.File, *os.File) error{
		"run": p.run, "bench": p.bench, "report": reportCommand, "compare": compareCommand,
		"site": siteCommand, "check": checkCommand,
	}
	if len(args) == 0 {
		fmt.Fprint(stderr, usage)
		return exitUsage
	}
	switch args[0] {
	case "help", "-h", "-help", "--help":
		fmt.Fprint(stdout, usage)
		return exitOK
	}
	run, ok := commands[args[0]]
	if !ok {
		fmt.Fprintf(stderr, "tournament: there is no command %q\n\n%s", args[0], usage)
		return exitUsage
	}
	err := run(ctx, args[1:], stdout, stderr)
	var misuse usageError
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return exitOK
	case ctx.Err() != nil:
		fmt.Fprintf(stderr, "tournament %s: %v\n", args[0], err)
		return exitInterrupted
	case errors.As(err, &misuse):
		fmt.Fprintf(stderr, "tournament %s: %v\n", args[0], err)
		return exitUsage
	case errors.Is(err, errRegression):
		return exitFailed
	}
	fmt.Fprintf(stderr, "tournament %s: %v\n", args[0], err)
	return exitFailed
}

// parse parses flags and exactly n arguments.
func parse(flags *flag.FlagSet, args []string, n int, stdout io.Writer) error {
	if err := parseFlags(flags, args, stdout); err != nil {
		return err
	}
	if late := slices.IndexFunc(flags.Args(), func(arg string) bool { return strings.HasPrefix(arg, "-") }); late >= 0 {
		return usagef("flags come first, and %s does not", flags.Arg(late))
	}
	if flags.NArg() != n {
		return usagef("takes %s, got %q", []string{"no argument", "one argument", "two arguments"}[n], flags.Args())
	}
	return nil
}

// parseFlags parses flags and leaves the arguments to the caller.
func parseFlags(flags *flag.FlagSet, args []string, stdout io.Writer) error {
	flags.SetOutput(io.Discard)
	err := flags.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		flags.SetOutput(stdout)
		flags.Usage()
		return err
	}
	if err != nil {
		return usageError{err}
	}
	return nil
}

// bench behaves like a test binary with the benchmarks, whose flags need no prefix. Without a pattern it runs all.
func (p program) bench(_ context.Context, args []string, stdout, _ *os.File) error {
	words := []string{os.Args[0], "-test.run=^$", "-test.bench=."}
	for _, arg := range args {
		name := strings.TrimLeft(arg, "-")
		if name == "h" || name == "help" {
			fmt.Fprintln(stdout, "The flags are those of go test: -bench, -benchtime, -count, -cpu, -short, -v, and so on.")
			return flag.ErrHelp
		}
		if name != arg && !strings.HasPrefix(name, "test.") {
			arg = "-test." + name
		}
		words = append(words, arg)
	}
	os.Args = words
	p.field.Test()
	return nil
}
