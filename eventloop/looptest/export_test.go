// What tests need from inside: one check run alone.
package looptest

import (
	"slices"
	"testing"
)

// RunCheck runs one check and returns its outcome and the reason, without any effect on t.
func RunCheck(t *testing.T, name string, factory Factory, opts ...Option) (outcome, reason string) {
	s := newSuite(t, factory, opts)
	for _, c := range slices.Concat(checks, liveness) {
		if c.name == name {
			v := s.runCheck(t, &c)
			return v.outcome, v.reason
		}
	}
	t.Fatalf("no check is called %q", name)
	return "", ""
}

// Impatient gives up waits after fewer beats. It is for loops that are known to be faulty.
func Impatient(beats int) Option { return func(s *suite) { s.beats = beats } }

// Outcomes runs all checks, as Run does, without any effect on t. It counts their outcomes, and the beats of all waits in vain.
func Outcomes(t *testing.T, factory Factory, opts ...Option) (counts map[string]int, vain int) {
	s := newSuite(t, factory, opts)
	counts = map[string]int{}
	for i := range checks {
		counts[s.runCheck(t, &checks[i]).outcome]++
	}
	return counts, s.vain
}
