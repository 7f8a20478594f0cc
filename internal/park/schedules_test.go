//go:build schedules

package park_test

// The real sleep under every schedule with two preemptions.

import (
	"errors"
	"testing"

	"github.com/turnloop/turnloop/internal/sched"
)

// The way of waking a loop is that of the sleep that is ended, however quick the waker is.
func TestSchedules(t *testing.T) {
	n, failure := sched.Bounded(2, 0, func() sched.Case {
		b := made(t)
		woken, measured := false, false
		b.signal = func() { measured = b.Measured() } // of the first sleep, which is measured
		return sched.Case{Threads: []sched.Thread{{Name: "loop", Run: func() { b.Sleep() }}, {Name: "waker", Run: func() {
			if woken = b.WakeFor(false); !woken {
				b.news = true
				b.Wake()
			}
		}}}, Check: func() error {
			if woken && !measured {
				return errors.New("the waker has met the way of another sleep")
			}
			return nil
		}}
	})
	if failure != nil {
		t.Fatalf("schedule %d: %v", n, failure)
	}
	if n < 10 {
		t.Fatalf("%d schedules", n)
	}
}
