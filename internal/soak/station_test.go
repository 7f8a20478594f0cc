//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package main

import (
	"os"
	"path/filepath"
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
	doc := document(rec.section(), noLong)
	for _, want := range []string{"| one | something | 1 000 000 steps | 999 999 | 7 |", "the target was not reached", "commit abc"} {
		if !strings.Contains(doc, want) {
			t.Errorf("%q is missing in\n%s", want, doc)
		}
	}
	if again := document(found(doc)); again != doc {
		t.Error("the last run does not stay")
	}
	r.failf("it broke")
	if !strings.Contains(rec.section(), "**failed**") || !strings.Contains(rec.section(), "- one: it broke") {
		t.Error("a failure is not told")
	}
}

// What single stations have reached adds up for one commit, and only there.
func TestLongRuns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "doc.md")
	add := func(name, environ string, reached int64, failures ...string) {
		t.Helper()
		r := &run{station: station{name: name, target: 10_000, unit: "runs"}, failures: failures, took: 90 * time.Minute}
		r.reached.Store(reached)
		if err := write(path, &record{environ: environ, results: []*run{r}}, true); err != nil {
			t.Fatal(err)
		}
	}
	expect := func(want ...string) {
		t.Helper()
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		_, long := found(string(text))
		for _, w := range want {
			if !strings.Contains(long, w) {
				t.Errorf("%q is missing in\n%s", w, long)
			}
		}
		if lines := strings.Count(long, "\n"); lines != len(want)+4 {
			t.Errorf("%d lines, want %d:\n%s", lines, len(want)+4, long)
		}
	}
	const first, second = "commit a, tree clean, here", "commit b, tree clean, here"
	add("short suite", first, 4000)
	add("tasks", first, 7)
	add("short suite", first, 3500, "it broke")
	expect("| short suite | 10 000 runs | 7 500 | 1 | 2 | 3h0m0s |", "| tasks | 10 000 runs | 7 | 0 | 1 | 1h30m0s |")
	add("short suite", second, 1200)
	expect("| short suite | 10 000 runs | 1 200 | 0 | 1 | 1h30m0s |", "| tasks |")
	add("tasks", "commit b, tree changed, here", 1)
	expect("| short suite |", "| tasks | 10 000 runs | 7 | 0 | 1 |")
	add("ends", "commit b, tree changed, here", 2)
	add("ends", "commit b, tree changed, here", 3)
	expect("| short suite |", "| tasks |", "| ends | 10 000 runs | 3 | 0 | 1 |")
}
