package bench

// The conformance suite's output: one outcome and reason for every check of a contestant.

import (
	"slices"
	"strings"
)

// The outcomes of a check.
const (
	Pass          = "pass"
	Fail          = "fail"
	NotApplicable = "n/a"      // the contestant does not claim the capability
	Diverges      = "diverges" // a declared and explained divergence, which the check confirmed
	NoResult      = "no result"
)

// A Check is one requirement held against one contestant.
type Check struct {
	Name    string `json:"name"`
	Outcome string `json:"outcome"`
	Reason  string `json:"reason,omitempty"`
	Gate    bool   `json:"gate,omitempty"` // no divergence from it can be declared
}

const conformanceTest = "TestConformance"

// ConformanceArgs are the flags with which the binary holds one contestant to the suite, as ParseConformance expects.
func ConformanceArgs(impl string) []string {
	return []string{"-test.run=" + Pattern(conformanceTest+"/impl="+impl), "-test.v"}
}

type checkState struct {
	status, outcome, reason string
	followed                bool // another check has begun after it; testing prints the statuses when all checks are over
	log                     []string
}

// ParseConformance reads the verbose output of the suite for one contestant. Without that contestant in the suite the
// result is empty.
func ParseConformance(text, impl string) []Check {
	states := map[string]*checkState{}
	var order []string
	at := func(test string) *checkState {
		elems := strings.SplitN(test, "/", 4)
		if len(elems) < 3 || elems[0] != conformanceTest || elems[1] != "impl="+impl {
			return nil
		}
		name := elems[2]
		if states[name] == nil {
			states[name] = &checkState{}
			order = append(order, name)
		}
		return states[name]
	}
	var current *checkState
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		trimmed := strings.TrimLeft(line, " ")
		switch {
		case strings.HasPrefix(line, "=== ATTR"):
			fields := strings.SplitN(strings.TrimSpace(strings.TrimPrefix(line, "=== ATTR")), " ", 3)
			if st := at(fields[0]); st != nil && len(fields) == 3 {
				st.attr(fields[1], fields[2])
			}
		case strings.HasPrefix(line, "=== "): // RUN, NAME, CONT, PAUSE
			fields := strings.Fields(line)
			if len(fields) != 3 {
				continue
			}
			next := at(fields[2])
			if current != nil && next != nil && next != current {
				current.followed = true
			}
			current = next
		case strings.HasPrefix(trimmed, "--- "):
			if st := at(statusName(trimmed)); st != nil && strings.Count(statusName(trimmed), "/") == 2 {
				st.status = trimmed[len("--- "):len("--- PASS")]
			}
		case strings.HasPrefix(line, "    ") && current != nil:
			current.log = append(current.log, line)
		}
	}
	checks := make([]Check, 0, len(order))
	for _, name := range order {
		checks = append(checks, states[name].check(name))
	}
	slices.SortStableFunc(checks, func(a, b Check) int { return strings.Compare(a.Name, b.Name) })
	return checks
}

func (st *checkState) attr(key, value string) {
	switch key {
	case "outcome":
		st.outcome = value
	case "reason":
		st.reason = value
	}
}

// check decides the outcome. A failed or unfinished test counts more than what the suite prints about it.
func (st *checkState) check(name string) Check {
	c := Check{Name: name, Outcome: st.outcome, Reason: st.reason}
	switch {
	case st.status == "" && !(st.followed && st.outcome != ""):
		c.Outcome = NoResult
	case st.status == "FAIL":
		c.Outcome = Fail
	case c.Outcome == "" && st.status == "SKIP":
		c.Outcome = NotApplicable
	case c.Outcome == "":
		c.Outcome = Pass
	}
	if c.Reason == "" && c.Outcome != Pass {
		c.Reason = Shorten(joinLog(st.log), 300)
	}
	return c
}

// Shorten cuts a text that has more characters than the limit.
func Shorten(s string, limit int) string {
	if r := []rune(s); len(r) > limit {
		return string(r[:limit-1]) + "…"
	}
	return s
}
