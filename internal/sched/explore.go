//go:build schedules

package sched

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Case is what goroutines do together. All of them, and those that they start with Go, run to their end.
type Case struct {
	Threads []Thread
	Parked  bool         // the first one goes on alone until it blocks, and only then do the others begin
	Check   func() error // looks at what has become of it, when all have ended
}

// Thread is one goroutine of a case.
type Thread struct {
	Name string
	Run  func()
}

// Switch is a step at which it was not the obvious goroutine that went on: the one that was running or, if that could
// not, the first that could. Goroutines are numbered in order of appearance.
type Switch struct{ Step, To int }

// Trace is all switches of a schedule. It tells the schedule.
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

// ParseTrace reads what String has written.
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

// Failure is a schedule that went wrong.
type Failure struct {
	Err   error
	Trace Trace
	Log   string // its steps, each before it was taken
}

func (f *Failure) Error() string { return fmt.Sprintf("%v\nschedule: %v\n%s", f.Err, f.Trace, f.Log) }
func (f *Failure) Unwrap() error { return f.Err }

// Bounded runs every schedule that has at most so many preemptions, or the first most of them if most is not 0. A
// preemption is a switch away from a goroutine that could have gone on and has not yielded. It returns how many
// schedules it ran, the last of which failed if there is a failure.
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

// Random runs so many schedules that chance decides. How readily they switch is up to chance too. The same seed gives
// the same schedules.
func Random(seed uint64, count int, make func() Case) (schedules int, failure *Failure) {
	for i := range count {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		one := 1 << (1 + r.IntN(6)) // in so many points there is a preemption
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

// check plays, and has the case look at the outcome.
func (s *schedule) check(make func() Case) error {
	c, err := s.play(make)
	if err == nil {
		err = c.Check()
	}
	return err
}
