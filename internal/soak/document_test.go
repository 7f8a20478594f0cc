//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package main

// Tests of the page: each test that it names is there, and each bug has one.

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/turnloop/turnloop/eventloop/looptest"
)

const root = "../.."

// named is what a package's tests are called: its functions, and the strings that may be names of sub-tests.
type named struct {
	functions, strings map[string]bool
}

func names(t *testing.T, folder string) named {
	t.Helper()
	n := named{map[string]bool{}, map[string]bool{}}
	files, err := filepath.Glob(filepath.Join(root, folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(node ast.Node) bool {
			switch node := node.(type) {
			case *ast.FuncDecl:
				n.functions[node.Name.Name] = node.Recv == nil
			case *ast.BasicLit:
				if s, err := strconv.Unquote(node.Value); err == nil && node.Kind == token.STRING {
					n.strings[strings.ReplaceAll(s, " ", "_")] = true
				}
			}
			return true
		})
	}
	return n
}

// unknown tells why there is no such test, or returns "".
func unknown(t *testing.T, test string, packages map[string]named) string {
	folder, name, _ := strings.Cut(test, ": ")
	if folder == "soak" {
		if !slices.ContainsFunc(stations(), func(s station) bool { return s.name == name }) {
			return "no such station"
		}
		return ""
	}
	if _, known := packages[folder]; !known {
		packages[folder] = names(t, folder)
	}
	function, sub, isSub := strings.Cut(name, "/")
	switch {
	case !strings.HasPrefix(function, "Test") && !strings.HasPrefix(function, "Fuzz") || !packages[folder].functions[function]:
		return "no such function in " + folder
	case folder+": "+function+"/" == kit:
		if !slices.ContainsFunc(looptest.Checks(), func(c looptest.Check) bool { return c.Name == sub }) {
			return "no such check in the conformance kit"
		}
	case isSub && !packages[folder].strings[sub]:
		return "no such sub-test in " + folder
	}
	return ""
}

// Each of the rows names tests, and these exist, also those of nested modules.
func TestBugsNameTheirTests(t *testing.T) {
	packages := map[string]named{}
	if len(bugs) != 116 {
		t.Errorf("%d rows, want 116", len(bugs))
	}
	for i, b := range bugs {
		if b.what == "" {
			continue
		}
		ordinary := 0
		for _, test := range b.tests {
			if why := unknown(t, test, packages); why != "" {
				t.Errorf("row %d (%s) names %q: %s", i+1, b.what, test, why)
			}
			if !strings.HasPrefix(test, "soak: ") {
				ordinary++
			}
		}
		if ordinary == 0 {
			t.Errorf("row %d (%s) has no test that runs every time", i+1, b.what)
		}
	}
	for _, wrong := range []string{"eventloop: TestNothing", "eventloop: run", "eventloop/nothing: TestWakes", kit + "D03",
		"eventloop: TestWakes/Nowhere", "gojaloop/cmd/loopjs: TestNothing", "gojaloop/cmd/loopjs: TestCommand/nothing", "soak: nothing"} {
		if unknown(t, wrong, packages) == "" {
			t.Errorf("%q is taken for a test", wrong)
		}
	}
}

// The long tests are those that do more where all of it is asked for: whose third scale is not the second.
func TestLongTestsAreAll(t *testing.T) {
	longAreAll(t, product[0], longTests)
	longAreAll(t, "eventloop/threadlet", longThreadlets)
}

func longAreAll(t *testing.T, folder string, named []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	var longer []string
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range parsed.Decls {
			ast.Inspect(decl, func(node ast.Node) bool {
				call, ok := node.(*ast.CallExpr)
				if !ok || types.ExprString(call.Fun) != "scale" {
					return true
				}
				if function := decl.(*ast.FuncDecl).Name.Name; types.ExprString(call.Args[1]) != types.ExprString(call.Args[2]) {
					longer = append(longer, function)
				}
				return true
			})
		}
	}
	slices.Sort(longer)
	longer = slices.Compact(longer)
	if want := slices.Sorted(slices.Values(named)); !slices.Equal(longer, want) {
		t.Errorf("the long tests are\n%v, and named are\n%v", longer, want)
	}
}

// The page says what the tables say, and the record is one that the next run can go on with.
func TestDocumentsAreUpToDate(t *testing.T) {
	for name, want := range map[string]func(string) string{
		"docs/reliability.md": func(string) string { return reliability() },
		"results/soak.md":     func(old string) string { return document(lastRun(old)) },
	} {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		if string(text) != want(string(text)) {
			t.Errorf("%s is not what internal/soak writes: run 'make reliability'", name)
		}
	}
}
