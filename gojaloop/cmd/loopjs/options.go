package main

// The command line.

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

const usage = `Usage: loopjs [options] file [arguments]     run a script or a module
       loopjs [options] -e code [arguments]  run code
       loopjs [options] - [arguments]        run what the standard input has
       loopjs                                read, evaluate, print: with await
The file: CommonJS, an ES module, TypeScript or JSX (.js .mjs .cjs .ts .mts .cts
.jsx .tsx), or JSON. Modules are found as Node finds them.
  -e, --eval code        run code
  -p, --print code       run code and print its value, or its promise's
  -i, --interactive      read, evaluate, print, also where there is no terminal
  -c, --check            look at the syntax of the file, and run nothing
      --trace-alive[=d]  say what keeps the program alive: after d (1s),
                         and when it is interrupted
      --stall d          report callbacks that run for longer than d (50ms),
                         and where in the script
      --explore n        run the script n times on virtual time, under different
                         orders of timers, files and requests, until one fails;
                         print its seed
      --seed s           run it once, under the order of that seed
  -v, --version          print the version
  -h, --help             print this
Exit codes are Node's: 1 uncaught exception or rejection, 9 wrong option, 13 an
await at the top that never ends; else process.exitCode. Ctrl-C ends by SIGINT.
`

// options are the options and arguments of the command line.
type options struct {
	code        *string // of -e and -p; nil without them
	print       bool
	interactive bool
	check       bool
	help        bool
	version     bool
	alive       time.Duration // of --trace-alive; 0 without it
	stall       time.Duration
	explore     int
	seed        *uint64
	file        string
	args        []string // the script's arguments
	own         []string // loopjs's arguments
}

// parseOptions reads a command line as Node does: the arguments behind the file are the script's.
func parseOptions(args []string) (*options, error) {
	o := &options{}
	for len(args) > 0 {
		arg := args[0]
		if arg == "-" || !strings.HasPrefix(arg, "-") {
			break
		}
		args = args[1:]
		if arg == "--" {
			break
		}
		o.own = append(o.own, arg)
		name, value, given := strings.Cut(arg, "=")
		next := func() (string, error) {
			if given {
				return value, nil
			}
			if len(args) == 0 {
				return "", fmt.Errorf("%s requires an argument", arg)
			}
			value = args[0]
			args = args[1:]
			o.own = append(o.own, value)
			return value, nil
		}
		var err error
		switch name {
		case "-e", "--eval", "-p", "--print", "-pe":
			// -p -e code prints the code's value.
			if (arg == "-p" || arg == "--print") && len(args) > 0 && (args[0] == "-e" || args[0] == "--eval") {
				o.print = true
				continue
			}
			var code string
			code, err = next()
			o.code, o.print = &code, o.print || name != "-e" && name != "--eval"
		case "-i", "--interactive":
			o.interactive = true
		case "-c", "--check":
			o.check = true
		case "-h", "--help":
			o.help = true
		case "-v", "--version":
			o.version = true
		case "--trace-alive":
			if o.alive = time.Second; given {
				o.alive, err = duration(name, value)
			}
		case "--stall":
			if value, err = next(); err == nil {
				o.stall, err = duration(name, value)
			}
		case "--explore":
			if value, err = next(); err == nil {
				if o.explore, err = strconv.Atoi(value); err != nil || o.explore < 1 {
					err = fmt.Errorf("%s takes a number of runs, not %q", name, value)
				}
			}
		case "--seed":
			if value, err = next(); err == nil {
				var seed uint64
				if seed, err = strconv.ParseUint(value, 10, 64); err != nil {
					err = fmt.Errorf("%s takes a number, not %q", name, value)
				}
				o.seed = &seed
			}
		default:
			return nil, fmt.Errorf("bad option: %s", arg)
		}
		if err != nil {
			return nil, err
		}
	}
	if o.code == nil && len(args) > 0 {
		o.file, args = args[0], args[1:]
	}
	o.args = args
	switch {
	case o.explore > 0 && o.seed != nil:
		return nil, fmt.Errorf("--seed repeats one run of --explore: give one of them")
	case (o.explore > 0 || o.seed != nil) && (o.interactive || o.file == "" && o.code == nil):
		return nil, fmt.Errorf("--explore and --seed need a file, or -e")
	case o.check && (o.file == "" || o.file == "-"):
		return nil, fmt.Errorf("--check needs a file")
	}
	return o, nil
}

func duration(name, value string) (time.Duration, error) {
	d, err := time.ParseDuration(value)
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("%s takes a time, as 50ms or 2s, not %q", name, value)
	}
	return d, nil
}

// printError prints an error of the command line, and returns the exit code.
func printError(w io.Writer, err error) int {
	fmt.Fprintf(w, "loopjs: %v\nloopjs --help tells the options.\n", err)
	return 9
}
