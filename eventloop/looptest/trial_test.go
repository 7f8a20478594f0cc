package looptest

// The watchdog of a trial, in a bubble, where beats take exactly their time.

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnloop/turnloop/internal/beat"
)

// A check that goes on is never given up; one that waits in vain is, and says for what; one that hangs elsewhere is abandoned.
func TestWatchdog(t *testing.T) {
	const limit = beat.Beats * beat.Length
	for _, c := range []struct {
		name        string
		run         func(t *trial, release chan struct{})
		vain        bool
		reason      string
		least, most time.Duration
	}{
		{"steps", func(t *trial, _ chan struct{}) {
			for range 20 {
				time.Sleep(limit * 9 / 10)
				t.must("a call", nil)
			}
		}, false, "", 18 * limit, 18 * limit},
		{"a slow wait", func(t *trial, _ chan struct{}) { t.eventually(after(limit*9/10), "it") }, false, "", limit / 2, limit},
		{"a wait in vain", func(t *trial, never chan struct{}) { t.wait(never, "it, %s", "with words") }, true,
			"waited in vain for it, with words", limit, limit * 11 / 10},
		{"a condition in vain", func(t *trial, _ chan struct{}) { t.eventually(func() bool { return false }, "it") }, true,
			"waited in vain for it", limit, limit * 11 / 10},
		{"a call that hangs", func(t *trial, never chan struct{}) { <-never }, true, "the check does not end", 2 * limit, limit * 21 / 10},
	} {
		synctest.Test(t, func(t *testing.T) {
			s, release, began := &suite{}, make(chan struct{}), time.Now()
			v, vain := s.try(t, &check{run: func(tr *trial) { c.run(tr, release) }}, beat.Beats)
			if took := time.Since(began); took < c.least || took > c.most {
				t.Errorf("%s: it took %v, want %v to %v", c.name, took, c.least, c.most)
			}
			if vain != c.vain || !strings.HasPrefix(v.reason, c.reason) || (v.outcome == outcomeFail) != c.vain {
				t.Errorf("%s: in vain %v, %v", c.name, vain, v)
			}
			close(release)
			synctest.Wait()
		})
	}
}

// after returns a condition that becomes true after d.
func after(d time.Duration) func() bool {
	begin := time.Now()
	return func() bool { return time.Since(begin) >= d }
}
