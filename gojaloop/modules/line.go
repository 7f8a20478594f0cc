package modules

// Lines of a session: a line is a script whose declarations stay; a line that awaits becomes an async function.

import (
	"errors"
	"regexp"
	"sort"
	"strings"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/evanw/esbuild/pkg/api"
	"github.com/turnloop/turnloop/gojaloop/internal/compile"
)

// ErrIncomplete is the error of a line that needs another one.
var ErrIncomplete = errors.New("incomplete")

// Line runs a line of a session of that name, and returns its value. If the line awaits, the value is a promise. It is for the loop.
func (p *Program) Line(name, code string) (v goja.Value, awaits bool, err error) {
	if _, again := p.texts[name]; !again {
		if err := p.defineGlobals(name); err != nil {
			return nil, false, err
		}
	}
	p.texts[name] = code
	script := func(code string) bool {
		program, wrong := p.compiler.script(name, code)
		if wrong == nil {
			v, err = p.vm.RunProgram(program)
		}
		return wrong == nil
	}
	t := strings.TrimSpace(code)
	if strings.HasPrefix(t, "{") && !strings.HasSuffix(t, ";") && script("("+code+"\n)") || script(code) {
		return v, false, err
	}
	if code, err = withoutTypes(name, code); err == ErrIncomplete {
		return nil, false, err
	} else if err != nil {
		return nil, false, p.thrown(p.errorValue(err))
	}
	if script(code) {
		return v, false, err
	}
	line, names, err := asyncLine(code)
	if err != nil && importStatement.MatchString(code) {
		return nil, false, p.thrown(p.newError("SyntaxError", "Cannot use an import statement in a session: there is const x = await import('x')"))
	} else if err != nil {
		return nil, false, p.thrown(p.errorValue(asSyntaxError(err, name, code)))
	}
	for _, n := range names {
		_, _ = p.vm.RunString("var " + n) // fails for a name declared by let, which is then assigned to
	}
	v, err = p.vm.RunScript(name, line)
	return v, true, err
}

// importStatement finds the import statements of a module; scripts have none.
var importStatement = regexp.MustCompile(`(?m)^\s*import\s*["'{*\w]`)

// dynamicImport finds the dynamic imports of a script.
var dynamicImport = regexp.MustCompile(`\bimport\s*\(`)

// withoutTypes turns TypeScript and newer JavaScript into JavaScript that goja can read, with each statement on a
// line of its own.
func withoutTypes(name, code string) (string, error) {
	supported := map[string]bool{"async-generator": false, "for-await": false}
	result := api.Transform(code, api.TransformOptions{Loader: api.LoaderTS, Target: api.ES2022, Supported: supported, LogLevel: api.LogLevelSilent, Charset: api.CharsetUTF8,
		TsconfigRaw: `{"compilerOptions":{"verbatimModuleSyntax":true}}`})
	if len(result.Errors) > 0 {
		e := ofMessage(result.Errors[0], name)
		if text := e.Error(); strings.Contains(text, "end of input") || strings.Contains(text, "Unterminated template") {
			return "", ErrIncomplete
		}
		// esbuild reports an open template as an open string. If closing it makes the code valid, or makes another
		// error, it was a template.
		if open := "Unterminated string literal"; result.Errors[0].Text == open && !strings.HasSuffix(code, "`") {
			if closed := api.Transform(code+"`", api.TransformOptions{Loader: api.LoaderTS}); len(closed.Errors) == 0 || closed.Errors[0].Text != open {
				return "", ErrIncomplete
			}
		}
		return "", e
	}
	return dynamicImport.ReplaceAllString(forAwait.ReplaceAllString(string(result.Code), "$1 = 0$2"), "__import("), nil
}

// edit replaces a part of a source.
type edit struct {
	from, to int
	text     string
}

// asyncLine turns statements that await into a call of an async function. Each statement begins a line. Declared variables become
// global variables, whose names are returned. The promise's value is that of the last statement, if it is an expression.
func asyncLine(code string) (string, []string, error) {
	const head = "(async () => {\n"
	source := head + code + "\n})()"
	parsed, err := goja.Parse("", source)
	if err != nil {
		return "", nil, err
	}
	call := parsed.Body[0].(*ast.ExpressionStatement).Expression.(*ast.CallExpression)
	list := call.Callee.(*ast.ArrowFunctionLiteral).Body.(*ast.BlockStatement).List
	begins := make([]int, len(list)+1)
	for i, s := range list {
		begins[i] = strings.LastIndexByte(source[:int(s.Idx0())-1], '\n') + 1
	}
	begins[len(list)] = len(head) + len(code)
	var edits []edit
	var names []string
	for i, s := range list {
		from := begins[i]
		to := from + len(strings.TrimRight(source[from:begins[i+1]], "; \n"))
		declare := func(keyword int, bindings []*ast.Binding) {
			edits = append(edits, edit{from, from + keyword, "void ("})
			for _, b := range bindings {
				for _, name := range compile.Names(b.Target) {
					names = append(names, name.String())
				}
				if id, ok := b.Target.(*ast.Identifier); ok && b.Initializer == nil {
					at := int(id.Idx1()) - 1
					edits = append(edits, edit{at, at, " = undefined"})
				}
			}
			edits = append(edits, edit{to, to, ")"})
		}
		switch s := s.(type) {
		case *ast.LexicalDeclaration:
			declare(len(s.Token.String()), s.List)
		case *ast.VariableStatement:
			declare(len("var"), s.List)
		case *ast.ClassDeclaration:
			name := s.Class.Name.Name.String()
			names = append(names, name)
			edits = append(edits, edit{from, from, name + " = "})
		case *ast.FunctionDeclaration:
			name := s.Function.Name.Name.String()
			edits = append(edits, edit{len(head), len(head), "globalThis." + name + " = " + name + ";"})
		case *ast.ExpressionStatement:
			if i == len(list)-1 {
				edits = append(edits, edit{from, from, "return ("}, edit{to, to, ")"})
			}
		}
	}
	sort.SliceStable(edits, func(i, j int) bool { return edits[i].from < edits[j].from })
	var b strings.Builder
	at := 0
	for _, e := range edits {
		b.WriteString(source[at:e.from] + e.text)
		at = e.to
	}
	b.WriteString(source[at:])
	return b.String(), names, nil
}
