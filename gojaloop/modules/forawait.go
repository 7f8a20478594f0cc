package modules

// The variables of esbuild's form of "for await". At the top of a module it gives those of a loop within another the same names, in
// one scope: the inner loop would end the outer one.

import (
	"reflect"
	"strconv"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/unistring"
)

// ownVariables gives the variables of each such loop names of their own. Code of the source is not looked at, but for what is in it.
func ownVariables(p *ast.Program) {
	n := 0
	visit(reflect.ValueOf(p.Body), func(node any) {
		t, ok := node.(*ast.TryStatement)
		if !ok || t.Body == nil || len(t.Body.List) != 1 || t.Catch == nil || t.Finally == nil {
			return
		}
		loop, ok := t.Body.List[0].(*ast.ForStatement)
		if !ok {
			return
		}
		vars, ok := loop.Initializer.(*ast.ForLoopInitializerVarDeclList)
		if !ok || len(vars.List) != 4 || !callsForAwait(vars.List[0].Initializer) {
			return
		}
		n++
		suffix := "$" + strconv.Itoa(n)
		names := map[unistring.String]bool{}
		for _, b := range vars.List {
			if id, ok := b.Target.(*ast.Identifier); ok {
				names[id.Name] = true
				id.Name += unistring.String(suffix)
			}
		}
		mine := []any{loop.Test, loop.Update, t.Catch.Body, t.Finally}
		if body, ok := loop.Body.(*ast.BlockStatement); ok && len(body.List) > 0 { // it takes the value first
			switch first := body.List[0].(type) {
			case *ast.LexicalDeclaration:
				mine = append(mine, first.List[0].Initializer)
			case *ast.VariableStatement:
				mine = append(mine, first.List[0].Initializer)
			case *ast.ExpressionStatement:
				if a, ok := first.Expression.(*ast.AssignExpression); ok {
					mine = append(mine, a.Right)
				}
			}
		}
		param, _ := t.Catch.Parameter.(*ast.Identifier)
		if param != nil && names[param.Name] {
			param.Name += unistring.String(suffix)
		}
		for _, part := range mine {
			visit(reflect.ValueOf(part), func(node any) {
				if id, ok := node.(*ast.Identifier); ok && names[id.Name] {
					id.Name += unistring.String(suffix)
				}
			})
		}
	})
}

func callsForAwait(e ast.Expression) bool {
	c, ok := e.(*ast.CallExpression)
	if !ok {
		return false
	}
	id, ok := c.Callee.(*ast.Identifier)
	return ok && id.Name == "__forAwait"
}

// visit calls f with each node of a tree. The lists of declarations hold nodes that are elsewhere too, and are left out.
func visit(v reflect.Value, f func(node any)) {
	switch v.Kind() {
	case reflect.Interface:
		visit(v.Elem(), f)
	case reflect.Pointer:
		if v.IsNil() || v.Elem().Kind() != reflect.Struct || v.Type().Elem().PkgPath() != reflect.TypeFor[ast.Program]().PkgPath() {
			return
		}
		f(v.Interface())
		visit(v.Elem(), f)
	case reflect.Struct:
		for i := range v.NumField() {
			if name := v.Type().Field(i).Name; name != "DeclarationList" && v.Type().Field(i).IsExported() {
				visit(v.Field(i), f)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			visit(v.Index(i), f)
		}
	}
}
