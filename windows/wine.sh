#!/usr/bin/env bash
# Runs the tests of the root module as 64-bit Windows programs under Wine: "make test-windows". What is missing of Wine
# and of the C compiler for Windows it installs, on Debian and its kin, as root. Arguments are patterns of packages,
# ./... by default. "windows/wine.sh check" only tells whether all of that is there or can be had.
#
# All that it makes is in bin/windows: the programs, their output, and a Wine prefix of its own. It does not see what
# only a real Windows has: other software around sockets (SIO_BASE_HANDLE is always the socket itself), clocks that move
# every 15 ms, 32-bit and ARM programs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# left_out lists what is not run: package, pattern of -test.skip, and reason.
left_out() {
	local no_poll="the loop with these bugs has descriptors only where poll(2) is"
	local coarse="many timers without a delay: each takes a millisecond where the clock is coarse"
	skip eventloop/looptest 'TestSeededBugs/BadInput/a_descriptor_without_a_callback_accepted' "$no_poll"
	skip eventloop/looptest 'TestSeededBugs/TerminalStates/registers_on_an_ended_loop' "$no_poll"
	skip eventloop/looptest 'TestSeededBugs/.*/forgets_the_owner_in_the_callbacks_of_descriptors' "$no_poll"
	skip eventloop/looptest 'TestSeededBugs/.*/descriptors_wait_for_.*' "$no_poll"
	skip eventloop/looptest 'TestSeededBugs/Conservation_BeforeRun/Run_forgets_registrations' "$no_poll"
	skip eventloop/looptest 'TestSeededBugs/D18_TickTime/the_clock_goes_back' \
		"it goes back by what a clock shows below a microsecond, and this one shows nothing there"
	skip internal/alternatetwo 'TestAllocs/TimerFire' "$coarse"
	skip internal/alternatetwo 'TestConformance/.*/D14_AllocTimer' "$coarse"
	skip internal/alternatethree 'TestConformance/.*/D14_AllocTimer' "$coarse"
}

skip() { printf '%s | %s | %s\n' "$@"; }

packages=(wine wine64 gcc-mingw-w64-x86-64)
out=$PWD/bin/windows

main() {
	if [[ ${1-} == check ]]; then
		installed || installable --simulate
		return
	fi
	installed || install
	find_wine
	export WINEPREFIX=$out/prefix WINEARCH=win64 WINEDEBUG=-all WINEDLLOVERRIDES=mscoree,mshtml=
	unset DISPLAY WAYLAND_DISPLAY
	mkdir -p "$out"
	trap '"$wineserver" -k || true; "$wineserver" -w || true' EXIT
	build_prefix
	test_all "$@"
}

installed() { find_wine && command -v x86_64-w64-mingw32-gcc >/dev/null; }

# find_wine looks where Debian puts it, too.
find_wine() {
	wine=$(PATH=$PATH:/usr/lib/wine command -v wine64) && wineserver=$(PATH=$PATH:/usr/lib/wine command -v wineserver)
}

install() {
	say "installing ${packages[*]}"
	installable --yes
	installed || fail "of wine64, wineserver and x86_64-w64-mingw32-gcc at least one is not in PATH although installed"
}

# installable installs what is missing, or with --simulate tells whether it could.
installable() {
	local hint="install Wine (wine64) and gcc-mingw-w64-x86-64" log
	[[ $(uname -sm) == 'Linux x86_64' ]] || fail "Windows programs run under Wine on Linux on amd64 only"
	command -v apt-get >/dev/null || fail "Wine is missing: $hint"
	((EUID == 0)) || fail "Wine is missing: $hint, or run this as root"
	export DEBIAN_FRONTEND=noninteractive
	log=$({ apt-get update && apt-get install "$1" --no-install-recommends "${packages[@]}"; } 2>&1) ||
		fail "Wine is missing and apt-get does not get it ($(tail -n 1 <<<"$log")): $hint"
}

# build_prefix makes the prefix, which is what a Windows machine is to Wine, and gives it what Go programs need.
build_prefix() {
	local system=$WINEPREFIX/drive_c/windows/system32
	if [[ ! -e $system/bcryptprimitives.dll ]]; then
		say "making a Wine prefix"
		rm -rf "$WINEPREFIX"
		timeout 3600 "$wine" wineboot --init >"$out/wineboot.log" 2>&1 ||
			fail "Wine cannot make a prefix: see $out/wineboot.log"
		x86_64-w64-mingw32-gcc -shared -O2 -o "$system/bcryptprimitives.dll" windows/prng.c -ladvapi32
	fi
}

# test_all builds and runs the tests of each package that has some, in its folder, two at a time.
test_all() {
	local package folder running=0 failed=0 list='{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}} {{.Dir}}{{end}}'
	export GOOS=windows GOARCH=amd64 CGO_ENABLED=0
	rm -f "$out"/*.exe "$out"/*.log
	list=$("${GO:-go}" list -f "$list" "${@:-./...}" | grep -vE '/internal/(tidy|outside)$') # which look at files, of no system
	while read -r package folder; do
		name=${folder#"$PWD"/}
		program=$out/${name//\//_}
		"${GO:-go}" test -c -o "$program.exe" "$package"
		if ((running == 2)); then
			wait -n || failed=1
			running=1
		fi
		run "$folder" "$(left_out | awk -F ' [|] ' -v name="$name" '$1 == name { printf "%s%s", or, $2; or = "|" }')" &
		running=$((running + 1))
	done <<<"$list"
	for (( ; running > 0; running--)); do
		wait -n || failed=1
	done
	left_out | awk -F ' [|] ' '{ print "=== left out: " $1 ": " $2 ": " $3 }'
	((failed == 0)) || fail "tests have failed: their output is in $out"
}

# run runs the test program of a package without the tests of a pattern, and prints a line of numbers; after a failure,
# its output as well.
run() {
	local began=$SECONDS verdict=ok flags=(-test.v -test.short -test.timeout 1h)
	[[ -z $2 ]] || flags+=(-test.skip "$2")
	(cd "$1" && timeout --kill-after 10 3700 "$wine" "$program.exe" "${flags[@]}") >"$program.log" 2>&1 </dev/null ||
		verdict=FAIL
	awk -v name="$name" -v verdict=$verdict -v seconds=$((SECONDS - began)) '
		/^ *--- PASS/ { passed++ }
		/^ *--- FAIL/ { failed++ }
		/^ *--- SKIP/ { skipped++ }
		END { printf "=== %s: %s, %d passed, %d failed, %d skipped, %d s\n", name, verdict, passed, failed, skipped, seconds }
	' "$program.log"
	[[ $verdict == ok ]] || { grep -v '^ *\(=== \|--- PASS\|--- SKIP\)' "$program.log" | tail -n 100 >&2; return 1; }
}

say() { echo "=== $*"; }

fail() {
	echo "$*" >&2
	exit 1
}

main "$@"
