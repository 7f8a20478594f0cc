//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package main

// The stations in their order, and what they work on.

import (
	"context"
	"slices"
	"time"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/internal/contestants"
)

// loop is the part of a loop that the stations use. The canary's loops have it too, each with a flaw.
type loop interface {
	Run(ctx context.Context) error
	Shutdown(ctx context.Context) error
	Close() error
	Done() <-chan struct{}
	State() eventloop.State
	Submit(fn func()) error
	SubmitInternal(fn func()) error
	ScheduleMicrotask(fn func()) error
	ScheduleTimer(delay time.Duration, fn func()) (eventloop.TimerID, error)
	RegisterFD(fd int, events eventloop.IOEvents, callback func(eventloop.IOEvents)) error
	UnregisterFD(fd int) error
	Promisify(ctx context.Context, fn func(context.Context) (any, error)) *eventloop.Promise
}

// maker makes the loops of a station.
type maker func(mode eventloop.FastPathMode) (loop, error)

func sound(mode eventloop.FastPathMode) (loop, error) {
	return eventloop.New(eventloop.WithFastPathMode(mode), eventloop.WithOnOverload(func(error) {})) // overload is wanted here
}

const auto, forced, disabled = eventloop.FastPathAuto, eventloop.FastPathForced, eventloop.FastPathDisabled

func stations() []station {
	with := func(check func(r *run, newLoop maker)) func(r *run) { return func(r *run) { check(r, sound) } }
	return []station{
		{"canary", "the checks below find loops that lose, double, stall, leak and grow, and tests that fail or hang",
			int64(len(flaws)) + 2, "flaws", 0, canary},
		{"tasks", "what is accepted runs once; heap and resident memory stay as they are", 100_000_000, "tasks", 2, with(tasks)},
		{"ends", "of submissions that race with Shutdown, Close and the context's end, what is accepted runs, and runs once",
			10_000_000, "races of a producer", 6, with(ends)},
		{"wakes Auto", "no wake-up is lost or late on a channel", 10_000_000, "wakes", 2, with(wakes(auto, false))},
		{"wakes Auto, a descriptor", "the same with a descriptor registered, and by its events",
			10_000_000, "wakes", 3, with(wakes(auto, true))},
		{"wakes Forced", "the same where there may be no descriptors", 10_000_000, "wakes", 2, with(wakes(forced, false))},
		{"wakes Disabled", "the same in the system's poller", 10_000_000, "wakes", 16, with(wakes(disabled, true))},
		{"lifecycles", "goroutines, descriptors and memory stay as they are over many lives", 100_000, "lives", 2, with(lifecycles)},
		{"signals", "under a storm of signals nothing is lost, no timer is early, and none is late", 1_000_000, "signals", 4,
			with(signals)},
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

var (
	product = []string{"./eventloop", "./eventloop/promise", "./eventloop/js", "./internal/poller", "./internal/wheel"}
	loops   = withContestants(product)

	programs = []string{"./internal/programs"}

	longThreadlets = []string{"TestEndlessPairs", "TestEndlessPairsBesideConnections", "TestFloodAtTheEnd", "TestPlays", "TestComeAndGo", "TestAllAtOnce", "TestEndedWaitsLeaveNothing", "TestIdentitiesOfTheEnded",
		"TestWritersTakeTurns"}

	// The shortest first.
	longTests = []string{"TestSubmissionsPublish", "TestForcedExcludesDescriptors", "TestReusedNumbersGetNoEventOfPredecessors", "TestWakes"}
)
