package bench

// The listing: what one pass over benchmarks with a single iteration tells about them.

import (
	"strconv"
	"strings"
	"time"

	"golang.org/x/perf/benchfmt"
)

// ListArgs are the flags with which the binary runs each of some cells once, as Listing expects it.
func ListArgs(names []string) []string {
	patterns := make([]string, len(names))
	for i, name := range names {
		patterns[i] = Pattern(name)
	}
	return []string{"-test.run=^$", "-test.bench=" + strings.Join(patterns, "|"), "-test.benchtime=1x", "-test.v"}
}

// RunArgs are the flags with which the binary runs one cell the given number of times, with benchtime as the value of
// -test.benchtime.
func RunArgs(name, benchtime string, times int) []string {
	return []string{"-test.run=^$", "-test.bench=" + Pattern(name), "-test.benchtime=" + benchtime, "-test.count=" + strconv.Itoa(times)}
}

// A Listed cell is one that the binary knows: it ran, or it was skipped or failed with a reason.
type Listed struct {
	Cell
	Setup   time.Duration // from the start of the benchmark to the end of its only iteration
	ColdNS  float64       // what that iteration reports as its time, 0 if nothing
	Untimed bool          // it reports no time on purpose
	Skipped string        // why the contestant has no such cell; the honest "n/a"
	Failed  string        // why the only iteration failed
}

// A Listing collects cells from the lines of the binary's verbose output, in the order in which they appear.
type Listing struct {
	cells  []Listed
	starts map[string]time.Time
	parent map[string]bool
	log    []string
	open   string
}

// Open returns the cell that has begun and not ended. If the process dies or hangs, it is because of this cell.
func (l *Listing) Open() string { return l.open }

// Line takes the next line, which was read at the time at.
func (l *Listing) Line(line string, at time.Time) {
	if l.starts == nil {
		l.starts, l.parent = map[string]time.Time{}, map[string]bool{}
	}
	switch {
	case strings.HasPrefix(line, prefix) && !strings.ContainsAny(line, " \t"):
		l.start(line, at)
	case strings.HasPrefix(line, prefix):
		if r, ok := parseResult(line); ok {
			l.end(prefix+r.Name.String(), at, "", "")
			if len(l.cells) > 0 {
				v, ok := r.Value("sec/op")
				l.cells[len(l.cells)-1].ColdNS, l.cells[len(l.cells)-1].Untimed = v*1e9, !ok
			}
		}
	case strings.HasPrefix(line, "--- SKIP: "):
		l.end(statusName(line), at, l.reason("skipped without a reason"), "")
	case strings.HasPrefix(line, "--- FAIL: "):
		l.end(statusName(line), at, "", l.reason("failed without a message"))
	case strings.HasPrefix(line, "    "):
		l.log = append(l.log, line)
	}
}

// Cells returns what has been seen, without the benchmarks that only group others.
func (l *Listing) Cells() []Listed {
	var out []Listed
	for _, c := range l.cells {
		if !l.parent[c.Name] {
			out = append(out, c)
		}
	}
	return out
}

func (l *Listing) start(name string, at time.Time) {
	l.log = l.log[:0]
	l.starts[name] = at
	l.open = name
	for i := strings.LastIndexByte(name, '/'); i > 0; i = strings.LastIndexByte(name[:i], '/') {
		l.parent[name[:i]] = true
	}
}

func (l *Listing) end(printed string, at time.Time, skipped, failed string) {
	c, ok := ParseName(printed)
	l.log = l.log[:0]
	if c.Name == l.open {
		l.open = ""
	}
	if !ok || l.parent[c.Name] {
		return
	}
	listed := Listed{Cell: c, Skipped: skipped, Failed: failed}
	if began, ok := l.starts[c.Name]; ok {
		listed.Setup = at.Sub(began)
	}
	l.cells = append(l.cells, listed)
}

func (l *Listing) reason(otherwise string) string {
	if s := joinLog(l.log); s != "" {
		return s
	}
	return otherwise
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
