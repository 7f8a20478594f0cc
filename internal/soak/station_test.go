//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package main

// Tests of the soak's stations and of its record.

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// A process that ends badly or not at all has failed, unless it was stopped.
func TestTally(t *testing.T) {
	stopped, stop := context.WithCancel(t.Context())
	stop()
	for _, c := range []struct {
		ctx            context.Context
		limit          time.Duration
		script         string
		passed, failed int
		says           string
	}{
		{t.Context(), time.Hour, "true", 1, 0, ""},
		{t.Context(), time.Hour, "echo '--- FAIL: TestIt'; echo more; exit 3", 0, 1, "--- FAIL: TestIt"},
		{t.Context(), time.Hour, "echo more; exit 3", 0, 1, "exit status 3"},
		{t.Context(), 50 * time.Millisecond, "sleep 1000", 0, 1, "it hangs: there was no end after 50ms"},
		{stopped, time.Hour, "sleep 1000", 0, 0, ""},
	} {
		var got tally
		got.once(c.ctx, c.limit, "", nil, "sh", "-c", c.script)
		if says := firstFailure(got.output); got.passed != c.passed || got.failed != c.failed || says != c.says {
			t.Errorf("%s: %d passed, %d failed: %q", c.script, got.passed, got.failed, says)
		}
	}
}

// What runs when the time of a station is up is finished, and counts.
func TestSuitesFinishWhatHasBegun(t *testing.T) {
	folder := t.TempDir()
	binary, up := filepath.Join(folder, "binary"), filepath.Join(folder, "up")
	script := "#!/bin/sh\nuntil [ -e " + up + " ]; do sleep 0.01; done\n"
	if err := os.WriteFile(binary, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	for want, s := range map[int64]suite{
		int64(runtime.GOMAXPROCS(0)): {packages: []string{folder, folder}, atOnce: 1},
		1:                            {packages: []string{folder}, each: []string{"TestOne", "TestTwo"}},
	} {
		r := station{target: 100, share: 1}.begin(t.Context(), 1, time.Millisecond)
		go func() {
			<-r.ctx.Done()
			if err := os.WriteFile(up, nil, 0o644); err != nil {
				t.Error(err)
			}
		}()
		s.work(r, []string{binary, binary})
		r.stop()
		if got := r.reached.Load(); got != want || r.failed() {
			t.Errorf("%d, want %d: %q", got, want, r.failures)
		}
		if err := os.Remove(up); err != nil {
			t.Fatal(err)
		}
	}
}

// What a run has found stands in the document, and stays there when the rest is renewed.
func TestSection(t *testing.T) {
	s := station{name: "one", proves: "something", target: 1_000_000, unit: "steps", do: func(r *run) { r.reached.Add(999_999) }}
	r := s.start(t.Context(), 7, time.Second)
	rec := &record{environ: "commit abc", results: []*run{r}}
	doc := document(rec.section())
	for _, want := range []string{"| one | something | 1 000 000 steps | 999 999 | 7 | passed; the target", "the target was not reached", "commit abc"} {
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

// What siege violates is a failure, and its cells are counted.
func TestSiege(t *testing.T) {
	for script, failed := range map[string]bool{
		"echo header; echo 'siege: 5 of 9 cells in 3s, seed 1: 0 violated'":                 false,
		"echo 'siege: 5 of 9 cells in 3s, seed 1: 1 violated'; echo 'VIOLATED: it'; exit 1": true,
	} {
		r := station{name: "siege", target: 9, unit: "cells", share: 1}.begin(t.Context(), 1, time.Hour)
		var work tally
		work.once(r.begun, time.Hour, "", nil, "sh", "-c", script)
		r.addSiege(work)
		r.stop()
		if r.failed() != failed || r.reached.Load() != 5 {
			t.Errorf("%s: %s: %q", script, r.outcome(), r.failures)
		}
	}
}

// A run in which a station did nothing is no success, and does not get into the document. One that cannot be is no failure.
func TestConclusions(t *testing.T) {
	made := func(reached int64, skipped string, failures ...string) *run {
		r := &run{station: station{name: "one", target: 10, unit: "steps"}, skipped: skipped, failures: failures}
		r.reached.Store(reached)
		return r
	}
	done, nothing, skipped, failed := made(3, ""), made(0, ""), made(0, "not here"), made(0, "", "it broke")
	for _, c := range []struct {
		results       []*run
		interrupted   bool
		want, written string
	}{
		{[]*run{done}, false, "", "| 3 | 0 | passed; the target was not reached in the time |"},
		{[]*run{done, skipped}, false, "", "| skipped: not here |"},
		{[]*run{done, nothing}, false, "1 of 2 stations reached nothing in the time; nothing is written", ""},
		{[]*run{done, failed}, false, "1 of 2 stations failed", "- one: it broke"},
		{[]*run{nothing, failed}, false, "1 of 2 stations failed; 1 of 2 stations reached nothing in the time", "- one: it broke"},
		{[]*run{done}, true, "interrupted; nothing is written", ""},
	} {
		path := filepath.Join(t.TempDir(), "doc.md")
		got := ""
		if err := (&record{environ: clean, results: c.results}).conclude(path, c.interrupted); err != nil {
			got = err.Error()
		}
		doc, _ := os.ReadFile(path)
		if got != c.want || !strings.Contains(string(doc), c.written) || c.written == "" && doc != nil {
			t.Errorf("%q, want %q, and written was\n%s", got, c.want, doc)
		}
	}
}

// What cannot be done is refused before the run, and a file that is not the document is left alone.
func TestWrongInput(t *testing.T) {
	dir := t.TempDir()
	other, doc := filepath.Join(dir, "README.md"), filepath.Join(dir, "doc.md")
	if err := os.WriteFile(other, []byte("# Mine\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		budget     time.Duration
		only, path string
		want       string
	}{
		{time.Hour, "", other, "is not a document of soak"},
		{time.Hour, "", dir, "-write: "},
		{time.Hour, "", filepath.Join(dir, "missing", "doc.md"), "-write: "},
		{time.Hour, "(", "", "-only: "},
		{time.Hour, "nosuch", "", "no such station"},
		{time.Hour, "races", doc, "-write is for a run of all stations"},
		{0, "", "", "-budget is not positive"},
		{-time.Second, "", "", "-budget is not positive"},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		cancel() // should it run all the same, it ends at once
		if err := soak(ctx, c.budget, 1, c.only, c.path); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if text, _ := os.ReadFile(other); string(text) != "# Mine\n" {
		t.Errorf("another file was replaced by\n%s", text)
	}
	if _, err := os.Stat(doc); err == nil {
		t.Error("a run that did not take place left a document")
	}
	for range 2 { // new, and there already
		if err := errors.Join(writable(doc), (&record{}).conclude(doc, false)); err != nil {
			t.Error(err)
		}
	}
}
