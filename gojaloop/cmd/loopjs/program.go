package main

// A program: one script on a loop of its own, from its beginning to its exit code.

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/dop251/goja"
	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/gojaloop"
)

// sources are loopjs's own modules in JavaScript.
//
//go:embed prelude.js loader.js alive.js node/*.js
var sources embed.FS

// internal begins the names of loopjs's own sources. Stack traces leave them out.
const internal = "gojaloop:internal/loopjs/"

var compiled sync.Map // of name to *goja.Program

// ownSource returns one of loopjs's own sources, compiled on the first call.
func ownSource(name string) *goja.Program {
	if p, ok := compiled.Load(name); ok {
		return p.(*goja.Program)
	}
	text, err := sources.ReadFile(name + ".js")
	if err != nil {
		text, err = sources.ReadFile("node/" + name + ".js")
	}
	if err != nil {
		panic(err)
	}
	p := goja.MustCompile(internal+name+".js", string(text), true)
	compiled.Store(name, p)
	return p
}

// program is one script with its loop and its host.
type program struct {
	options *options
	stdout  io.Writer
	stderr  io.Writer

	compiler *compiler
	loop     *eventloop.Loop
	host     *gojaloop.Host

	// What follows is used on the loop alone.
	vm       *goja.Runtime
	modules  *goja.Object      // what prelude.js returns
	arrow    *goja.Symbol      // property of a SyntaxError: the source line, with a mark
	texts    map[string]string // sources that are not in a file, by name
	mainName string

	signals  signals
	alive    *alive // nil without --trace-alive
	explores bool   // the program runs under a schedule
	session  *repl  // nil unless interactive
}

// newProgram makes the loop and the host. Several programs may share the compiler.
func newProgram(o *options, c *compiler, stdout, stderr io.Writer, more ...gojaloop.Option) (*program, error) {
	p := &program{options: o, compiler: c, stdout: stdout, stderr: stderr, texts: map[string]string{}, arrow: goja.NewSymbol("arrow")}
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
	p.vm = p.host.Runtime()
	return p, nil
}

// run runs the script to its end, and returns the exit code.
func (p *program) run(ctx context.Context) int {
	_, err := p.host.RunFunc(ctx, func(*goja.Runtime) (goja.Value, error) {
		if err := p.install(); err != nil {
			return nil, err
		}
		return p.main()
	})
	return p.exitCode(err)
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
	case p.signals.interrupted.Load(), errors.Is(err, context.Canceled):
		return interruptedCode
	case err == nil:
		return 0
	case errors.As(err, &e):
		fmt.Fprint(p.stderr, p.report(e)) // of an exception in a handler of exceptions
		return max(e.Code, 1)
	}
	if !errors.Is(err, gojaloop.ErrClosed) { // --explore has closed the host
		fmt.Fprintln(p.stderr, "loopjs:", err)
	}
	return 1
}

// install adds loopjs's modules and globals to the host's. On the loop.
func (p *program) install() error {
	made, err := p.vm.RunProgram(ownSource("prelude"))
	if err != nil {
		return err
	}
	prelude, _ := goja.AssertFunction(made)
	modules, err := prelude(nil, p.natives())
	if err != nil {
		return err
	}
	p.modules = modules.ToObject(p.vm)
	if p.options.random != nil {
		p.vm.SetRandSource(p.options.random)
	}
	if p.alive != nil {
		return p.alive.install(p)
	}
	return nil
}

// call calls a function of prelude.js.
func (p *program) call(name string, args ...goja.Value) (goja.Value, error) {
	f, ok := goja.AssertFunction(p.modules.Get(name))
	if !ok {
		return nil, fmt.Errorf("loopjs: there is no %s", name)
	}
	return f(goja.Undefined(), args...)
}

// main runs the program that the options name: code, the standard input or a file. On the loop.
func (p *program) main() (goja.Value, error) {
	o := p.options
	if o.code != nil || o.file == "-" {
		return nil, p.evaluate()
	}
	file, err := p.find(o.file)
	if err != nil {
		return nil, err
	}
	p.mainName = file
	promise, err := p.call("runMain", p.vm.ToValue(file))
	if err != nil {
		return nil, err
	}
	_, err = p.call("main", promise)
	return nil, err
}

// find returns the file of the main module, by Node's rules.
func (p *program) find(name string) (string, error) {
	file, err := filepath.Abs(name)
	if err != nil {
		return "", err
	}
	r := p.compiler.resolver
	found := r.fileOrFolder(file)
	if found == "" {
		e := p.newError("Error", "Cannot find module '"+file+"'")
		_ = e.Set("code", "MODULE_NOT_FOUND")
		_ = e.Set("requireStack", p.vm.NewArray())
		return "", p.thrown(e)
	}
	if real, err := filepath.EvalSymlinks(found); err == nil {
		found = real
	}
	return found, nil
}

// evaluate runs code that is not in a file, as a script unless its syntax is a module's. On the loop.
func (p *program) evaluate() error {
	name, code := "[eval]", ""
	if p.options.code != nil {
		code = *p.options.code
	} else {
		name = "[stdin]"
		text, err := io.ReadAll(os.Stdin)
		if err != nil {
			return err
		}
		code = string(text)
	}
	p.mainName, p.texts[name] = name, code
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	path := p.vm.ToValue(filepath.Join(dir, name))
	if err := p.defineGlobals(name); err != nil {
		return err
	}
	_ = p.vm.Set("__filename", name)
	_ = p.vm.Set("__dirname", ".")

	if program, err := p.compiler.script(name, code); err == nil {
		v, err := p.vm.RunProgram(program)
		if err == nil && p.options.print {
			p.print(v)
		}
		return err
	}
	if p.options.print {
		return p.printAwaited(name, code)
	}
	u, err := p.compiler.transform(name, code, unknown)
	if err != nil {
		return p.thrown(p.errorValue(err))
	}
	promise, err := p.call("runSource", path, p.unitValue(u))
	if err == nil {
		_, err = p.call("main", promise)
	}
	return err
}

// printAwaited prints the value of code for -p that goja cannot read as a script: it awaits, or is TypeScript.
func (p *program) printAwaited(name, code string) error {
	v, _, err := p.evaluateLine(name, code)
	if err == errIncomplete {
		err = p.thrown(p.newError("SyntaxError", "Unexpected end of input"))
	}
	if err != nil {
		return err
	}
	return p.awaited(v, func(v goja.Value) { p.print(v) }, nil)
}

// awaited calls f with a value, or once a promise is fulfilled with the promise's value. It calls failed with the
// reason of a rejection; if failed is nil, the rejection counts as uncaught. On the loop.
func (p *program) awaited(v goja.Value, f, failed func(goja.Value)) error {
	promise, ok := v.Export().(*goja.Promise)
	if !ok {
		f(v)
		return nil
	}
	then, _ := goja.AssertFunction(p.vm.ToValue(promise).ToObject(p.vm).Get("then"))
	handler := func(f func(goja.Value)) goja.Value {
		if f == nil {
			return goja.Undefined()
		}
		return p.host.Func(func(call goja.FunctionCall) goja.Value { f(call.Argument(0)); return nil })
	}
	_, err := then(p.vm.ToValue(promise), handler(f), handler(failed))
	return err
}

// print prints a value as console.log does.
func (p *program) print(v goja.Value) {
	fmt.Fprintln(p.stdout, p.show(v))
}

// show returns a value as console.log prints it.
func (p *program) show(v goja.Value) string {
	if s, ok := v.(goja.String); ok {
		return s.String()
	}
	return p.inspect(v)
}

func (p *program) inspect(v goja.Value) string {
	f, _ := goja.AssertFunction(p.host.Module("inspect").Get("inspect"))
	text, err := f(goja.Undefined(), v)
	if err != nil {
		return strings.TrimSpace(err.Error())
	}
	return text.String()
}
