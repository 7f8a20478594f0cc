package tournament_test

// Tests of the list of contestants.

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/turnloop/turnloop/eventloop/looptest"
	"github.com/turnloop/turnloop/internal/tournament"
)

// TestContestants: every ranked contestant exists, makes loops, and is held to the suite by its own package.
func TestContestants(t *testing.T) {
	var names []string
	field := tournament.Own()
	for _, c := range field.Contestants {
		names = append(names, c.Name)
		if !c.Ranked {
			continue
		}
		loop, err := c.New(looptest.Config{})
		if err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		if err := loop.Close(); err != nil {
			t.Errorf("%s: Close of a new loop: %v", c.Name, err)
		}
		if test, err := os.ReadFile(filepath.Join("..", "..", c.Folder, "conformance_test.go")); err != nil {
			t.Errorf("%s: %v", c.Name, err)
		} else if !strings.Contains(string(test), "looptest.Hold(") {
			t.Errorf("%s is not held to the suite by its own package", c.Name)
		}
	}
	for _, role := range []string{field.Subject, field.Reference, field.Control} {
		if !slices.Contains(names, role) {
			t.Errorf("the reports turn on %q, who does not take part", role)
		}
	}
	if err := field.Check(); err != nil {
		t.Error(err)
	}
}
