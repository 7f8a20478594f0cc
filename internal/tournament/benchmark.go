// What a benchmark is, and how testing runs all of them.

package tournament

import (
	"cmp"
	"slices"
	"strings"
	"testing"
	"time"

	cells "github.com/turnloop/turnloop/internal/tournament/bench"
	"github.com/turnloop/turnloop/internal/tournament/record"
)

// The categories of benchmarks.
const (
	Throughput  = "Throughput"
	Latency     = "Latency"
	Timers      = "Timers"
	Microtasks  = "Microtasks"
	Promises    = "Promises"
	JavaScript  = "JavaScript"
	Descriptors = "Descriptors"
	Servers     = "Servers"
	Threadlets  = "Threadlets"
	Memory      = "Memory"
	Lifecycle   = "Lifecycle"
)

// categories are in the order of reports.
var categories = []string{Throughput, Latency, Timers, Microtasks, Promises, JavaScript, Descriptors, Servers, Threadlets, Memory, Lifecycle}

// Benchmark is one benchmark: what reports say about it, what it needs, and its functions. The file that has these registers it. Lower
// is better in every unit of every benchmark.
type Benchmark struct {
	record.Benchmark // all but Core and Long, which come from the variants
	Variants         []Variant
}

// schedulerSlices is a window of time in which each of a few goroutines that compute gets several time slices of Go's
// scheduler. A slice is ten milliseconds.
const schedulerSlices = 300 * time.Millisecond

// aWhile is a window in which the system moves threads between the processors, and in which what is allocated is collected,
// several times.
const aWhile = 40 * time.Millisecond

// Variant is one cell of a benchmark for each contestant.
type Variant struct {
	Name string // as in the cell's name, such as op=fire/pending=0; empty where there is only one
	Core bool   // in the core set, over which contestants are ranked: needs only capabilities that the reference has
	Long string // why a quick run leaves it out; empty if it does not

	// Run measures b.N operations of a contestant's loop. It skips the cell with "n/a: " and a reason where the loop lacks something.
	Run func(b *testing.B, c Contestant)
	// Controls measure the same without a contestant's loop, by the names of the controls.
	Controls map[string]func(*testing.B)
}

// one is for benchmarks with one variant, of the core set.
func one(run func(*testing.B, Contestant)) []Variant { return []Variant{{Core: true, Run: run}} }

var registered []Benchmark

// register adds a benchmark to the list. It is called by init functions.
func register(b Benchmark) {
	b.Long = map[string]string{}
	for _, v := range b.Variants {
		cell := strings.TrimSuffix(b.Name+"/"+v.Name, "/")
		if v.Core && b.Unscored == "" {
			b.Core = append(b.Core, cell)
		}
		if v.Long != "" {
			b.Long[cell] = v.Long
		}
	}
	registered = append(registered, b)
}

// Benchmarks returns all benchmarks, by category.
func Benchmarks() []Benchmark {
	all := slices.Clone(registered)
	slices.SortStableFunc(all, func(a, b Benchmark) int {
		return cmp.Compare(slices.Index(categories, a.Category), slices.Index(categories, b.Category))
	})
	return all
}

// cell returns the function that measures the contestant, nil if it does not take part.
func (v Variant) cell(c Contestant) func(*testing.B) {
	if control := v.Controls[c.Name]; control != nil {
		return control
	}
	if c.New == nil || v.Run == nil {
		return nil
	}
	return func(b *testing.B) { v.Run(b, c) }
}

// benchmarks returns the benchmarks of the field as testing takes them: BenchmarkName/impl=contestant/variant.
func (f Field) benchmarks() []testing.InternalBenchmark {
	var out []testing.InternalBenchmark
	for _, d := range Benchmarks() {
		out = append(out, testing.InternalBenchmark{Name: "Benchmark" + d.Name, F: func(b *testing.B) { f.measure(b, d) }})
	}
	return out
}

func (f Field) measure(b *testing.B, d Benchmark) {
	for _, c := range f.Contestants {
		if !slices.ContainsFunc(d.Variants, func(v Variant) bool { return v.cell(c) != nil }) {
			continue
		}
		b.Run("impl="+c.Name, func(b *testing.B) {
			for _, v := range d.Variants {
				switch cell := v.cell(c); {
				case cell == nil:
				case v.Name == "":
					cell(b)
				default:
					b.Run(v.Name, cell)
				}
			}
		})
	}
}

// Cells returns the names of all cells of the field, as testing prints them without the processors.
func (f Field) Cells() []string {
	var names []string
	for _, d := range Benchmarks() {
		for _, c := range f.Contestants {
			for _, v := range d.Variants {
				if v.cell(c) != nil {
					names = append(names, cells.CellName(d.Name+"/"+v.Name, c.Name))
				}
			}
		}
	}
	return names
}
