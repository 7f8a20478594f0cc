// Command loopjs runs JavaScript and TypeScript on an event loop and goja: scripts, modules, and interactive sessions.
//
// docs/loopjs.md describes it; loopjs --help is a summary.
package main

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"syscall"

	"github.com/turnloop/turnloop/gojaloop/modules"
	"golang.org/x/term"
)

func main() { quit(command(os.Args[1:])) }

// quit ends the process with an exit code, or by SIGINT.
func quit(code int) {
	if code == interruptedCode {
		modules.EndBy(syscall.SIGINT)
	}
	modules.RestoreTerminals()
	os.Exit(code)
}

// command runs the command, and returns its exit code.
func command(args []string) int {
	o, err := parseOptions(args)
	switch {
	case err != nil:
		return printError(os.Stderr, err)
	case o.help:
		fmt.Print(usage)
		return 0
	case o.version:
		fmt.Println(version())
		return 0
	}
	c := &modules.Cache{}
	switch {
	case o.check:
		return check(o, c)
	case o.explore > 0 || o.seed != nil:
		return explore(o, c)
	case o.interactive || o.code == nil && o.file == "" && term.IsTerminal(int(os.Stdin.Fd())):
		return interact(o, c)
	case o.code == nil && o.file == "":
		o.file = "-"
	}
	return execute(o, c)
}

// execute runs one program, and returns its exit code.
func execute(o *options, c *modules.Cache) int {
	p, err := newProgram(o, c, os.Stdout, os.Stderr)
	if err != nil {
		fmt.Fprintln(os.Stderr, "loopjs:", err)
		return 1
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	defer p.watchSignals(cancel)()
	if o.alive > 0 {
		if err := newAlive(p, o.alive); err != nil {
			fmt.Fprintln(os.Stderr, "loopjs:", err)
			return 1
		}
		defer p.alive.stop()
	}
	return p.run(ctx)
}

// check compiles a file, prints a syntax error if it has one, and returns the exit code.
func check(o *options, c *modules.Cache) int {
	if err := c.Check(o.file); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// version returns the version of the module from which the command was built.
func version() string {
	v := "(devel)"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		v = info.Main.Version
	}
	return "loopjs " + v
}
