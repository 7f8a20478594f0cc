//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package main

// The stations in their order, and what they work on.

import (
	"slices"

	"github.com/turnloop/turnloop/internal/contestants"
)

func stations() []station {
	return []station{
		{"canary", "a suite notices tests that fail and tests that hang", 2, "flaws", 0, canary},
		{"races", "what the conformance kit checks of wake-ups, of races with the end, of whole lives and of signals is so at full length each time",
			1000, "rounds", 37, runs(suite{packages: product[:1], args: []string{"-test.run=" + races}, long: true, atOnce: 1})},
		{"siege", "under every flood, alone and beside neighbours, each kind of work gets through in bounded time, and so does the end",
			2000, "cells", 12, besieged},
		{"go test -race", "all loops' short tests under the race detector, shuffled, on 1, 2 and 4 processors", 200, "rounds", 16,
			runs(suite{packages: loops, build: []string{"-race"}, args: []string{"-test.cpu=1,2,4"}, atOnce: 2, missing: noRace})},
		{"go test 386", "the short tests as 32-bit programs", 100, "rounds", 2,
			runs(suite{packages: product, buildEnv: []string{"CGO_ENABLED=0", "GOARCH=386"}, atOnce: 5, missing: no386})},
		{"go test asyncpreemptoff", "the short tests without asynchronous preemption", 100, "rounds", 2,
			runs(suite{packages: product, env: []string{"GODEBUG=asyncpreemptoff=1"}, atOnce: 5})},
		{"go test GOMAXPROCS=1", "the short tests on one processor", 100, "rounds", 2,
			runs(suite{packages: product, env: []string{"GOMAXPROCS=1"}, atOnce: 5})},
		{"short suite", "no test of the short suite ever fails", 10_000, "runs", 40, runs(suite{packages: product, atOnce: 5})},
		// Some take minutes each: they come last, and take no time from the others.
		{"long tests", "the tests that race, repeat or explore, at full length (TURNLOOP_SOAK=1)", int64(len(longTests)), "tests", 6,
			runs(suite{packages: product[:1], env: []string{"TURNLOOP_SOAK=1"}, each: longTests})},
		{"model", "the protocol of sleep, wake and end in every interleaving, which takes gigabytes of memory (TURNLOOP_SOAK=1)", 1, "tests", 4,
			runs(suite{packages: []string{"./internal/park"}, env: []string{"TURNLOOP_SOAK=1"}, each: []string{"TestModel"}})},
		{"programs", "random programs over the whole public API: what is accepted has its fate, the end comes, and nothing is left (TURNLOOP_SOAK=1)",
			1, "tests", 8, runs(suite{packages: programs, env: []string{"TURNLOOP_SOAK=1"}, each: []string{"TestPrograms"}})},
		{"programs -race", "the same under the race detector", 1, "tests", 8,
			runs(suite{packages: programs, build: []string{"-race"}, env: []string{"TURNLOOP_SOAK=1"}, each: []string{"TestPrograms"}, missing: noRace})},
		{"threadlets", "connections come and go and leave nothing, and a wait ends once whatever comes at once, at full length (TURNLOOP_SOAK=1)",
			int64(len(longThreadlets)), "tests", 6,
			runs(suite{packages: []string{"./eventloop/threadlet"}, env: []string{"TURNLOOP_SOAK=1"}, each: longThreadlets})},
		{"threadlets -race", "the same under the race detector", int64(len(longThreadlets)), "tests", 12,
			runs(suite{packages: []string{"./eventloop/threadlet"}, build: []string{"-race"}, env: []string{"TURNLOOP_SOAK=1"}, each: longThreadlets, missing: noRace})},
	}
}

// withContestants adds the packages of the loops that compete.
func withContestants(packages []string) []string {
	packages = slices.Clone(packages)
	for _, c := range contestants.All() {
		if folder := "./" + c.Folder; !slices.Contains(packages, folder) {
			packages = append(packages, folder)
		}
	}
	return packages
}

// races are the checks of the kit that chance decides, wherever a loop sleeps.
const races = "^TestConformance(Disabled)?$/^impl=/^(D01_|D03_|D04_RunOnce|D07_|D16_(EndRacesRun|CloseOften)|Conservation_|AutoExit_Race|" +
	"Leaks_|Timers_CancelRace|IO_(LostWakeup|RegisterRacesEnd|CloseOften|NewOwner|Signals))"

var (
	product = []string{"./eventloop", "./eventloop/promise", "./eventloop/js", "./internal/poller", "./internal/wheel"}
	loops   = withContestants(product)

	programs = []string{"./internal/programs"}

	longThreadlets = []string{"TestEndlessPairs", "TestFloodAtTheEnd", "TestPlays", "TestComeAndGo", "TestAllAtOnce", "TestEndedWaitsLeaveNothing", "TestIdentitiesOfTheEnded",
		"TestWritersTakeTurns"}

	// The shortest first.
	longTests = []string{"TestSubmissionsPublish", "TestForcedExcludesDescriptors", "TestWakes"}
)
