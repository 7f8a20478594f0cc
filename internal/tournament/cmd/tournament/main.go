// Command tournament runs the benchmarks and the conformance suite over all contestants, judges, and reports.
//
// A run measures every cell (benchmark x contestant) in a process of its own, round after round in a new order; what it
// measures is kept as text in Go's benchmark format, and every figure in the reports is computed from that.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// The exit codes. An interrupt exits as a shell reports it, and so do the other requests to end.
const (
	exitOK          = 0
	exitFailed      = 1 // the run failed; for compare: there is a significant regression
	exitUsage       = 2
	exitInterrupted = 130
)

const usage = `tournament measures event loops side by side and says who wins what.

usage:
  tournament run [flags]                   measure everything, then report
  tournament report [flags] DIR            compute all reports again from DIR/raw.txt and DIR/run.json
  tournament compare [flags] OLD NEW       compare two runs on the same machine; exits 1 on a significant regression

"tournament COMMAND -h" lists the flags of a command.
`

// A usageError is a mistake in the command line.
type usageError struct{ error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

func main() {
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as under nohup
		ends = append(ends, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), ends...)
	// The first signal asks for an orderly end; from then on another one has its usual effect.
	context.AfterFunc(ctx, stop)
	os.Exit(command(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// command runs one command line and returns the exit code.
func command(ctx context.Context, args []string, stdout, stderr *os.File) int {
	commands := map[string]func(context.Context, []string, *os.File, *os.File) error{
		"run": runCommand, "report": reportCommand, "compare": compareCommand,
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
	if flags.NArg() != n {
		return usagef("takes %d arguments, got %d: %q", n, flags.NArg(), flags.Args())
	}
	return nil
}
