//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package main

// The two documents: docs/reliability.md says what this tool knows by itself, results/soak.md what its runs have found.

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// The last run stands between these lines, and stays when the rest is written anew.
const (
	runBegin = "<!-- The last run, written by make soak. -->\n"
	runEnd   = "<!-- The end of the last run. -->\n"
)

const noRun = "No run has been recorded: `make soak` records one.\n"

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
	{"soak of a minute", "the kit's races with the end, and its wake-ups in each mode, lose nothing as often as a minute allows", "make soak-quick"},
	{"soak", "what is rare: the kit's races at full length, the floods of the siege, random programs, and the short tests, again and again", "make soak"},
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

// lastRun returns the section of the last run in a document.
func lastRun(doc string) string {
	_, rest, _ := strings.Cut(doc, runBegin)
	if text, _, found := strings.Cut(rest, runEnd); found {
		return text
	}
	return noRun
}

// document renders the record of the last run.
func document(run string) string {
	return header + ` each "make soak" renews it. -->

# What long runs have found

What each check is for, and which test finds which bug, is in [reliability.md](../docs/reliability.md).

## The last soak

` + runBegin + run + runEnd + `
The short suite is that of the packages that a program imports (eventloop, promise, js) and of their poller and timer wheel. Short, a test that draws
from many cases takes some by chance, and an exploration ends early. The loops that main is compared with are in the rounds of ` + "`go test -race`" + ` too;
the tournament's own tests run in CI only.
`
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
