package main

// The Go functions for the modules in JavaScript.

import (
	"context"
	"io"
	"os"
	"path/filepath"

	"github.com/dop251/goja"
	"golang.org/x/term"
)

// lazily is an object whose properties are made on their first use, for goja.NewDynamicObject.
type lazily struct {
	make map[string]func() goja.Value
	made map[string]goja.Value
}

func (l *lazily) Get(key string) goja.Value {
	if v := l.made[key]; v != nil {
		return v
	}
	f := l.make[key]
	if f == nil {
		return nil
	}
	l.made[key] = f()
	return l.made[key]
}

func (l *lazily) Set(string, goja.Value) bool { return false }
func (l *lazily) Has(key string) bool         { return l.make[key] != nil }
func (l *lazily) Delete(string) bool          { return false }
func (l *lazily) Keys() []string              { return nil }

// natives makes the object "go" of prelude.js. The functions are its prototype's.
func (p *program) natives() goja.Value {
	functions := &lazily{make: map[string]func() goja.Value{"about": p.about}, made: map[string]goja.Value{}}
	o := p.vm.NewObject()
	_ = o.SetPrototype(p.vm.NewDynamicObject(functions))
	text := func(call goja.FunctionCall, i int) string { return call.Argument(i).String() }
	for name, f := range map[string]func(goja.FunctionCall) goja.Value{
		"source": func(call goja.FunctionCall) goja.Value {
			v, err := p.vm.RunProgram(ownSource(text(call, 0)))
			if err != nil {
				panic(err)
			}
			return v
		},
		"module": func(call goja.FunctionCall) goja.Value { return p.host.Module(text(call, 0)) },
		"print": func(call goja.FunctionCall) goja.Value {
			w := p.stdout
			if call.Argument(0).ToBoolean() {
				w = p.stderr
			}
			_, _ = io.WriteString(w, text(call, 1))
			return nil
		},
		"write": func(call goja.FunctionCall) goja.Value {
			w := p.stdout
			if call.Argument(0).ToBoolean() {
				w = p.stderr
			}
			if b, ok := call.Argument(1).Export().([]byte); ok {
				_, _ = w.Write(b)
			}
			return nil
		},
		// Function.prototype.call, but invisible in stack traces.
		"call": func(call goja.FunctionCall) goja.Value {
			f, _ := goja.AssertFunction(call.Argument(0))
			v, err := f(call.Argument(1), call.Arguments[2:]...)
			if err != nil {
				panic(err)
			}
			return v
		},
		"resolve": func(call goja.FunctionCall) goja.Value {
			o := p.vm.NewObject()
			file, err := p.compiler.resolver.resolve(text(call, 0), text(call, 1), call.Argument(2).ToBoolean())
			if nf, ok := err.(*notFound); ok {
				_ = o.Set("code", nf.code)
				_ = o.Set("message", nf.message)
			} else {
				_ = o.Set("file", file)
			}
			return o
		},
		"compile": p.compileFile,
		"isModule": func(call goja.FunctionCall) goja.Value {
			return p.vm.ToValue(p.compiler.formatOf(text(call, 0)) == module)
		},
		"exportNames": func(call goja.FunctionCall) goja.Value {
			return p.vm.ToValue(p.compiler.exportNames(text(call, 0)))
		},
		"missingExport": func(call goja.FunctionCall) goja.Value {
			return p.missingExport(text(call, 0), text(call, 1), text(call, 2), text(call, 3))
		},
		"kill": func(call goja.FunctionCall) goja.Value {
			return p.outcome(nil, kill(int(call.Argument(0).ToInteger()), int(call.Argument(1).ToInteger())))
		},
		"read": func(call goja.FunctionCall) goja.Value {
			source, err := readSource(text(call, 0))
			if err != nil {
				panic(p.vm.NewGoError(err))
			}
			return p.vm.ToValue(source)
		},
		"dirname":     func(call goja.FunctionCall) goja.Value { return p.vm.ToValue(filepath.Dir(text(call, 0))) },
		"toURL":       func(call goja.FunctionCall) goja.Value { return p.vm.ToValue(toURL(text(call, 0))) },
		"fromURLPath": func(call goja.FunctionCall) goja.Value { return p.vm.ToValue(fromURLPath(text(call, 0))) },
		"fileSync":    func(call goja.FunctionCall) goja.Value { return p.outcome(operate(text(call, 0), p.exported(call))) },
		"file":        p.fileLater,
		"begin":       p.begin,
		"follow":      func(goja.FunctionCall) goja.Value { return p.host.AsyncStore() },
		"spawn":       p.spawn,
		"finish":      p.finishChild,
		"codec":       p.codec,
		"hasher":      p.hasher,
		"pbkdf2":      p.pbkdf2,
		"evaluate":    p.evaluateScript,
		"usage":       func(goja.FunctionCall) goja.Value { return p.plain(resources()) },
		"machine":     func(goja.FunctionCall) goja.Value { return p.machine() },
		"ids":         func(goja.FunctionCall) goja.Value { return p.ids() },
		"classOf":     p.classOf,
		"tty": func(call goja.FunctionCall) goja.Value {
			fd := int(call.Argument(0).ToInteger())
			columns, rows, _ := term.GetSize(fd)
			return p.plain(map[string]any{"is": term.IsTerminal(fd), "columns": columns, "rows": rows})
		},
		"listens": func(call goja.FunctionCall) goja.Value {
			p.signals.handled.Store(call.Argument(1).ToInteger() > 0)
			return nil
		},
		"unsettled": func(goja.FunctionCall) goja.Value {
			p.warnUnsettled()
			return nil
		},
	} {
		functions.make[name] = func() goja.Value { return p.host.Func(f) }
	}
	return o
}

// compileFile compiles a file, for loader.js.
func (p *program) compileFile(call goja.FunctionCall) goja.Value {
	file := call.Argument(0).String()
	u, err := p.compiler.file(file)
	if err != nil {
		panic(p.errorValue(err))
	}
	return p.unitValue(u)
}

// unitValue returns a unit as an object for loader.js.
func (p *program) unitValue(u *unit) goja.Value {
	run, err := p.vm.RunProgram(u.program)
	if err != nil {
		panic(err)
	}
	o := p.vm.NewObject()
	_ = o.Set("esm", u.esm)
	_ = o.Set("dynamic", u.dynamic)
	imports := make([]any, len(u.imports))
	for i, name := range u.imports {
		imports[i] = name
	}
	_ = o.Set("imports", p.vm.NewArray(imports...))
	_ = o.Set("run", run)
	names := p.vm.NewObject()
	for specifier, list := range u.names {
		_ = names.Set(specifier, list)
	}
	_ = o.Set("names", names)
	return o
}

// bytesOf returns the bytes of an ArrayBuffer, nil for any other value.
func bytesOf(v goja.Value) []byte {
	if b, ok := v.Export().(goja.ArrayBuffer); ok {
		return b.Bytes()
	}
	return nil
}

// exported returns all arguments but the first, exported. Data is copied, since the script may change its own.
func (p *program) exported(call goja.FunctionCall) arguments {
	var all arguments
	for _, v := range call.Arguments[1:] {
		x := v.Export()
		if b, ok := x.(goja.ArrayBuffer); ok {
			x = append([]byte(nil), b.Bytes()...)
		}
		all = append(all, x)
	}
	return all
}

// operate runs a file operation by its name. Any goroutine may call it.
func operate(name string, a arguments) (any, *failure) {
	if name == "chdir" {
		if err := os.Chdir(a.text(0)); err != nil {
			return nil, asFailure(err, "chdir", a)
		}
		return nil, nil
	}
	op, ok := fileOperations[name]
	if !ok {
		return nil, &failure{Code: "ENOSYS", Message: "function not implemented", Syscall: name}
	}
	v, err := op.run(a)
	if err != nil {
		return nil, asFailure(err, op.syscall, a)
	}
	return v, nil
}

// outcome returns the result of a file operation as an object for fs.js.
func (p *program) outcome(v any, f *failure) goja.Value {
	o := p.vm.NewObject()
	switch v := v.(type) {
	case nil:
		_ = o.Set("value", goja.Null())
	case []byte:
		_ = o.Set("value", p.vm.NewArrayBuffer(v))
	case []any:
		list := make([]any, len(v))
		for i, e := range v {
			list[i] = p.plain(e)
		}
		_ = o.Set("value", p.vm.NewArray(list...))
	default:
		_ = o.Set("value", p.plain(v))
	}
	if f != nil {
		_ = o.Set("failure", p.plain(map[string]any{"code": f.Code, "message": f.Message, "syscall": f.Syscall, "path": f.Path, "dest": f.Dest, "errno": f.Errno}))
	}
	return o
}

// plain returns a map as an ordinary object, and any other value by ToValue.
func (p *program) plain(v any) goja.Value {
	m, ok := v.(map[string]any)
	if !ok {
		return p.vm.ToValue(v)
	}
	o := p.vm.NewObject()
	for key, value := range m {
		if list, ok := value.([]any); ok {
			value = p.vm.NewArray(list...)
		}
		_ = o.Set(key, value)
	}
	return o
}

// fileLater runs a file operation on a goroutine of its own, and returns a promise of its outcome.
func (p *program) fileLater(call goja.FunctionCall) goja.Value {
	name, args := call.Argument(0).String(), p.exported(call)
	done := p.working(workName(name, args))
	return p.later(func() (any, *failure) { return operate(name, args) }, func(v any, f *failure) goja.Value {
		done()
		return p.outcome(v, f)
	})
}

// later does work on a goroutine of its own, and returns a promise of what then makes of the outcome.
func (p *program) later(work func() (any, *failure), then func(any, *failure) goja.Value) goja.Value {
	start, _ := goja.AssertFunction(p.host.Promisify(func(context.Context, []goja.Value) (func(*goja.Runtime) (goja.Value, error), error) {
		v, f := work()
		return func(*goja.Runtime) (goja.Value, error) { return then(v, f), nil }, nil
	}))
	promise, err := start(goja.Undefined())
	if err != nil {
		panic(err)
	}
	return promise
}

// evaluateScript runs a source as a script of this program; if the third argument is set, it only compiles it.
func (p *program) evaluateScript(call goja.FunctionCall) goja.Value {
	program, err := p.compiler.script(call.Argument(1).String(), call.Argument(0).String())
	if err != nil {
		panic(p.errorValue(asSyntaxError(err, call.Argument(1).String(), call.Argument(0).String())))
	}
	if call.Argument(2).ToBoolean() {
		return nil
	}
	v, err := p.vm.RunProgram(program)
	if err != nil {
		panic(err)
	}
	return v
}

func (p *program) classOf(call goja.FunctionCall) goja.Value {
	return p.vm.ToValue(p.host.ClassOf(call.Argument(0)))
}
