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
	"github.com/turnloop/turnloop/internal/tournament/bench"
	"github.com/turnloop/turnloop/internal/tournament/policy"
	"github.com/turnloop/turnloop/internal/tournament/stats"
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

// TestPolicyNamesWhoAndWhatThereIs: the bars are about contestants and benchmarks that exist, and the reports on them turn on their subject.
func TestPolicyNamesWhoAndWhatThereIs(t *testing.T) {
	field := tournament.Own()
	if policy.Bars.Of != field.Subject {
		t.Errorf("the bars are about %q, the reports turn on %q", policy.Bars.Of, field.Subject)
	}
	impls, benches := append([]string{stats.Best}, policy.Bars.Rivals...), map[string]bool{}
	for _, c := range field.Contestants {
		impls = append(impls, c.Name)
	}
	for _, name := range field.Cells() {
		cell, _ := bench.ParseName(name)
		benches[cell.Bench] = true
		if !slices.Contains(impls, cell.Impl) {
			t.Errorf("%s is a cell of nobody", name)
		}
	}
	check := func(bench, impl string) {
		if bench != "" && !benches[bench] || impl != "" && !slices.Contains(impls, impl) {
			t.Errorf("a bar is about %q of %q: there is no such thing", bench, impl)
		}
	}
	for _, d := range policy.Bars.Demands {
		check(d.Bench, d.Over)
		check(d.Per, d.Floor)
		check(d.Plain, "")
	}
	for _, f := range policy.Bars.Firsts {
		for _, b := range f.Benches {
			check(b, f.Of)
		}
	}
	for _, rival := range policy.Bars.Rivals {
		if !slices.ContainsFunc(field.Contestants, func(c tournament.Contestant) bool { return c.Name == rival && c.Ranked }) {
			t.Errorf("the rival %s does not compete", rival)
		}
	}
}
