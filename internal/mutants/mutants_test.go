package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

// Every mutant has its place in the code as it is, a name of its own, and says what it is about.
func TestTable(t *testing.T) {
	names, style := map[string]bool{}, regexp.MustCompile(`^[a-z]+(-[a-z]+)+$`)
	for _, m := range slices.Concat(loopMutants, seenMutants, helperMutants, partMutants, gojaMutants) {
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
		if _, err := regexp.Compile(m.first); err != nil {
			t.Errorf("%s: %v", m.name, err)
		}
	}
}
