//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package main

import (
	"strings"
	"testing"
	"time"
)

// The stations that need no other program work, for a short while, with a seed each time.
func TestStations(t *testing.T) {
	targets := map[string]int64{"tasks": 100_000, "ends": 1000, "wakes Auto": 2000, "wakes Auto, a descriptor": 2000,
		"wakes Disabled": 2000, "lifecycles": 200, "signals": 2000}
	for _, s := range stations() {
		target, known := targets[s.name]
		if !known {
			continue
		}
		delete(targets, s.name)
		s.target = target
		r := s.begin(t.Context(), 1, time.Minute)
		s.do(r)
		r.stop()
		r.control.close()
		if r.reached.Load() < target || r.failed() {
			t.Errorf("%s: %s %q", s.name, r.outcome(), r.failures)
		}
	}
	if len(targets) > 0 {
		t.Errorf("no stations: %v", targets)
	}
}

// A flaw of each check is found; the canary itself looks for the rare ones.
func TestFlawsAreFound(t *testing.T) {
	for _, f := range flaws {
		if !strings.HasPrefix(f.name, "one life in a hundred") && !strings.Contains(f.name, "too late") && !strings.Contains(f.name, "early") {
			continue
		}
		if r := f.try(t.Context(), 1); !r.failed() {
			t.Errorf("%s, and nobody notices", f.name)
		}
	}
}

// The control tells how long the machine stood still, and when.
func TestControl(t *testing.T) {
	now := time.Now()
	at := func(ms int) time.Time { return now.Add(time.Duration(ms) * time.Millisecond) }
	c := &control{}
	c.note(gap{at(0), at(200)}, time.Millisecond)
	c.note(gap{at(200), at(201)}, time.Millisecond)
	c.note(gap{at(201), at(300)}, time.Millisecond)
	for _, w := range []struct{ from, to, want int }{{0, 300, 299}, {50, 250, 199}, {200, 201, 0}, {400, 500, 0}} {
		if got := c.during(at(w.from), at(w.to)); got != time.Duration(w.want)*time.Millisecond {
			t.Errorf("from %d to %d: %v, want %d ms", w.from, w.to, got, w.want)
		}
	}
}

// What a run has found stands in the document, and stays there when the rest is renewed.
func TestSection(t *testing.T) {
	s := station{name: "one", proves: "something", target: 1_000_000, unit: "steps", do: func(r *run) { r.reached.Add(999_999) }}
	r := s.start(t.Context(), 7, time.Second)
	rec := &record{environ: "commit abc", results: []*run{r}}
	doc := document(rec.section())
	for _, want := range []string{"| one | something | 1 000 000 steps | 999 999 | 7 |", "the target was not reached", "commit abc"} {
		if !strings.Contains(doc, want) {
			t.Errorf("%q is missing in\n%s", want, doc)
		}
	}
	if again := document(lastRun(doc)); again != doc {
		t.Error("the last run does not stay")
	}
	r.failf("it broke")
	if !strings.Contains(rec.section(), "**failed**") || !strings.Contains(rec.section(), "- one: it broke") {
		t.Error("a failure is not told")
	}
}
