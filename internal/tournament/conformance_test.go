package tournament_test

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/turnloop/turnloop/eventloop/looptest"
	"github.com/turnloop/turnloop/internal/tournament"
)

// TestConformance holds every ranked contestant to the specification: impl=NAME/CHECK. It does so when it is asked for by name,
// as the runner does; the tests of each contestant's own package hold it to the same suite, and once is enough.
func TestConformance(t *testing.T) {
	if flag.Lookup("test.run").Value.String() == "" {
		t.Skip("each contestant's own package runs the suite; here it runs with -run Conformance")
	}
	for _, c := range tournament.Contestants() {
		if !c.Ranked {
			continue
		}
		options := []looptest.Option{looptest.Name(c.Name)}
		if c.VirtualTime {
			options = append(options, looptest.VirtualTime())
		}
		for check, reason := range c.Divergences {
			options = append(options, looptest.Diverges(check, reason))
		}
		for check, reason := range c.MayDiverge {
			options = append(options, looptest.MayDiverge(check, reason))
		}
		looptest.Run(t, c.New, options...)
	}
}

// TestContestants: every ranked contestant exists, makes loops, and has its own tests of conformance; what it declares are checks
// that exist.
func TestContestants(t *testing.T) {
	var checks, names []string
	for _, c := range looptest.Checks() {
		checks = append(checks, c.Name)
	}
	for _, c := range tournament.Contestants() {
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
		if _, err := os.Stat(filepath.Join("..", "..", c.Package, "conformance_test.go")); err != nil {
			t.Errorf("%s: %v", c.Name, err)
		}
		for _, declared := range []map[string]string{c.Divergences, c.MayDiverge} {
			for check, reason := range declared {
				if !slices.Contains(checks, check) || reason == "" {
					t.Errorf("%s declares the divergence %q because of %q", c.Name, check, reason)
				}
			}
		}
	}
	if slices.Sort(names); len(slices.Compact(names)) != len(tournament.Contestants()) {
		t.Errorf("two contestants share a name: %v", names)
	}
}
