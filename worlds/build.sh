#!/bin/sh
# Builds what the machine can of the programs in this folder: "make worlds". One line tells of each program what has come of it. That
# something is missing is no error; that a program does not compile is.
#
# Settings, all optional, from the environment: GO, CC, CXX, NODE, PYTHON.
set -eu
cd "$(dirname "$0")/.."
out=bin/worlds

main() {
	rm -rf "$out" bin/echo-client # what was built when the machine had more
	mkdir -p "$out"
	client
	compiled libuv "${CC:-cc}" c 'uv.h' 'libuv1-dev' -std=gnu11 -luv
	compiled asio "${CXX:-c++}" c++ 'asio.hpp' 'libasio-dev' -std=c++17 -DASIO_STANDALONE
	on_node "${NODE:-node}"
	on_uvloop
}

# client is what all programs need for their echo, and is no program of its own.
client() {
	if ! linux; then
		left_out echo-client "it needs Linux; the programs have no Echo"
	elif ! command -v "${GO:-go}" >/dev/null; then
		left_out echo-client "Go is missing; the programs have no Echo"
	else
		"${GO:-go}" build -trimpath -buildvcs=false -o bin/echo-client ./worlds/echoclient
		echo "built bin/echo-client"
	fi
}

# compiled NAME COMPILER LANGUAGE HEADER PACKAGE FLAG...
compiled() {
	name=$1 compiler=$2 language=$3 header=$4 package=$5
	shift 5
	case $language in c) source=worlds/$name.c ;; *) source=worlds/$name.cpp ;; esac
	if ! linux; then
		left_out "$name" "it needs Linux"
	elif ! command -v "${compiler%% *}" >/dev/null; then
		left_out "$name" "there is no compiler $compiler"
	elif ! printf '#include <%s>\nint main(void) { return 0; }\n' "$header" |
		$compiler -x "$language" - "$@" -pthread -o "$out/probe" 2>/dev/null; then
		left_out "$name" "the library is missing (Debian: apt-get install $package)"
	else
		$compiler -O2 -Wall -Wextra -o "$out/$name" "$source" "$@" -pthread
		echo "built $out/$name"
	fi
	rm -f "$out/probe"
}

on_node() {
	if ! command -v "$1" >/dev/null; then
		left_out node "Node is missing"
	elif ! "$1" -e 'process.exit(process.getActiveResourcesInfo ? 0 : 1)'; then
		left_out node "$("$1" --version) is too old, 18 is not"
	else
		script node "$(command -v "$1")" worlds/node.js
	fi
}

# on_uvloop takes the first Python that has it, because Debian's need not be the first in PATH.
on_uvloop() {
	for python in ${PYTHON:-python3 /usr/bin/python3}; do
		if "$python" -c 'import uvloop' 2>/dev/null; then
			script uvloop "$(command -v "$python")" worlds/on_uvloop.py
			return
		fi
	done
	left_out uvloop "no Python has it (Debian: apt-get install python3-uvloop)"
}

# script NAME INTERPRETER SOURCE makes a program of a script by its first line.
script() {
	{ echo "#!$2"; sed 1d "$3"; } >"$out/$1"
	chmod +x "$out/$1"
	echo "built $out/$1"
}

linux() { [ "$(uname -s)" = Linux ]; }

left_out() { echo "left out: $1: $2"; }

main
