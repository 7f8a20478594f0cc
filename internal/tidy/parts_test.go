package tidy

// The ratchet: which part of the loop uses which, and how large packages are. The tables may only shrink.

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The parts of package eventloop that are no packages yet, each with its files. All other files are the loop itself, which may use
// all parts; no part is to use the loop.
var parts = map[string][]string{
	"observe":   {"metrics", "recorder", "stall", "debug", "records", "active"},
	"group":     {"group"},
	"promisify": {"promisify"},
}

// uses are the parts whose names a part uses. A line that is not true any more goes; none comes.
var uses = map[string][]string{
	"group":     {"loop", "observe", "promisify"},
	"observe":   {"loop"},
	"promisify": {"loop", "observe"},
}

// sizes are the most files and lines that a package has, tests not counted. A package that has become smaller by two hundred lines
// has its number lowered.
var sizes = map[string]struct{ files, lines int }{
	withParts:             {56, 8961},
	"eventloop":           {24, 4411},
	"eventloop/flow":      {4, 610},
	"eventloop/promise":   {12, 2107},
	"eventloop/js":        {13, 1898},
	"eventloop/threadlet": {26, 3960},
	"eventloop/looptest":  {43, 8480},
	"httploop":            {4, 904},
	"internal/fdset":      {3, 703},
	"internal/poller":     {10, 1628},
}

const slack = 200

// withParts is the loop with its parts: what leaves package eventloop for one of them has to become less, and not only to move.
const withParts = "eventloop eventloop/flow internal/inbox internal/park internal/fdset internal/quota internal/observe " +
	"internal/crew internal/place internal/outcome internal/shared"

// TestParts holds the table of uses to the code.
func TestParts(t *testing.T) {
	found, err := usesOf(root, "eventloop", parts)
	if err != nil {
		t.Fatal(err)
	}
	for part := range maps.Keys(parts) {
		for _, other := range found[part] {
			if !slices.Contains(uses[part], other) {
				t.Errorf("%s uses %s, and the table does not allow it", part, other)
			}
		}
		for _, other := range uses[part] {
			if !slices.Contains(found[part], other) {
				t.Errorf("%s does not use %s any more: take it out of the table", part, other)
			}
		}
	}
}

// TestSizes holds the table of sizes to the code.
func TestSizes(t *testing.T) {
	for folders, most := range sizes {
		var names []string
		for folder := range strings.FieldsSeq(folders) {
			in, err := filepath.Glob(root + folder + "/*.go")
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, in...)
		}
		files, lines := 0, 0
		for _, name := range names {
			if text, err := os.ReadFile(name); err != nil {
				t.Fatal(err)
			} else if !strings.HasSuffix(name, "_test.go") {
				files, lines = files+1, lines+long(string(text))
			}
		}
		if files > most.files || lines > most.lines {
			t.Errorf("%s has %d lines in %d files, at most %d in %d", folders, lines, files, most.lines, most.files)
		}
		if files < most.files || lines+slack < most.lines {
			t.Errorf("%s has become smaller: write {%d, %d} into the table", folders, files, lines)
		}
	}
}

// scripts is the most lines that JavaScript on goja has, in Go and in JavaScript, tests and their data not counted. It may only fall.
const scripts = 19_774

// TestScripts holds the number to the code.
func TestScripts(t *testing.T) {
	lines := 0
	err := filepath.WalkDir(root+"gojaloop", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && d.Name() == "testdata" {
			return cmp.Or(err, filepath.SkipDir)
		}
		if d.IsDir() || strings.HasSuffix(path, "_test.go") || !slices.Contains([]string{".go", ".js"}, filepath.Ext(path)) {
			return nil
		}
		text, err := os.ReadFile(path)
		lines += bytes.Count(text, []byte("\n"))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if lines > scripts || lines+slack < scripts {
		t.Errorf("gojaloop has %d lines, at most %d; if it has become smaller, write that into the constant", lines, scripts)
	}
}

// mostFields is how many fields a Loop has at most: its parts have the rest.
const mostFields = 24

// TestFields holds the number of a Loop's fields to the code.
func TestFields(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), root+"eventloop/loop.go", nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	fields := 0
	ast.Inspect(f, func(n ast.Node) bool {
		if spec, ok := n.(*ast.TypeSpec); ok && spec.Name.Name == "Loop" {
			for _, field := range spec.Type.(*ast.StructType).Fields.List {
				if len(field.Names) == 0 || field.Names[0].Name != "_" {
					fields += max(1, len(field.Names))
				}
			}
		}
		return true
	})
	if fields != mostFields {
		t.Errorf("Loop has %d fields, want %d", fields, mostFields)
	}
}

// long counts lines; one that is wider than a screen counts as two.
func long(text string) (n int) {
	for line := range strings.Lines(text) {
		n++
		if len([]rune(strings.TrimRight(line, "\n"))) > 130 {
			n++
		}
	}
	return n
}

// usesOf returns, for each part of a package, the parts whose package-level names, methods or fields it uses.
func usesOf(top, folder string, parts map[string][]string) (map[string][]string, error) {
	partOf := map[string]string{}
	for part, files := range parts {
		for _, name := range files {
			partOf[name+".go"] = part
		}
	}
	fset, info, pkg, err := check(top, folder)
	if err != nil {
		return nil, err
	}
	found := map[string][]string{}
	for id, object := range info.Uses {
		if object.Pkg() != pkg || object.Name() == "Loop" {
			continue
		}
		if v, ok := object.(*types.Var); ok && !v.IsField() && object.Parent() != pkg.Scope() {
			continue // a local variable
		}
		from := partOf[filepath.Base(fset.Position(id.Pos()).Filename)]
		to := cmp.Or(partOf[filepath.Base(fset.Position(object.Pos()).Filename)], "loop")
		if from != "" && from != to && !slices.Contains(found[from], to) {
			found[from] = append(found[from], to)
		}
	}
	return found, nil
}

// check type-checks a package of the tree; what it imports comes from the build cache.
func check(top, folder string) (*token.FileSet, *types.Info, *types.Package, error) {
	cmd := exec.Command("go", "list", "-deps", "-export", "-json=Dir,ImportPath,Export,GoFiles", "./"+folder)
	cmd.Dir = top
	out, err := cmd.Output()
	if err != nil {
		var failed *exec.ExitError
		if errors.As(err, &failed) {
			err = fmt.Errorf("%w: %s", err, failed.Stderr)
		}
		return nil, nil, nil, err
	}
	type listed struct {
		Dir, ImportPath, Export string
		GoFiles                 []string
	}
	exports := map[string]string{}
	var last listed // the package itself comes behind what it imports
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := d.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			return nil, nil, nil, err
		}
		exports[p.ImportPath], last = p.Export, p
	}
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range last.GoFiles {
		f, err := parser.ParseFile(fset, filepath.Join(last.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, nil, nil, err
		}
		files = append(files, f)
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })}
	pkg, err := config.Check(last.ImportPath, fset, files, info)
	return fset, info, pkg, err
}
