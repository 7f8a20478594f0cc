package modules

// The Go functions for the modules in JavaScript.

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"

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
func (p *Program) natives() goja.Value {
	functions := &lazily{make: map[string]func() goja.Value{"about": p.about}, made: map[string]goja.Value{}}
	o := p.vm.NewObject()
	_ = o.Set("node", p.node)
	_ = o.SetPrototype(p.vm.NewDynamicObject(functions))
	for name, f := range map[string]any{
		"source": func(name string) (goja.Value, error) { return p.vm.RunProgram(ownSource(name)) },
		"module": p.host.Module,
		"print": func(call goja.FunctionCall) goja.Value {
			_, _ = io.WriteString(p.output(call), call.Argument(1).String())
			return nil
		},
		"write": func(call goja.FunctionCall) goja.Value {
			if b, ok := call.Argument(1).Export().([]byte); ok {
				_, _ = p.output(call).Write(b)
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
		"resolve": func(specifier, from string, esm bool) goja.Value {
			file, err := p.compiler.resolver.resolve(specifier, from, esm)
			if nf, ok := err.(*notFound); ok {
				return p.plain(map[string]any{"code": nf.code, "message": nf.message})
			}
			return p.plain(map[string]any{"file": file})
		},
		"compile": func(file string) goja.Value {
			u, err := p.compiler.file(file)
			if err != nil {
				panic(p.errorValue(err))
			}
			return p.unitValue(u)
		},
		"isModule":      func(file string) bool { return p.compiler.formatOf(file) == module },
		"exportNames":   p.compiler.exportNames,
		"missingExport": p.missingExport,
		"read":          readSource, "dirname": filepath.Dir, "folders": packageFolders, "toURL": toURL, "fromURLPath": fromURLPath,
		"errorText": func(n int) string { return strings.ToLower(syscall.Errno(n).Error()) },
		"kill":      func(pid, signal int) goja.Value { return p.outcome(nil, kill(pid, signal)) },
		"fileSync": func(call goja.FunctionCall) goja.Value {
			return p.outcome(operate(call.Argument(0).String(), p.exported(call)))
		},
		"file": p.fileLater, "begin": p.begin, "follow": p.host.AsyncStore,
		"spawn": p.spawn, "finish": p.finishChild, "codec": p.codec, "hasher": p.hasher, "pbkdf2": p.pbkdf2,
		"usage":   func() goja.Value { return p.plain(resources()) },
		"machine": p.machine, "zone": p.zone, "ids": p.ids, "classOf": p.host.ClassOf,
		"tty": func(fd int) goja.Value {
			columns, rows, _ := term.GetSize(fd)
			return p.plain(map[string]any{"is": term.IsTerminal(fd), "columns": columns, "rows": rows})
		},
		// evaluate runs a source as a script of this program, or only compiles it.
		"evaluate": func(source, name string, only bool) (goja.Value, error) {
			program, err := p.compiler.script(name, source)
			if err != nil {
				panic(p.errorValue(asSyntaxError(err, name, source)))
			}
			if only {
				return nil, nil
			}
			return p.vm.RunProgram(program)
		},
		"raw": func(fd int, raw bool) goja.Value {
			return p.outcome(nil, asFailure(SetRaw(fd, raw, p.host.Hears), "setRawMode", nil))
		},
		"unsettled": func() {
			_, stderr := p.host.Output()
			fmt.Fprintf(stderr, "Warning: Detected unsettled top-level await at %s\n", p.mainName)
		},
	} {
		functions.make[name] = func() goja.Value { return p.host.Func(f) }
	}
	return o
}

// output returns where a script's output goes, or its errors if the first argument says so.
func (p *Program) output(call goja.FunctionCall) io.Writer {
	stdout, stderr := p.host.Output()
	if call.Argument(0).ToBoolean() {
		return stderr
	}
	return stdout
}

// unitValue returns a unit as an object for loader.js.
func (p *Program) unitValue(u *unit) goja.Value {
	run, err := p.vm.RunProgram(u.program)
	if err != nil {
		panic(err)
	}
	names := map[string]any{}
	for specifier, list := range u.names {
		names[specifier] = list
	}
	return p.plain(map[string]any{"esm": u.esm, "dynamic": u.dynamic, "imports": p.list(u.imports), "run": run, "names": p.plain(names)})
}

// bytesOf returns the bytes of an ArrayBuffer, nil for any other value.
func bytesOf(v goja.Value) []byte {
	if b, ok := v.Export().(goja.ArrayBuffer); ok {
		return b.Bytes()
	}
	return nil
}

// exported returns all arguments but the first, exported. Data is copied, since the script may change its own.
func (p *Program) exported(call goja.FunctionCall) arguments {
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
		return nil, asFailure(os.Chdir(a.text(0)), "chdir", a)
	}
	op, ok := fileOperations[name]
	if !ok {
		return nil, &failure{Code: "ENOSYS", Message: "function not implemented", Syscall: name}
	}
	v, err := op.run(a)
	return v, asFailure(err, op.syscall, a)
}

// outcome returns the result of a file operation as an object for fs.js.
func (p *Program) outcome(v any, f *failure) goja.Value {
	o := map[string]any{"value": v}
	if f != nil {
		o["failure"] = map[string]any{"code": f.Code, "message": f.Message, "syscall": f.Syscall, "path": f.Path, "dest": f.Dest, "errno": f.Errno}
	}
	return p.plain(o)
}

// plain returns maps and lists as ordinary objects and arrays, bytes as an ArrayBuffer, and any other value by ToValue.
func (p *Program) plain(v any) goja.Value {
	switch v := v.(type) {
	case nil:
		return goja.Null()
	case []byte:
		return p.vm.ToValue(p.vm.NewArrayBuffer(v))
	case []any:
		list := make([]any, len(v))
		for i, e := range v {
			list[i] = p.plain(e)
		}
		return p.vm.NewArray(list...)
	case map[string]any:
		o := p.vm.NewObject()
		for key, e := range v {
			_ = o.Set(key, p.plain(e))
		}
		return o
	}
	return p.vm.ToValue(v)
}

// fileLater runs a file operation on a goroutine of its own, and returns a promise of its outcome.
func (p *Program) fileLater(call goja.FunctionCall) goja.Value {
	name, args := call.Argument(0).String(), p.exported(call)
	done := p.trace(workName(name, args))
	return p.later(func() (any, *failure) { return operate(name, args) }, func(v any, f *failure) goja.Value {
		done()
		return p.outcome(v, f)
	})
}

// later does work on a goroutine of its own, and returns a promise of what then makes of the outcome.
func (p *Program) later(work func() (any, *failure), then func(any, *failure) goja.Value) goja.Value {
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
