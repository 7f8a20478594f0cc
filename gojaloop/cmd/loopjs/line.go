package main

// A line that a person has typed: a script whose declarations stay; and one that awaits is made an async function.

import (
	"errors"
	"regexp"
	"sort"
	"strings"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/evanw/esbuild/pkg/api"
)

// errIncomplete tells that there is more to come.
var errIncomplete = errors.New("incomplete")

// evaluateLine runs a line, and returns its value: of one that awaits, a promise. On the loop.
func (p *program) evaluateLine(name, code string) (v goja.Value, awaits bool, err error) {
	p.texts[name] = code
	if t := strings.TrimSpace(code); strings.HasPrefix(t, "{") && !strings.HasSuffix(t, ";") {
		if program, err := p.compiler.script(name, "("+code+"\n)"); err == nil {
			v, err := p.vm.RunProgram(program)
			return v, false, err
		}
	}
	if program, err := p.compiler.script(name, code); err == nil {
		v, err := p.vm.RunProgram(program)
		return v, false, err
	}
	code, err = withoutTypes(name, code)
	if err == errIncomplete {
		return nil, false, err
	} else if err != nil {
		return nil, false, p.thrown(p.errorValue(err))
	}
	if program, err := p.compiler.script(name, code); err == nil {
		v, err := p.vm.RunProgram(program)
		return v, false, err
	}
	code, names, err := asyncLine(code)
	if err != nil {
		return nil, false, p.thrown(p.errorValue(asSyntaxError(err, name, code)))
	}
	for _, n := range names {
		_, _ = p.vm.RunString("var " + n) // fails if there is one by let, which then is assigned to
	}
	v, err = p.vm.RunScript(name, code)
	return v, true, err
}

// dynamicImport is how a script imports.
var dynamicImport = regexp.MustCompile(`\bimport\s*\(`)

// withoutTypes makes JavaScript that goja can read of TypeScript and newer JavaScript, each statement on a line of its own.
func withoutTypes(name, code string) (string, error) {
	supported := map[string]bool{"async-generator": false, "for-await": false}
	result := api.Transform(code, api.TransformOptions{Loader: api.LoaderTS, Target: api.ES2022, Supported: supported, LogLevel: api.LogLevelSilent, Charset: api.CharsetUTF8,
		TsconfigRaw: `{"compilerOptions":{"verbatimModuleSyntax":true}}`})
	if len(result.Errors) > 0 {
		e := ofMessage(result.Errors[0], name)
		if text := e.Error(); strings.Contains(text, "end of input") || strings.Contains(text, "Unterminated template") {
			return "", errIncomplete
		}
		return "", e
	}
	return dynamicImport.ReplaceAllString(string(result.Code), "__import("), nil
}

// edit replaces a part of a source.
type edit struct {
	from, to int
	text     string
}

// asyncLine makes an async function of statements that await, each of which begins a line. What they declare is assigned to
// variables outside, whose names it returns; the value of the last one, if it is an expression, is what the promise gives.
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
				names = append(names, targets(b.Target)...)
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

// targets returns the names that a pattern declares.
func targets(x ast.Expression) (names []string) {
	switch x := x.(type) {
	case *ast.Identifier:
		return []string{x.Name.String()}
	case *ast.AssignExpression:
		return targets(x.Left)
	case *ast.ArrayPattern:
		for _, e := range x.Elements {
			names = append(names, targets(e)...)
		}
		return append(names, targets(x.Rest)...)
	case *ast.ObjectPattern:
		for _, p := range x.Properties {
			switch p := p.(type) {
			case *ast.PropertyShort:
				names = append(names, p.Name.Name.String())
			case *ast.PropertyKeyed:
				names = append(names, targets(p.Value)...)
			}
		}
		return append(names, targets(x.Rest)...)
	}
	return nil
}
