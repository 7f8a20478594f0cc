package eventloop_test

// Tests of the vocabulary's documentation.

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/printer"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/internal/loopapi"
)

// go doc does not look behind an alias: so the comment of each public one has every exported method and field of its
// original, as it is declared there, and no comment serves two.
func TestAliasesAreDocumented(t *testing.T) {
	originals := map[string]*doc.Type{}
	for _, pkg := range []string{"promise", "loopapi"} {
		folder := map[string]string{"promise": "promise", "loopapi": "../internal/loopapi"}[pkg]
		for _, typ := range documented(t, folder).Types {
			originals[pkg+"."+typ.Name] = typ
		}
	}
	aliases := 0
	for _, typ := range documented(t, ".").Types {
		spec := typ.Decl.Specs[0].(*ast.TypeSpec)
		if !spec.Assign.IsValid() {
			continue
		}
		aliases++
		require.Len(t, typ.Decl.Specs, 1, "%s shares its comment", typ.Name)
		original := originals[source(spec.Type)]
		require.NotNil(t, original, "%s is an alias of %s", typ.Name, source(spec.Type))
		comment := strings.Join(strings.Fields(typ.Doc), " ")
		for _, line := range members(originals, original) {
			require.Contains(t, comment, strings.Join(strings.Fields(line), " "), "the comment of %s", typ.Name)
		}
	}
	require.Equal(t, 8, aliases)
}

// The constants are those of the originals.
func TestConstantsAreTheOriginals(t *testing.T) {
	require.Equal(t, []eventloop.State{loopapi.StateAwake, loopapi.StateTerminated, loopapi.StateSleeping, loopapi.StateRunning, loopapi.StateTerminating},
		[]eventloop.State{eventloop.StateAwake, eventloop.StateTerminated, eventloop.StateSleeping, eventloop.StateRunning, eventloop.StateTerminating})
	require.Equal(t, []eventloop.IOEvents{loopapi.EventRead, loopapi.EventWrite, loopapi.EventError, loopapi.EventHangup},
		[]eventloop.IOEvents{eventloop.EventRead, eventloop.EventWrite, eventloop.EventError, eventloop.EventHangup})
	require.Equal(t, []eventloop.TimerTier{loopapi.TimerNormal, loopapi.TimerCritical, loopapi.TimerBackground},
		[]eventloop.TimerTier{eventloop.TimerNormal, eventloop.TimerCritical, eventloop.TimerBackground})
}

// Every error of the vocabulary has a comment of its own, which says who returns it and what to do: a sentence at least.
func TestErrorsAreDocumented(t *testing.T) {
	errs := 0
	for _, group := range documented(t, ".").Vars {
		for _, spec := range group.Decl.Specs {
			spec := spec.(*ast.ValueSpec)
			if name := spec.Names[0].Name; strings.HasPrefix(name, "Err") {
				errs++
				require.True(t, strings.HasPrefix(spec.Doc.Text(), name+" is "), name)
			}
		}
	}
	require.Equal(t, 15, errs)
}

// documented is what go doc knows of a package.
func documented(t *testing.T, folder string) *doc.Package {
	names, err := filepath.Glob(filepath.Join(folder, "*.go"))
	require.NoError(t, err)
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		f, err := parser.ParseFile(fset, name, text, parser.ParseComments)
		require.NoError(t, err)
		files = append(files, f)
	}
	pkg, err := doc.NewFromFiles(fset, files, "example.org/"+folder)
	require.NoError(t, err)
	return pkg
}

// members are the declarations of a type's exported methods, and fields without their comments.
func members(originals map[string]*doc.Type, typ *doc.Type) (lines []string) {
	for _, m := range typ.Methods {
		lines = append(lines, source(m.Decl))
	}
	expr := typ.Decl.Specs[0].(*ast.TypeSpec).Type
	if index, ok := expr.(*ast.IndexExpr); ok { // of a generic type, which is in the same package
		generic := originals["promise."+source(index.X)].Decl.Specs[0].(*ast.TypeSpec)
		for _, line := range fields(generic.Type.(*ast.StructType).Fields) {
			lines = append(lines, strings.ReplaceAll(line, " "+generic.TypeParams.List[0].Names[0].Name, " "+source(index.Index)))
		}
	}
	switch expr := expr.(type) {
	case *ast.StructType:
		lines = append(lines, fields(expr.Fields)...)
	case *ast.InterfaceType:
		for _, f := range expr.Methods.List {
			lines = append(lines, f.Names[0].Name+strings.TrimPrefix(source(f.Type), "func"))
		}
	}
	return lines
}

func fields(list *ast.FieldList) (lines []string) {
	for _, f := range list.List {
		for _, name := range f.Names {
			if name.IsExported() {
				lines = append(lines, name.Name+" "+source(f.Type))
			}
		}
	}
	return lines
}

// source is a declaration as it is written, without its comment and body.
func source(node ast.Node) string {
	if f, ok := node.(*ast.FuncDecl); ok {
		node = &ast.FuncDecl{Recv: f.Recv, Name: f.Name, Type: f.Type}
	}
	var text strings.Builder
	if err := printer.Fprint(&text, token.NewFileSet(), node); err != nil {
		return err.Error()
	}
	return text.String()
}
