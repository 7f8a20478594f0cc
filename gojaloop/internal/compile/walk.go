package compile

// The walk over a syntax tree: each expression and statement is looked at once.

import (
	"reflect"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/unistring"
)

func (m *mender) exprs(l []ast.Expression) {
	for i := range l {
		m.expr(&l[i])
	}
}

func (m *mender) bindings(l []*ast.Binding) {
	for _, b := range l {
		m.binding(b)
	}
}

func (m *mender) binding(b *ast.Binding) {
	m.target(b.Target)
	m.expr(&b.Initializer)
}

// target looks at the target of a binding. It may be nil, and stays the same node.
func (m *mender) target(t ast.BindingTarget) {
	e := ast.Expression(t)
	m.expr(&e)
}

func (m *mender) properties(l []ast.Property) {
	for _, p := range l {
		switch p := p.(type) {
		case *ast.PropertyShort:
			m.name(p.Name.Name)
			m.expr(&p.Initializer)
		case *ast.PropertyKeyed:
			m.expr(&p.Key)
			if f, ok := p.Value.(*ast.FunctionLiteral); ok && p.Kind != ast.PropertyKindValue {
				m.function(f, &function{method: true})
			} else {
				m.expr(&p.Value)
			}
		case *ast.SpreadElement:
			m.expr(&p.Expression)
		}
	}
}

// metaProperty mends new.target, the only meta property of scripts.
func (m *mender) metaProperty(p *ast.Expression) {
	switch at := (*p).Idx0(); {
	case m.fn.outer == nil || m.fn.class || m.fn.params:
	case m.fn.method:
		*p = undefined(at)
	default:
		m.fn.target = true
		*p = identifier("new.target", at)
	}
}

func (m *mender) literal(p *ast.Expression, n *ast.RegExpLiteral) {
	pattern, changed := Pattern(n.Pattern, n.Flags)
	if !changed {
		return
	}
	source := n.Pattern
	n.Pattern = pattern
	*p = call(Literal, n.Idx, n, &ast.StringLiteral{Idx: n.Idx, Literal: source, Value: unistring.NewFromString(source)})
}

func (m *mender) expr(p *ast.Expression) {
	switch n := (*p).(type) {
	case *ast.Identifier:
		m.name(n.Name)
	case *ast.MetaProperty:
		m.metaProperty(p)
	case *ast.RegExpLiteral:
		m.literal(p, n)
	case *ast.FunctionLiteral:
		m.function(n, &function{})
		if generator(n) {
			*p = call(Mark, n.Function, n)
		}
	case *ast.ArrowFunctionLiteral:
		m.fn.closures = true
		m.fn.arrows++
		m.parameters(n.ParameterList)
		switch b := n.Body.(type) {
		case *ast.BlockStatement:
			m.stmts(b.List)
		case *ast.ExpressionBody:
			m.expr(&b.Expression)
		}
		m.fn.arrows--
	case *ast.ClassLiteral:
		m.classBody(n)
	case *ast.CallExpression:
		if id, ok := n.Callee.(*ast.Identifier); ok && id.Name == "eval" {
			m.fn.eval = true
		}
		m.place(n)
		m.expr(&n.Callee)
		m.exprs(n.ArgumentList)
	case *ast.DotExpression:
		if id, ok := n.Left.(*ast.Identifier); ok && id.Name == "RegExp" && static(n.Identifier.Name) {
			m.statics = true
		}
		m.expr(&n.Left)
		switch n.Identifier.Name {
		case "stack":
			prepare(&n.Left, Stack)
		case "message":
			prepare(&n.Left, Message)
		}
	case *ast.BracketExpression:
		if id, ok := n.Left.(*ast.Identifier); ok && id.Name == "RegExp" {
			s, ok := n.Member.(*ast.StringLiteral)
			m.statics = m.statics || ok && static(s.Value)
		}
		m.expr(&n.Left)
		m.expr(&n.Member)
	case nil:
	default:
		m.parts(n)
	}
}

// static tells whether a static property of RegExp tells of the last match.
func static(name unistring.String) bool {
	switch name {
	case "input", "$_", "lastMatch", "$&", "lastParen", "$+", "leftContext", "$`", "rightContext", "$'":
		return true
	}
	return len(name) == 2 && name[0] == '$' && name[1] >= '1' && name[1] <= '9'
}

func (m *mender) classBody(n *ast.ClassLiteral) {
	m.expr(&n.SuperClass)
	for _, e := range n.Body {
		switch e := e.(type) {
		case *ast.FieldDefinition:
			m.expr(&e.Key)
			m.within(func() { m.expr(&e.Initializer) })
		case *ast.MethodDefinition:
			m.expr(&e.Key)
			key, named := e.Key.(*ast.StringLiteral)
			constructor := named && !e.Static && !e.Computed && e.Kind == ast.PropertyKindMethod && key.Value == "constructor"
			m.function(e.Body, &function{method: !constructor, class: constructor})
		case *ast.ClassStaticBlock:
			m.within(func() { m.stmts(e.Block.List) })
		}
	}
}

func (m *mender) stmts(l []ast.Statement) {
	for _, s := range l {
		m.stmt(s)
	}
}

func (m *mender) stmt(s ast.Statement) {
	switch n := s.(type) {
	case nil:
	case *ast.BlockStatement:
		n.List = marked(n.List)
		m.stmts(n.List)
	case *ast.FunctionDeclaration:
		m.function(n.Function, &function{})
	case *ast.ClassDeclaration:
		m.classBody(n.Class)
	case *ast.TryStatement:
		m.stmt(n.Body)
		if n.Catch != nil {
			m.target(n.Catch.Parameter)
			m.stmt(n.Catch.Body)
			if id, ok := n.Catch.Parameter.(*ast.Identifier); ok && len(n.Catch.Body.List) > 0 {
				n.Catch.Body.List = begin(n.Catch.Body.List, call(Message, id.Idx, &ast.Identifier{Name: id.Name, Idx: id.Idx}))
			}
		}
		if n.Finally != nil {
			m.stmt(n.Finally)
		}
	case *ast.WithStatement:
		m.fn.eval = true
		m.parts(n)
	default:
		m.parts(n)
	}
}

// parts looks at all that a node has in it. Labels and names of properties are no expressions, and so are left out.
func (m *mender) parts(node any) {
	for v, i := reflect.ValueOf(node).Elem(), 0; i < v.NumField(); i++ {
		switch part := v.Field(i).Addr().Interface().(type) {
		case *ast.Expression:
			m.expr(part)
		case *[]ast.Expression:
			m.exprs(*part)
		case *ast.Statement:
			m.stmt(*part)
		case *[]ast.Statement:
			m.stmts(*part)
		case *ast.BindingTarget:
			m.target(*part)
		case **ast.Binding:
			m.binding(*part)
		case *[]*ast.Binding:
			m.bindings(*part)
		case *ast.LexicalDeclaration:
			m.bindings(part.List)
		case *[]ast.Property:
			m.properties(*part)
		case *[]*ast.CaseStatement:
			for _, c := range *part {
				m.parts(c)
			}
		case *ast.ForLoopInitializer:
			if *part != nil {
				m.parts(*part)
			}
		case *ast.ForInto:
			m.parts(*part)
		}
	}
}
