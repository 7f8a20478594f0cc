package bench

// The output of a process that ran one cell.

import (
	"fmt"
	"strings"
)

// An Output is what one process measured.
type Output struct {
	Line    string   // the result line, verbatim
	Iters   int      // iterations that the figures are averages of
	NsPerOp float64  // time per iteration, 0 if the benchmark reports none
	Units   []string // unit metadata lines
}

// ParseOutput finds the results of the cell called name in the output of its process. There must be as many as times says.
func ParseOutput(text, name string, times int) ([]Output, error) {
	var outs []Output
	var units []string
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		switch {
		case strings.HasPrefix(line, "Unit "):
			units = append(units, line)
		case strings.HasPrefix(line, prefix):
			r, ok := parseResult(line)
			if !ok {
				continue
			}
			if c, _ := ParseName(prefix + r.Name.String()); c.Name != name {
				return nil, fmt.Errorf("asked for %s, got %s", name, c.Name)
			}
			out := Output{Line: line, Iters: r.Iters}
			if v, ok := r.Value("sec/op"); ok {
				out.NsPerOp = v * 1e9
			}
			outs = append(outs, out)
		}
	}
	if len(outs) != times {
		return nil, fmt.Errorf("%s: the output has %d results, not %d", name, len(outs), times)
	}
	for i := range outs {
		outs[i].Units = units
	}
	return outs, nil
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
