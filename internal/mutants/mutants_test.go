package main

// Tests of the table of mutants.

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

// Every mutant has its place in the code as it is, a name of its own, and says what it is about.
func TestTable(t *testing.T) {
	names, style := map[string]bool{}, regexp.MustCompile(`^[a-z]+(-[a-z]+)+$`)
	known := map[string][]string{}
	tests := func(pkg string) []string {
		if known[pkg] == nil {
			known[pkg] = testsOf(filepath.Join("..", ".."), pkg)
		}
		return known[pkg]
	}
	for _, m := range allMutants() {
		if names[m.name] || !style.MatchString(m.name) || m.harm == "" || m.old == m.new {
			t.Errorf("%q is no good", m.name)
		}
		names[m.name] = true
		text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(m.file)))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.apply(string(text)); err != nil {
			t.Errorf("%s: %v", m.name, err)
		}
		of := []string{path.Dir(m.file)}
		if slices.Contains(parts, of[0]) {
			of = append(of, "eventloop")
		}
		if m.first != "" && !slices.ContainsFunc(of, func(pkg string) bool { return selects(m.first, tests(pkg)) }) {
			t.Errorf("%s: no test of %s is %s", m.name, of, m.first)
		}
	}
}

// Every mutant compiles: one that does not is found when chance chooses it, and then kills nothing.
func TestMutantsCompile(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go command here: ", err)
	}
	root := filepath.Join("..", "..")
	byFolder := map[string][]mutant{}
	for _, m := range allMutants() {
		if folder := filepath.FromSlash(path.Dir(m.file)); m.applies() {
			byFolder[folder] = append(byFolder[folder], m)
		}
	}
	list := []string{"list", "-deps", "-export", "-json=Dir,ImportPath,Export,GoFiles,CgoFiles"}
	for folder := range byFolder {
		list = append(list, "./"+filepath.ToSlash(folder))
	}
	cmd := exec.Command("go", list...)
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Fatal("go list: ", err)
	}
	type listed struct {
		Dir, ImportPath, Export string
		GoFiles                 []string
	}
	exports, packages := map[string]string{}, map[string]listed{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		exports[p.ImportPath], packages[p.Dir] = p.Export, p
	}
	imports := importer.ForCompiler(token.NewFileSet(), "gc", func(name string) (io.ReadCloser, error) { return os.Open(exports[name]) })
	for folder, mutants := range byFolder {
		dir, err := filepath.Abs(filepath.Join(root, folder))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range mutants {
			typeCheck(t, m, imports, packages[dir].ImportPath, dir, packages[dir].GoFiles)
		}
	}
}

// typeCheck looks at the changed file only: the bodies of the others' functions are left away.
func typeCheck(t *testing.T, m mutant, imports types.Importer, name, dir string, files []string) {
	changed := path.Base(m.file)
	if !slices.Contains(files, changed) {
		t.Errorf("%s: %s is not among the files of %s", m.name, changed, name)
	}
	set := token.NewFileSet()
	var parsed []*ast.File
	for _, file := range files {
		text, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		if file == changed {
			mutated, err := m.apply(string(text))
			if err != nil {
				return // TestTable says it
			}
			text = []byte(mutated)
		}
		f, err := parser.ParseFile(set, file, text, parser.SkipObjectResolution)
		if err != nil {
			t.Errorf("%s: %v", m.name, err)
			return
		}
		for _, d := range f.Decls {
			if d, ok := d.(*ast.FuncDecl); ok && file != changed {
				d.Body = nil
			}
		}
		parsed = append(parsed, f)
	}
	conf := types.Config{Importer: imports, Error: func(err error) {
		var e types.Error
		if errors.As(err, &e) && set.Position(e.Pos).Filename == changed {
			t.Errorf("%s: %v", m.name, err)
		}
	}}
	conf.Check(name, set, parsed, nil) // every error has been told
}
