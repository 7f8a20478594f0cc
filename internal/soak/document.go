//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package main

// docs/reliability.md: what this tool knows by itself, and what its last run has found.

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// The run's section stands between these, and stays as it is when the rest is written anew.
const (
	runBegin = "<!-- The last run, written by make soak. -->\n"
	runEnd   = "<!-- The end of the last run. -->\n"
)

const noRun = "No run has been recorded: `make soak` records one.\n"

// rung is a kind of check.
type rung struct{ what, proves, command string }

// ladder is how the loop is verified, from the abstract to the long.
var ladder = []rung{
	{"conformance kit", "each requirement has a check of its own, each check fails on a loop with the mistake it is for", "make test"},
	{"model", "no order of steps of the protocol for sleep, wake and end loses work, wakes twice or hangs; seeded mistakes are found", "make model"},
	{"schedules", "the same of the code itself, run step by step under a scheduler that chooses who goes next", "make schedules"},
	{"random operations", "long sequences of calls end as on a loop that is too simple to be wrong", "make test"},
	{"fuzzing", "the same for sequences that are chosen by what code they reach", "make fuzz"},
	{"mutants", "a change of the code that breaks it is found by a test", "make mutants"},
	{"faults", "each system call fails in each way at each place: there is an error and no leak", "make test"},
	{"races and platforms", "the race detector, 32 bits, one processor, no asynchronous preemption, Windows",
		"make test-race test-386 test-procs1 test-nopreempt test-windows"},
	{"soak", "what is rare: counts in the millions, with random seeds, and a canary that must fail; the short tests, thousands of times", "make soak"},
}

// write brings the document up to date. Without a new run, the last one's section stays.
func write(path, run string) error {
	old, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if run == "" {
		run = lastRun(string(old))
	}
	return os.WriteFile(path, []byte(document(run)), 0o644)
}

// lastRun is the section of the last run in a document.
func lastRun(doc string) string {
	_, rest, _ := strings.Cut(doc, runBegin)
	if run, _, found := strings.Cut(rest, runEnd); found {
		return run
	}
	return noRun
}

// document renders all of it.
func document(run string) string {
	var b strings.Builder
	b.WriteString(`<!-- Written by internal/soak: "make soak" renews all of it, "make reliability" all but the last run. -->

# Reliability

How it is known that the loop keeps its promises, what the last long run has reached, and which test would find each of
the bugs that other event loops had.

## The ladder

`)
	table(&b, "check", "what it proves", "command")
	for _, r := range ladder {
		row(&b, r.what, r.proves, "`"+r.command+"`")
	}
	b.WriteString("\n## The last soak\n\n" + runBegin + run + runEnd)
	b.WriteString(`
## Bugs of other event loops

From the histories of libuv, tokio, netty, Go, goja_nodejs, k6, gnet, netpoll, libevent, asio and others. A test is
named with its package. ` + "`" + kit + "D03_LostWakeup`" + ` stands for the conformance kit's check of that name, which runs as
` + "`impl=main`, and as `impl=disabled` under `TestConformanceDisabled`; `soak: NAME`" + ` is a station of the table above.

`)
	table(&b, "#", "bug", "tests")
	for i, bug := range bugs {
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
