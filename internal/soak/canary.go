//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package main

// The canary: tests that fail and that hang. A suite that does not notice them proves nothing.

import "os"

// canary runs a test that fails now and then, and one that hangs.
func canary(r *run) {
	executable, err := os.Executable()
	if err != nil {
		r.failf("%v", err)
		return
	}
	var now, never tally
	fake := func(t *tally, name string) {
		limit := mostTime
		if name == "hang" {
			limit = mostTimeOfHung
		}
		t.once(r.ctx, limit, "", []string{fakeTest + "=" + name}, executable)
	}
	for i := range 20 {
		fake(&now, string(rune('a'+i)))
	}
	fake(&never, "hang")
	switch {
	case r.ctx.Err() != nil:
	case now.failed != 1 || now.passed != 19:
		r.failf("of 20 runs of which one fails %d are said to pass and %d to fail", now.passed, now.failed)
	case never.failed != 1:
		r.failf("a test that hangs does not count as failed")
	default:
		r.reached.Add(2)
	}
}
