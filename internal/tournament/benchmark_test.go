package tournament_test

// Tests of the list of figures.

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/turnloop/turnloop/internal/tournament"
	"github.com/turnloop/turnloop/internal/tournament/bench"
)

// TestFigures: descriptions have no gaps, names tell cells apart, and all that a figure is about exists.
func TestFigures(t *testing.T) {
	field := tournament.Own()
	var names []string
	for _, c := range field.Cells() {
		names = append(names, c.Name)
		if parsed, ok := bench.ParseName(c.Name + "-2"); !ok || parsed != c {
			t.Errorf("%+v is read as %+v", c, parsed)
		}
	}
	slices.Sort(names)
	for i, name := range names[1:] {
		if name == names[i] || strings.HasPrefix(name, names[i]+"/") {
			t.Errorf("%s is what a pattern that selects %s selects too", name, names[i])
		}
	}
	figures := tournament.Figures()
	if n := len(figures); runtime.GOOS == "linux" && (n < 24 || n > 27) {
		t.Errorf("%d figures, want about 25", n)
	}
	stock, err := os.ReadFile("figures_test.go")
	if err != nil {
		t.Fatal(err)
	}
	glance := 0
	for _, f := range figures {
		if name, _, _ := strings.Cut(f.Name, "/"); !strings.Contains(string(stock), fmt.Sprintf("{ own(b, %q) }", name)) {
			t.Errorf("%s is no stock benchmark", f.Name)
		}
		if f.Unit == "" || f.Measures == "" || f.Window == 0 || f.Run == nil {
			t.Errorf("%s: the description has gaps", f.Name)
		}
		if f.Quick {
			glance++
		}
		for control := range f.Controls {
			if !slices.ContainsFunc(field.Contestants, func(c tournament.Contestant) bool { return c.Name == control && !c.Ranked }) {
				t.Errorf("%s: there is no control %q", f.Name, control)
			}
		}
	}
	if glance < 5 || glance > len(figures)/2 {
		t.Errorf("a glance has %d figures", glance)
	}
}

// TestGate: what cannot be declared is in the suite, and no contestant declares it.
func TestGate(t *testing.T) {
	gate := 0
	for _, want := range tournament.Requirements() {
		if !want.Gate {
			continue
		}
		gate++
		for _, c := range tournament.Own().Contestants {
			if reason := c.Divergences[want.Name] + c.MayDiverge[want.Name]; reason != "" {
				t.Errorf("%s declares that it does not meet %s: %s", c.Name, want.Name, reason)
			}
		}
	}
	if gate < 8 {
		t.Errorf("the gate has %d checks", gate)
	}
}
