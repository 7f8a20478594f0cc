package tidy

// The rules of the tree, and a test of each rule.

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"math"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/turnloop/turnloop/internal/contestants"
)

// importRule limits which packages of ours the non-test files of a package may import. Packages are named by folder;
// "..." at the end stands for any rest.
type importRule struct {
	of      string
	allowed []string
	why     string
}

const (
	leaf      = "it is a part that others are built from; it must be understood, tested and replaced alone"
	rival     = "rivals share thin mechanism, never policy: a contestant that leans on another proves nothing about itself"
	separated = "it is a module of its own, so that users of the root module do not get its dependencies"
)

var importRules = []importRule{
	{"internal/loopapi", nil, leaf},
	{"internal/poller", []string{"internal/loopapi"}, leaf},
	{"internal/wheel", nil, leaf},
	{"internal/goroutine", nil, leaf},
	{"internal/garbage", nil, leaf},
	{"internal/race", nil, leaf},
	{"internal/beat", nil, leaf},
	{"internal/histogram", nil, leaf},
	{"internal/slim", nil, leaf},
	{"internal/rival", []string{"internal/loopapi", "internal/poller", "internal/goroutine"}, rival},
	{"internal/outcome", []string{"internal/loopapi"}, leaf},
	{"internal/quota", nil, leaf},
	{"internal/shared", []string{"internal/loopapi", "internal/place", "internal/sched..."}, leaf},
	{"internal/place", []string{"internal/slim"}, leaf},
	{"internal/release", []string{"internal/sched/atomic"}, leaf},
	{"internal/inbox", []string{"internal/goroutine", "internal/place", "internal/release", "internal/sched..."}, "a queue knows no loop"},
	{"internal/observe", []string{"internal/histogram", "internal/place", "internal/release", "internal/sched"}, "what observes is told what happens, and asks nothing"},
	{"internal/fdset", []string{"internal/loopapi", "internal/place", "internal/poller", "internal/quota", "internal/sched...", "internal/slim"}, "descriptors know a host of three methods, and no loop"},
	{"internal/park", []string{"internal/loopapi", "internal/release", "internal/sched..."}, "sleep knows no tasks: it asks a host whether there is work, and no loop"},
	{"internal/crew", []string{"internal/goroutine", "internal/sched...", "internal/slim"}, "workers are of a loop, and know none"},
	{"internal/sched", []string{"internal/goroutine"}, leaf},
	{"internal/sched/atomic", []string{"internal/sched"}, leaf},
	{"eventloop/promise", []string{"internal/loopapi", "internal/place", "internal/sched...", "internal/slim"}, "the promise engine depends on a scheduler interface of its own, not on a loop"},
	{"eventloop/flow", []string{"eventloop", "eventloop/promise", "internal/goroutine", "internal/loopapi", "internal/outcome", "internal/sched"}, "what programs build on a loop must not need more of it than programs have"},
	{"eventloop/js", []string{"eventloop", "eventloop/promise", "internal/slim"}, "of the loop, the adapter knows the public API alone"},
	{"eventloop/looptest", []string{"internal/loopapi", "internal/goroutine", "internal/garbage", "internal/race", "internal/beat"}, "the conformance kit must hold any loop to the rules, so it can know none"},
	{"internal/guest", []string{"internal/loopapi", "internal/sched..."}, leaf},
	{"eventloop/threadlet", []string{"eventloop", "eventloop/promise", "internal/guest", "internal/goroutine", "internal/sched...", "internal/slim"},
		"threadlets are a guest of the loop: what they need of it beyond its public API is in internal/guest"},
	{"eventloop/threadlet/secure", []string{"eventloop/threadlet"}, "TLS is built on what every user of threadlets has"},
	{"httploop", []string{"eventloop", "eventloop/threadlet", "eventloop/threadlet/secure"}, "an HTTP server needs no more of a loop than anybody's server has"},
	{"eventloop", []string{"internal/loopapi", "internal/guest", "internal/wheel", "internal/goroutine", "internal/histogram", "internal/outcome", "internal/sched...", "internal/slim", "internal/quota", "internal/place", "internal/release", "internal/observe", "internal/inbox", "internal/fdset", "internal/park", "internal/crew", "internal/shared", "eventloop/promise"},
		"the loop is built from its parts; what is built on the loop must not leak into it"},
	{"internal/siege", []string{"eventloop", "eventloop/flow", "eventloop/js", "eventloop/promise", "eventloop/threadlet"}, "it besieges the loop through what everybody can call, and nothing else"},
	{"internal/resp", nil, leaf},
	{"internal/echo", nil, "it measures servers, so it is none of ours and none of theirs"},
	{"worlds...", []string{"internal/echo"}, "it is what people use elsewhere, measured without anything of ours but the client"},
	{"internal/production", []string{"eventloop", "internal/loopapi"}, "it enters the loop as its users have it"},
}

// The contestants but the first, which is the production loop, are rivals.
func init() {
	for _, c := range contestants.All()[1:] {
		importRules = append(importRules, importRule{
			c.Folder + "...", []string{"internal/loopapi", "internal/poller", "internal/goroutine", "internal/rival", c.Folder + "..."}, rival,
		})
	}
}

// nobodyImports names the folders that no file of the root module may import, tests included.
var nobodyImports = []string{"internal/tournament...", "internal/gojabaseline...", "tournament...", "gojaloop..."}

// rootRequires are the modules that the root module may require directly; productImports are the ones among them that
// non-test files may import.
var (
	rootRequires   = []string{"golang.org/x/sys", "github.com/stretchr/testify"}
	productImports = []string{"golang.org/x/sys"}
)

// maxLines is how long a Go file may be.
const maxLines = 450

// textFiles are the files that are read for leftover markers, by the end of the path.
var textFiles = regexp.MustCompile(`(\.go|\.s|\.md|\.mod|\.ya?ml|\.sh|(^|/)(Makefile|Dockerfile)[^/]*|(^|/)\.ci/[^/]+)$`)

// leftovers are the markers of unfinished work, put together so that this file has none.
var leftovers = regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|XX` + `X|HA` + `CK)\b`)

// callRule forbids uses of a package's functions in the non-test files of some folders.
type callRule struct {
	in      []string
	pkg     string
	name    *regexp.Regexp
	instead string
}

var core = []string{"eventloop", "eventloop/flow", "eventloop/promise", "eventloop/js", "eventloop/threadlet", "eventloop/threadlet/secure", "httploop", "internal/guest", "internal/wheel", "internal/loopapi", "internal/poller"}

var callRules = []callRule{
	{core, "time", regexp.MustCompile(`^Sleep$`), "a loop that waits by sleeping is late or busy; park and be woken"},
	{core, "fmt", regexp.MustCompile(`^Print`), "standard output belongs to the program; report through the logger or a handler"},
}

// rules are all that is checked, each by a function of its own.
var rules = map[string]func(*tree) []string{
	"Imports":      checkImports,
	"Dependencies": checkDependencies,
	"Modules":      checkModules,
	"FileLength":   checkFileLength,
	"PackageDoc":   checkPackageDoc,
	"FirstLines":   checkFirstLines,
	"Leftovers":    checkLeftovers,
	"Calls":        checkCalls,
	"Arguments":    checkArguments,
}

func TestTree(t *testing.T) {
	tr, err := load(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	if len(tr.files) < 5 || tr.module(".") == nil {
		t.Fatalf("%d Go files in %d modules: this is not the tree", len(tr.files), len(tr.modules))
	}
	for name, check := range rules {
		t.Run(name, func(t *testing.T) {
			for _, violation := range check(tr) {
				t.Error(violation)
			}
		})
	}
}

func checkImports(tr *tree) (violations []string) {
	root := tr.module(".")
	for _, f := range tr.files {
		if f.module != root {
			continue
		}
		for _, imported := range f.imports {
			folder, ours := tr.folder(imported)
			if !ours {
				continue
			}
			if matches(nobodyImports, folder) {
				violations = append(violations, fmt.Sprintf("%s imports %s, which nothing in the root module may: %s", f.name, folder, separated))
			}
			if f.test {
				continue
			}
			for _, r := range importRules {
				if matches([]string{r.of}, path.Dir(f.name)) && !matches(r.allowed, folder) {
					violations = append(violations, fmt.Sprintf("%s imports %s; of ours, %s may import %s: %s",
						f.name, folder, r.of, cmp.Or(strings.Join(r.allowed, ", "), "nothing"), r.why))
				}
			}
		}
	}
	return violations
}

func checkDependencies(tr *tree) (violations []string) {
	root := tr.module(".")
	for _, required := range root.direct {
		if !slices.Contains(rootRequires, required) {
			violations = append(violations, fmt.Sprintf("go.mod requires %s; the root module may require %s: every dependency is one more for each of our users",
				required, strings.Join(rootRequires, ", ")))
		}
	}
	for _, f := range tr.files {
		if f.module != root || f.test {
			continue
		}
		for _, imported := range f.imports {
			first, _, _ := strings.Cut(imported, "/")
			_, ours := tr.folder(imported)
			known := slices.ContainsFunc(productImports, func(m string) bool { return within(imported, m) })
			if strings.Contains(first, ".") && !ours && !known {
				violations = append(violations, fmt.Sprintf("%s imports %s; besides the standard library and ours, non-test code may import %s: our users pay for the rest",
					f.name, imported, strings.Join(productImports, ", ")))
			}
		}
	}
	return violations
}

func checkModules(tr *tree) (violations []string) {
	for _, m := range tr.modules {
		mod := path.Join(m.dir, "go.mod")
		if m.replaces {
			violations = append(violations, mod+" replaces a module: go install refuses it, and whoever requires it does not see that; go.work serves who works here")
		}
		for required, version := range m.versions {
			if tr.named(required) != nil && version != release(tr) {
				violations = append(violations, fmt.Sprintf("%s requires %s %s, want %s, the first that CHANGELOG.md has: all modules are released together", mod, required, version, release(tr)))
			}
		}
	}
	for _, f := range tr.files {
		if f.module.dir == "." {
			continue
		}
		for _, imported := range f.imports {
			owner := tr.owner(imported)
			if owner != nil && owner != f.module && !slices.Contains(f.module.direct, owner.path) {
				violations = append(violations, fmt.Sprintf("%s/go.mod does not require %s, which %s imports: the module must build without the workspace", f.module.dir, owner.path, f.name))
			}
		}
	}
	slices.Sort(violations)
	return slices.Compact(violations)
}

var released = regexp.MustCompile(`(?m)^## (v\d+\.\d+\.\d+)\b`)

// release is the version that the tree is to become.
func release(tr *tree) string {
	if found := released.FindStringSubmatch(tr.texts["CHANGELOG.md"]); found != nil {
		return found[1]
	}
	return "one that CHANGELOG.md names"
}

func checkFileLength(tr *tree) (violations []string) {
	for _, f := range tr.files {
		if f.lines > maxLines {
			violations = append(violations, fmt.Sprintf("%s has %d lines, more than %d: it owns more than one idea; give each a file", f.name, f.lines, maxLines))
		}
	}
	return violations
}

func checkPackageDoc(tr *tree) (violations []string) {
	for _, f := range tr.files {
		text := f.syntax.Doc.Text()
		if text != "" && !f.test && !strings.HasPrefix(text, "Package ") && !strings.HasPrefix(text, "Command ") {
			violations = append(violations, fmt.Sprintf("%s has a comment right before its package clause: go doc shows it as part of the package's; put it below", f.name))
		}
	}
	return violations
}

// checkFirstLines wants a comment about the file: before the package clause, or on lines of its own before the first declaration,
// imports included, and not right above it, where it would be the declaration's.
func checkFirstLines(tr *tree) (violations []string) {
	for _, f := range tr.files {
		line := func(p token.Pos) int { return tr.fset.Position(p).Line }
		above := math.MaxInt // the line of the first declaration
		if len(f.syntax.Decls) > 0 {
			above = line(f.syntax.Decls[0].Pos())
		}
		said := slices.ContainsFunc(f.syntax.Comments, func(c *ast.CommentGroup) bool {
			isBefore := c.Pos() < f.syntax.Package || line(c.Pos()) > line(f.syntax.Name.Pos()) && line(c.End()) < above-1
			return isBefore && c.Text() != "" // directives have no text
		})
		if !said {
			violations = append(violations, f.name+" does not say in its first lines what it is")
		}
	}
	return violations
}

func checkLeftovers(tr *tree) (violations []string) {
	for name, text := range tr.texts {
		for i, line := range strings.Split(text, "\n") {
			if word := leftovers.FindString(line); word != "" {
				violations = append(violations, fmt.Sprintf("%s:%d: %s: what is in the tree is finished; do it, or say plainly what does not work", name, i+1, word))
			}
		}
	}
	slices.Sort(violations)
	return violations
}

func checkCalls(tr *tree) (violations []string) {
	for _, f := range tr.files {
		for _, r := range callRules {
			if f.test || f.module != tr.module(".") || !matches(r.in, path.Dir(f.name)) {
				continue
			}
			ast.Inspect(f.syntax, func(n ast.Node) bool {
				sel, ok := n.(*ast.SelectorExpr)
				if !ok || !r.name.MatchString(sel.Sel.Name) {
					return true
				}
				if x, ok := sel.X.(*ast.Ident); ok && x.Name == f.localName(r.pkg) {
					violations = append(violations, fmt.Sprintf("%s:%d: %s.%s: %s", f.name, tr.fset.Position(n.Pos()).Line, r.pkg, sel.Sel.Name, r.instead))
				}
				return true
			})
		}
	}
	return violations
}

// checkArguments wants a program with flags to look at the words behind them: package flag stops at the first word, and what follows
// it would be ignored, flags included.
func checkArguments(tr *tree) (violations []string) {
	for _, f := range tr.files {
		parses, looks := false, false
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := sel.X.(*ast.Ident); ok && x.Name == f.localName("flag") {
					parses = parses || sel.Sel.Name == "Parse"
					looks = looks || slices.Contains([]string{"NArg", "Args", "Arg"}, sel.Sel.Name)
				}
			}
			return true
		})
		if parses && !looks && !f.test {
			violations = append(violations, f.name+" parses flags and ignores the words behind them: refuse these")
		}
	}
	return violations
}

// matches says whether one of the patterns names folder.
func matches(patterns []string, folder string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		if prefix, ok := strings.CutSuffix(p, "..."); ok {
			return within(folder, prefix)
		}
		return p == folder
	})
}

// within says whether name is dir or something below it.
func within(name, dir string) bool {
	return dir == "." || name == dir || strings.HasPrefix(name, dir+"/")
}

// Each rule finds the violation in a small tree that has one, and none in the same tree without it.
func TestRules(t *testing.T) {
	good := map[string]string{
		"go.mod":                      "module example.org/ours\n\nrequire (\n\tgolang.org/x/sys v0.1.0\n\tgithub.com/stretchr/testify v1.1.1 // for tests\n\tother.org/deep v1.0.0 // indirect\n)\n",
		"eventloop/loop.go":           "package eventloop\n\n// The loop.\n\nimport (\n\t\"time\"\n\n\t_ \"example.org/ours/internal/wheel\"\n)\n\nvar _ = time.Now\n",
		"eventloop/loop_test.go":      "package eventloop\n\n// The loop.\n\nimport (\n\t\"time\"\n\n\t_ \"example.org/ours/eventloop/looptest\"\n)\n\nvar _ = time.Sleep\n",
		"internal/wheel/wheel.go":     "// Package wheel is timers.\npackage wheel\n\n// The wheel.\n",
		"internal/tournament/go.mod":  "module example.org/ours/internal/tournament\n\nrequire example.org/ours v0.1.0\n",
		"internal/tournament/main.go": "// Command main is one.\npackage main\n\nimport _ \"example.org/ours/eventloop\"\n",
		"CHANGELOG.md":                "## v0.1.0, not released yet\n",
		"mine/go.mod":                 "module example.org/mine\n",
		"mine/loop.go":                "package main\n\nimport _ \"example.org/ours/tournament\"\n",
	}
	cases := []struct {
		rule, name, text string
		want             string // in the only violation
	}{
		{"Imports", "internal/wheel/bad.go", "package wheel\nimport _ \"example.org/ours/internal/loopapi\"\n", "internal/wheel/bad.go imports internal/loopapi"},
		{"Imports", "internal/goroutine/bad_plan9.go", "package goroutine\nimport _ \"example.org/ours/internal/wheel\"\n", "may import nothing"},
		{"Imports", "eventloop/bad.go", "package eventloop\nimport _ \"example.org/ours/eventloop/js\"\n", "imports eventloop/js"},
		{"Imports", "eventloop/looptest/bad.go", "package looptest\nimport _ \"example.org/ours/eventloop\"\n", "imports eventloop"},
		{"Imports", "internal/alternatetwo/bad.go", "package a\nimport _ \"example.org/ours/eventloop\"\n", "never policy"},
		{"Imports", "internal/alternatetwo/queue/bad.go", "package a\nimport _ \"example.org/ours/internal/alternateone\"\n", "imports internal/alternateone"},
		{"Imports", "eventloop/bad_test.go", "package eventloop\nimport _ \"example.org/ours/internal/tournament/stats\"\n", "nothing in the root module may"},
		{"Imports", "examples/bad.go", "package main\nimport _ \"example.org/ours/internal/gojabaseline\"\n", "nothing in the root module may"},
		{"Dependencies", "go.mod", "module example.org/ours\nrequire other.org/dep v1.0.0\n", "requires other.org/dep"},
		{"Dependencies", "go.mod", "module example.org/ours\nrequire (\n\tother.org/dep v1.0.0\n)\n", "requires other.org/dep"},
		{"Dependencies", "eventloop/js/bad.go", "package js\nimport _ \"github.com/stretchr/testify/assert\"\n", "imports github.com/stretchr/testify/assert"},
		{"Dependencies", "eventloop/js/bad.go", "package js\nimport _ \"golang.org/x/systems\"\n", "imports golang.org/x/systems"},
		{"Modules", "internal/tournament/go.mod", "module example.org/ours/internal/tournament\n", "does not require example.org/ours"},
		{"Modules", "internal/tournament/go.mod", "module example.org/ours/internal/tournament\nrequire example.org/ours v0.1.0\nreplace example.org/ours => ../..\n", "replaces a module"},
		{"Modules", "internal/tournament/go.mod", "module example.org/ours/internal/tournament\nrequire example.org/ours v0.0.0\n", "requires example.org/ours v0.0.0, want v0.1.0"},
		{"Modules", "CHANGELOG.md", "## v0.2.0\n", "requires example.org/ours v0.1.0, want v0.2.0"},
		{"FileLength", "eventloop/bad.go", "package eventloop\n" + strings.Repeat("\n", maxLines), "give each a file"},
		{"PackageDoc", "internal/wheel/bad_linux.go", "//go:build linux\n\n// What only Linux has.\npackage wheel\n", "internal/wheel/bad_linux.go has a comment"},
		{"FirstLines", "eventloop/bad.go", "//go:build linux\n\npackage eventloop\n\nimport _ \"time\"\n\nfunc f() {} // it has no name\n", "first lines"},
		{"FirstLines", "eventloop/bad.go", "package eventloop\n\nimport _ \"time\"\n\n// f is the function's.\nfunc f() {}\n", "first lines"},
		{"FirstLines", "eventloop/bad.go", "package eventloop // is not its name\n\n// f is the function's.\nfunc f() {}\n", "first lines"},
		{"Leftovers", "eventloop/bad.go", "package eventloop\n\n// TO" + "DO: all of it\n", "eventloop/bad.go:3"},
		{"Leftovers", "docker/Dockerfile.windows", "# FIX" + "ME\n", "docker/Dockerfile.windows:1"},
		{"Leftovers", ".ci/run", "#!/bin/sh\n# XX" + "X\n", ".ci/run:2"},
		{"Calls", "eventloop/bad.go", "package eventloop\nimport clock \"time\"\nfunc f() { clock.Sleep(1) }\n", "eventloop/bad.go:3: time.Sleep"},
		{"Calls", "internal/poller/bad_windows.go", "package poller\nimport \"fmt\"\nvar p = fmt.Println\n", "internal/poller/bad_windows.go:3: fmt.Println"},
		{"Arguments", "internal/tournament/bad.go", "package main\n\n// It has flags.\n\nimport \"flag\"\n\nfunc f() { flag.Parse() }\n", "ignores the words"},
	}
	tested := map[string]bool{}
	for _, c := range cases {
		tested[c.rule] = true
		for _, broken := range []bool{false, true} {
			fsys := fstest.MapFS{}
			for name, text := range good {
				fsys[name] = &fstest.MapFile{Data: []byte(text)}
			}
			if broken {
				fsys[c.name] = &fstest.MapFile{Data: []byte(c.text)}
			}
			tr, err := load(fsys)
			if err != nil {
				t.Fatal(err)
			}
			violations := rules[c.rule](tr)
			if !broken && len(violations) > 0 {
				t.Errorf("%s: violations in a clean tree: %q", c.rule, violations)
			}
			if broken && (len(violations) != 1 || !strings.Contains(violations[0], c.want)) {
				t.Errorf("%s: %s with %q: got %q, want one violation with %q", c.rule, c.name, c.text[:min(60, len(c.text))], violations, c.want)
			}
		}
	}
	for rule := range rules {
		if !tested[rule] {
			t.Errorf("rule %s has no case", rule)
		}
	}
}
