package record

// The seal: what run.json says of raw.txt, so that measurements which were cut off, changed or mixed up are not reported.

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/turnloop/turnloop/internal/tournament/bench"
)

// A Seal identifies the text of the measurements.
type Seal struct {
	SHA256 string `json:"sha256"`
	Lines  int    `json:"lines"`
}

// sealOf returns the seal of a text.
func sealOf(raw []byte) Seal {
	sum := sha256.Sum256(raw)
	return Seal{SHA256: hex.EncodeToString(sum[:]), Lines: bytes.Count(raw, []byte("\n"))}
}

// SealRaw seals the run with the raw.txt that is in a folder, once nothing is appended to it any more.
func SealRaw(dir string, r *Run) error {
	raw, err := os.ReadFile(filepath.Join(dir, RawFile))
	if err != nil {
		return err
	}
	r.Raw = sealOf(raw)
	return nil
}

// Read returns a run and its measurements, and an error if they do not belong together or are not whole.
func Read(dir string) (*Run, []byte, error) {
	r, err := Load(dir)
	if err != nil {
		return nil, nil, err
	}
	if len(r.Figures) == 0 || len(r.Cells) == 0 || r.Rounds < 1 {
		return nil, nil, fmt.Errorf("%s describes no run: it names %d figures, %d cells and %d rounds", filepath.Join(dir, RunFile),
			len(r.Figures), len(r.Cells), r.Rounds)
	}
	path := filepath.Join(dir, RawFile)
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	switch is := sealOf(raw); {
	case r.Raw == is || !r.Complete:
	case is.Lines != r.Raw.Lines:
		return nil, nil, fmt.Errorf("%s is not what was measured: it has %d lines, the run had %d", path, is.Lines, r.Raw.Lines)
	default:
		return nil, nil, fmt.Errorf("%s is not what was measured: its SHA-256 is %s, that of the run %s", path, is.SHA256, r.Raw.SHA256)
	}
	if err := r.whole(raw); err != nil {
		return nil, nil, fmt.Errorf("%s %w", path, err)
	}
	return r, raw, nil
}

// whole checks that the text agrees with run.json: it must have one result or failure of each cell in each round, and nothing
// else. An interrupted run may have less. This finds a run.json that was changed afterwards.
func (r *Run) whole(raw []byte) error {
	if len(raw) > 0 && raw[len(raw)-1] != '\n' && r.Complete {
		return errors.New("is cut off in the middle of a line")
	}
	cells := map[string]bool{}
	for _, c := range r.Cells {
		cells[c.Name] = true
	}
	results, seen, round := map[string]int{}, map[Done]bool{}, 0
	for line := range strings.Lines(string(raw)) {
		if number, ok := strings.CutPrefix(line, "round: "); ok {
			n, err := strconv.Atoi(strings.TrimSpace(number))
			if err != nil || n < 1 || n > r.Rounds {
				return fmt.Errorf("does not belong to the run, which had %d rounds: it has round %s", r.Rounds, strings.TrimSpace(number))
			}
			round = n
		}
		if !strings.HasPrefix(line, "Benchmark") {
			continue
		}
		cell, _ := bench.ParseName(strings.Fields(line)[0])
		done := Done{round, cell.Name}
		switch {
		case !cells[cell.Name]:
			return fmt.Errorf("does not belong to the run: it has results of %s, and the run had no such cell", cell.Name)
		case seen[done]:
			return fmt.Errorf("is not what was measured: it has two results of %s in round %d", cell.Name, round)
		}
		seen[done] = true
		results[cell.Name]++
	}
	for _, c := range r.Cells {
		failed := 0
		for _, f := range c.Failures {
			if f.Round > 0 {
				failed++
			}
		}
		if n := results[c.Name]; r.Complete && c.Runs() && n+failed < r.Rounds {
			return fmt.Errorf("is not whole: it has %d results of %s, and the run had %d rounds", n, c.Name, r.Rounds)
		}
	}
	return nil
}
