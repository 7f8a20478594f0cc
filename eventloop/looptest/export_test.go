// What tests need from inside: one check run alone.
package looptest

import (
	"testing"
	"time"
)

// RunCheck runs one check and returns its outcome and the reason, without any effect on t.
func RunCheck(t *testing.T, check string, factory Factory, opts ...Option) (outcome, reason string) {
	s := newSuite(t, factory, opts)
	for i := range checks {
		if checks[i].name == check {
			v := s.runCheck(t, &checks[i])
			return v.outcome, v.reason
		}
	}
	t.Fatalf("no check is called %q", check)
	return "", ""
}

// Impatient shortens the time that things may take.
func Impatient(patience, limit time.Duration) Option {
	return func(s *suite) { s.patience, s.limit = patience, limit }
}

// Outcomes runs all checks, as Run does, and counts their outcomes, without any effect on t. It stops when the time is over.
func Outcomes(t *testing.T, limit time.Duration, factory Factory, opts ...Option) map[string]int {
	s := newSuite(t, factory, opts)
	counts := map[string]int{}
	begin := time.Now()
	for i := range checks {
		if time.Since(begin) > limit {
			t.Errorf("after %d of %d checks the time of %v is over", i, len(checks), limit)
			break
		}
		counts[s.runCheck(t, &checks[i]).outcome]++
	}
	return counts
}
