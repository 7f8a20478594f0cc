package tidy

// What the rules look at: the files of a tree, and the modules that they are in.

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// tree is what the rules look at.
type tree struct {
	fset    *token.FileSet
	modules []*module
	files   []*file
	texts   map[string]string
}

type module struct {
	dir, path string
	direct    []string          // required, without the indirect ones
	versions  map[string]string // of all that is required
	replaces  bool
}

type file struct {
	name    string
	module  *module
	test    bool
	lines   int
	imports []string
	syntax  *ast.File
}

// localName returns the name under which f knows the package with this import path, or "".
func (f *file) localName(pkg string) string {
	for _, spec := range f.syntax.Imports {
		if p, _ := strconv.Unquote(spec.Path.Value); p == pkg {
			if spec.Name != nil {
				return spec.Name.Name
			}
			return path.Base(pkg)
		}
	}
	return ""
}

// module returns the module in dir, or nil.
func (tr *tree) module(dir string) *module {
	for _, m := range tr.modules {
		if m.dir == dir {
			return m
		}
	}
	return nil
}

// named returns the module of ours with this path, or nil.
func (tr *tree) named(path string) *module {
	for _, m := range tr.modules {
		if m.path == path {
			return m
		}
	}
	return nil
}

// owner returns the module of ours that holds the package with this import path, or nil.
func (tr *tree) owner(imported string) (owner *module) {
	for _, m := range tr.modules {
		if within(imported, m.path) && (owner == nil || len(m.path) > len(owner.path)) {
			owner = m
		}
	}
	return owner
}

// folder returns the folder of a package of ours.
func (tr *tree) folder(imported string) (folder string, ours bool) {
	owner := tr.owner(imported)
	if owner == nil {
		return "", false
	}
	return path.Join(owner.dir, strings.TrimPrefix(imported, owner.path)), true
}

// load reads a tree. Build constraints are ignored: the rules hold on every platform. A module in the tree that is not named after
// the root module is somebody's own, such as a loop that enters the tournament: the rules are not theirs.
func load(fsys fs.FS) (*tree, error) {
	tr := &tree{fset: token.NewFileSet(), texts: map[string]string{}}
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if d.Name() == ".git" || d.Name() == "testdata" || d.Name() == "vendor" || name == "bin" {
				return fs.SkipDir
			}
			if text, err := fs.ReadFile(fsys, path.Join(name, "go.mod")); err == nil {
				m := parseModule(name, string(text))
				if len(tr.modules) > 0 && !within(m.path, tr.modules[0].path) {
					return fs.SkipDir
				}
				tr.modules = append(tr.modules, m)
			}
			return nil
		}
		if !d.Type().IsRegular() || !textFiles.MatchString(name) {
			return nil
		}
		text, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		tr.texts[name] = string(text)
		if path.Ext(name) == ".go" {
			syntax, err := parser.ParseFile(tr.fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			f := &file{name: name, syntax: syntax, test: strings.HasSuffix(name, "_test.go"), lines: strings.Count(string(text), "\n")}
			for _, spec := range syntax.Imports {
				imported, _ := strconv.Unquote(spec.Path.Value)
				f.imports = append(f.imports, imported)
			}
			tr.files = append(tr.files, f)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, f := range tr.files {
		for _, m := range tr.modules {
			if within(f.name, m.dir) && (f.module == nil || len(m.dir) > len(f.module.dir) || f.module.dir == ".") {
				f.module = m
			}
		}
		if f.module == nil {
			return nil, fmt.Errorf("%s is in no module", f.name)
		}
	}
	return tr, nil
}

// parseModule reads what the rules need of a go.mod file.
func parseModule(dir, text string) *module {
	m := &module{dir: dir, versions: map[string]string{}}
	block := ""
	for line := range strings.Lines(text) {
		line, comment, _ := strings.Cut(line, "//")
		words := strings.Fields(line)
		switch {
		case len(words) == 0:
			continue
		case words[0] == ")":
			block = ""
			continue
		case len(words) == 2 && words[1] == "(":
			block = words[0]
			continue
		case block != "":
			words = append([]string{block}, words...)
		}
		switch words[0] {
		case "module":
			m.path = words[1]
		case "require":
			m.versions[words[1]] = words[2]
			if strings.TrimSpace(comment) != "indirect" {
				m.direct = append(m.direct, words[1])
			}
		case "replace":
			m.replaces = true
		}
	}
	return m
}
