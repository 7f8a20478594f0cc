// What a figure is, and how testing runs all of them.

package tournament

import (
	"strings"
	"testing"

	cells "github.com/turnloop/turnloop/internal/tournament/bench"
	"github.com/turnloop/turnloop/internal/tournament/record"
)

// A Figure is one row of the ranking: what reports say about it, and its functions. Lower is better in every unit.
type Figure struct {
	record.Figure
	Quick bool // part of a glance

	// Run measures b.N operations of a contestant's loop. It skips the cell with "n/a: " and a reason where the loop lacks something.
	Run func(b *testing.B, c Contestant)
	// Controls measure the same without a contestant's loop, by the names of the controls.
	Controls map[string]func(*testing.B)
}

// cell returns the function that measures the contestant, nil if it does not take part.
func (f *Figure) cell(c Contestant) func(*testing.B) {
	if control := f.Controls[c.Name]; control != nil {
		return control
	}
	if c.New == nil {
		return nil
	}
	return func(b *testing.B) { f.Run(b, c) }
}

// benchmarks returns the figures of the field as testing takes them: BenchmarkNAME/impl=CONTESTANT/VARIANT.
func (f Field) benchmarks() []testing.InternalBenchmark {
	var out []testing.InternalBenchmark
	at := map[string]bool{}
	for _, figure := range Figures() {
		name, _, _ := strings.Cut(figure.Name, "/")
		if !at[name] {
			at[name] = true
			out = append(out, testing.InternalBenchmark{Name: "Benchmark" + name, F: func(b *testing.B) { f.measure(b, name) }})
		}
	}
	return out
}

// measure runs all figures whose names begin with name.
func (f Field) measure(b *testing.B, name string) {
	for _, c := range f.Contestants {
		b.Run("impl="+c.Name, func(b *testing.B) {
			for _, figure := range Figures() {
				first, variant, varies := strings.Cut(figure.Name, "/")
				switch cell := figure.cell(c); {
				case first != name || cell == nil:
				case varies:
					b.Run(variant, cell)
				default:
					cell(b)
				}
			}
		})
	}
}

// Cells returns the cells of the field, those of a figure together.
func (f Field) Cells() []cells.Cell {
	var out []cells.Cell
	for _, figure := range Figures() {
		for _, c := range f.Contestants {
			if figure.cell(c) != nil {
				out = append(out, cells.Cell{Name: cells.CellName(figure.Name, c.Name), Bench: figure.Name, Impl: c.Name})
			}
		}
	}
	return out
}
