# The project's commands; "make" alone lists them. Written for GNU make 3.81 (macOS) and a POSIX shell.

GO ?= go
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
# It reads the source of what is imported, which go vet compiles for each system first. That it stops where types are wrong is
# what it is here for.
LOSTCANCEL := golang.org/x/tools/go/analysis/passes/lostcancel/cmd/lostcancel@v0.51.0

FUZZTIME ?= 30s
PACKAGES := ./... ./gojaloop/... ./gojaloop/cmd/loopjs/... ./gojaloop/modules/... ./internal/gojabaseline/... ./internal/tournament/... ./tournament/... ./examples/... ./examples/libraries/... ./examples/otel/...
# What a run with small counts is about: the loop, what it imports and what is built on it, and the random programs. The kit is at work
# in all of their conformance tests, and its seeded bugs say nothing new on another processor. Go lists them, when a target needs them.
CORE = $(shell $(GO) list -deps ./eventloop/flow ./eventloop/js ./eventloop/threadlet/... | grep '^github.com/turnloop/turnloop/') ./internal/programs
RIVALS := $(addprefix ./,$(wildcard internal/alternate*))
LOOPS := ./eventloop ./internal/poller $(RIVALS)
TAGGED := ./eventloop ./eventloop/promise ./eventloop/threadlet ./internal/guest ./internal/park ./internal/sched/...
SYSTEMS := linux darwin windows
OTHER_SYSTEMS := freebsd netbsd openbsd dragonfly plan9

# -count=1: the cache does not know that GOMAXPROCS or the machine's load has changed.
# -p: the loops' tests wait as often as they compute, so two packages for each processor.
PROCESSORS := $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
# -vet=off: "make lint" vets everything, once for all the ways to run tests.
# -timeout: only a hang of the process takes so long; a test gives up by itself, after a number of beats.
TIMEOUT ?= 30m
TEST = $(GO) test -count=1 -vet=off -timeout=$(TIMEOUT) -p $(shell expr 2 '*' $(PROCESSORS))
RUN_FLAGS = $(if $(FRESH),-fresh) $(if $(wildcard bin/worlds),-programs bin/worlds) $(ARGS)

# The modules are tested together through go.work, which an exported GOWORK=off would hide.
unexport GOWORK

.DEFAULT_GOAL := help

# Of a name that has no rule, those commands are shown that begin like it.
.DEFAULT:
	@echo "There is no command '$@'. 'make' lists those that there are." >&2
	@awk -F ':.*## ' -v name='$@' '/^[a-z0-9-]+:.*## / && index($$1, substr(name, 1, 4)) == 1 { printf "  make %-22s %s\n", $$1, $$2 }' Makefile >&2; exit 2

.PHONY: help
help: ## List the commands
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-22s %s\n", $$1, $$2 }' Makefile
	@echo "Settings: FRESH=1 starts a tournament anew instead of resuming it; SHORT=1 gives small counts, of the packages that a way to run concerns; ARGS='...' goes to tournament run (ARGS=-h)."

# -short: small counts where thousands of rounds wait for chance, and without the few tests that have nothing shorter.
.PHONY: test
test: need-go ## Run the tests of all modules with small counts (two minutes)
	$(TEST) -short $(PACKAGES)

.PHONY: test-full
test-full: need-go ## Run all tests of all modules with full counts (minutes)
	$(TEST) $(PACKAGES)

# Half of the other processes compute, the others allocate and start threads.
.PHONY: test-busy
test-busy: bin/busy ## Run "make test" beside four computing processes for each processor (EACH=16)
	bin/busy -each $(or $(EACH),4) $(MAKE) test TIMEOUT=2h

.PHONY: test-race
test-race: need-race ## Run all tests under the race detector, in random order
	$(TEST) -race -shuffle=on $(if $(SHORT),-short $(CORE) $(RIVALS) ./gojaloop,$(PACKAGES))

.PHONY: test-386
test-386: need-386 ## Run the root module's tests as 32-bit programs
	CGO_ENABLED=0 GOARCH=386 $(TEST) $(if $(SHORT),-short $(CORE),./...)

.PHONY: test-procs1
test-procs1: need-go ## Run all tests on one processor (GOMAXPROCS=1)
	GOMAXPROCS=1 $(TEST) $(if $(SHORT),-short $(CORE) ./gojaloop,$(PACKAGES))

.PHONY: test-nopreempt
test-nopreempt: need-go ## Run all tests without asynchronous preemption
	GODEBUG=asyncpreemptoff=1 $(TEST) $(PACKAGES)

.PHONY: test-repeat
test-repeat: need-race ## Run the loops' tests 50 times on 1, 2 and 4 processors under the race detector (long)
	$(GO) test -count=50 -shuffle=on -race -cpu=1,2,4 -timeout=4h $(LOOPS)

# A run tells of each station whether its target was reached in the time; most need hours for it.
BUDGET ?= 30m
.PHONY: soak
soak: bin/soak ## Run what is rare for as long as BUDGET says (default 30m); writes results/soak.md (ARGS='-only NAME -first', '-h')
	GO="$(GO)" bin/soak -budget $(BUDGET) $(if $(ARGS),,-write results/soak.md) $(ARGS)

.PHONY: soak-quick
soak-quick: bin/soak ## Run the kit's races with the end and its wake-ups, again and again for a minute
	GO="$(GO)" bin/soak -budget 1m -only '^races'

# What is violated says how to try its one cell again.
TIME ?= 5m
.PHONY: siege
siege: bin/siege ## Flood the loop by every entry point, while it lives and as it ends, for as long as TIME says (ARGS='-with .', '-h')
	bin/siege -time $(TIME) $(ARGS)

.PHONY: siege-quick
siege-quick: bin/siege ## The same with each flood once, numbers drawn by chance (a minute)
	bin/siege -quick $(ARGS)

.PHONY: liveness
liveness: need-go ## Compare all loops, at rest, flooded and beside computing goroutines, with the Go runtime at the same moment; wants a quiet machine (minutes)
	TURNLOOP_LIVENESS=1 $(TEST) -p 1 -short -v -run 'TestLiveness|TestSeededBugs/Live' ./eventloop ./eventloop/looptest ./internal/alternate... ./internal/gojabaseline $(ARGS)

.PHONY: reliability
reliability: bin/soak ## Write docs/reliability.md anew: what is proven how, and which test finds which bug
	bin/soak -page docs/reliability.md

# Debian's apt-get and Node have to be there, and a network for the first time; otherwise it says so and does nothing.
.PHONY: packages
packages: need-go ## Compare loopjs with Node on Debian's packages for Node, which it downloads (minutes; ARGS='-sample 0' loads all)
	@$(GO) build -trimpath -buildvcs=false -o bin/loopjs ./gojaloop/cmd/loopjs
	$(GO) run ./internal/packages $(ARGS)

# What fails says how to run its one schedule again: with TURNLOOP_TRACE, and ARGS='-run TestSchedules/its_name'.
.PHONY: schedules
schedules: need-go ## Run the loop under every schedule with two preemptions, and a million random ones (two minutes)
	TURNLOOP_PREEMPTIONS=2 TURNLOOP_SCHEDULES=1000000 $(TEST) -tags schedules -timeout=1h -v -run TestSchedules $(ARGS) ./eventloop ./eventloop/promise ./eventloop/threadlet ./internal/park

.PHONY: schedules-quick
schedules-quick: need-go ## The same with one preemption, and fewer random ones (seconds)
	TURNLOOP_PREEMPTIONS=1 TURNLOOP_SCHEDULES=50000 $(TEST) -tags schedules -run TestSchedules $(ARGS) ./eventloop ./eventloop/promise ./eventloop/threadlet ./internal/park

# The largest exploration takes gigabytes of memory.
.PHONY: model
model: need-go ## Explore the model of sleep, wake and end in full, and with each of its seeded mistakes (minutes)
	TURNLOOP_SOAK=1 $(TEST) -v -timeout=1h -run 'TestModel' ./internal/park

.PHONY: mutants
mutants: need-go ## Seed faults into the real code and see that the tests notice each (an hour); ARGS='-h'
	$(GO) run ./internal/mutants $(ARGS)

.PHONY: mutants-quick
mutants-quick: need-go ## The same with six of them, chosen at random (a minute)
	$(GO) run ./internal/mutants -sample 6 $(ARGS)

# By default go test spends up to a minute on making each new interesting input small, and runs nothing else meanwhile.
.PHONY: fuzz
fuzz: need-go ## Fuzz each target for FUZZTIME, 30s unless it is set: make fuzz FUZZTIME=5m
	@for target in ./eventloop:FuzzLoop ./eventloop:FuzzLoopTogether ./internal/wheel:FuzzModel ./internal/tournament:FuzzContestants ./gojaloop:FuzzAgainstNode ./httploop:FuzzRefused; do \
		echo "fuzz $$target"; $(GO) test -run '^$$' -fuzz "^$${target#*:}$$" -fuzztime "$(FUZZTIME)" -fuzzminimizetime 100x "$${target%:*}" || exit 1; done

.PHONY: test-windows
test-windows: need-windows ## Run the root module's tests as Windows programs, under Wine; installs it if it can (windows/wine.sh)
	@GO="$(GO)" windows/wine.sh $(if $(SHORT),$(CORE) ./httploop) $(ARGS)

# "make test-full" has these tests too, and skips them without a browser.
.PHONY: test-pages
test-pages: need-go need-browser ## Drive the tournament's pages in headless Chromium; installs it if it can (ARGS='-screenshots DIR')
	@$(BROWSER) || { echo "installing chromium"; apt-get install -y --no-install-recommends chromium >/dev/null; }
	TURNLOOP_BROWSER=1 $(TEST) -run 'Page' ./internal/tournament/report $(ARGS)

# "make test-full" has these tests too, and leaves them out without the programs.
.PHONY: test-servers
test-servers: need-go need-clients ## Drive the examples' servers with redis-cli, redis-benchmark and wrk, and beside redis-server; installs them if it can
	@$(CLIENTS) || { echo "installing redis-tools and wrk"; apt-get install -y --no-install-recommends redis-tools wrk >/dev/null; }
	$(TEST) -v -run 'TestRedis|TestWrk' ./examples/redis ./httploop $(ARGS)

.PHONY: lint
lint: need-go ## Check formatting, vet, check the types for every supported system, run staticcheck
	@echo "gofmt"; files=$$($(call FORMAT,-l)); [ -z "$$files" ] || { echo "not formatted, run 'make fmt':" $$files >&2; exit 1; }
	@echo "vet"; $(GO) vet $(PACKAGES)
	@for os in $(filter-out $(shell $(GO) env GOHOSTOS),$(SYSTEMS)); do echo "vet for $$os"; \
		CGO_ENABLED=0 GOOS=$$os $(GO) vet ./... || exit 1; done
	@for arch in amd64 arm64 386; do echo "vet linux/$$arch assembly"; \
		CGO_ENABLED=0 GOOS=linux GOARCH=$$arch $(GO) vet ./internal/goroutine || exit 1; done
	@for tool in $(STATICCHECK) $(LOSTCANCEL); do GOBIN="$(CURDIR)/bin" $(GO) install $$tool || \
		{ echo "connect to the network once so that go can fetch $$tool" >&2; exit 1; }; done
	@for os in $(OTHER_SYSTEMS); do echo "types for $$os"; CGO_ENABLED=0 GOOS=$$os bin/lostcancel ./... || exit 1; done
	@echo "staticcheck"; bin/staticcheck $(PACKAGES)
	@echo "no trace of package sched"; ! $(GO) build -gcflags=-S ./eventloop ./eventloop/promise 2>&1 | \
		grep -E '	(CALL|JMP)	([a-z./]*/internal/sched|sync/atomic\.\(|sync\.\(\*Mutex\)\.(Lock|Unlock)\()' | grep -v 'sched\.Go('
	@echo "with the tag schedules"; $(GO) vet -tags schedules $(TAGGED) && bin/staticcheck -tags schedules $(TAGGED)

.PHONY: build
build: need-go ## Build and vet every module as it comes from outside: from a proxy made of the tree, without the workspace
	TURNLOOP_MODULES=1 $(TEST) -timeout=30m ./internal/outside

.PHONY: bench-check
bench-check: need-go ## Run each benchmark once, to see that it works
	$(TEST) -short -run '^$$' -bench . -benchtime 1x $(MEASURED)

.PHONY: bars
bars: need-go ## Hold the loop to its bars, each beside what it is a ratio to; keep the machine quiet (ROUNDS=20, ARGS='-only REGEXP')
	$(GO) test -count=1 -timeout 0 -run '^TestBars$$' -v ./internal/tournament -bars $(or $(ROUNDS),10) $(ARGS)

# What the ranking leaves out is a benchmark of the package that it is about.
MEASURED := ./eventloop/... ./internal/wheel ./internal/resp ./internal/tournament ./gojaloop ./gojaloop/cmd/loopjs ./httploop ./examples/redis
.PHONY: benchmarks
benchmarks: need-go ## Run the benchmarks of all packages, for stock benchstat (ARGS='-bench Threadlet -count 10')
	$(GO) test -run '^$$' -timeout 0 $(if $(findstring -bench,$(ARGS)),,-bench .) $(ARGS) $(MEASURED)

.PHONY: tournament-benchmark
tournament-benchmark: bin/tournament ## Run the tournament (ten minutes, longer on a slow machine); writes RESULTS.md and results/native
	bin/tournament run -mode full -out results/native $(if $(ARGS),,-command 'make $@') $(RUN_FLAGS)

.PHONY: tournament-quick
tournament-quick: bin/tournament ## Run a glance of the tournament (one minute); writes results/quick only
	bin/tournament run -mode quick -out results/quick $(if $(ARGS),,-command 'make $@') $(RUN_FLAGS)

.PHONY: bench-linux-docker
bench-linux-docker: need-go ## Run the tournament in a Linux container; writes results/linux-docker (settings: docker/bench.sh)
	@docker/bench.sh $(ARGS)

# One loop for each place where a loop can park, one more with all that can be observed turned on, and a server with many
# connections. To attach disturbs who waits in the system, so the ten seconds begin a second later.
.PHONY: trace-idle
trace-idle: need-go need-strace ## Count the system calls of idle loops with descriptors over ten seconds (strace, Linux)
	@$(GO) build -trimpath -buildvcs=false -o bin/idle ./internal/idle
	@rm -f bin/idle.strace bin/idle.out; bin/idle >bin/idle.out & pid=$$!; trap 'kill $$pid' EXIT; \
		while kill -0 $$pid && ! grep -q ready bin/idle.out; do sleep 1; done; cat bin/idle.out; sleep 1; \
		timeout -s INT 11 strace -f -ttt -o bin/idle.strace -p $$pid; \
		awk 'NR == 1 { began = $$2 } $$2 > began + 1 && !/resumed>|detached|[+][+][+]|---/ { n++; print } \
			END { printf "%d system calls in ten seconds\n", n; exit NR == 0 || n > 10 }' bin/idle.strace

# What is missing is said, and left out. The settings are in the script.
.PHONY: worlds
worlds: ## Build the programs for what people use elsewhere, as far as the machine can (worlds/build.sh)
	@GO="$(GO)" worlds/build.sh

.PHONY: test-worlds
test-worlds: need-go worlds ## Build them, and drive each with small counts, and with what it runs on broken
	$(TEST) -short ./worlds/...

.PHONY: ab
ab: need-go ## Compare the benchmarks of two trees, interleaved, the old one twice: make ab OLD=rev BENCH=regexp ROUNDS=20 [PKG='./eventloop ...']
	@[ -n "$(OLD)" ] || { echo "OLD must be a revision: make ab OLD=HEAD~1 BENCH='Submit$$/impl=main' ROUNDS=20" >&2; exit 2; }
	@$(GO) build -trimpath -buildvcs=false -o bin/ab/ab ./internal/tournament/cmd/ab
	@bin/ab/ab $(if $(BENCH),-bench '$(BENCH)') $(if $(ROUNDS),-rounds $(ROUNDS)) $(if $(PKG),-pkg '$(PKG)') $(ARGS) '$(OLD)'

.PHONY: compare
compare: bin/tournament ## Compare two runs of one machine; fails on a regression, and if they have fewer than ten rounds: make compare OLD=DIR NEW=DIR
	@[ -d "$(OLD)" ] && [ -d "$(NEW)" ] || \
		{ echo "OLD and NEW must be the folders of two runs: make compare OLD=old/results NEW=results/native" >&2; exit 2; }
	@bin/tournament compare "$(OLD)" "$(NEW)"

.PHONY: site
site: bin/tournament ## Show all runs in results side by side: writes results/index.html (RUNS='DIR...')
	@bin/tournament site -out results/index.html $(or $(RUNS),$(patsubst %/run.json,%,$(wildcard results/*/run.json)))

# What .ci/run has in its short form or leaves out. What the machine lacks is left out, in one line.
NIGHTLY = test-full test-nopreempt schedules model mutants siege liveness soak-quick test-worlds tournament-quick $(foreach t,race 386 windows,$(call has,$(t),test-$(t))) test-procs1 $(call has,strace,trace-idle)
has = $(if $(shell $(MAKE) --silent need-$(1) >/dev/null 2>&1 && echo yes),$(2),$(info $(2) is left out))
.PHONY: nightly
nightly: ## Run what is too long for every change (hours)
	@for target in $(NIGHTLY); do echo "=== $$target"; $(MAKE) $$target || failed="$$failed $$target"; done; \
		[ -z "$$failed" ] || { echo "=== FAILED:$$failed" >&2; exit 1; }

.PHONY: fmt
fmt: need-go ## Format all Go files
	@$(call FORMAT,-l -w)

.PHONY: clean
clean: ## Remove build products, quick results and interrupted runs; full results stay
	rm -rf bin results/quick results/linux-docker-quick results/*/partial

# Phony, because only go knows what it depends on. No VCS stamp: the runner asks git itself, and a tree that git
# refuses to read must still build.
.PHONY: bin/tournament
bin/tournament: need-go
	@$(GO) build -trimpath -buildvcs=false -o $@ ./internal/tournament/cmd/tournament

.PHONY: bin/busy
bin/busy: need-go
	@$(GO) build -trimpath -buildvcs=false -o $@ ./internal/busy

.PHONY: bin/soak
bin/soak: need-go
	@$(GO) build -trimpath -buildvcs=false -o $@ ./internal/soak

.PHONY: bin/siege
bin/siege: need-go
	@$(GO) build -trimpath -buildvcs=false -o $@ ./internal/siege

# gofmt of the toolchain that go.mod selects, which need not be the one in PATH.
GOFMT = "$$($(GO) env GOROOT)/bin/gofmt"
# It formats our own modules: another in the folder, such as that of a loop that enters the tournament, is not ours. What cannot be
# formatted is named, too.
FORMAT = gofmt=$(GOFMT); $(GO) list -e -f '{{.Dir}}' $(PACKAGES) | while IFS= read -r dir; do "$$gofmt" $(1) "$$dir"/*.go || echo "$$dir"; done

# What a command needs of the machine. Each says in one line what is missing and what to do.

.PHONY: need-go
need-go:
	@command -v $(GO) >/dev/null || \
		{ echo "Go is missing: install it from https://go.dev/dl/ and put its bin folder in PATH" >&2; exit 1; }

.PHONY: need-race
need-race: need-go
	@[ "$$($(GO) env GOOS)" = darwin ] || [ "$$($(GO) env CGO_ENABLED)" = 1 ] || \
		{ echo "the race detector needs cgo: install a C compiler (gcc or clang), and do not set CGO_ENABLED=0" >&2; exit 1; }

.PHONY: need-386
need-386: need-go
	@case "$$($(GO) env GOHOSTOS)/$$($(GO) env GOHOSTARCH)" in linux/amd64 | linux/386) ;; \
		*) echo "32-bit x86 programs do not run here: use Linux on amd64" >&2; exit 1 ;; esac
	@CGO_ENABLED=0 GOARCH=386 $(GO) test -vet=off -run '^$$' ./internal/goroutine >/dev/null 2>&1 || \
		{ echo "32-bit x86 programs do not run here: this kernel refuses them" >&2; exit 1; }

.PHONY: need-strace
need-strace:
	@command -v strace >/dev/null || \
		{ echo "strace is missing: install it (Debian: apt-get install strace); it exists on Linux only" >&2; exit 1; }

BROWSER = { command -v chromium || command -v google-chrome || command -v chromium-browser; } >/dev/null

.PHONY: need-browser
need-browser:
	@$(BROWSER) || { [ "$$(id -u)" = 0 ] && { apt-get update && apt-get install --simulate chromium; } >/dev/null 2>&1; } || \
		{ echo "Chromium is missing: install it (Debian: apt-get install chromium)" >&2; exit 1; }

CLIENTS = { command -v redis-cli && command -v redis-benchmark && command -v wrk; } >/dev/null

.PHONY: need-clients
need-clients:
	@$(CLIENTS) || { [ "$$(id -u)" = 0 ] && { apt-get update && apt-get install --simulate redis-tools wrk; } >/dev/null 2>&1; } || \
		{ echo "Clients of the examples' servers are missing: install them (Debian: apt-get install redis-tools wrk)" >&2; exit 1; }

.PHONY: need-windows
need-windows: need-go
	@windows/wine.sh check

.PHONY: need-docker
need-docker:
	@docker/bench.sh check
