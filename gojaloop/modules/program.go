package modules

// A program: the modules of one host.

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/dop251/goja"
	"github.com/turnloop/turnloop/eventloop/promise"
	"github.com/turnloop/turnloop/gojaloop"
)

// Program is what a host has of modules. Make one with [New]; a host has one.
type Program struct {
	host      *gojaloop.Host
	vm        *goja.Runtime
	compiler  *Cache
	node      bool
	args, own []string // for process.argv and process.execArgv
	trace     func(what string) (done func())

	// What follows is used on the loop alone.
	modules  *goja.Object      // what prelude.js returns
	arrow    *goja.Symbol      // property of a SyntaxError: the source line, with a mark
	texts    map[string]string // sources that are not in a file, by name
	mainName string
}

// Option configures a program; see the With functions.
type Option func(*Program)

// WithNode gives scripts Node's own modules, such as node:fs and node:child_process, and completes the object process: scripts
// then reach the machine as the program around them does. Without it they have the files that they import, and the host's globals.
func WithNode() Option { return func(p *Program) { p.node = true } }

// WithCache has the program share what was compiled and found for others.
func WithCache(c *Cache) Option { return func(p *Program) { p.compiler = c } }

// WithArguments sets what process.argv has behind the executable, and process.execArgv, for [WithNode].
func WithArguments(args, own []string) Option {
	return func(p *Program) { p.args, p.own = args, own }
}

// WithTrace has f told of Go work that scripts wait for, as it begins, and the function that f returns called as it ends. Any
// goroutine may call both.
func WithTrace(f func(what string) (done func())) Option { return func(p *Program) { p.trace = f } }

// New adds modules to a host, and parts of the language that goja lacks. Call it before the host was given something to run, or on
// the loop. It returns an error for a host with [gojaloop.WithSandbox], whose scripts reach no files, and when the runtime does not
// take what is added.
func New(h *gojaloop.Host, opts ...Option) (*Program, error) {
	if h == nil {
		return nil, errors.New("gojaloop/modules: nil host")
	}
	if h.Sandboxed() {
		return nil, errors.New("gojaloop/modules: scripts in a sandbox reach no files")
	}
	p := &Program{host: h, vm: h.Runtime(), compiler: &Cache{}, arrow: goja.NewSymbol("arrow"), texts: map[string]string{},
		trace: func(string) func() { return func() {} }}
	for i, opt := range opts {
		if opt == nil {
			return nil, fmt.Errorf("gojaloop/modules: option %d is nil", i)
		}
		opt(p)
	}
	if p.compiler == nil || p.trace == nil {
		return nil, errors.New("gojaloop/modules: WithCache or WithTrace got nil")
	}
	made, err := p.vm.RunProgram(ownSource("prelude"))
	if err != nil {
		return nil, err
	}
	prelude, _ := goja.AssertFunction(made)
	modules, err := prelude(nil, p.natives())
	if err != nil {
		return nil, err
	}
	p.modules = modules.ToObject(p.vm)
	h.Sources(p.source)
	return p, nil
}

// Run runs a file as the main module of a program, by Node's rules, and waits until nothing is left to do, as [gojaloop.Host.Run]
// does, which says what it returns. An await at the top that never ends is exit code 13.
func (p *Program) Run(ctx context.Context, file string) error {
	_, err := p.host.RunFunc(ctx, func(*goja.Runtime) (goja.Value, error) {
		found, err := p.find(file)
		if err != nil {
			return nil, err
		}
		p.mainName = found
		promise, err := p.call("runMain", p.vm.ToValue(found))
		if err == nil {
			_, err = p.call("main", promise)
		}
		return nil, err
	})
	return err
}

// Load imports a module, as import() does in a file of the working directory, and waits for it. What it exports is then the global
// object of that name: [gojaloop.Host.Call] calls "name.function". Any goroutine may call it; its errors are those of
// [gojaloop.Host.Do], or what the module throws. If ctx ends once the module has begun, the module goes on.
func (p *Program) Load(ctx context.Context, name, specifier string) error {
	var loaded *promise.Promise
	err := p.host.Do(ctx, func(vm *goja.Runtime) error {
		v, err := p.Import(specifier)
		if err != nil {
			return err
		}
		then, _ := goja.AssertFunction(v.Get("then"))
		set := p.host.Func(func(call goja.FunctionCall) goja.Value { _ = vm.Set(name, call.Argument(0)); return nil })
		done, err := then(v, set)
		if err == nil {
			loaded = p.host.Await(done)
		}
		return err
	})
	if err == nil {
		_, err = loaded.Await(ctx)
	}
	return err
}

// Import imports a module, as import() does in a file of the working directory, and returns a promise of what it exports. It is for
// the loop.
func (p *Program) Import(specifier string) (*goja.Object, error) {
	from, err := p.here("[import]")
	if err != nil {
		return nil, err
	}
	v, err := p.call("importFrom", p.vm.ToValue(specifier), from)
	if err != nil {
		return nil, err
	}
	return v.ToObject(p.vm), nil
}

// here returns the path of a name in the working directory.
func (p *Program) here(name string) (goja.Value, error) {
	path, err := filepath.Abs(name)
	return p.vm.ToValue(path), err
}

// find returns the file of the main module, by Node's rules.
func (p *Program) find(name string) (string, error) {
	file, err := filepath.Abs(name)
	if err != nil {
		return "", err
	}
	found := p.compiler.Find(file)
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

// call calls a function of prelude.js.
func (p *Program) call(name string, args ...goja.Value) (goja.Value, error) {
	f, _ := goja.AssertFunction(p.modules.Get(name))
	return f(goja.Undefined(), args...)
}

// argv returns the arguments of the process, for process.argv.
func (p *Program) argv() goja.Value {
	executable, err := os.Executable()
	if err != nil {
		executable = os.Args[0]
	}
	return p.list(append([]string{executable}, p.args...))
}

// sources are the modules in JavaScript.
//
//go:embed prelude.js loader.js node/*.js
var sources embed.FS

// internal begins the names of these sources. Stack traces leave them out.
const internal = "gojaloop:internal/modules/"

var compiled sync.Map // of name to *goja.Program

// ownSource returns one of these sources, compiled on the first call.
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
