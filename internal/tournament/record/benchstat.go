package record

// How stock benchstat reads a run.

import (
	"slices"
	"strings"
)

// Benchstat returns the command that compares everybody in file with the reference. benchstat compares with the first column,
// so the command gives the order: otherwise the first column would be whoever was measured first, which is chance.
func (r *Run) Benchstat(file string) string {
	first := r.Reference()
	var names []string
	for _, impl := range r.Impls {
		if slices.ContainsFunc(r.Cells, func(c Cell) bool { return c.Impl == impl.Name && c.Runs() }) {
			names = append(names, impl.Name)
		}
	}
	slices.SortStableFunc(names, func(a, b string) int {
		switch {
		case a == b:
			return 0
		case a == first:
			return -1
		case b == first:
			return 1
		}
		return 0
	})
	return "go tool benchstat -ignore round -col '/impl@(" + strings.Join(names, " ") + ")' " + file
}
