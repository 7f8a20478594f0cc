package main

// From source to a program of goja: what goja can read is left as it is; TypeScript, JSX, ES modules and what else goja lacks go
// through esbuild, one file at a time, with a source map.

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/parser"
	"github.com/evanw/esbuild/pkg/api"
)

// unit is a compiled file.
type unit struct {
	esm     bool
	async   bool     // it awaits at its top
	imports []string // of an ES module, in order
	program *goja.Program
}

// wrapper is what a module's code becomes the body of. What the last ones are for: import.meta, the way to imports, and the
// exports of an ES module that awaits at its top.
const wrapper = "exports, require, module, __filename, __dirname, __meta, __import, __exports"

// dynamic begins what compiled code requires in place of a dynamic import.
const dynamic = "loopjs:import:"

// syntaxError is an error of a source that cannot be compiled.
type syntaxError struct {
	file    string
	line    int // 1 is the first; 0 if it is not known
	column  int // 1 is the first
	width   int
	text    string // the line
	message string
}

func (e *syntaxError) Error() string { return "SyntaxError: " + e.message }

// compiler compiles files, each once. Its methods may be called on any goroutine.
type compiler struct {
	resolver *resolver
	mu       sync.Mutex
	units    map[string]*unit // by file and source; guarded by mu
}

// file compiles a file.
func (c *compiler) file(name string) (*unit, error) {
	source, err := readSource(name)
	if err != nil {
		return nil, err
	}
	key := name + "\x00" + source
	c.mu.Lock()
	u := c.units[key]
	c.mu.Unlock()
	if u != nil {
		return u, nil
	}
	if u, err = c.compile(name, source); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.units == nil {
		c.units = map[string]*unit{}
	}
	c.units[key] = u
	return u, nil
}

// script compiles what is no module, if goja can read it as it is.
func (c *compiler) script(name, source string) (*goja.Program, error) {
	if ambiguous.MatchString(source) {
		return nil, errAwaits
	}
	p, err := goja.Parse(name, hideShebang(source))
	if err != nil {
		return nil, err
	}
	return goja.CompileAST(p, false)
}

// ambiguous is an await that goja, where there is no async function, takes for a name, which is called or the like.
var ambiguous = regexp.MustCompile("\\bawait\\s*[(\\[+/`-]")

// exportNames returns what a file exports by name, as far as it says so itself.
func (c *compiler) exportNames(name string) []string {
	source, err := readSource(name)
	if err != nil {
		return nil
	}
	result := api.Build(api.BuildOptions{
		Stdin: &api.StdinOptions{Contents: source, Loader: loaderOf(name)}, Bundle: true, External: []string{"*"}, Format: api.FormatESModule,
		Outfile: "out.js", Metafile: true, LogLevel: api.LogLevelSilent,
	})
	var meta struct {
		Outputs map[string]struct{ Exports []string }
	}
	if json.Unmarshal([]byte(result.Metafile), &meta) != nil {
		return nil
	}
	return meta.Outputs["out.js"].Exports
}

// format is what a file is by its name and its package.
type format int

const (
	unknown format = iota // what its syntax tells
	commonJS
	module
)

func (c *compiler) formatOf(file string) format {
	switch filepath.Ext(file) {
	case ".cjs", ".cts":
		return commonJS
	case ".mjs", ".mts":
		return module
	}
	if m := c.resolver.manifestOf(filepath.Dir(file)); m != nil && m.Type == "module" {
		return module
	} else if m != nil && m.Type == "commonjs" {
		return commonJS
	}
	return unknown
}

// compile compiles the source of a module.
func (c *compiler) compile(file, source string) (*unit, error) {
	source = strings.TrimPrefix(source, "\ufeff")
	f := c.formatOf(file)
	if f == module || !plain(file) {
		return c.transform(file, source, f)
	}
	p, err := compilePlain(file, source)
	if err == nil && !ambiguous.MatchString(source) {
		return &unit{program: p}, nil
	}
	u, otherwise := c.transform(file, source, f)
	if err == nil && (otherwise != nil || !u.esm) {
		return &unit{program: p}, nil
	}
	return u, otherwise
}

// plain tells whether goja may be able to read a file as it is.
func plain(file string) bool {
	switch filepath.Ext(file) {
	case ".ts", ".tsx", ".mts", ".cts", ".jsx":
		return false
	}
	return true
}

// compilePlain compiles CommonJS as it is. The wrapper is put around its syntax tree, so that positions are those of the source.
func compilePlain(file, source string) (*goja.Program, error) {
	body, err := goja.Parse(file, hideShebang(source))
	if err != nil {
		return nil, err
	}
	around, err := goja.Parse(file, "(function ("+wrapper+") {})", parser.WithDisableSourceMaps)
	if err != nil {
		return nil, err
	}
	f := around.Body[0].(*ast.ExpressionStatement).Expression.(*ast.FunctionLiteral)
	f.Body.List, f.DeclarationList, f.Source = body.Body, body.DeclarationList, source
	body.Body, body.DeclarationList = around.Body, nil
	return goja.CompileAST(body, false)
}

// hideShebang makes the first line a comment, if it is for the shell.
func hideShebang(source string) string {
	if strings.HasPrefix(source, "#!") {
		return "//" + source[2:]
	}
	return source
}

// transform compiles with esbuild.
func (c *compiler) transform(file, source string, f format) (*unit, error) {
	out, err := c.build(file, source, f, api.FormatCommonJS)
	if err == errAwaits {
		out, err = c.build(file, source, f, api.FormatESModule)
	}
	if err != nil {
		return nil, err
	}
	code := out.code
	head := "(function (" + wrapper + ") {"
	if out.unit.esm {
		head += `"use strict";`
	}
	if out.unit.async {
		head = "(async " + head[1:]
		code = exportsObject.ReplaceAllString(code, "var $1 = __exports;\n__export($1, ")
	}
	code = head + "\n" + code + "\n//# sourceMappingURL=x.map\n})"
	parsed, err := goja.Parse(file, code, parser.WithSourceMapLoader(func(string) ([]byte, error) { return out.sourceMap, nil }))
	if err != nil {
		return nil, asSyntaxError(err, file, source)
	}
	if out.unit.program, err = goja.CompileAST(parsed, false); err != nil {
		return nil, asSyntaxError(err, file, source)
	}
	return out.unit, nil
}

// exportsObject is where esbuild's output defines a module's exports.
var exportsObject = regexp.MustCompile(`(?m)^var (\w+) = \{\};\n__export\(\w+, `)

type built struct {
	unit      *unit
	code      string
	sourceMap []byte
}

// errAwaits tells that a module awaits at its top, for which its output has to be an ES module.
var errAwaits = errors.New("await at the top of a module")

// lacking is what goja has not, and esbuild can say otherwise.
var lacking = map[string]bool{"async-generator": false, "for-await": false, "dynamic-import": false}

// build runs esbuild over one file, whose imports stay calls.
func (c *compiler) build(file, source string, f format, to api.Format) (*built, error) {
	const (
		added   = "\nexport {}" // makes it a module
		own     = "own"         // the file
		wrapped = "wrapped"     // what has its exports
		imports = "imports"     // what it imports
		ending  = ".source"     // of names, as esbuild has rules of its own for .mjs
	)
	if f == module {
		source += added
	}
	text := func(s string, l api.Loader) (api.OnLoadResult, error) {
		return api.OnLoadResult{Contents: &s, Loader: l, ResolveDir: filepath.Dir(file)}, nil
	}
	plugin := api.Plugin{Name: "loopjs", Setup: func(b api.PluginBuild) {
		b.OnResolve(api.OnResolveOptions{Filter: ".*"}, func(a api.OnResolveArgs) (api.OnResolveResult, error) {
			switch {
			case a.Kind == api.ResolveEntryPoint && to == api.FormatESModule:
				return api.OnResolveResult{Path: "exports", Namespace: wrapped}, nil
			case a.Kind == api.ResolveEntryPoint || a.Namespace == wrapped:
				return api.OnResolveResult{Path: file + ending, Namespace: own}, nil
			case a.Kind == api.ResolveJSDynamicImport:
				return api.OnResolveResult{Path: dynamic + a.Path, External: true}, nil
			case a.Kind == api.ResolveJSImportStatement && to == api.FormatESModule:
				return api.OnResolveResult{Path: a.Path + ending, Namespace: imports}, nil
			}
			return api.OnResolveResult{Path: a.Path, External: true}, nil
		})
		b.OnLoad(api.OnLoadOptions{Filter: ".*", Namespace: own}, func(api.OnLoadArgs) (api.OnLoadResult, error) {
			return text(source, loaderOf(file))
		})
		b.OnLoad(api.OnLoadOptions{Filter: ".*", Namespace: wrapped}, func(api.OnLoadArgs) (api.OnLoadResult, error) {
			return text("import * as all from 'own'; __import(all)", api.LoaderJS)
		})
		b.OnLoad(api.OnLoadOptions{Filter: ".*", Namespace: imports}, func(a api.OnLoadArgs) (api.OnLoadResult, error) {
			return text(fmt.Sprintf("module.exports = __import(%q)", strings.TrimSuffix(a.Path, ending)), api.LoaderJS)
		})
	}}
	result := api.Build(api.BuildOptions{
		EntryPoints: []string{"main"}, Outfile: "out.js", Bundle: true, Format: to, Platform: api.PlatformNeutral, Target: api.ES2022,
		Supported: lacking, Define: map[string]string{"import.meta": "__meta"}, TreeShaking: api.TreeShakingFalse, Charset: api.CharsetUTF8,
		Sourcemap: api.SourceMapExternal, SourcesContent: api.SourcesContentExclude, Metafile: true, LogLevel: api.LogLevelSilent,
		Tsconfig: tsconfig(filepath.Dir(file)), Plugins: []api.Plugin{plugin},
	})
	if len(result.Errors) > 0 {
		if to == api.FormatCommonJS && strings.HasPrefix(result.Errors[0].Text, "Top-level await is currently not supported") {
			return nil, errAwaits
		}
		if l := result.Errors[0].Location; f == module && l != nil && l.Line > strings.Count(source, "\n") { // the error is where the source was added to
			return c.build(file, strings.TrimSuffix(source, added), unknown, to)
		}
		return nil, ofMessage(result.Errors[0], file)
	}
	b := &built{unit: &unit{esm: f == module, async: to == api.FormatESModule}}
	var meta struct {
		Inputs map[string]struct {
			Format  string
			Imports []struct{ Path, Kind, Original string }
		}
	}
	if err := json.Unmarshal([]byte(result.Metafile), &meta); err != nil {
		return nil, err
	}
	for name, input := range meta.Inputs {
		if !strings.HasPrefix(name, own+":") {
			continue
		}
		b.unit.esm = b.unit.esm || input.Format == "esm"
		for _, i := range input.Imports {
			if i.Kind == "import-statement" && i.Path != "<runtime>" {
				b.unit.imports = append(b.unit.imports, strings.TrimSuffix(strings.TrimPrefix(i.Path, imports+":"), ending))
			}
		}
	}
	for _, out := range result.OutputFiles {
		if strings.HasSuffix(out.Path, ".map") {
			b.sourceMap = adjust(out.Contents, own+":", ending)
		} else {
			b.code = string(out.Contents)
		}
	}
	return b, nil
}

func loaderOf(file string) api.Loader {
	switch filepath.Ext(file) {
	case ".ts", ".mts", ".cts":
		return api.LoaderTS
	case ".tsx":
		return api.LoaderTSX
	}
	return api.LoaderJSX
}

// tsconfig returns the tsconfig.json that a folder belongs to, or "".
func tsconfig(dir string) string {
	for {
		if file := filepath.Join(dir, "tsconfig.json"); isFile(file) {
			return file
		}
		up := filepath.Dir(dir)
		if up == dir || filepath.Base(dir) == "node_modules" {
			return ""
		}
		dir = up
	}
}

// readSource reads a file, and tells what is wrong as Node does.
func readSource(file string) (string, error) {
	text, err := os.ReadFile(file)
	return string(text), err
}
