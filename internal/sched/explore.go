//go:build schedules

package sched

// With the tag schedules: which schedules of a case are tried, and how one is repeated.

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Case is a set of goroutines to be played together. All of them, and those that they start with Go, run to their end.
type Case struct {
	Threads []Thread
	Parked  bool         // the first goroutine runs alone until it blocks; only then the others begin
	Check   func() error // checks the outcome when all goroutines have ended
}

// Thread is one goroutine of a case.
type Thread struct {
	Name string
	Run  func()
}

// Switch is a step at which the schedule did not choose the default, which is the running goroutine or, if that cannot
// run, the first one that can. Goroutines are numbered in order of appearance.
type Switch struct{ Step, To int }

// Trace is the list of all switches of a schedule. It determines the schedule.
type Trace []Switch

func (t Trace) String() string {
	var b strings.Builder
	for i, s := range t {
		if i > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "%d:%d", s.Step, s.To)
	}
	return b.String()
}

// ParseTrace reads a trace from the text that String returns.
func ParseTrace(text string) (Trace, error) {
	var t Trace
	for _, field := range strings.Fields(text) {
		var s Switch
		if _, err := fmt.Sscanf(field, "%d:%d", &s.Step, &s.To); err != nil {
			return nil, fmt.Errorf("sched: %q is no switch: %w", field, err)
		}
		t = append(t, s)
	}
	return t, nil
}

// Failure is a schedule that ended in an error.
type Failure struct {
	Err   error
	Trace Trace
	Log   string // the steps of the schedule, one a line
}

func (f *Failure) Error() string { return fmt.Sprintf("%v\nschedule: %v\n%s", f.Err, f.Trace, f.Log) }
func (f *Failure) Unwrap() error { return f.Err }

// Bounded runs every schedule with at most that number of preemptions, or the first most of them if most is not 0. A
// preemption is a switch away from a goroutine that could run on and has not yielded. Bounded stops at the first failure,
// and returns it and the number of schedules that it ran.
func Bounded(preemptions, most int, make func() Case) (schedules int, failure *Failure) {
	type decision struct{ chosen, of int }
	var path []decision
	for {
		depth, left := 0, preemptions
		schedules++
		failure := try(make, func(s *schedule, held bool) int {
			if held && left == 0 {
				return 0
			}
			if depth == len(path) {
				path = append(path, decision{0, len(s.options)})
			}
			n := path[depth].chosen
			if path[depth].of != len(s.options) {
				panic("sched: the same choices have led elsewhere")
			}
			depth++
			if held && n != 0 {
				left--
			}
			return n
		})
		for len(path) > 0 && path[len(path)-1].chosen == path[len(path)-1].of-1 {
			path = path[:len(path)-1]
		}
		if failure != nil || len(path) == 0 || schedules == most {
			return schedules, failure
		}
		path[len(path)-1].chosen++
	}
}

// Random runs count random schedules, which preempt at a random rate. The same seed gives the same schedules. Random stops
// at the first failure, and returns it and the number of schedules that it ran.
func Random(seed uint64, count int, make func() Case) (schedules int, failure *Failure) {
	for i := range count {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		one := 1 << (1 + r.IntN(6)) // this run preempts at one point in so many
		failure := try(make, func(s *schedule, held bool) int {
			if held && r.IntN(one) != 0 {
				return 0
			}
			return r.IntN(len(s.options))
		})
		if failure != nil {
			return i + 1, failure
		}
	}
	return count, nil
}

// Replay runs the schedule of a trace again, and returns its log.
func Replay(t Trace, make func() Case) (log string, err error) {
	var b strings.Builder
	s := &schedule{log: &b}
	s.choose = func(s *schedule, _ bool) int {
		for len(t) > 0 && t[0].Step < s.step {
			t = t[1:]
		}
		if len(t) > 0 && t[0].Step == s.step {
			for i, o := range s.options {
				if s.index(o) == t[0].To {
					return i
				}
			}
		}
		return 0
	}
	err = s.check(make)
	return b.String(), err
}

func try(make func() Case, choose func(*schedule, bool) int) *Failure {
	s := &schedule{choose: choose}
	err := s.check(make)
	if err == nil {
		return nil
	}
	log, again := Replay(s.trace, make)
	if again == nil || again.Error() != err.Error() {
		log += fmt.Sprintf("replayed, the same schedule ends with: %v\n", again)
	}
	return &Failure{err, s.trace, log}
}

// check plays the schedule and calls the case's Check.
func (s *schedule) check(make func() Case) error {
	c, err := s.play(make)
	if err == nil {
		err = c.Check()
	}
	return err
}
