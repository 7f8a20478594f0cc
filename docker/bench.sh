#!/usr/bin/env bash
# Runs the tournament in a Linux container and brings the results back: "make bench-linux-docker".
#
# Settings, all optional, from the environment:
#   MODE    full (default) writes results/linux-docker, quick writes results/linux-docker-quick
#   CPUS    processors of the engine to pin to, such as 0,1 or 2-3 (default: the first two); GOMAXPROCS is their number
#   MEMORY  memory limit, ample so that it is never what is measured (default: 4g)
#   FRESH   not empty: start anew instead of resuming an interrupted run
# Arguments go to "tournament run". "docker/bench.sh check" only tells whether an engine answers.
#
# The engine may be remote: everything goes in and out through its API, nothing is mounted from the host. Written for
# bash 3.2 (macOS).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

main() {
	local engine
	engine=$(answering_engine)
	[[ ${1-} != check ]] || return 0

	mode=${MODE:-full}
	case $mode in
	full) name=linux-docker ;;
	quick) name=linux-docker-quick ;;
	*) fail "MODE is full or quick, not '$mode'" ;;
	esac
	cpus=${CPUS:-$(first_two_cpus)}
	procs=$(count_cpus "$cpus")
	out=results/$name
	run=turnloop-bench-$(date +%Y%m%d-%H%M%S)-$$ # names the container and the image

	trap cleanup EXIT
	trap interrupted INT TERM HUP
	build "${engine#*/}"
	create "$@"
	measure
}

# answering_engine prints the engine's system and architecture.
answering_engine() {
	command -v docker >/dev/null || fail "docker is missing: install Docker, or run 'make tournament-benchmark' without a container"
	local engine
	engine=$(docker version --format '{{.Server.Os}}/{{.Server.Arch}}' 2>/dev/null) ||
		fail "no Docker engine answers: start it, or let DOCKER_HOST or 'docker context use' point to one ('docker version' says more)"
	[[ $engine == linux/* ]] || fail "the Docker engine runs $engine containers: switch it to Linux containers"
	echo "$engine"
}

first_two_cpus() {
	if (($(docker info --format '{{.NCPU}}') > 1)); then echo 0,1; else echo 0; fi
}

# count_cpus prints how many processors a list such as 0,2-3 names.
count_cpus() {
	[[ $1 =~ ^[0-9]+(-[0-9]+)?(,[0-9]+(-[0-9]+)?)*$ ]] || fail "CPUS is a list such as 0,1 or 2-3, not '$1'"
	local range count=0
	for range in ${1//,/ }; do
		count=$((count + ${range#*-} - ${range%-*} + 1))
	done
	((count > 0)) || fail "CPUS is a list such as 0,1 or 2-3, not '$1'"
	echo "$count"
}

# build compiles for the engine's architecture, which on a Mac is not the host's system, and makes the image.
build() {
	say "building for linux/$1"
	rm -rf bin/docker
	mkdir -p bin/docker
	export CGO_ENABLED=0
	GOOS=linux GOARCH=$1 "${GO:-go}" build -trimpath -buildvcs=false -o bin/docker/tournament ./internal/tournament/cmd/tournament
	local log
	log=$(docker build --tag "$run" --file docker/Dockerfile bin/docker 2>&1) || fail "docker build failed: $log"
}

# create makes the container and puts the measurements of an interrupted run into it.
create() {
	local flags=(-mode "$mode" -name "$name" -out /results -results '' -cpu "$procs")
	local commit
	if commit=$(git rev-parse HEAD 2>/dev/null); then
		flags+=(-commit "$commit")
		# Results are no part of what is measured.
		if [[ -n $(git status --porcelain -- ':/' ':(top,exclude)RESULTS.md' ':(top,exclude)README.md' ':(top,exclude)results') ]]; then
			flags+=(-dirty)
		fi
	fi
	if (($# == 0)); then
		flags+=(-command "make bench-linux-docker CPUS=$cpus$([[ $mode == full ]] || echo " MODE=$mode")")
	fi
	[[ -z ${FRESH-} ]] || flags+=(-fresh)
	# On a terminal the runner draws a bar there, elsewhere it writes lines.
	local terminal=false
	[[ ! -t 2 ]] || terminal=true

	docker create --name "$run" --pull never --tty="$terminal" \
		--network none --cpuset-cpus "$cpus" --memory "${MEMORY:-4g}" --env GOMAXPROCS="$procs" --env container=docker \
		--read-only --tmpfs /tmp --volume /results \
		"$run" run "${flags[@]}" "$@" >/dev/null
	if [[ -d $out/partial && -z ${FRESH-} ]]; then
		docker cp "$out/partial" "$run:/results/partial" >/dev/null
	fi
}

# measure runs the container to its end and keeps what it has measured, also when it failed.
measure() {
	say "measuring on processors $cpus, GOMAXPROCS $procs, memory ${MEMORY:-4g}"
	# In a process group of its own the client does not see Ctrl-C: the container gets one signal, from stop.
	set -m
	docker start --attach "$run" </dev/null &
	client=$!
	set +m
	wait "$client" || true
	client=
	local status
	status=$(docker wait "$run")
	collect
	[[ $status == 0 ]] || fail "the tournament ended with status $status"
	# Again from here, because the overview of all results is not in the container.
	"${GO:-go}" run ./internal/tournament/cmd/tournament report "$out"
	say "the results are in $out"
}

collect() {
	rm -rf bin/docker/results
	docker cp "$run:/results" bin/docker/results >/dev/null
	mkdir -p "$out"
	rm -rf "$out/partial"
	cp -R bin/docker/results/. "$out"
}

interrupted() {
	trap '' INT TERM HUP
	if [[ -n ${client-} ]]; then
		say "stopping"
		docker stop -t 20 "$run" >/dev/null
		wait "$client" || true
		collect
	fi
	exit 130
}

# cleanup removes what this run has made, as far as it got. The image goes too: each run builds it anew from the tree,
# which takes a second, and kept ones would pile up.
cleanup() {
	trap '' INT TERM HUP
	docker rm --force --volumes "$run" >/dev/null 2>&1 || true
	docker rmi "$run" >/dev/null 2>&1 || true
}

say() { echo "bench-linux-docker: $*" >&2; }

fail() {
	say "$@"
	exit 1
}

main "$@"
