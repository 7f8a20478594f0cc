package tidy

// What holds the table and the pictures of docs/architecture.md to the code.

import (
	"flag"
	"go/ast"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const architecture = "docs/architecture.md"

var update = flag.Bool("update", false, "write what the rules of imports say into "+architecture)

// The table of parts says which others a part may use, as the rules of imports do.
func TestPartsTable(t *testing.T) {
	text := page(t, architecture)
	want := text
	for _, r := range importRules {
		if strings.HasSuffix(r.of, "...") {
			continue // the rivals, and what is none of ours
		}
		var uses []string
		for _, other := range r.allowed {
			uses = append(uses, "`"+path.Base(strings.TrimSuffix(other, "..."))+"`")
		}
		if uses == nil {
			uses = []string{"nothing of ours"}
		}
		row := regexp.MustCompile("(?m)^(\\| `" + regexp.QuoteMeta(r.of) + "` \\|[^|\n]*\\|)[^|\n]*\\|$")
		if !row.MatchString(want) {
			t.Errorf("%s has no row of %s", architecture, r.of)
		}
		want = row.ReplaceAllString(want, "${1} "+strings.Join(uses, ", ")+" |")
	}
	switch {
	case want == text:
	case !*update:
		t.Errorf("%s says something else than the rules: go test ./internal/tidy -run PartsTable -update", architecture)
	default:
		if err := os.WriteFile(root+architecture, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

var (
	drawing = regexp.MustCompile("(?s)```\n(.*?)```")
	called  = regexp.MustCompile(`\b([A-Za-z]\w*)\(\)`)
)

// The functions that the pictures name are there, and a tick calls those of its picture in the order of the picture.
func TestPictures(t *testing.T) {
	tr, err := load(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	declared := map[string]bool{}
	var tick []string
	for _, f := range tr.files {
		for _, d := range f.syntax.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && !f.test {
				declared[fn.Name.Name] = true
				if fn.Name.Name == "tick" && path.Dir(f.name) == "eventloop" {
					ast.Inspect(fn.Body, func(n ast.Node) bool {
						if s, ok := n.(*ast.SelectorExpr); ok {
							tick = append(tick, s.Sel.Name)
						}
						return true
					})
				}
			}
		}
	}
	for _, picture := range drawing.FindAllStringSubmatch(page(t, architecture), -1) {
		names := called.FindAllStringSubmatch(picture[1], -1)
		for _, name := range names {
			if !declared[name[1]] {
				t.Errorf("%s draws %s, which is no function of the tree", architecture, name[0])
			}
		}
		if !strings.HasPrefix(picture[1], "tick()") {
			continue
		}
		left := tick
		for _, name := range names[1:] {
			i := slices.Index(left, name[1])
			if i < 0 {
				t.Fatalf("%s draws %s where a tick does not call it", architecture, name[0])
			}
			left = left[i+1:]
		}
		tick = nil
	}
	if tick != nil {
		t.Errorf("%s has no picture of a tick", architecture)
	}
}
