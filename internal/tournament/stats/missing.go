package stats

// What was declared and not measured.

import (
	"strings"

	"github.com/turnloop/turnloop/internal/tournament/record"
)

// Unmeasured returns the units that a benchmark declares and that none of its cells has. A quantile without enough values beyond
// it is one of these, and so is a misspelt name. It returns nothing for a benchmark without any figure.
func (a *Analysis) Unmeasured(b record.Benchmark) []string {
	has, any := map[string]bool{}, false
	for bench, units := range a.samples.units {
		if name, _, _ := strings.Cut(bench, "/"); name == b.Name {
			any = true
			for _, unit := range units {
				has[unit] = true
			}
		}
	}
	var out []string
	for _, unit := range b.Units {
		if any && !has[tidy(unit)] {
			out = append(out, unit)
		}
	}
	return out
}
