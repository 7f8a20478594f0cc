// Command loopjs runs JavaScript and TypeScript on an event loop and goja: scripts, modules, and lines that a person types.
//
// docs/loopjs.md tells what it can; loopjs --help is a screen of it.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"

	"golang.org/x/term"
)

func main() { os.Exit(command(os.Args[1:])) }

// command runs the command, and returns its exit code.
func command(args []string) int {
	o, err := parseOptions(args)
	switch {
	case err != nil:
		return complain(os.Stderr, err)
	case o.help:
		fmt.Print(usage)
		return 0
	case o.version:
		fmt.Println(version())
		return 0
	}
	c := &compiler{resolver: &resolver{}}
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

// execute runs one program.
func execute(o *options, c *compiler) int {
	p, err := newProgram(o, c, os.Stdout, os.Stderr)
	if err != nil {
		fmt.Fprintln(os.Stderr, "loopjs:", err)
		return 1
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	defer p.signals.watch(p, cancel)()
	if o.alive > 0 {
		p.alive = newAlive(p, o.alive)
		defer p.alive.stop()
	}
	return p.run(ctx)
}

// check compiles a file, and tells what is wrong with its syntax.
func check(o *options, c *compiler) int {
	file, err := filepath.Abs(o.file)
	if err == nil {
		if found := c.resolver.fileOrFolder(file); found != "" {
			file = found
		}
		_, err = c.file(file)
	}
	if err == nil {
		return 0
	}
	if s, ok := err.(*syntaxError); ok && s.line > 0 {
		fmt.Fprintln(os.Stderr, arrow(s.file, s.line, s.column, s.width, s.text))
	}
	fmt.Fprintln(os.Stderr, err)
	return 1
}

// version is that of the module that the command was built from.
func version() string {
	v := "(devel)"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		v = info.Main.Version
	}
	return "loopjs " + v
}
