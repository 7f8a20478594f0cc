package bench

// The output of a process that ran one cell.

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"golang.org/x/perf/benchfmt"
)

// RunArgs are the flags with which the binary measures one cell for so long.
func RunArgs(name string, window time.Duration) []string {
	return []string{"-test.run=^$", "-test.bench=" + Pattern(name), "-test.benchtime=" + window.String(), "-test.v"}
}

// An Output is what one process measured.
type Output struct {
	Line  string   // the result line, verbatim
	Units []string // unit metadata lines
	*benchfmt.Result
}

// Skipped says that a contestant has no such cell, and why.
type Skipped string

func (s Skipped) Error() string { return string(s) }

// ParseOutput finds the result of the cell called name in the output of its process.
func ParseOutput(text, name string) (Output, error) {
	var out Output
	var log []string
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		switch {
		case strings.HasPrefix(line, "Unit "):
			out.Units = append(out.Units, line)
		case strings.HasPrefix(line, "--- SKIP: "+name) && statusName(line) == name:
			return Output{}, Skipped(strings.TrimPrefix(joinLog(log), "n/a: "))
		case strings.HasPrefix(line, "    "):
			log = append(log, line)
		case strings.HasPrefix(line, prefix) && strings.ContainsAny(line, " \t"):
			r, ok := parseResult(line)
			if !ok {
				continue
			}
			if c, _ := ParseName(prefix + r.Name.String()); c.Name != name {
				return Output{}, fmt.Errorf("asked for %s, got %s", name, c.Name)
			}
			if out.Result != nil {
				return Output{}, errors.New("it has more than one result")
			}
			out.Line, out.Result = line, r
		}
	}
	if out.Result == nil {
		return Output{}, errors.New("it has no result")
	}
	return out, nil
}

// Sane refuses a result that no machine can have given: a value of another kind than a positive number, none of the unit that counts, and
// times that are longer than the process has lived.
func (o Output) Sane(unit string, lived time.Duration) error {
	counts := false
	for _, v := range o.Values {
		value, as := v.Value, v.Unit
		if v.OrigUnit != "" {
			value, as = v.OrigValue, v.OrigUnit
		}
		longest := math.MaxInt64 / 2.0
		if strings.HasSuffix(as, "ns/op") {
			longest = float64(lived)
		}
		switch ours := as == unit; {
		case math.IsNaN(value) || value < 0 || ours && value == 0:
			return fmt.Errorf("%s %s is no measurement", strconv.FormatFloat(value, 'g', 4, 64), as)
		case value > longest:
			return fmt.Errorf("%s %s is more than there was: the process has lived for %v", strconv.FormatFloat(value, 'g', 4, 64), as, lived.Round(time.Millisecond))
		case ours:
			counts = true
		}
	}
	if o.Iters < 1 {
		return errors.New("it has done no operation")
	}
	if !counts {
		return fmt.Errorf("it has no value in %s", unit)
	}
	return nil
}

// ConfigLines returns the configuration that the binary prints before its results: goos, goarch, pkg, cpu.
func ConfigLines(text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		for _, key := range []string{"goos: ", "goarch: ", "pkg: ", "cpu: "} {
			if strings.HasPrefix(line, key) {
				out = append(out, line)
			}
		}
	}
	return out
}

// statusName returns the name in a line such as "--- SKIP: BenchmarkX/impl=main (0.00s)".
func statusName(line string) string {
	_, name, _ := strings.Cut(line, ": ")
	name, _, _ = strings.Cut(name, " ")
	return name
}

// joinLog makes one sentence of the lines that testing prints for Skip, Log, Error and Fatal, without source positions.
func joinLog(lines []string) string {
	var out []string
	for _, line := range lines {
		line = strings.TrimSpace(line)
		if pos, text, ok := strings.Cut(line, ": "); ok && strings.Contains(pos, ".go:") && !strings.Contains(pos, " ") {
			line = text
		}
		if line != "" {
			out = append(out, line)
		}
	}
	return strings.Join(out, " ")
}

// parseResult reads one line of benchmark results.
func parseResult(line string) (*benchfmt.Result, bool) {
	r := benchfmt.NewReader(strings.NewReader(line), "")
	if !r.Scan() {
		return nil, false
	}
	res, ok := r.Result().(*benchfmt.Result)
	return res, ok
}
