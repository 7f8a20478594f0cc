//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package main

// The two documents: docs/reliability.md says what this tool knows by itself, results/soak.md what its runs have found.

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"
)

// The findings of runs stand between these lines, and stay when the rest is written anew.
const (
	runBegin  = "<!-- The last run, written by make soak. -->\n"
	runEnd    = "<!-- The end of the last run. -->\n"
	longBegin = "<!-- Runs of single stations, written by make soak ARGS='-only NAME -write results/soak.md'. -->\n"
	longEnd   = "<!-- The end of the runs of single stations. -->\n"
	gapsBegin = "<!-- The worst gaps, written by each run of the siege's station. -->\n"
	gapsEnd   = "<!-- The end of the worst gaps. -->\n"
)

const (
	noRun  = "No run has been recorded: `make soak` records one.\n"
	noLong = "None has been recorded.\n"
	noGaps = "None have been recorded: `make soak ARGS='-only siege -write results/soak.md'` records them.\n"
)

// rung is a kind of check.
type rung struct{ what, proves, command string }

// ladder lists the kinds of checks, from the most abstract to the longest.
var ladder = []rung{
	{"conformance kit", "each requirement has a check of its own, each check fails on a loop with the mistake it is for", "make test-full"},
	{"model", "no order of steps of the protocol for sleep, wake and end loses work, wakes twice or hangs; seeded mistakes are found", "make model"},
	{"schedules", "the same of the code itself, run step by step under a scheduler that chooses who goes next", "make schedules"},
	{"random operations", "long sequences of calls end as on a loop that is too simple to be wrong", "make test-full"},
	{"fuzzing", "the same for sequences that are chosen by what code they reach", "make fuzz"},
	{"mutants", "a change of the code that breaks it is found by a test", "make mutants"},
	{"faults", "each operation of the poller fails, at its first calls and with up to seven errors, and each descriptor it creates is refused: there is an error and no leak", "make test-full"},
	{"races and platforms", "the race detector, 32 bits, one processor, no asynchronous preemption, Windows",
		"make test-race test-386 test-procs1 test-nopreempt test-windows"},
	{"siege", "whoever floods the loop, and whatever computes beside it: each kind of work gets through, the end comes, and nothing is lost, doubled or late for it",
		"make siege"},
	{"soak of a minute", "as many races with the end, and wakes in each mode, as a minute allows (a million and more) lose nothing", "make soak-quick"},
	{"soak", "what is rare: counts in the millions, with random seeds, and a canary that must fail; the short tests, thousands of times", "make soak"},
}

// header is the beginning of the document, by which it is recognized.
const header = "<!-- Written by internal/soak:"

// writable tells whether the document can be written: it is this tool's, or there is none yet.
func writable(path string) error {
	if path == "" {
		return nil
	}
	text, err := os.ReadFile(path)
	isNew := errors.Is(err, fs.ErrNotExist)
	if err != nil && !isNew {
		return err
	}
	if len(text) > 0 && !strings.HasPrefix(string(text), header) {
		return fmt.Errorf("%s is not a document of soak, which would replace all of it", path)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	if isNew {
		defer os.Remove(path)
	}
	return f.Close()
}

// findings are what runs have found, as the record tells it.
type findings struct {
	run  string // the section of the last run of all stations
	long string // the table of the runs of single stations
	gaps string // the table of the worst gaps, of the last run that besieged a loop
}

// write puts a run into the record: it replaces the findings of the last run, or only those of the stations that were chosen.
func write(path string, rec *record, chosen bool) error {
	old, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f := found(string(old))
	if chosen {
		for _, r := range rec.results {
			if l := longRunOf(rec, r, time.Now()); l.reached > 0 || l.failures > 0 {
				f.long = addLong(f.long, l)
			}
		}
	} else {
		f.run = rec.section()
	}
	f.gaps = cmp.Or(rec.gaps(), f.gaps)
	return os.WriteFile(path, []byte(document(f)), 0o644)
}

// found returns the findings in a document.
func found(doc string) findings {
	section := func(begin, end, none string) string {
		_, rest, _ := strings.Cut(doc, begin)
		if text, _, found := strings.Cut(rest, end); found {
			return text
		}
		return none
	}
	return findings{section(runBegin, runEnd, noRun), section(longBegin, longEnd, noLong), section(gapsBegin, gapsEnd, noGaps)}
}

// longRun is the sum of all runs of one station on one commit.
type longRun struct {
	station, target         string
	environ                 string // the commit and the machine
	reached, failures, runs int64
	took                    time.Duration
	until                   string // the day of the last run
}

func longRunOf(rec *record, r *run, now time.Time) longRun {
	r.mu.Lock()
	defer r.mu.Unlock()
	return longRun{r.name, count(r.target) + " " + r.unit, rec.environ, r.reached.Load(), int64(len(r.failures)), 1,
		r.took.Round(time.Second), now.UTC().Format(time.DateOnly)}
}

// addLong adds a run to the table. Runs of one clean commit add up, on whatever machine; the last machine is named. A run of
// another commit replaces the station's row, which is about other code. A run of changed code does not replace the row of a
// clean commit.
func addLong(text string, l longRun) string {
	var lines []string
	at := -1
	for line := range strings.Lines(text) {
		old, ok := parseLong(line)
		if !ok {
			continue
		}
		if old.station == l.station {
			at = len(lines)
			commit, _, isClean := strings.Cut(l.environ, clean)
			was, _, wasClean := strings.Cut(old.environ, clean)
			switch {
			case !isClean && wasClean:
				return text
			case isClean && wasClean && commit == was:
				l.reached, l.failures = l.reached+old.reached, l.failures+old.failures
				l.runs, l.took = l.runs+old.runs, l.took+old.took
			}
		}
		lines = append(lines, line)
	}
	if at < 0 {
		at = len(lines)
		lines = append(lines, "")
	}
	var b strings.Builder
	table(&b, longColumns...)
	head := b.Len()
	row(&b, l.station, l.target, count(l.reached), fmt.Sprint(l.failures), fmt.Sprint(l.runs), l.took.String(), l.until,
		l.environ)
	lines[at] = b.String()[head:]
	return "\n" + b.String()[:head] + strings.Join(lines, "") + "\n"
}

var longColumns = []string{"station", "target", "reached", "failures", "runs", "time", "last run", "on"}

// parseLong reads a row of the table.
func parseLong(line string) (l longRun, ok bool) {
	cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
	if len(cells) != len(longColumns) {
		return l, false
	}
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	l = longRun{station: cells[0], target: cells[1], until: cells[6], environ: cells[7]}
	var errs [4]error
	for i, n := range []*int64{&l.reached, &l.failures, &l.runs} {
		*n, errs[i] = strconv.ParseInt(strings.ReplaceAll(cells[2+i], " ", ""), 10, 64)
	}
	l.took, errs[3] = time.ParseDuration(cells[5])
	return l, errors.Join(errs[:]...) == nil
}

// document renders the record of runs.
func document(f findings) string {
	return header + ` each "make soak" renews it. -->

# What long runs have found

What each check is for, and which test finds which bug, is in [reliability.md](../docs/reliability.md).

## The last soak

` + runBegin + f.run + runEnd + `
## Stations for themselves

Some targets take hours. A station that is run for itself is recorded here, as by
` + "`make soak BUDGET=3h ARGS='-only ^short -write results/soak.md'`" + `; runs on one commit of the code add up, failures included; the machine is that of the last.
The short suite is that of the packages that a program imports (eventloop, promise, js) and of their poller and timer wheel. Short, a test that draws
from many cases takes some by chance, and an exploration ends early. The loops that main is compared with are in the rounds of ` + "`go test -race`" + ` too;
the tournament's own tests run in CI only.

` + longBegin + f.long + longEnd + `
## Worst gaps under siege

Each row is the worst of all cells that a run of the station ` + "`siege`" + ` has tried: of each probe, but for floods of its own kind; beside it, in the
same cell, that of a channel, time.AfterFunc or a goroutine that reads. In a burst of timers the timer that is watched is a ` + "`TimerCritical`" + ` one: a normal one has its turn
behind those that are due before it.

` + gapsBegin + f.gaps + gapsEnd
}

// reliability renders the page of what is proven how.
func reliability() string {
	var b strings.Builder
	b.WriteString(header + ` "make reliability" renews it. -->

# Reliability

How it is known that the loop keeps its promises, and which test would find each of the bugs that event loops had, others and this one.
What the last long runs have reached is in [results/soak.md](../results/soak.md).

## The ladder

`)
	table(&b, "check", "what it proves", "command")
	for _, r := range ladder {
		row(&b, r.what, r.proves, "`"+r.command+"`")
	}
	b.WriteString(`
## Bugs of event loops

From the histories of libuv, tokio, netty, Go, Node, goja, goja_nodejs, k6, V8 in Go (v8go), Deno, gnet, netpoll, libevent, asio, CPython,
freenet, rustfs and others, and of this one. A test is named with its package. ` + "`" + kit + "D03_LostWakeup`" + ` stands for the conformance kit's check of that name, which runs as
` + "`impl=main`, and as `impl=disabled` under `TestConformanceDisabled`; `soak: NAME`" + ` is a station of the soak.

`)
	table(&b, "#", "bug", "tests")
	for i, bug := range bugs {
		if bug.what == "" {
			continue
		}
		tests := "`" + strings.Join(bug.tests, "`, `") + "`"
		if bug.why != "" {
			tests += " (" + bug.why + ")"
		}
		row(&b, fmt.Sprint(i+1), bug.what, tests)
	}
	return b.String()
}

func table(b *strings.Builder, columns ...string) {
	row(b, columns...)
	row(b, strings.Split(strings.Repeat("--- ", len(columns)-1)+"---", " ")...)
}

func row(b *strings.Builder, cells ...string) {
	b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
}
