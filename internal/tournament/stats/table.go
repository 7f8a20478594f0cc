package stats

// The measurements of a run as a table: a value for each figure, contestant and round.

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"

	"golang.org/x/perf/benchfmt"

	"github.com/turnloop/turnloop/internal/tournament/bench"
	"github.com/turnloop/turnloop/internal/tournament/record"
)

// Values are those of a cell, by round; NaN where there is none.
type Values []float64

// MarshalJSON writes null where there is no value.
func (v Values) MarshalJSON() ([]byte, error) {
	out := make([]any, len(v))
	for i, x := range v {
		if !math.IsNaN(x) {
			out[i] = json.RawMessage(strconv.FormatFloat(x, 'g', 4, 64))
		}
	}
	return json.Marshal(out)
}

// median returns the middle of the values that there are, NaN without any.
func (v Values) median() float64 {
	sorted := slices.DeleteFunc(slices.Sorted(slices.Values(v)), math.IsNaN)
	n := len(sorted)
	if n == 0 {
		return math.NaN()
	}
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// over returns the logarithms of the ratios to other values, within each round.
func (v Values) over(other Values) []float64 {
	if v == nil || other == nil {
		return nil
	}
	logs := make([]float64, len(v))
	for i := range v {
		logs[i] = math.Log(v[i] / other[i])
	}
	return logs
}

// A Table has the values of all cells of a run.
type Table struct {
	rounds int
	values map[key]Values
}

type key struct{ figure, impl string }

// Values returns those of a cell, nil if there are none.
func (t *Table) Values(figure, impl string) Values { return t.values[key{figure, impl}] }

// Count returns how many values a cell has.
func (t *Table) Count(figure, impl string) (n int) {
	for _, v := range t.Values(figure, impl) {
		if !math.IsNaN(v) {
			n++
		}
	}
	return n
}

// NewTable reads the measurements of a run. Values that are no positive numbers do not count.
func NewTable(run *record.Run, raw []byte) (*Table, error) {
	t := &Table{rounds: run.Rounds, values: map[key]Values{}}
	r := benchfmt.NewReader(bytes.NewReader(raw), record.RawFile)
	for r.Scan() {
		switch rec := r.Result().(type) {
		case *benchfmt.SyntaxError:
			return nil, rec
		case *benchfmt.Result:
			cell, ok := bench.ParseName("Benchmark" + rec.Name.String())
			figure := run.Figure(cell.Bench)
			round, err := strconv.Atoi(rec.GetConfig("round"))
			if !ok || figure == nil || err != nil || round < 1 || round > run.Rounds {
				return nil, fmt.Errorf("%s: %s in round %q is no part of the run", record.RawFile, rec.Name, rec.GetConfig("round"))
			}
			for _, v := range rec.Values {
				value, unit := v.Value, v.Unit
				if v.OrigUnit != "" {
					value, unit = v.OrigValue, v.OrigUnit
				}
				if unit == figure.Unit && value > 0 && !math.IsInf(value, 0) {
					t.set(cell.Bench, cell.Impl, round, value)
				}
			}
		}
	}
	return t, r.Err()
}

func (t *Table) set(figure, impl string, round int, value float64) {
	k := key{figure, impl}
	if t.values[k] == nil {
		t.values[k] = make(Values, t.rounds)
		for i := range t.values[k] {
			t.values[k][i] = math.NaN()
		}
	}
	t.values[k][round-1] = value
}

// mean returns the logarithms of the geometric means, over some figures, of the ratios between two contestants, within each round.
func (t *Table) mean(figures []string, impl, to string) []float64 {
	out := make([]float64, t.rounds)
	for _, figure := range figures {
		for i, log := range t.Values(figure, impl).over(t.Values(figure, to)) {
			out[i] += log / float64(len(figures))
		}
	}
	return out
}
