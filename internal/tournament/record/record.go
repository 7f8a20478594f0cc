// Package record is what a run of the tournament leaves behind: run.json, which says what was run where and how, and
// raw.txt, the measurements in Go's benchmark format. Everything else is computed from these two.
package record

import (
	"strings"
	"time"

	"github.com/turnloop/turnloop/internal/tournament/bench"
	"github.com/turnloop/turnloop/internal/tournament/environ"
)

// The modes of a run.
const (
	Full  = "full"
	Quick = "quick"
)

// Again marks the second label of a contestant that is run twice: the control pair that shows the noise floor.
const Again = "-again"

// A Run describes one run of the tournament.
type Run struct {
	Options
	Command    string       `json:"command"` // how to repeat it
	Seed       uint64       `json:"seed"`    // of the shuffles
	Complete   bool         `json:"complete"`
	Planned    bool         `json:"planned"` // the warm-up is over and iterations are fixed
	Source     Source       `json:"source"`
	Binary     Binary       `json:"binary"`
	Env        environ.Env  `json:"environment"`
	Sessions   []Session    `json:"sessions"` // more than one if the run was interrupted
	Roles      Roles        `json:"roles"`
	Impls      []Impl       `json:"contestants"`
	Benchmarks []Benchmark  `json:"benchmarks"` // in the order of reports
	Cells      []Cell       `json:"cells"`
	Checks     []Conformity `json:"conformance,omitempty"`
	OverBy     string       `json:"over_budget,omitempty"` // why the run needs more time than its budget
	Dropped    int          `json:"dropped,omitempty"`     // rounds that were asked for, and for which the budget had no time
	StartupNS  int64        `json:"startup_ns"`            // how long a process takes that measures nothing
	Raw        Seal         `json:"raw"`                   // of raw.txt
	Blocks     bool         `json:"blocks,omitempty"`      // all contestants of a benchmark ran back to back
	RoundNS    int64        `json:"round_ns,omitempty"`    // what a round is planned to take
	MeasuredNS int64        `json:"measured_ns,omitempty"` // the part of it that is measured
}

// Roles name the contestants that have a special part in reports. Without a subject a run has no roles; the others may be
// missing.
type Roles struct {
	Subject   string `json:"subject,omitempty"`   // the contestant whose run this is: reports speak of it first
	Reference string `json:"reference,omitempty"` // the contestant that ratios are to
	Control   string `json:"control,omitempty"`   // the plainest control: it does only what every loop has to do
}

// roles returns the roles. In an older run, which does not record them, they follow from the order of the contestants: the
// subject, its rivals, the reference, and the controls, the plainest first.
func (r *Run) roles() Roles {
	if r.Roles != (Roles{}) {
		return r.Roles
	}
	var out Roles
	for _, impl := range r.Impls {
		switch {
		case impl.Ranked && out.Subject == "":
			out.Subject = impl.Name
		case impl.Ranked:
			out.Reference = impl.Name
		case out.Control == "":
			out.Control = impl.Name
		}
	}
	return out
}

// Subject returns the contestant that reports speak of first, empty if there is none.
func (r *Run) Subject() string { return r.roles().Subject }

// Reference returns the contestant that ratios are to, empty if there is none.
func (r *Run) Reference() string { return r.roles().Reference }

// Control returns the plainest control, empty if there is none.
func (r *Run) Control() string { return r.roles().Control }

// Options are the choices that decide what is measured. A run resumes another only when they are equal.
type Options struct {
	Name        string        `json:"name"`
	Mode        string        `json:"mode"`
	Budget      time.Duration `json:"budget_ns"`
	Rounds      int           `json:"rounds"`
	Filter      string        `json:"filter,omitempty"`
	Conformance bool          `json:"with_conformance"`
	Programs    string        `json:"programs,omitempty"` // in other languages, as NAME=COMMAND
}

// A Source is the commit that the benchmark binary was built from.
type Source struct {
	Commit string `json:"commit"` // empty if unknown
	Dirty  bool   `json:"dirty"`  // there were changes on top of it
}

// A Binary is the benchmark binary: what it holds and with what it was built.
type Binary struct {
	SHA256   string            `json:"sha256"`
	Go       string            `json:"go"`
	Modules  map[string]string `json:"modules"`
	Settings map[string]string `json:"settings,omitempty"`
}

// A Session is one uninterrupted stretch of a run.
type Session struct {
	Started    time.Time `json:"started"`
	Ended      time.Time `json:"ended"`
	LoadBefore []float64 `json:"load_before,omitempty"`
	LoadAfter  []float64 `json:"load_after,omitempty"`
	Stolen     float64   `json:"stolen,omitempty"` // share of the processors' time that the host kept from the machine
}

// An Impl is a contestant or a control.
type Impl struct {
	Name   string `json:"name"`
	Ranked bool   `json:"ranked"` // takes part in the ranking, unless it fails a check that it claims to meet
	About  string `json:"about,omitempty"`
	Note   string `json:"note,omitempty"` // what to know about all its figures
}

// A Cell is a benchmark of one contestant: what was planned for it, and what kept it from being measured.
type Cell struct {
	bench.Cell
	Of        string        `json:"control_of,omitempty"` // the contestant that a control pair's second label runs
	Iters     int           `json:"iterations,omitempty"` // fixed for all rounds but the first, which corrects the plan
	Setup     time.Duration `json:"setup_ns,omitempty"`
	ColdNS    float64       `json:"cold_ns_per_op,omitempty"` // from the listing
	Untimed   bool          `json:"untimed,omitempty"`        // reports no time
	WarmNS    float64       `json:"warm_ns_per_op,omitempty"` // from the discarded warm-up
	NA        string        `json:"na,omitempty"`             // why there is no such cell
	LeftOut   string        `json:"left_out,omitempty"`       // why it was not run although it exists
	Failures  []Failure     `json:"failures,omitempty"`
	Abandoned bool          `json:"abandoned,omitempty"` // failed too often to go on
}

// A Failure is a process that did not deliver its measurement.
type Failure struct {
	Round  int    `json:"round"` // 0 is the warm-up
	Reason string `json:"reason"`
}

// Conformity is how one contestant stands against the conformance suite.
type Conformity struct {
	Impl   string        `json:"impl"`
	Note   string        `json:"note,omitempty"` // why checks are missing
	Checks []bench.Check `json:"checks,omitempty"`
}

// Failed returns the names of the checks that the contestant claims to meet and does not.
func (c Conformity) Failed() []string {
	var names []string
	for _, ch := range c.Checks {
		if ch.Outcome == bench.Fail || ch.Outcome == bench.NoResult {
			names = append(names, ch.Name)
		}
	}
	return names
}

// Runs tells whether the cell takes part in the rounds.
func (c *Cell) Runs() bool { return c.NA == "" && c.LeftOut == "" && !c.Abandoned }

// Target returns the name under which the binary knows the cell.
func (c *Cell) Target() string {
	if c.Of != "" {
		return bench.WithImpl(c.Name, c.Of)
	}
	return c.Name
}

// Impl returns the contestant called name.
func (r *Run) Impl(name string) Impl {
	for _, i := range r.Impls {
		if i.Name == name {
			return i
		}
	}
	return Impl{Name: name}
}

// A Benchmark says what one benchmark measures, as its authors describe it.
type Benchmark struct {
	Name     string   `json:"name"` // the first element of Cell.Bench
	Category string   `json:"category"`
	Units    []string `json:"units"` // the headline first; lower is better
	Op       string   `json:"op"`
	Measures string   `json:"measures"`
	Why      string   `json:"why"`
	Unscored string   `json:"unscored,omitempty"` // why it counts in no geometric mean
	Needs    []Need   `json:"needs,omitempty"`
	Core     []string `json:"core,omitempty"` // its cells in the core set, over which contestants are ranked

	Long map[string]string `json:"long,omitempty"` // its cells that a quick run leaves out, and why
}

// A Need is what a measurement has to have in every round, whatever the budget, for the benchmark to show what it is about.
type Need struct {
	Variant string        `json:"variant,omitempty"`   // the variant that it holds for; empty: all that have none of their own
	Window  time.Duration `json:"window_ns,omitempty"` // least time that is measured
	Values  int           `json:"values,omitempty"`    // least number of values, so that there is what the quantiles need
}

// Need returns what the benchmark bench demands of a measurement.
func (r *Run) Need(bench string) Need {
	_, variant, _ := strings.Cut(bench, "/")
	var all Need
	for _, n := range r.Benchmark(bench).Needs {
		switch n.Variant {
		case variant:
			return n
		case "":
			all = n
		}
	}
	return all
}

// Long returns why a quick run leaves bench out, nothing if it does not.
func (r *Run) Long(bench string) string { return r.Benchmark(bench).Long[bench] }

// Benchmark returns the description of the benchmark that bench belongs to.
func (r *Run) Benchmark(bench string) Benchmark {
	name, _, _ := strings.Cut(bench, "/")
	for _, b := range r.Benchmarks {
		if b.Name == name {
			return b
		}
	}
	return Benchmark{Name: name, Category: "Other", Units: []string{"ns/op"}}
}
