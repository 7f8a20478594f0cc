// Package bench knows the benchmark binary from the outside: how its benchmarks are named, which flags select exactly
// one of them, and what its output means.
package bench

import (
	"regexp"
	"strings"

	"golang.org/x/perf/benchfmt"
)

// A process of a program that has benchmarks in it behaves like their test binary when the variable says so.
const (
	RoleVariable = "TOURNAMENT_ROLE"
	Role         = "test"
)

// A Cell is one benchmark run by one contestant: BenchmarkTimer/impl=main/op=cancel is the cell of contestant "main"
// in benchmark "Timer/op=cancel".
type Cell struct {
	Name  string // as the binary prints it, without the GOMAXPROCS suffix
	Bench string // the name without "Benchmark" and without the contestant
	Impl  string // the contestant
}

const (
	prefix  = "Benchmark"
	implKey = "/impl="
)

// ParseName splits a printed benchmark name. ok is false for a benchmark that names no contestant.
func ParseName(printed string) (c Cell, ok bool) {
	base, parts := benchfmt.Name(strings.TrimPrefix(printed, prefix)).Parts()
	c.Name, c.Bench = prefix+string(base), string(base)
	for _, part := range parts {
		switch {
		case part[0] == '-': // GOMAXPROCS
			continue
		case strings.HasPrefix(string(part), implKey):
			c.Impl = string(part[len(implKey):])
		default:
			c.Bench += string(part)
		}
		c.Name += string(part)
	}
	return c, c.Impl != ""
}

// WithImpl returns the printed name with the contestant replaced by impl.
func WithImpl(printed, impl string) string {
	before, after, found := strings.Cut(printed, implKey)
	if !found {
		return printed
	}
	rest := strings.IndexAny(after, "/")
	if rest < 0 {
		// The contestant is the last element, so at most the GOMAXPROCS suffix follows its name.
		rest = len(after)
		if _, parts := benchfmt.Name(printed).Parts(); len(parts) > 0 && parts[len(parts)-1][0] == '-' {
			rest -= len(parts[len(parts)-1])
		}
	}
	return before + implKey + impl + after[rest:]
}

// CellName returns the printed name of impl's cell in a benchmark, which is named as in Cell.Bench.
func CellName(benchmark, impl string) string {
	name, variant, _ := strings.Cut(benchmark, "/")
	return strings.TrimSuffix(prefix+name+implKey+impl+"/"+variant, "/")
}

// Pattern returns the value of -test.bench or -test.run that selects name and nothing else.
func Pattern(name string) string {
	elems := strings.Split(name, "/")
	for i, e := range elems {
		elems[i] = "^" + regexp.QuoteMeta(e) + "$"
	}
	return strings.Join(elems, "/")
}
