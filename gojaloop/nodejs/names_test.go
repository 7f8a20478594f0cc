package nodejs_test

// The names that this package and goja_nodejs/eventloop export, and their types, are the same.

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// exported returns what a package exports: names with the types of parameters and results.
func exported(t *testing.T, dir string) map[string]string {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: no source, %v", dir, err)
	}
	names := map[string]string{}
	set := token.NewFileSet()
	types := func(list *ast.FieldList) (s []string) {
		if list == nil {
			return nil
		}
		for _, field := range list.List {
			var b strings.Builder
			_ = printer.Fprint(&b, set, field.Type)
			for range max(1, len(field.Names)) {
				s = append(s, b.String())
			}
		}
		return s
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(set, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				receiver := strings.Join(types(d.Recv), "")
				if d.Name.IsExported() && (receiver == "" || ast.IsExported(strings.TrimPrefix(receiver, "*"))) {
					names[receiver+"."+d.Name.Name] = fmt.Sprint(types(d.Type.Params), types(d.Type.Results))
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					switch spec := spec.(type) {
					case *ast.TypeSpec:
						if spec.Name.IsExported() {
							names[spec.Name.Name] = "type"
						}
						if f, ok := spec.Type.(*ast.FuncType); ok {
							names[spec.Name.Name] = fmt.Sprint(types(f.Params), types(f.Results))
						}
					case *ast.ValueSpec:
						for _, n := range spec.Names {
							if n.IsExported() {
								names[n.Name] = "value"
							}
						}
					}
				}
			}
		}
	}
	return names
}

func TestNames(t *testing.T) {
	dir, err := exec.Command("go", "list", "-f", "{{.Dir}}", "github.com/dop251/goja_nodejs/eventloop").Output()
	if errors.Is(err, exec.ErrNotFound) {
		t.Skip("where the other package is only the go command knows: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	want, got := exported(t, strings.TrimSpace(string(dir))), exported(t, ".")
	if len(want) < 18 || want["*EventLoop.RunOnLoop"] != "[func(*goja.Runtime)] [bool]" {
		t.Fatalf("too little is found: %v", want)
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if got[name] != want[name] {
			t.Errorf("%s %s here is %q", name, want[name], got[name])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if _, ok := want[name]; !ok {
			t.Errorf("%s is not there", name)
		}
	}
}
