// Package record is what a run of the tournament leaves behind: run.json, which says what was run where and how, and
// raw.txt, the measurements in Go's benchmark format. Everything else is computed from these two.
package record

import (
	"slices"
	"time"

	"github.com/turnloop/turnloop/internal/tournament/bench"
	"github.com/turnloop/turnloop/internal/tournament/environ"
)

// The modes of a run.
const (
	Full  = "full"
	Quick = "quick"
)

// Again marks the second label of a contestant that is run twice: a control pair, which checks that the same is not told apart.
const Again = "-again"

// FewestRounds is the least number of rounds of a run, and of what two runs are compared by.
const FewestRounds = 10

// A Run describes one run of the tournament.
type Run struct {
	Options
	Command  string       `json:"command"` // how to repeat it
	Seed     uint64       `json:"seed"`    // of the shuffles
	Rounds   int          `json:"rounds"`  // 0 until the discarded round has shown how many there is time for
	Complete bool         `json:"complete"`
	Source   Source       `json:"source"`
	Binary   Binary       `json:"binary"`
	Env      environ.Env  `json:"environment"`
	Sessions []Session    `json:"sessions"` // more than one if the run was interrupted
	Roles    Roles        `json:"roles"`
	Impls    []Impl       `json:"contestants"`
	Figures  []Figure     `json:"figures"` // in the order of reports
	Cells    []Cell       `json:"cells"`
	Checks   []Conformity `json:"conformance,omitempty"`
	Raw      Seal         `json:"raw"` // of raw.txt
}

// Options are the choices that decide what is measured. A run resumes another only when they are equal.
type Options struct {
	Name        string        `json:"name"`
	Mode        string        `json:"mode"`
	Budget      time.Duration `json:"budget_ns,omitempty"`    // 0: as long as the rounds take
	Asked       int           `json:"asked_rounds,omitempty"` // 0: as many as there is time for
	Filter      string        `json:"filter,omitempty"`       // of cells
	Conformance bool          `json:"with_conformance"`       // the suite runs first
	Programs    string        `json:"programs,omitempty"`     // in other languages, as NAME=COMMAND
}

// Roles name the contestants that have a special part in reports. The reference and the control may be missing.
type Roles struct {
	Subject   string `json:"subject"`             // the contestant whose run this is: reports speak of it first
	Reference string `json:"reference,omitempty"` // the contestant that means are ratios to
	Control   string `json:"control,omitempty"`   // the plainest control: it does only what every loop has to do
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
	Started time.Time `json:"started"`
	Ended   time.Time `json:"ended"`
	Stolen  float64   `json:"stolen,omitempty"` // share of the processors' time that the host kept from the machine
}

// An Impl is a contestant or a control.
type Impl struct {
	Name   string `json:"name"`
	Ranked bool   `json:"ranked"` // takes part in the ranking, unless it fails a check that it claims to meet
	About  string `json:"about,omitempty"`
	Lost   string `json:"lost,omitempty"` // why none of its cells could be measured
}

// A Figure is one row of the ranking.
type Figure struct {
	Name     string        `json:"name"`                // as in cells: Timer/op=cancel/pending=1000
	Unit     string        `json:"unit"`                // of the value that counts; lower is better
	Measures string        `json:"measures"`            // what an operation is, and what its value is of
	Window   time.Duration `json:"window_ns,omitempty"` // that is measured in a round
	LeftOut  string        `json:"left_out,omitempty"`  // why it was not run
}

// A Cell is a figure of one contestant, and what kept it from being measured.
type Cell struct {
	bench.Cell
	Of        string    `json:"control_of,omitempty"` // the contestant that a control pair's second label runs
	NA        string    `json:"na,omitempty"`         // why there is no such cell
	Failures  []Failure `json:"failures,omitempty"`
	Abandoned bool      `json:"abandoned,omitempty"` // failed too often to go on
}

// A Failure is a process that did not deliver its measurement.
type Failure struct {
	Round  int    `json:"round"` // 0 is the discarded one
	Reason string `json:"reason"`
}

// Conformity is how one contestant stands against the conformance suite.
type Conformity struct {
	Impl   string        `json:"impl"`
	Note   string        `json:"note,omitempty"` // why checks are missing
	Checks []bench.Check `json:"checks,omitempty"`
}

// Failed returns the names of the checks that keep the contestant from being ranked.
func (c Conformity) Failed() []string {
	var names []string
	for _, ch := range c.Checks {
		if ch.Outcome == bench.Fail || ch.Outcome == bench.NoResult {
			names = append(names, ch.Name)
		}
	}
	return names
}

// Hold completes what a suite said of a contestant: what it did not reach has failed, and of what belongs to the gate nothing can be
// declared away.
func (c *Conformity) Hold(checks []Requirement) {
	for _, want := range checks {
		i := slices.IndexFunc(c.Checks, func(got bench.Check) bool { return got.Name == want.Name })
		switch {
		case i < 0:
			c.Checks = append(c.Checks, bench.Check{Name: want.Name, Outcome: bench.NoResult, Reason: "the suite ended before it", Gate: want.Gate})
			continue
		case want.Gate && c.Checks[i].Outcome == bench.Diverges:
			c.Checks[i].Outcome = bench.Fail
			c.Checks[i].Reason = "this cannot be declared: " + c.Checks[i].Reason
		}
		c.Checks[i].Gate = want.Gate
	}
}

// A Requirement is a check of the suite that a contestant has to answer.
type Requirement struct {
	Name string
	Gate bool // order, conservation, one goroutine at a time, the end: no divergence from it can be declared
}

// Runs tells whether the cell takes part in the rounds.
func (c *Cell) Runs() bool { return c.NA == "" && !c.Abandoned }

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

// Figure returns the figure called name, nil if there is none.
func (r *Run) Figure(name string) *Figure {
	for i := range r.Figures {
		if r.Figures[i].Name == name {
			return &r.Figures[i]
		}
	}
	return nil
}

// Conformity returns how a contestant stands against the suite, and whether it was held to it.
func (r *Run) Conformity(impl string) (Conformity, bool) {
	for _, c := range r.Checks {
		if c.Impl == impl {
			return c, true
		}
	}
	return Conformity{}, false
}

// Unranked returns why a contestant that takes part in the ranking is not in it, nothing if it is.
func (r *Run) Unranked(impl string) string {
	i := r.Impl(impl)
	c, held := r.Conformity(impl)
	switch failed := c.Failed(); {
	case i.Lost != "":
		return i.Lost
	case !i.Ranked:
		return "it is shown for comparison"
	case !held:
		return ""
	case len(failed) > 0:
		for _, check := range c.Checks {
			if check.Gate && slices.Contains(failed, check.Name) {
				return "it fails " + check.Name + ", which belongs to the gate"
			}
		}
		return "it fails " + failed[0] + ", which it claims to meet"
	case c.Note != "":
		return c.Note
	}
	return ""
}
