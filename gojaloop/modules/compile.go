package modules

// Compiling: source that goja can read stays as it is. TypeScript, JSX, ES modules and other syntax that goja lacks
// pass through esbuild, one file at a time, with a source map.

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/parser"
	"github.com/evanw/esbuild/pkg/api"
	"github.com/turnloop/turnloop/gojaloop/internal/compile"
)

// unit is a compiled module.
type unit struct {
	esm     bool
	async   bool                // the module awaits at its top
	dynamic bool                // the module imports dynamically
	imports []string            // specifiers of an ES module's imports, in order
	names   map[string][]string // names imported from each, by specifier
	program *goja.Program
}

// wrapper lists the parameters of the function whose body is a module's code. The last five serve import.meta,
// imports, the exports of an ES module that awaits at its top, and dynamic imports.
const wrapper = "exports, require, module, __filename, __dirname, __meta, __import, __exports, $import, __dynamic"

// importCalls redirects esbuild's form of a dynamic import, which calls require, to the loader. Columns stay the same.
var importCalls = strings.NewReplacer(".then(() => __toESM(require(", ".then(() => __toESM($import(", ".then(() => __toESM(__require(", ".then(() => __toESM(__dynamic(")

// syntaxError is the error of a source that cannot be compiled.
type syntaxError struct {
	file    string
	line    int // from 1; 0 if it is not known
	column  int // from 1
	width   int
	text    string // the line of the source
	message string
}

func (e *syntaxError) Error() string { return "SyntaxError: " + e.message }

// Cache compiles modules, each source once, and keeps what it has compiled and what it knows of folders. Several programs may share
// one, see [WithCache]; the zero Cache is ready. Any goroutine may call its methods.
type Cache struct {
	resolver resolver
	mu       sync.Mutex
	units    map[string]*unit // by file and source; guarded by mu
}

// file compiles the module in a file.
func (c *Cache) file(name string) (*unit, error) {
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

// script compiles a source as a script, or returns an error if goja cannot read it as one.
func (c *Cache) script(name, source string) (*goja.Program, error) {
	if ambiguous.MatchString(source) {
		return nil, errAwaits
	}
	p, err := goja.Parse(name, hideShebang(source))
	if err != nil {
		return nil, err
	}
	return compile.Program(p, false)
}

// ambiguous finds an await that goja would take for a variable's name, since it is not in an async function.
var ambiguous = regexp.MustCompile("\\bawait\\s*[(\\[+/`-]")

// exportNames returns the names of a file's own exports; nil if they cannot be found out.
func (c *Cache) exportNames(name string) []string {
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

// format is the kind of a module, by its file's name and its package.
type format int

const (
	unknown format = iota // the syntax decides
	commonJS
	module
)

func (c *Cache) formatOf(file string) format {
	if isData(file) {
		return module
	}
	switch filepath.Ext(file) {
	case ".cjs", ".cts":
		return commonJS
	case ".mjs", ".mts":
		return module
	}
	if m := c.resolver.manifestOf(filepath.Dir(file)); m != nil && m.Type == "module" {
		return module
	} else if m != nil && m.Type == "commonjs" && plain(file) { // in TypeScript the syntax decides
		return commonJS
	}
	return unknown
}

// compile compiles the source of a module, without esbuild if goja can read it.
func (c *Cache) compile(file, source string) (*unit, error) {
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
	if otherwise == nil && u.esm && f == commonJS {
		return nil, outsideModule(file, source)
	}
	return u, otherwise
}

// moduleStatement finds the first statement that only an ES module may have.
var moduleStatement = regexp.MustCompile(`(?m)^[ \t]*(import|export)\b`)

// outsideModule is Node's error for an import or an export in a file that is CommonJS by its name or package.
func outsideModule(file, source string) error {
	e := &syntaxError{file: file, message: "Cannot use import statement outside a module"}
	at := moduleStatement.FindStringSubmatchIndex(source)
	if at == nil {
		return e
	}
	if source[at[2]:at[3]] == "export" {
		e.message = "Unexpected token 'export'"
	}
	before := source[:at[2]]
	e.line = strings.Count(before, "\n") + 1
	start := strings.LastIndexByte(before, '\n') + 1
	e.column, e.width = at[2]-start+1, at[3]-at[2]
	e.text, _, _ = strings.Cut(source[start:], "\n")
	return e
}

// plain tells whether goja may be able to read a file without esbuild, by its extension.
func plain(file string) bool {
	switch filepath.Ext(file) {
	case ".ts", ".tsx", ".mts", ".cts", ".jsx":
		return false
	}
	return true
}

// compilePlain compiles CommonJS without esbuild. It puts the wrapper around the syntax tree, not the text, so that
// positions stay the source's.
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
	return compile.Program(body, false)
}

// hideShebang turns a first line for the shell into a comment.
func hideShebang(source string) string {
	if strings.HasPrefix(source, "#!") {
		return "//" + source[2:]
	}
	return source
}

// transform compiles a module by esbuild.
func (c *Cache) transform(file, source string, f format) (*unit, error) {
	source = hideShebang(source)
	out, err := c.build(file, source, f, api.FormatCommonJS)
	if err == errAwaits {
		out, err = c.build(file, source, f, api.FormatESModule)
	}
	if err != nil {
		return nil, err
	}
	code := importCalls.Replace(out.code)
	out.unit.dynamic = code != out.code
	code = forAwait.ReplaceAllString(code, "$1 = 0$2")
	code = keepClassNames(code, source)
	out.unit.names = namesOf(code, !plain(file))
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
	if strings.Count(code, "= __forAwait(") > 1 {
		ownVariables(parsed)
	}
	if out.unit.program, err = compile.Program(parsed, false); err != nil {
		return nil, asSyntaxError(err, file, source)
	}
	return out.unit, nil
}

// forAwait finds where esbuild's form of "for await" declares the variable for an exception. It is a var without a value:
// a loop that runs again, or another one in the same function, would throw the exception of the last one.
var forAwait = regexp.MustCompile(`(, more\d*, temp\d*, error\d*)(; more\d* = !\(temp\d* = await )`)

// renamedClass finds where esbuild gives a class another name, since its own static members or body use it.
var renamedClass = regexp.MustCompile(`(?m)^(?:.*\b([\w$]+) = class _([\w$]+)\b.* )?\{$`)

// keepClassNames has those classes keep their names. What it adds is at the end of a line, so that columns stay. esbuild's own option
// for it would take the names of arrow functions out of stacks.
func keepClassNames(code, source string) string {
	if !strings.Contains(code, " = class _") {
		return code
	}
	return renamedClass.ReplaceAllStringFunc(code, func(line string) string {
		m := renamedClass.FindStringSubmatch(line)
		if m[1] == "" || m[1] != m[2] || strings.Contains(source, "class _"+m[2]) {
			return line
		}
		return line + `static{this.name==="_` + m[1] + `"&&Object.defineProperty(this,"name",{value:"` + m[1] + `",configurable:true})}`
	})
}

// exportsObject finds where esbuild's output defines a module's exports.
var exportsObject = regexp.MustCompile(`(?m)^var (\w+) = \{\};\n__export\(\w+, `)

// These find, in esbuild's output, the variable of an import, the function that gives it its value in a module that
// awaits, and the uses of an imported name.
var (
	importVariable = regexp.MustCompile(`(?m)^var (import_[\w$]+) = (?:__toESM\()?(?:require\(("(?:[^"\\]|\\.)*")\)|(require_[\w$]+)\(\))`)
	importFunction = regexp.MustCompile(`(?m)^var (require_[\w$]+) = __commonJS\(\{\n.*\n\s*module\.exports = __import\(("(?:[^"\\]|\\.)*")\)`)
	importUse      = regexp.MustCompile(`(\(\) => )?\b(import_[\w$]+)\.([\w$]+)`)
)

// namesOf returns the names that a module uses of each import, by specifier. In TypeScript, re-exports are left out:
// they may be types, which nothing exports.
func namesOf(code string, typed bool) map[string][]string {
	functions, variables, names := map[string]string{}, map[string]string{}, map[string][]string{}
	for _, m := range importFunction.FindAllStringSubmatch(code, -1) {
		functions[m[1]] = m[2]
	}
	for _, m := range importVariable.FindAllStringSubmatch(code, -1) {
		quoted := m[2]
		if quoted == "" {
			quoted = functions[m[3]]
		}
		if specifier, err := strconv.Unquote(quoted); err == nil {
			variables[m[1]] = specifier
		}
	}
	if len(variables) == 0 {
		return nil
	}
	for _, m := range importUse.FindAllStringSubmatch(code, -1) {
		if specifier, ok := variables[m[2]]; ok && !(typed && m[1] != "") && !slices.Contains(names[specifier], m[3]) {
			names[specifier] = append(names[specifier], m[3])
		}
	}
	return names
}

type built struct {
	unit      *unit
	code      string
	sourceMap []byte
}

// errAwaits is the error for a module that awaits at its top: esbuild must write it as an ES module.
var errAwaits = errors.New("await at the top of a module")

// lacking are the features that goja lacks, and that esbuild can replace.
var lacking = map[string]bool{"async-generator": false, "for-await": false, "dynamic-import": false}

// build runs esbuild over one file, whose imports stay calls. to is the format of the output.
func (c *Cache) build(file, source string, f format, to api.Format) (*built, error) {
	const (
		added   = "\nexport {}" // makes the source an ES module
		own     = "own"         // namespace of the file
		wrapped = "wrapped"     // namespace of the entry point that takes the file's exports
		imports = "imports"     // namespace of imported modules
		ending  = ".source"     // suffix of names: esbuild has rules of its own for .mjs
	)
	if f == module {
		source += added
	}
	text := func(s string, l api.Loader) (api.OnLoadResult, error) {
		return api.OnLoadResult{Contents: &s, Loader: l, ResolveDir: filepath.Dir(file)}, nil
	}
	plugin := api.Plugin{Name: "modules", Setup: func(b api.PluginBuild) {
		b.OnResolve(api.OnResolveOptions{Filter: ".*"}, func(a api.OnResolveArgs) (api.OnResolveResult, error) {
			switch {
			case a.Kind == api.ResolveEntryPoint && to == api.FormatESModule:
				return api.OnResolveResult{Path: "exports", Namespace: wrapped}, nil
			case a.Kind == api.ResolveEntryPoint || a.Namespace == wrapped:
				return api.OnResolveResult{Path: file + ending, Namespace: own}, nil
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
			if f == commonJS {
				return nil, ofMessage(api.Message{Text: "await is only valid in async functions and the top level bodies of modules", Location: result.Errors[0].Location}, file)
			}
			return nil, errAwaits
		}
		// An error behind the end of the source is in the added text.
		if l := result.Errors[0].Location; f == module && l != nil && l.Line > strings.Count(source, "\n") {
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
			b.sourceMap = adjust(out.Contents, own+":", ending, b.unit.esm)
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

// tsconfig returns the tsconfig.json of a folder or of the nearest one above, "" if there is none in the package.
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
