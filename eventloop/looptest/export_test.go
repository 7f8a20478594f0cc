// What tests need from inside: one check judged alone.
package looptest

import (
	"testing"
	"time"
)

// Judge runs one check and returns its outcome and the reason, without any effect on t.
func Judge(t *testing.T, check string, factory Factory, opts ...Option) (outcome, reason string) {
	s := newSuite(t, factory, opts)
	for i := range checks {
		if checks[i].name == check {
			v := s.judge(t, &checks[i])
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
