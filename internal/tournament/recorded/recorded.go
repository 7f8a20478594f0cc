// Package recorded has the rounds of runs of this repository's tournament as they were measured, for tests that need what machines really
// do. They are older than the published results, and do not change with these.
package recorded

import (
	"embed"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/turnloop/turnloop/internal/tournament/bench"
	"github.com/turnloop/turnloop/internal/tournament/record"
)

// Names are the runs of ten rounds and more. Noisy is that of the noisiest machine, and Six one that was cut to six rounds.
var Names = []string{"container", "docker", "native", "epyc", Noisy}

const (
	Container = "container"
	Noisy     = "quick"
	Six       = "six"
)

//go:embed *.txt
var files embed.FS

// A Row is a cell's values, by round.
type Row struct {
	Figure, Impl, Unit string
	Values             []float64
}

// Rows returns all cells of a run, with the second labels of its control pairs.
func Rows(t testing.TB, name string) (rows []Row) {
	t.Helper()
	text, err := files.ReadFile(name + ".txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		row := Row{Figure: words[0], Impl: words[1], Unit: words[2]}
		for _, word := range words[3:] {
			v, err := strconv.ParseFloat(word, 64)
			if err != nil {
				v = math.NaN()
			}
			row.Values = append(row.Values, v)
		}
		rows = append(rows, row)
	}
	return rows
}

// Run writes rows as a run into a folder that is the test's own, and returns that.
func Run(t testing.TB, rows []Row) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "run")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	run := &record.Run{
		Options: record.Options{Name: "recorded", Mode: record.Full}, Command: "make it", Rounds: len(rows[0].Values), Complete: true,
		Roles: record.Roles{Subject: "main", Reference: "baseline", Control: "channel"},
	}
	run.Env.CPU, run.Env.Cores, run.Env.GOMAXPROCS = "a processor", 2, 2
	for _, row := range rows {
		of, again := strings.CutSuffix(row.Impl, record.Again)
		if run.Figure(row.Figure) == nil {
			run.Figures = append(run.Figures, record.Figure{Name: row.Figure, Unit: row.Unit, Measures: "something"})
		}
		if !again && !slices.ContainsFunc(run.Impls, func(i record.Impl) bool { return i.Name == row.Impl }) {
			run.Impls = append(run.Impls, record.Impl{Name: row.Impl, Ranked: row.Impl != "channel", About: "a loop"})
		}
		cell := record.Cell{Cell: bench.Cell{Name: bench.CellName(row.Figure, row.Impl), Bench: row.Figure, Impl: row.Impl}}
		if again {
			cell.Of = of
		}
		run.Cells = append(run.Cells, cell)
	}
	if err := errors.Join(record.Save(dir, run), write(dir, run, rows)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// write writes the measurements, and seals the run with them.
func write(dir string, run *record.Run, rows []Row) error {
	raw, err := record.CreateRaw(dir, []string{"goos: linux"})
	if err != nil {
		return err
	}
	for round := 1; round <= run.Rounds; round++ {
		for i, row := range rows {
			if v := row.Values[round-1]; !math.IsNaN(v) {
				err = errors.Join(err, raw.Append(round, fmt.Sprintf("%s-2 \t 100\t %v %s", run.Cells[i].Name, v, row.Unit), nil))
			} else {
				run.Cells[i].Failures = append(run.Cells[i].Failures, record.Failure{Round: round, Reason: "it was not measured"})
			}
		}
	}
	return errors.Join(err, raw.Close(), record.SealRaw(dir, run), record.Save(dir, run))
}
