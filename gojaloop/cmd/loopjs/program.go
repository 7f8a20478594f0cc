package main

// A program: one script on a loop of its own, from its beginning to its exit code.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"

	"github.com/dop251/goja"
	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/gojaloop"
	"github.com/turnloop/turnloop/gojaloop/modules"
)

// program is one script with its loop and its host.
type program struct {
	options *options
	stdout  io.Writer
	stderr  io.Writer

	loop    *eventloop.Loop
	host    *gojaloop.Host
	modules *modules.Program

	interrupted atomic.Bool // a SIGINT has ended the program
	alive       *alive      // nil without --trace-alive
	session     *repl       // nil unless interactive
}

// newProgram makes the loop, the host and its modules. Several programs may share the cache.
func newProgram(o *options, c *modules.Cache, stdout, stderr io.Writer, more ...gojaloop.Option) (*program, error) {
	p := &program{options: o, stdout: stdout, stderr: stderr}
	var loopOptions []eventloop.Option
	if o.stall > 0 {
		loopOptions = append(loopOptions, eventloop.WithStallThreshold(o.stall, p.stalled))
	}
	var err error
	if p.loop, err = eventloop.New(loopOptions...); err != nil {
		return nil, err
	}
	p.host, err = gojaloop.New(p.loop, append([]gojaloop.Option{
		gojaloop.WithOutput(stdout, stderr), gojaloop.WithoutGlobals("require"), gojaloop.WithUncaughtException(p.uncaught),
	}, more...)...)
	if err != nil {
		return nil, err
	}
	args := o.args
	if name := o.file; o.code == nil && name != "" {
		if found := c.Find(name); found != "" && name != "-" {
			name = found
		}
		args = append([]string{name}, args...)
	}
	p.modules, err = modules.New(p.host, modules.WithNode(), modules.WithCache(c), modules.WithArguments(args, o.own), modules.WithTrace(p.working))
	return p, err
}

// run runs the script to its end, and returns the exit code.
func (p *program) run(ctx context.Context) int {
	o := p.options
	if o.code == nil && o.file != "-" {
		return p.exitCode(p.modules.Run(ctx, o.file))
	}
	name, code := "[eval]", ""
	if o.code != nil {
		code = *o.code
	} else {
		name = "[stdin]"
		text, err := io.ReadAll(os.Stdin)
		if err != nil {
			return p.exitCode(err)
		}
		code = string(text)
	}
	var show func(goja.Value)
	if o.print {
		show = func(v goja.Value) { fmt.Fprintln(p.stdout, p.modules.Show(v)) }
	}
	_, err := p.host.RunFunc(ctx, func(*goja.Runtime) (goja.Value, error) { return nil, p.modules.Evaluate(name, code, show) })
	return p.exitCode(err)
}

// uncaught prints an uncaught exception, and ends the program unless it is a session. On the loop.
func (p *program) uncaught(e *gojaloop.Error) {
	if p.session != nil {
		p.session.uncaught(e)
		return
	}
	fmt.Fprint(p.stderr, p.modules.Report(e))
	p.host.Fail()
}

// exitCode returns the exit code of a program that has ended with err, and prints err if that has not been done.
func (p *program) exitCode(err error) int {
	var exit *gojaloop.ExitError
	var e *gojaloop.Error
	switch {
	case errors.As(p.host.Err(), &exit):
		return exit.Code & 0xff
	case errors.As(err, &exit):
		return exit.Code & 0xff
	case p.interrupted.Load(), errors.Is(err, context.Canceled):
		return interruptedCode
	case err == nil:
		return 0
	case errors.As(err, &e):
		fmt.Fprint(p.stderr, p.modules.Report(e)) // of an exception in a handler of exceptions
		return max(e.Code, 1)
	}
	if !errors.Is(err, gojaloop.ErrClosed) { // --explore has closed the host
		fmt.Fprintln(p.stderr, "loopjs:", err)
	}
	return 1
}
