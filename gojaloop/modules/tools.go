package modules

// What programs need that run scripts as a command line does. All but Check and Find is for the loop.

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/dop251/goja"
)

// Evaluate runs code that is in no file: as a script, unless its syntax is a module's. If it is not nil, each is called with the
// code's value, or with what the value is a promise of. Call it in a function of [gojaloop.Host.RunFunc].
func (p *Program) Evaluate(name, code string, each func(goja.Value)) error {
	p.mainName, p.texts[name] = name, code
	if err := p.defineGlobals(name); err != nil {
		return err
	}
	_ = p.vm.Set("__filename", name)
	_ = p.vm.Set("__dirname", ".")
	if program, err := p.compiler.script(name, code); err == nil {
		v, err := p.vm.RunProgram(program)
		if err == nil && each != nil {
			each(v)
		}
		return err
	}
	if each != nil { // it awaits, or is TypeScript
		v, _, err := p.Line(name, code)
		if err == ErrIncomplete {
			err = p.thrown(p.newError("SyntaxError", "Unexpected end of input"))
		}
		if err != nil {
			return err
		}
		return p.Then(v, each, nil)
	}
	u, err := p.compiler.transform(name, code, unknown)
	if err != nil {
		return p.thrown(p.errorValue(err))
	}
	path, err := p.here(name)
	if err != nil {
		return err
	}
	promise, err := p.call("runSource", path, p.unitValue(u))
	if err == nil {
		_, err = p.call("main", promise)
	}
	return err
}

// defineGlobals gives scripts that are not in a file the variables that modules have.
func (p *Program) defineGlobals(name string) error {
	path, err := p.here(name)
	if err != nil {
		return err
	}
	given, err := p.call("globals", path)
	if err != nil {
		return err
	}
	for _, key := range []string{"module", "exports", "require"} {
		_ = p.vm.Set(key, given.ToObject(p.vm).Get(key))
	}
	return p.vm.Set("__import", p.host.Func(func(call goja.FunctionCall) goja.Value {
		v, err := p.call("importFrom", call.Argument(0), path)
		if err != nil {
			panic(err)
		}
		return v
	}))
}

// Then calls f with a value, or once a promise is fulfilled with the promise's value. It calls failed with the reason of a
// rejection; if failed is nil, the rejection counts as uncaught.
func (p *Program) Then(v goja.Value, f, failed func(goja.Value)) error {
	if _, ok := v.Export().(*goja.Promise); !ok {
		f(v)
		return nil
	}
	then, _ := goja.AssertFunction(v.ToObject(p.vm).Get("then"))
	handler := func(f func(goja.Value)) goja.Value {
		if f == nil {
			return goja.Undefined()
		}
		return p.host.Func(func(call goja.FunctionCall) goja.Value { f(call.Argument(0)); return nil })
	}
	_, err := then(v, handler(f), handler(failed))
	return err
}

// Inspect returns a value as util.inspect shows it.
func (p *Program) Inspect(v goja.Value) string {
	f, _ := goja.AssertFunction(p.host.Module("inspect").Get("inspect"))
	text, err := f(goja.Undefined(), v)
	if err != nil {
		return strings.TrimSpace(err.Error())
	}
	return text.String()
}

// Show returns a value as console.log prints it.
func (p *Program) Show(v goja.Value) string {
	if s, ok := v.(goja.String); ok {
		return s.String()
	}
	return p.Inspect(v)
}

// Find returns the file that a name on a command line means, "" if there is none.
func (c *Cache) Find(name string) string {
	file, err := filepath.Abs(name)
	if err != nil {
		return ""
	}
	return c.resolver.fileOrFolder(file)
}

// Check compiles a file. The text of its error shows the place of a syntax error.
func (c *Cache) Check(name string) error {
	file := c.Find(name)
	if file == "" {
		file, err := filepath.Abs(name)
		return errors.Join(err, errors.New("Error: Cannot find module '"+file+"'"))
	}
	_, err := c.file(file)
	if s, ok := err.(*syntaxError); ok && s.line > 0 {
		return fmt.Errorf("%s\n%w", arrow(s.file, s.line, s.column, s.width, s.text), err)
	}
	return err
}
