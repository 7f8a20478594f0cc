// Package compile changes the syntax trees of scripts so that they do what the language says where goja's compiler does
// otherwise, and calls are where Node says that they are. The source text of functions stays as it is.
package compile

import (
	"slices"
	"strings"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/token"
	"github.com/dop251/goja/unistring"
)

// The names by which mended code reaches what its host adds. None of them can be written in a script.
const (
	NewTarget = "the new.target of a call"      // a function: its argument, or undefined if the caller's frame is no construction
	Literal   = "a literal of a RegExp"         // a function: its first argument, a RegExp, with the second one as its source
	Class     = "the class RegExp"              // reading it replaces the global RegExp by one that mends its patterns
	Stack     = "the stack of an object"        // a function: its argument, whose property stack has V8's form then
	Message   = "the message of an object"      // a function: its argument, whose property message is V8's then
	Mark      = "an async generator function"   // a function: its argument, made an async generator function
	Made      = "an async generator"            // a function: an async generator with the methods of its argument
	Statics   = "the static properties RegExp." // reading it makes RegExp.$1 and its kin follow the matches
)

// Program compiles a program, after [Mend].
func Program(p *ast.Program, strict bool) (*goja.Program, error) {
	Mend(p)
	return goja.CompileAST(p, strict)
}

// Mend changes a program before it is compiled:
//   - In a function that uses arguments, variables that closures use are undefined when it begins: goja puts surplus
//     arguments there.
//   - arguments of an arrow function are those of the function around it, though that does not name them itself.
//   - new.target is undefined in a call without new: in goja it is that of a constructor that calls.
//   - The stack of an error has V8's form where it is looked at as a property of that name, and so has its message; it has also where
//     the error is caught.
//   - What esbuild has made of async generators has the prototypes of the language.
//   - Patterns that goja would match wrongly are replaced by equivalent ones, see [Pattern].
//   - The position of a call is that of the name that is called: goja takes the parenthesis.
func Mend(p *ast.Program) {
	m := &mender{fn: &function{}, source: p.File.Source(), base: file.Idx(p.File.Base())}
	m.stmts(p.Body)
	if m.statics {
		p.Body = begin(p.Body, identifier(Statics, p.Body[0].Idx0()))
	}
	if m.class { // before the other
		p.Body = begin(p.Body, identifier(Class, p.Body[0].Idx0()))
	}
}

// function is a function that has arguments and a new.target of its own; arrow functions belong to the one around them.
type function struct {
	outer     *function
	method    bool // new.target is undefined
	class     bool // a constructor of a class, for which goja's new.target is right
	params    bool // its parameters are being looked at: their scope has none of the body's variables
	arguments bool // it uses arguments
	arrows    int  // how many arrow functions are around what is being looked at
	far       bool // an arrow function within it uses arguments
	eval      bool // a direct eval within it may use everything
	closures  bool // there are functions within it
	target    bool // it uses new.target
}

type mender struct {
	fn      *function
	source  string
	base    file.Idx // of the first byte of the source
	class   bool     // the program mentions RegExp
	statics bool     // the program mentions RegExp.$1 or one of its kin
}

func identifier(name string, at file.Idx) *ast.Identifier {
	return &ast.Identifier{Name: unistring.NewFromString(name), Idx: at}
}

func undefined(at file.Idx) ast.Expression {
	return &ast.UnaryExpression{Operator: token.VOID, Idx: at, Operand: &ast.NumberLiteral{Idx: at, Literal: "0", Value: int64(0)}}
}

func assign(left, right ast.Expression) ast.Expression {
	return &ast.AssignExpression{Operator: token.ASSIGN, Left: left, Right: right}
}

func call(name string, at file.Idx, args ...ast.Expression) ast.Expression {
	return &ast.CallExpression{Callee: identifier(name, at), LeftParenthesis: at, ArgumentList: args, RightParenthesis: at}
}

// prepare has what is looked at for its stack, or its message, prepared for that by a function.
func prepare(of *ast.Expression, function string) {
	switch e := (*of).(type) {
	case *ast.SuperExpression:
	case *ast.ThisExpression:
		if function == Stack {
			*of = call(function, e.Idx0(), e)
		}
	case *ast.Optional:
		prepare(&e.Expression, function)
	default:
		*of = call(function, e.Idx0(), e)
	}
}

// place moves a call to the name that is called, if its last token is one: V8 shows it there. Other calls are at their parenthesis.
func (m *mender) place(n *ast.CallExpression) {
	at := n.LeftParenthesis
	switch c := n.Callee.(type) {
	case *ast.Identifier:
		at = c.Idx
	case *ast.SuperExpression:
		at = c.Idx
	case *ast.DotExpression:
		if word, _ := token.IsKeyword(c.Identifier.Name.String()); word == 0 || word >= token.LET {
			at = c.Identifier.Idx
		}
	}
	if name := m.source[at-m.base : n.LeftParenthesis-m.base]; !strings.Contains(name, ")") {
		n.LeftParenthesis = at
	}
}

// generator tells whether a function is what esbuild makes of an async generator. What it returns is made one then.
func generator(n *ast.FunctionLiteral) bool {
	if len(n.Body.List) == 0 {
		return false
	}
	r, ok := n.Body.List[len(n.Body.List)-1].(*ast.ReturnStatement)
	if !ok {
		return false
	}
	c, ok := r.Argument.(*ast.CallExpression)
	if !ok {
		return false
	}
	id, ok := c.Callee.(*ast.Identifier)
	switch {
	case !ok:
		return false
	case id.Name == "__asyncGenerator":
		r.Argument = call(Made, id.Idx, c)
	}
	return id.Name == "__asyncGenerator" || id.Name == Made
}

// marked puts the declarations of async generators at the beginning of a body.
func marked(body []ast.Statement) []ast.Statement {
	for _, s := range body {
		if d, ok := s.(*ast.FunctionDeclaration); ok && generator(d.Function) {
			body = begin(body, call(Mark, d.Function.Name.Idx, &ast.Identifier{Name: d.Function.Name.Name, Idx: d.Function.Name.Idx}))
		}
	}
	return body
}

// begin puts an expression behind the directives at the beginning of a body.
func begin(body []ast.Statement, e ast.Expression) []ast.Statement {
	n := 0
	for n < len(body) {
		s, ok := body[n].(*ast.ExpressionStatement)
		if !ok {
			break
		}
		if _, ok := s.Expression.(*ast.StringLiteral); !ok {
			break
		}
		n++
	}
	return slices.Insert(slices.Clone(body), n, ast.Statement(&ast.ExpressionStatement{Expression: e}))
}

// function looks at a function, and mends its beginning. f is what is known of it.
func (m *mender) function(n *ast.FunctionLiteral, f *function) {
	m.fn.closures = true
	f.outer = m.fn
	m.fn = f
	f.method = f.method || n.Async || n.Generator
	f.params = true
	simple := m.parameters(n.ParameterList)
	f.params = false
	n.Body.List = marked(n.Body.List)
	m.stmts(n.Body.List)
	generator(n)
	m.fn = f.outer
	f.outer.eval = f.outer.eval || f.eval
	if len(n.Body.List) == 0 {
		return
	}
	at := n.Body.List[0].Idx0()
	if f.target {
		name := identifier("new.target", at)
		n.DeclarationList = append(slices.Clone(n.DeclarationList), &ast.VariableDeclaration{Var: at, List: []*ast.Binding{{Target: name}}})
		n.Body.List = begin(n.Body.List, assign(name, call(NewTarget, at, &ast.MetaProperty{Meta: identifier("new", at), Property: identifier("target", at), Idx: at})))
	}
	if f.far {
		n.Body.List = begin(n.Body.List, identifier("arguments", at))
	}
	if !simple || !f.eval && !(f.arguments && f.closures) {
		return
	}
	value := undefined(at)
	names := variables(n)
	for _, name := range names {
		value = assign(&ast.Identifier{Name: name, Idx: at}, value)
	}
	if len(names) > 0 {
		n.Body.List = begin(n.Body.List, value)
	}
}

// variables returns the names that a function declares with var alone, which are undefined when it begins.
func variables(n *ast.FunctionLiteral) (names []unistring.String) {
	given := map[unistring.String]bool{"arguments": true, "eval": true, "new.target": true}
	for _, p := range n.ParameterList.List {
		if id, ok := p.Target.(*ast.Identifier); ok {
			given[id.Name] = true
		}
	}
	for _, s := range n.Body.List {
		for l, ok := s.(*ast.LabelledStatement); ok; l, ok = s.(*ast.LabelledStatement) {
			s = l.Statement
		}
		if d, ok := s.(*ast.FunctionDeclaration); ok {
			given[d.Function.Name.Name] = true
		}
	}
	for _, d := range n.DeclarationList {
		for _, b := range d.List {
			for _, name := range Names(b.Target) {
				if !given[name] {
					given[name] = true
					names = append(names, name)
				}
			}
		}
	}
	return names
}

// Names returns the names that a target of a declaration binds. It may be nil.
func Names(target ast.Expression) (names []unistring.String) {
	add := func(targets ...ast.Expression) {
		for _, t := range targets {
			names = append(names, Names(t)...)
		}
	}
	switch t := target.(type) {
	case *ast.Identifier:
		return []unistring.String{t.Name}
	case *ast.AssignExpression:
		add(t.Left)
	case *ast.Binding:
		add(t.Target)
	case *ast.ArrayPattern:
		add(append(slices.Clone(t.Elements), t.Rest)...)
	case *ast.ObjectPattern:
		for _, p := range t.Properties {
			switch p := p.(type) {
			case *ast.PropertyShort:
				add(&p.Name)
			case *ast.PropertyKeyed:
				add(p.Value)
			}
		}
		add(t.Rest)
	}
	return names
}

// parameters looks at parameters, and tells whether they are simple: names without initializers.
func (m *mender) parameters(l *ast.ParameterList) bool {
	simple := l.Rest == nil
	for _, b := range l.List {
		_, name := b.Target.(*ast.Identifier)
		simple = simple && name && b.Initializer == nil
	}
	m.bindings(l.List)
	m.expr(&l.Rest)
	return simple
}

// within looks at code that has neither arguments nor a new.target, such as the initializer of a field.
func (m *mender) within(look func()) {
	m.fn.closures = true
	m.fn = &function{outer: m.fn, method: true}
	look()
	m.fn.outer.eval = m.fn.outer.eval || m.fn.eval
	m.fn = m.fn.outer
}

func (m *mender) name(name unistring.String) {
	switch name {
	case "arguments":
		m.fn.arguments = true
		m.fn.far = m.fn.far || m.fn.arrows > 0
	case "RegExp":
		m.class = true
	}
}
