package tidy

// What holds the pages: their length, their links, and that they say what the tree has.

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const root = "../../"

func page(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(root + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// pages returns the names of those that match.
func pages(t *testing.T, patterns ...string) (names []string) {
	t.Helper()
	for _, pattern := range patterns {
		found, err := filepath.Glob(root + pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("%d files match %s, %v", len(found), pattern, err)
		}
		for _, name := range found {
			names = append(names, filepath.ToSlash(strings.TrimPrefix(name, filepath.FromSlash(root))))
		}
	}
	return names
}

var (
	word  = regexp.MustCompile(`\S*[\pL\d]\S*`)
	table = regexp.MustCompile(`(?m)^\|.*$`)
	link  = regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`)
)

// A page that is too long is not read. What is longer argues, or is said elsewhere too.
func TestPagesAreShort(t *testing.T) {
	const (
		readmeLines  = 120    // a screen and a half, and the two programs
		docsWords    = 12_000 // of the README and docs, besides tables
		houseWords   = 2_500  // of docs/architecture.md, besides tables
		resultsWords = 4_000  // besides tables
	)
	if n := strings.Count(page(t, "README.md"), "\n"); n > readmeLines {
		t.Errorf("README.md has %d lines, more than %d", n, readmeLines)
	}
	words := 0
	for _, name := range pages(t, "README.md", "docs/*.md", "docs/*/*.md") {
		n := len(word.FindAllString(table.ReplaceAllString(page(t, name), ""), -1))
		if words += n; name == architecture && n > houseWords {
			t.Errorf("%s has %d words, more than %d", name, n, houseWords)
		}
	}
	if words > docsWords {
		t.Errorf("README.md and docs have %d words besides their tables, more than %d", words, docsWords)
	}
	if n := len(word.FindAllString(table.ReplaceAllString(page(t, "RESULTS.md"), ""), -1)); n > resultsWords {
		t.Errorf("RESULTS.md has %d words besides its tables, more than %d", n, resultsWords)
	}
}

// Every link of a page to a file leads to one.
func TestLinks(t *testing.T) {
	for _, name := range pages(t, "*.md", "docs/*.md", "docs/*/*.md", "tournament/*.md", "worlds/*.md") {
		for _, found := range link.FindAllStringSubmatch(page(t, name), -1) {
			target := filepath.Join(filepath.Dir(name), found[1])
			if _, err := os.Stat(filepath.Join(root, target)); err != nil {
				t.Errorf("%s: %v", name, err)
			} else if found[2] != "" && strings.HasSuffix(target, ".md") && !anchors(page(t, target))[found[2]] {
				t.Errorf("%s: %s has no heading for %s", name, target, found[2])
			}
		}
	}
}

// Every function that a program of the README or of a recipe calls is in an example of its package, where "go doc" readers look.
func TestRecipesFunctionsHaveExamples(t *testing.T) {
	declared, shown := map[string]bool{}, map[string]bool{} // functions by package and name
	seen := map[string]bool{}
	for _, name := range pages(t, "README.md", "docs/recipes/*.md") {
		for _, text := range strings.Split(page(t, name), "```go\n")[1:] {
			text, _, _ = strings.Cut(text, "```")
			file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
			if err != nil {
				continue // a piece of a program
			}
			for _, spec := range file.Imports {
				folder, ours := strings.CutPrefix(strings.Trim(spec.Path.Value, `"`), "github.com/turnloop/turnloop/")
				if ours && !seen[folder] {
					seen[folder] = true
					readFunctions(t, folder, declared, shown)
				}
			}
			for call := range selected(file) {
				if declared[call] && !shown[call] {
					t.Errorf("%s uses %s, which is in no example of its package", name, call)
				}
			}
		}
	}
	if len(declared) < 100 {
		t.Errorf("%d functions", len(declared))
	}
}

// readFunctions notes what functions a package has, and which of them its examples use.
func readFunctions(t *testing.T, folder string, declared, shown map[string]bool) {
	t.Helper()
	for _, name := range pages(t, folder+"/*.go") {
		file, err := parser.ParseFile(token.NewFileSet(), name, page(t, name), parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			fn, ok := d.(*ast.FuncDecl)
			switch test := strings.HasSuffix(name, "_test.go"); {
			case !ok || fn.Recv != nil:
			case !test:
				declared[path.Base(folder)+"."+fn.Name.Name] = true
			case strings.HasPrefix(fn.Name.Name, "Example"):
				maps.Copy(shown, selected(fn))
			}
		}
	}
}

// selected returns the qualified names in a piece of code.
func selected(n ast.Node) map[string]bool {
	names := map[string]bool{}
	ast.Inspect(n, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok {
				names[x.Name+"."+s.Sel.Name] = true
			}
		}
		return true
	})
	return names
}

// anchors are those of a page's headings, as GitHub makes them: words in small letters, joined by hyphens.
func anchors(text string) map[string]bool {
	all := map[string]bool{}
	for _, heading := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(text, -1) {
		words := regexp.MustCompile(`[^\pL\d _-]`).ReplaceAllString(strings.ToLower(heading[1]), "")
		all["#"+strings.ReplaceAll(words, " ", "-")] = true
	}
	return all
}

// Every group of checks of the conformance kit is explained in docs/requirements.md, and every code of that page is one that
// the names of tests may begin with.
func TestRequirementsAreDescribed(t *testing.T) {
	requirements, checks := page(t, "docs/requirements.md"), page(t, "eventloop/looptest/table.go")
	names := regexp.MustCompile(`(?m)^\t\{"([A-Za-z0-9]+)`).FindAllStringSubmatch(checks, -1)
	if len(names) < 100 {
		t.Fatalf("%d checks", len(names))
	}
	for _, name := range names {
		if !regexp.MustCompile(`(?m)^\|[^|]*\b` + name[1] + `\b[^|]*\|`).MatchString(requirements) {
			t.Errorf("docs/requirements.md says nothing of %s", name[1])
		}
	}
	for n := 1; n <= 20; n++ {
		if code := fmt.Sprintf("| D%02d |", n); !strings.Contains(requirements, code) {
			t.Errorf("docs/requirements.md has no row %q", code)
		}
	}
}
