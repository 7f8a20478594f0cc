package record

// The folder of a run: partial results while it is running, and their promotion when it is complete.

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/perf/benchfmt"

	"github.com/turnloop/turnloop/internal/tournament/bench"
)

// The files of a run.
const (
	RawFile     = "raw.txt"
	RunFile     = "run.json"
	partialName = "partial"
)

// Partial returns the folder in which a run collects results until it is complete, so that an interrupted run does not
// destroy the results of the last complete one.
func Partial(dir string) string { return filepath.Join(dir, partialName) }

// Save writes run.json whole or not at all.
func Save(dir string, r *Run) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return WriteFile(filepath.Join(dir, RunFile), append(data, '\n'))
}

// Load reads run.json.
func Load(dir string) (*Run, error) {
	data, err := os.ReadFile(filepath.Join(dir, RunFile))
	if err != nil {
		return nil, err
	}
	r := new(Run)
	if err := json.Unmarshal(data, r); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, RunFile), err)
	}
	return r, nil
}

// WriteFile replaces a file whole or not at all.
func WriteFile(path string, data []byte) error {
	tmp := path + ".tmp"
	if err := os.WriteFile(tmp, data, 0o644); err != nil {
		return err
	}
	return os.Rename(tmp, path)
}

// Promote moves the files of a complete run from the partial folder to dir.
func Promote(dir string) error {
	for _, name := range []string{RawFile, RunFile} {
		if err := os.Rename(filepath.Join(Partial(dir), name), filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return os.RemoveAll(Partial(dir))
}

// A Raw appends measurements to raw.txt, each on disk before the next one is taken.
type Raw struct {
	file  *os.File
	round int
	units map[string]bool
}

// CreateRaw starts a new raw.txt with the configuration that holds for all of its results.
func CreateRaw(dir string, config []string) (*Raw, error) {
	f, err := os.Create(filepath.Join(dir, RawFile))
	if err != nil {
		return nil, err
	}
	if _, err := f.WriteString(strings.Join(config, "\n") + "\n"); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &Raw{file: f, units: map[string]bool{}}, nil
}

// A Done is a measurement that raw.txt holds already.
type Done struct {
	Round int
	Name  string
}

// ResumeRaw opens raw.txt to append to it, drops a line that was cut off in the middle, and returns what is there.
func ResumeRaw(dir string) (*Raw, map[Done]bool, error) {
	path := filepath.Join(dir, RawFile)
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	whole := data[:bytes.LastIndexByte(data, '\n')+1]
	if err := os.Truncate(path, int64(len(whole))); err != nil {
		return nil, nil, err
	}
	w := &Raw{units: map[string]bool{}}
	done := map[Done]bool{}
	r := benchfmt.NewReader(bytes.NewReader(whole), path)
	for r.Scan() {
		switch rec := r.Result().(type) {
		case *benchfmt.Result:
			round := roundOf(rec)
			c, _ := bench.ParseName("Benchmark" + rec.Name.String())
			done[Done{round, c.Name}] = true
			w.round = round
		case *benchfmt.SyntaxError:
			return nil, nil, rec
		}
	}
	if err := r.Err(); err != nil {
		return nil, nil, err
	}
	if w.file, err = os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0o644); err != nil {
		return nil, nil, err
	}
	return w, done, nil
}

// Append writes one measurement. unitLines describe its units and are written once per file.
func (w *Raw) Append(round int, line string, unitLines []string) error {
	var b strings.Builder
	for _, u := range unitLines {
		if !w.units[u] {
			w.units[u] = true
			b.WriteString(u + "\n")
		}
	}
	if round != w.round {
		w.round = round
		fmt.Fprintf(&b, "\nround: %d\n", round)
	}
	b.WriteString(line + "\n")
	_, err := w.file.WriteString(b.String())
	return err
}

// Close closes the file.
func (w *Raw) Close() error { return w.file.Close() }

func roundOf(r *benchfmt.Result) int {
	var n int
	if _, err := fmt.Sscan(r.GetConfig("round"), &n); err != nil {
		return 0
	}
	return n
}

// Missing tells whether err says that there is no run in the folder.
func Missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
